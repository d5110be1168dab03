# SPDX-License-Identifier: Apache-2.0
"""What a program is told of a failed mission: kind, node, evidence and remedy, beside the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from behavior_msgs.msg import FailureCause
from core_bench import TREE, Bench

from behavior_executor.conversion import failure_message, feedback_message
from behavior_executor.missions.mission import Code, Mission, MissionRequest, State, ended_by
from behavior_executor.running.feedback import progress_of, refusal
from behavior_executor.running.tree_run import Activity
from behavior_tree import Cause, CauseKind, FailureReason, NodeStatus, TreeNode

SLOW = Cause(
    CauseKind.TIMED_OUT, "it took 3 s", remedy="give it more time", evidence="PLANNING_FAILED"
)


def run(folder: Path, body: str) -> Mission:
    """A mission with the leaves `Plain`, which tells a mere text, and `Typed`, which tells SLOW."""
    bench = Bench(folder)

    def leaf(reason: str) -> None:
        def fail(node: TreeNode) -> NodeStatus:
            node.set_failure_reason(reason)
            return NodeStatus.FAILURE

        name = "Typed" if reason is SLOW else "Plain"
        bench.factory.register_simple_action(name, fail)

    leaf(SLOW)
    leaf("it just failed")

    def broken(node: TreeNode) -> NodeStatus:
        raise RuntimeError("a fault")

    bench.factory.register_simple_action("Broken", broken)
    (folder / "job.xml").write_text(TREE.format(about="job", body=body))
    return bench.run("job")


def told(mission: Mission) -> FailureCause:
    return feedback_message(progress_of(mission, Activity(), 0.0)).failure


def test_a_leafs_cause_comes_as_values_with_its_path(tmp_path: Path) -> None:
    mission = run(tmp_path, "<Sequence><AlwaysSuccess/><Typed name='slow'/></Sequence>")
    failure = told(mission)
    assert (failure.kind, failure.node) == (FailureCause.TIMED_OUT, "slow")
    assert failure.sentence == "it took 3 s"
    assert (failure.evidence, failure.remedy) == ("PLANNING_FAILED", "give it more time")
    assert mission.code is Code.TREE_FAILED  # what the executor itself ended has the other codes
    assert "it took 3 s: give it more time (slow)" in mission.text


def test_of_several_leaves_the_one_that_knows_its_kind_is_told(tmp_path: Path) -> None:
    failure = told(run(tmp_path, "<Fallback><Plain/><Typed name='slow'/></Fallback>"))
    assert (failure.kind, failure.node) == (FailureCause.TIMED_OUT, "slow")


def test_a_mere_text_is_of_another_kind(tmp_path: Path) -> None:
    failure = told(run(tmp_path, "<Plain name='plain'/>"))
    assert (failure.kind, failure.node) == (FailureCause.OTHER, "plain")
    assert failure.sentence == "it just failed"


def test_a_node_that_raises_is_named(tmp_path: Path) -> None:
    failure = told(run(tmp_path, "<Broken name='broken'/>"))
    assert failure.node == "broken"
    assert "a fault" in failure.sentence


def test_what_ended_well_or_goes_on_has_no_failure(tmp_path: Path) -> None:
    assert told(run(tmp_path, "<AlwaysSuccess/>")) == FailureCause()
    assert told(Mission(MissionRequest("m", name="m"), 0.0)) == FailureCause()


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (Code.BUSY, FailureCause.REJECTED),
        (Code.UNKNOWN_MISSION, FailureCause.REJECTED),
        (Code.INVALID_REQUEST, FailureCause.INVALID_INPUT),
        (Code.CANCELED_BY_CLIENT, FailureCause.CANCELED),
        (Code.SERVER_LOST, FailureCause.SERVER_LOST),
        (Code.TIMED_OUT, FailureCause.TIMED_OUT),
        (Code.NO_ROUTE, FailureCause.OTHER),
    ],
)
def test_what_the_executor_ended_follows_its_code(code: Code, kind: int) -> None:
    message = feedback_message(refusal("m", "m", code, "so it is", State.FAILED))
    assert (message.failure.kind, message.failure.sentence) == (kind, "so it is")


def test_every_kind_has_its_number() -> None:
    numbers = {getattr(FailureCause, kind.name) for kind in CauseKind}
    assert len(numbers) == len(CauseKind)
    assert FailureCause.NONE not in numbers


def test_its_texts_have_a_bounded_length() -> None:
    long = Cause(CauseKind.OTHER, "x" * 100_000, remedy="y" * 100_000, evidence="z" * 100_000)
    failure = failure_message(
        ended_by(Code.TREE_FAILED, "", FailureReason("p" * 100_000, long, cause=long))
    )
    for text in (failure.node, failure.sentence, failure.evidence, failure.remedy):
        assert 0 < len(text) < 3000
