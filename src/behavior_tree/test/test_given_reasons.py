# SPDX-License-Identifier: Apache-2.0
"""`Tree.given_reasons`: also what a node said before it started again in the same tick."""

import pytest
from tree_kit import Clock, xml

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


ENGINE = {
    '<Timeout name="t" msec="100"><Work/></Timeout>': "t: timeout of 100 ms, 'Work::2' was running",
    '<Precondition name="p" if="1 > 2" else="FAILURE"><Work/></Precondition>': (
        "p: precondition is false: 1 > 2"
    ),
    '<LoopInt name="l" queue="{none}" value="{v}" if_empty="FAILURE"><Work/></LoopInt>': (
        "l: the queue is empty"
    ),
    '<AlwaysSuccess name="a" _failureIf="1 &lt; 2"/>': "a: _failureIf: 1 < 2",
    '<SetBlackboard name="s" value="{v}" output_key="w"/>': "s: entry [v] is empty",
}


@pytest.mark.parametrize("body", ENGINE)
def test_reasons_of_the_engines_own_nodes_are_kept_with_their_failure(body: str) -> None:
    clock = Clock()
    factory = BehaviorTreeFactory(clock)
    factory.register_simple_stateful_action(
        "Work", lambda node: NodeStatus.RUNNING, lambda node: NodeStatus.RUNNING
    )
    tree = factory.create_tree_from_text(xml(body))
    tree.root_blackboard().create_entry("v", int)
    tree.root_blackboard().set("none", [])
    tree.record_ticks()
    while tree.tick_exactly_once() is NodeStatus.RUNNING:
        assert tree.given_reasons() == []
        clock.now += 0.06
    assert [f"{node.full_path()}: {text}" for node, text in tree.given_reasons()] == [ENGINE[body]]


@pytest.mark.parametrize("before", [True, False])
def test_a_failure_that_a_hook_imposes_is_given_with_its_reason(before: bool) -> None:
    factory = BehaviorTreeFactory()
    tree = factory.create_tree_from_text(xml('<AlwaysSuccess name="a"/>'))
    node = list(tree.nodes())[-1]
    tree.record_ticks()
    given = [(node, f"imposed {'instead of' if before else 'after'} the tick")]
    for status in (NodeStatus.FAILURE, NodeStatus.SUCCESS):
        if before:
            node.set_pre_tick(lambda node, status=status: status)
        else:
            node.set_post_tick(lambda node, was, status=status: status)
        assert tree.tick_exactly_once() is status
        assert tree.given_reasons() == (given if status is NodeStatus.FAILURE else [])


@pytest.mark.parametrize("before", [True, False])
def test_a_hook_that_says_why_it_imposes_a_failure_is_believed(before: bool) -> None:
    tree = BehaviorTreeFactory().create_tree_from_text(xml('<AlwaysSuccess name="a"/>'))
    node = list(tree.nodes())[-1]
    tree.record_ticks()

    def hook(node: TreeNode, *_: NodeStatus) -> NodeStatus:
        node.set_failure_reason("no luck")
        return NodeStatus.FAILURE

    (node.set_pre_tick if before else node.set_post_tick)(hook)
    assert tree.tick_exactly_once() is NodeStatus.FAILURE
    assert tree.given_reasons() == [(node, "no luck")]
    assert node.failure_reason() == "no luck"


def test_what_says_why_and_does_not_fail_gives_no_reason() -> None:
    factory = BehaviorTreeFactory()
    body = '<Sequence><Precondition if="1 > 2" else="SUCCESS"><AlwaysFailure/></Precondition>'
    body += '<LoopInt queue="{none}" value="{v}"><AlwaysFailure/></LoopInt></Sequence>'
    tree = factory.create_tree_from_text(xml(body))
    tree.root_blackboard().set("none", [])
    tree.record_ticks()
    assert tree.tick_exactly_once() is NodeStatus.SUCCESS
    assert tree.given_reasons() == []
