# SPDX-License-Identifier: Apache-2.0
"""Nodes hand values to each other through ports; scripts compute with them.

Prints:
    5 doubled is 10.0
"""

from behavior_tree import BehaviorTreeFactory, InputPort, NodeStatus, OutputPort, TreeNode

XML = """
<root BTCPP_format="4">
  <BehaviorTree ID="Main">
    <Sequence>
      <Add a="2" b="3" sum="{sum}"/>
      <Script code="double := sum * 2"/>
    </Sequence>
  </BehaviorTree>
</root>"""


def add(node: TreeNode) -> NodeStatus:
    """The sum of two inputs."""
    node.set_output("sum", node.get_input("a") + node.get_input("b"))
    return NodeStatus.SUCCESS


factory = BehaviorTreeFactory()
ports = [InputPort("a", int), InputPort("b", int), OutputPort("sum", int)]
factory.register_simple_action("Add", add, ports)
tree = factory.create_tree_from_text(XML)
tree.tick_while_running()
values = tree.root_blackboard()
print(f"{values.get('sum')} doubled is {values.get('double')}")
