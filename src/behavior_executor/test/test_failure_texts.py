# SPDX-License-Identifier: Apache-2.0
"""What a client is told of a failed mission: how the trouble began, and how it ended."""

from __future__ import annotations

from pathlib import Path

from core_bench import TREE, Bench

from behavior_executor.missions.mission import Code
from behavior_tree import InputPort, NodeStatus, OutputPort, TreeNode


def bench_with(folder: Path, reasons: list[str], **settings: float) -> Bench:
    """A bench whose skill `Pick` fails with these reasons in turn; an empty one is a success."""
    bench = Bench(folder, **settings)

    def pick(node: TreeNode) -> NodeStatus:
        text = reasons.pop(0) if len(reasons) > 1 else reasons[0]
        node.set_failure_reason(text)
        return NodeStatus.FAILURE if text else NodeStatus.SUCCESS

    bench.factory.register_simple_action("Pick", pick, [OutputPort("phase", str)])
    bench.factory.register_simple_condition(
        "Never", lambda node: NodeStatus.FAILURE, [InputPort("x", str, "")]
    )
    return bench


def write(bench: Bench, name: str, body: str) -> None:
    (bench.folder / f"{name}.xml").write_text(TREE.format(about=name, body=body))


def test_retries_hide_neither_the_cause_nor_the_end(tmp_path: Path) -> None:
    reasons = ["no placement is reachable", "the gripper holds 'red_block' already"]
    bench = bench_with(tmp_path, reasons)
    write(
        bench,
        "again",
        "<RetryUntilSuccessful num_attempts='3'><Pick name='pick' phase='{p}'/>"
        "</RetryUntilSuccessful>",
    )
    mission = bench.run("again")
    assert mission.code is Code.TREE_FAILED
    for words in ("no placement is reachable", "the gripper holds 'red_block' already"):
        assert words in mission.text


def test_a_failure_that_a_fallback_made_good_is_told_when_the_mission_fails_later(
    tmp_path: Path,
) -> None:
    bench = bench_with(tmp_path, ["it slipped", ""])
    write(
        bench,
        "later",
        "<Sequence><Fallback><Pick name='pick' phase='{p}'/><AlwaysSuccess/></Fallback>"
        "<Never name='placed'/></Sequence>",
    )
    text = bench.run("later").text
    assert text == (
        "Never returned FAILURE (placed); the mission's first failure: it slipped (pick)"
    )


def test_a_mission_out_of_time_tells_what_failed_meanwhile(tmp_path: Path) -> None:
    bench = bench_with(tmp_path, ["no plan", "no grasp"], mission_timeout=2.0)
    write(
        bench,
        "endless",
        "<RetryUntilSuccessful num_attempts='-1'><Pick name='pick' phase='{p}'/>"
        "</RetryUntilSuccessful>",
    )
    mission = bench.run("endless")
    assert mission.code is Code.TIMED_OUT
    assert mission.text == (
        "not finished after 2 s (mission_timeout); the mission's first failure: no plan (pick);"
        " its last failure: no grasp (pick)"
    )


def test_a_text_has_a_bounded_length(tmp_path: Path) -> None:
    bench = bench_with(tmp_path, ["first " + "x" * 10_000, "last " + "y" * 10_000])
    write(
        bench,
        "long",
        "<RetryUntilSuccessful num_attempts='2'><Pick name='pick' phase='{p}'/>"
        "</RetryUntilSuccessful>",
    )
    text = bench.run("long").text
    assert len(text) < 3000
    assert "first " in text
    assert "last " in text
