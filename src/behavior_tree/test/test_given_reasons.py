# SPDX-License-Identifier: Apache-2.0
"""`Tree.given_reasons`: also what a node said before it started again in the same tick."""

from behavior_tree import BehaviorTreeFactory, NodeStatus, TreeNode


def test_reasons_of_all_attempts_of_one_tick_are_kept() -> None:
    attempts: list[str] = ["cold", "", "hot", "wet"]

    def work(node: TreeNode) -> NodeStatus:
        node.set_failure_reason(attempts.pop(0))
        return NodeStatus.FAILURE

    factory = BehaviorTreeFactory()
    factory.register_simple_action("Work", work)
    tree = factory.create_tree_from_text(
        '<root BTCPP_format="4"><BehaviorTree ID="main">'
        '<Repeat num_cycles="2"><ForceSuccess><RetryUntilSuccessful num_attempts="2"><Work/>'
        "</RetryUntilSuccessful></ForceSuccess></Repeat></BehaviorTree></root>"
    )
    assert tree.given_reasons() == []
    tree.record_ticks()
    told = []
    while tree.tick_exactly_once() is NodeStatus.RUNNING:
        told += tree.given_reasons()
    told += tree.given_reasons()
    work_node = list(tree.nodes())[-1]
    assert told == [(work_node, "cold"), (work_node, "hot"), (work_node, "wet")]
    tree.record_ticks(False)
    assert tree.given_reasons() == []
