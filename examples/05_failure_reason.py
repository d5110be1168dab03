# SPDX-License-Identifier: Apache-2.0
"""A tree that fails says why, with the path of each node that had a part in it.

Prints:
    get in: door: it is locked; window: it is too high
    door: it is locked
    window: it is too high
"""

from behavior_tree import BehaviorTreeFactory, InputPort, NodeStatus, TreeNode

XML = """
<root BTCPP_format="4">
  <BehaviorTree ID="Main">
    <Fallback name="get in">
      <Try name="door" but="it is locked"/>
      <Try name="window" but="it is too high"/>
    </Fallback>
  </BehaviorTree>
</root>"""


def attempt(node: TreeNode) -> NodeStatus:
    """Fail with a reason."""
    node.set_failure_reason(node.get_input("but"))
    return NodeStatus.FAILURE


factory = BehaviorTreeFactory()
factory.register_simple_action("Try", attempt, [InputPort("but", str)])
tree = factory.create_tree_from_text(XML)
tree.tick_while_running()
reason = tree.failure_reason()
assert reason is not None
print(reason)
for cause in reason.causes:
    print(cause)
