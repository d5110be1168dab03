# SPDX-License-Identifier: Apache-2.0
"""What a user is told of a failure: the first cause and the last one, through all retries."""

from __future__ import annotations

import pickle

import pytest
from tree_kit import Clock, xml

from behavior_tree import BehaviorTreeFactory, Cause, CauseKind, NodeStatus, Tree, TreeNode

FAILURE, RUNNING, SUCCESS = NodeStatus.FAILURE, NodeStatus.RUNNING, NodeStatus.SUCCESS


def tree_of(body: str, *, watched: bool = False, **attempts: list[str]) -> Tree:
    """Leaves fail with these reasons, one after the other; an empty one is a success."""

    def leaf(reasons: list[str]):
        def work(node: TreeNode) -> NodeStatus:
            text = reasons.pop(0) if len(reasons) > 1 else reasons[0]
            node.set_failure_reason(text)
            return FAILURE if text else SUCCESS

        return work

    factory = BehaviorTreeFactory(Clock())
    for name, reasons in attempts.items():
        factory.register_simple_action(name, leaf(list(reasons)))
    tree = factory.create_tree_from_text(xml(body))
    if watched:
        tree.record_ticks()
        tree.subscribe_status_change(lambda *_: None)
    return tree


def told(tree: Tree) -> str:
    while tree.tick_once() is RUNNING:
        pass
    reason = tree.failure_reason()
    assert reason is not None
    return str(reason)


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize(
    "body",
    [
        '<RetryUntilSuccessful name="r" num_attempts="3"><Pick name="pick"/>'
        "</RetryUntilSuccessful>",
        '<RetryUntilSuccessful name="r" num_attempts="{n}"><Pick name="pick"/>'
        "</RetryUntilSuccessful>",
    ],
)
def test_a_retry_tells_the_first_attempt_and_the_last(watched, body):
    tree = tree_of(body, watched=watched, Pick=["it slipped", "no plan", "it is held already"])
    tree.root_blackboard().set("n", 3)
    assert told(tree) == (
        "r: every attempt failed; the first: pick: it slipped; the last: pick: it is held already"
    )
    assert [cause.text for cause in tree.failure_reason().causes] == [
        "it slipped",
        "it is held already",
    ]


def test_attempts_that_fail_alike_are_told_once():
    body = '<RetryUntilSuccessful num_attempts="3"><Pick name="pick"/></RetryUntilSuccessful>'
    assert told(tree_of(body, Pick=["no plan"])) == "pick: no plan"


def test_an_earlier_run_of_a_retry_is_forgotten():
    body = (
        '<Repeat num_cycles="2"><RetryUntilSuccessful name="r" num_attempts="2">'
        '<Pick name="pick"/></RetryUntilSuccessful></Repeat>'
    )
    text = told(tree_of(body, Pick=["old", "", "cold", "hot"]))
    assert text == "r: every attempt failed; the first: pick: cold; the last: pick: hot"


def test_first_and_last_survive_nested_retries_and_fallbacks():
    body = (
        '<RetryUntilSuccessful num_attempts="4"><Fallback>'
        '<RetryUntilSuccessful num_attempts="2"><Pick name="pick"/></RetryUntilSuccessful>'
        '<ForceFailure><Open name="open"/></ForceFailure>'
        "</Fallback></RetryUntilSuccessful>"
    )
    reasons = [f"{chr(97 + number) * 300} {number} " + "z" * 400 for number in range(8)]
    text = told(tree_of(body, Pick=reasons, Open=[""]))
    assert "a" * 100 in text, "how it began"
    assert "h" * 50 in text, "how it ended"
    assert len(text) <= 2100


def test_of_many_causes_the_last_one_is_told_too():
    leaves = "".join(f'<L{number} name="n{number}"/>' for number in range(8))
    tree = tree_of(
        f'<Fallback name="f">{leaves}</Fallback>', **{f"L{n}": [f"broken {n}"] for n in range(8)}
    )
    assert told(tree).endswith("n3: broken 3; and 3 more; n7: broken 7")
    assert len(tree.failure_reason().causes) == 8


def test_a_timeout_tells_why_the_attempts_failed_meanwhile():
    clock = Clock()
    reasons = ["no map", "no pose"]
    factory = BehaviorTreeFactory(clock)

    def work(node: TreeNode) -> NodeStatus:
        node.set_failure_reason(reasons.pop(0) if len(reasons) > 1 else reasons[0])
        return FAILURE

    factory.register_simple_action("Localize", work)
    tree = factory.create_tree_from_text(
        xml(
            '<Timeout msec="500"><RetryUntilSuccessful name="r" num_attempts="-1">'
            '<Localize name="localize"/></RetryUntilSuccessful></Timeout>'
        )
    )
    for _ in range(3):
        assert tree.tick_exactly_once() is RUNNING
    clock.now += 0.6
    assert tree.tick_exactly_once() is FAILURE
    assert tree.failure_reason().text == (
        "timeout of 500 ms, 'r' was running; attempts failed meanwhile: 3;"
        " the first: localize: no map; the last: localize: no pose"
    )


def test_a_cause_reads_as_a_sentence_and_keeps_what_it_is_on_its_way_up():
    cause = Cause(CauseKind.SERVER_LOST, "no oven", remedy="start it", evidence="OVEN_OFF")
    assert (cause, str(cause.at("cook"))) == ("no oven: start it", "cook: no oven: start it")
    told = cause.at("cook")
    assert (told.kind, told.remedy, told.evidence) == (cause.kind, "start it", "OVEN_OFF")
    assert Cause.of(cause) is cause
    assert vars(pickle.loads(pickle.dumps(cause))) == vars(cause)
    assert Cause.of("burnt").kind is CauseKind.OTHER
    tree = tree_of("<Fallback><A/><B/></Fallback>", A=[cause], B=["burnt"])
    assert tree.tick_once() is NodeStatus.FAILURE
    reason = tree.failure_reason()
    assert [leaf.cause for leaf in reason.leaves()] == ["no oven: start it", "burnt"]
    kinds = [leaf.cause.kind for leaf in reason.leaves()]
    assert kinds == [CauseKind.SERVER_LOST, CauseKind.OTHER]
    assert "no oven: start it" in reason.text
