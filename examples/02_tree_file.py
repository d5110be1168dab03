# SPDX-License-Identifier: Apache-2.0
"""A tree from a file that Groot2 opens too; its SubTree is used twice, with a parameter.

Prints:
    knocked 4 times: SUCCESS
"""

from pathlib import Path

from behavior_tree import BehaviorTreeFactory, NodeStatus, TreeNode

knocks: list[str] = []


def is_opened(node: TreeNode) -> NodeStatus:
    """Nobody is at the front door."""
    knocks.append(node.full_path())
    return NodeStatus.SUCCESS if len(knocks) > 3 else NodeStatus.FAILURE


factory = BehaviorTreeFactory()
factory.register_simple_condition("IsOpened", is_opened)
tree = factory.create_tree_from_file(Path(__file__).with_name("02_knock.xml"))
status = tree.tick_while_running()
print(f"knocked {len(knocks)} times: {status.name}")
