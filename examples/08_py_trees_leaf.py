# SPDX-License-Identifier: Apache-2.0
"""A behaviour of py_trees is a leaf of our trees, and py_trees draws our trees.

Prints:
    SUCCESS after 3 ticks
    --> Sequence
        --> count
            --> count
"""

import py_trees
from py_trees.common import Status

from behavior_tree import BehaviorTreeFactory, InputPort, NodeStatus

XML = """
<root BTCPP_format="4">
  <BehaviorTree ID="Main">
    <Sequence>
      <Count name="count" up_to="3"/>
    </Sequence>
  </BehaviorTree>
</root>"""


class Count(py_trees.behaviour.Behaviour):
    """Any behaviour; this one counts its ticks."""

    def __init__(self, name: str, up_to: int) -> None:
        super().__init__(name)
        self.up_to = up_to

    def initialise(self) -> None:
        self.counted = 0

    def update(self) -> Status:
        self.counted += 1
        return Status.SUCCESS if self.counted == self.up_to else Status.RUNNING


factory = BehaviorTreeFactory()
factory.register_py_trees_behaviour("Count", Count, [InputPort("up_to", int)])
tree = factory.create_tree_from_text(XML)
ticks = 1
while (status := tree.tick_exactly_once()) is NodeStatus.RUNNING:
    ticks += 1
print(f"{status.name} after {ticks} ticks")
print(py_trees.display.ascii_tree(tree.root_node()).rstrip())
