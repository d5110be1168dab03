# SPDX-License-Identifier: Apache-2.0
"""A tree of two nodes, one of them a Python function.

Prints:
    hello
    SUCCESS
"""

from behavior_tree import BehaviorTreeFactory, NodeStatus, TreeNode

XML = """
<root BTCPP_format="4">
  <BehaviorTree ID="Main">
    <Sequence>
      <SayHello/>
      <AlwaysSuccess/>
    </Sequence>
  </BehaviorTree>
</root>"""


def say_hello(node: TreeNode) -> NodeStatus:
    """Succeed at once."""
    print("hello")
    return NodeStatus.SUCCESS


factory = BehaviorTreeFactory()
factory.register_simple_action("SayHello", say_hello)
tree = factory.create_tree_from_text(XML)
print(tree.tick_while_running().name)
