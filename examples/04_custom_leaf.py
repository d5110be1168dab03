# SPDX-License-Identifier: Apache-2.0
"""An action that takes time: begun, continued, and halted when a Timeout ends it.

Prints:
    started
    stopped on the way
    FAILURE
"""

from behavior_tree import (
    BehaviorTreeFactory,
    InputPort,
    NodeStatus,
    StatefulActionNode,
    ports_list,
)

XML = """
<root BTCPP_format="4">
  <BehaviorTree ID="Main">
    <Timeout msec="50">
      <Drive metres="100"/>
    </Timeout>
  </BehaviorTree>
</root>"""


class Drive(StatefulActionNode):
    """Ten centimetres in each tick."""

    ports = ports_list(InputPort("metres", float, description="[m]"))

    def on_start(self) -> NodeStatus:
        print("started")
        self.driven = 0.0
        return NodeStatus.RUNNING

    def on_running(self) -> NodeStatus:
        self.driven += 0.1
        arrived = self.driven >= self.get_input("metres")
        return NodeStatus.SUCCESS if arrived else NodeStatus.RUNNING

    def on_halted(self) -> None:
        print("stopped on the way")


factory = BehaviorTreeFactory()
factory.register_node_type(Drive, "Drive")
print(factory.create_tree_from_text(XML).tick_while_running().name)
