# SPDX-License-Identifier: Apache-2.0
"""Nav2's control nodes, decorators and conditions, by what nav2_behavior_tree's sources do."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from geometry_msgs.msg import PoseStamped
from std_msgs.msg import String

from behavior_navigation.nav2.tree_nodes import register_for
from behavior_tree import (
    ActionNodeBase,
    BehaviorTreeFactory,
    NodeExecutionError,
    NodeStatus,
    Tree,
    TreeNode,
)

STATUS = {"R": "RUNNING", "S": "SUCCESS", "F": "FAILURE", "K": "SKIPPED"}
LETTER = {name: letter for letter, name in STATUS.items()}


class Scripted(ActionNodeBase):
    """Gives one letter after the other, the last one again and again; also after it has ended."""

    def __init__(self, name: str, config: Any, bench: Bench, letters: str) -> None:
        super().__init__(name, config)
        self._bench, self._letters, self._ticks = bench, letters, 0

    def tick(self) -> NodeStatus:
        self._bench.log += str(self.name)
        letter = self._letters[min(self._ticks, len(self._letters) - 1)]
        self._ticks += 1
        if letter == "F":
            self.set_failure_reason(f"{self.name} failed")
        return NodeStatus[STATUS[letter]]

    def halt(self) -> None:
        self._bench.log += f"!{self.name}"
        self.reset_status()


class Bench:
    """Leaves A to D that follow letters, and a clock that is moved by hand."""

    def __init__(self, **leaves: str) -> None:
        self.now, self.log = 100.0, ""
        self.factory = BehaviorTreeFactory(clock=lambda: self.now)
        self.where: tuple[float, float] | None = (0.0, 0.0)
        self.fast = 0.0
        self.sent: dict[str, Any] = {}
        register_for(self.factory, self)
        for name, letters in leaves.items():
            self.factory.register_node_type(Scripted, name, self, letters)

    def position(self, frame: str, robot: str) -> tuple[float, float] | None:
        return self.where

    def speed(self) -> float:
        return self.fast

    def newest(self, kind: Any, topic: str, *, latched: bool = False) -> Any:
        return self.sent.get(topic)

    def tree(self, body: str) -> Tree:
        return self.factory.create_tree_from_text(
            f'<root BTCPP_format="4"><BehaviorTree ID="T">{body}</BehaviorTree></root>'
        )

    def ticks(self, body: str, count: int) -> str:
        tree = self.tree(body)
        return "".join(LETTER[tree.tick_exactly_once().name] for _ in range(count))


def bare(names: str) -> str:
    return "".join(f'<{name} name="{name}"/>' for name in names)


@pytest.mark.parametrize(
    ("leaves", "results", "log"),
    [
        # The table in Nav2's documentation of the node: A is ticked again while B runs.
        ({"A": "RSR", "B": "RSS", "C": "RS"}, "RRRS", "AABABCABC!A"),
        ({"A": "S", "B": "RF", "C": "S"}, "RF", "ABAB"),
        ({"A": "R", "B": "S", "C": "S"}, "RR", "AA"),
        ({"A": "K", "B": "K", "C": "K"}, "K", "ABC"),
        ({"A": "K", "B": "S", "C": "K"}, "S", "ABC"),
        ({"A": "SR", "B": "RF", "C": "S"}, "RF", "ABAB!A"),
    ],
)
def test_pipeline_sequence(leaves: dict[str, str], results: str, log: str) -> None:
    bench = Bench(**leaves)
    body = f"<PipelineSequence>{bare('ABC')}</PipelineSequence>"
    assert bench.ticks(body, len(results)) == results
    assert bench.log == log


@pytest.mark.parametrize(
    ("leaves", "results", "log"),
    [
        ({"A": "RS", "B": "R", "C": "RS"}, "RRR", "ABCABCABC"),
        ({"A": "RS", "B": "RRS", "C": "S"}, "RRS", "ABCABCABC"),
        ({"A": "R", "B": "RF", "C": "R"}, "RF", "ABCAB!A!C"),
        ({"A": "K", "B": "S", "C": "K"}, "S", "ABC"),
    ],
)
def test_nonblocking_sequence(leaves: dict[str, str], results: str, log: str) -> None:
    bench = Bench(**leaves)
    body = f"<NonblockingSequence>{bare('ABC')}</NonblockingSequence>"
    assert bench.ticks(body, len(results)) == results
    assert bench.log == log


def persistent(bench: Bench) -> Tree:
    return bench.tree(
        "<PersistentSequence current_child_idx='{current_child_idx}'>"
        f"{bare('ABC')}</PersistentSequence>"
    )


def test_persistent_sequence_goes_on_where_it_was_halted() -> None:
    bench = Bench(A="S", B="RRS", C="RS")
    tree = persistent(bench)
    with pytest.raises(NodeExecutionError, match="current_child_idx"):
        tree.tick_exactly_once()
    blackboard = tree.root_blackboard()
    blackboard.set("current_child_idx", 0)
    tree.tick_exactly_once()
    tree.halt_tree()
    assert blackboard.get("current_child_idx") == 1
    assert bench.log == "AB!B"
    assert [tree.tick_exactly_once().name for _ in range(3)] == ["RUNNING", "RUNNING", "SUCCESS"]
    assert bench.log == "AB!BBBCC"
    assert blackboard.get("current_child_idx") == 0


def test_persistent_sequence_begins_anew_after_a_failure() -> None:
    bench = Bench(A="S", B="F", C="S")
    tree = persistent(bench)
    tree.root_blackboard().set("current_child_idx", 0)
    assert tree.tick_exactly_once() is NodeStatus.FAILURE
    assert tree.root_blackboard().get("current_child_idx") == 0
    tree.root_blackboard().set("current_child_idx", 7)  # nothing is left to be done
    assert tree.tick_exactly_once() is NodeStatus.SUCCESS


@pytest.mark.parametrize(
    ("leaves", "retries", "results", "log"),
    [
        ({"A": "S", "B": "S"}, 1, "S", "A"),
        ({"A": "FS", "B": "S"}, 1, "S", "ABA"),
        ({"A": "F", "B": "S"}, 2, "F", "ABABA"),
        ({"A": "F", "B": "F"}, 6, "F", "AB"),
        ({"A": "FRS", "B": "RS"}, 1, "RRS", "ABBAA"),
        ({"A": "F", "B": "K"}, 1, "FF", "ABAB"),
        ({"A": "K", "B": "S"}, 1, "K", "A"),
        ({"A": "F", "B": "S"}, 0, "F", "A"),
    ],
)
def test_recovery_node(leaves: dict[str, str], retries: int, results: str, log: str) -> None:
    bench = Bench(**leaves)
    body = f'<RecoveryNode number_of_retries="{retries}">{bare("AB")}</RecoveryNode>'
    assert bench.ticks(body, len(results)) == results
    assert bench.log == log


@pytest.mark.parametrize("recovery", ["S", "F"])
def test_a_recovery_tells_why_what_it_was_to_recover_failed(recovery: str) -> None:
    tree = Bench(A="F", B=recovery).tree(f"<RecoveryNode>{bare('AB')}</RecoveryNode>")
    tree.tick_exactly_once()
    reason = tree.failure_reason()
    assert reason is not None
    assert reason.text == "A failed"


def test_a_recovery_has_two_children() -> None:
    with pytest.raises(RuntimeError, match="2"):
        Bench(A="S").tree(f"<RecoveryNode>{bare('A')}</RecoveryNode>")


@pytest.mark.parametrize(
    ("leaves", "wraps", "results", "log"),
    [
        ({"A": "S", "B": "S", "C": "S"}, True, "SSSS", "ABCA"),
        ({"A": "RF", "B": "RSF", "C": "F"}, True, "RRSF", "AABBCAB"),
        ({"A": "F", "B": "F", "C": "F"}, True, "F", "ABC"),
        ({"A": "F", "B": "F", "C": "F"}, False, "FF", "ABCABC"),
        ({"A": "F", "B": "S", "C": "F"}, False, "SF", "ABC"),
        ({"A": "F", "B": "F", "C": "S"}, False, "SS", "ABCABC"),
        ({"A": "K", "B": "S", "C": "F"}, True, "S", "AB"),
        ({"A": "K", "B": "K", "C": "F"}, True, "F", "ABC"),
        ({"A": "K", "B": "K", "C": "K"}, True, "K", "ABC"),
        ({"A": "K", "B": "K", "C": "K"}, False, "K", "ABC"),
    ],
)
def test_round_robin(leaves: dict[str, str], wraps: bool, results: str, log: str) -> None:
    bench = Bench(**leaves)
    text = str(wraps).lower()
    body = f'<RoundRobin wrap_around="{text}">{bare("ABC")}</RoundRobin>'
    tree = bench.tree(body)
    # As below a Fallback, that does not reset what it ticks again.
    got = "".join(LETTER[tree.root_node().execute_tick().name] for _ in results)
    assert got == results
    assert bench.log == log


def test_rate_controller_counts_from_the_childs_last_success() -> None:
    bench = Bench(A="RSSF")
    tree = bench.tree(f"<RateController hz='2.0'>{bare('A')}</RateController>")
    root = tree.root_node()
    seen = ""
    for step in (0.0, 0.6, 0.2, 0.2, 0.2, 0.4, 0.2):
        bench.now += step
        seen += LETTER[root.execute_tick().name]
    #             first tick, A runs, held, held, 0.6 s later, held, due
    assert seen == "RSRRSRF"
    assert bench.log == "AAAA"


def test_rate_controller_has_the_tree_ticked_when_it_is_due() -> None:
    bench = Bench(A="S")
    tree = bench.tree(f"<RateController hz='4.0'>{bare('A')}</RateController>")
    tree.root_node().execute_tick()
    assert tree.runtime.next_deadline() == pytest.approx(bench.now + 0.25)
    tree.root_node().execute_tick()
    tree.halt_tree()
    assert tree.runtime.next_deadline() is None


def test_a_rate_of_nothing_is_refused() -> None:
    tree = Bench(A="S").tree(f"<RateController hz='0'>{bare('A')}</RateController>")
    with pytest.raises(NodeExecutionError, match="positive rate"):
        tree.tick_exactly_once()


def test_speed_controller_runs_its_child_the_more_often_the_faster() -> None:
    bench = Bench(A="S")
    body = "<SpeedController min_rate='0.5' max_rate='2.0' max_speed='1.0'>{}</SpeedController>"
    tree = bench.tree(body.format(bare("A")))

    def runs(seconds: float) -> int:
        before = len(bench.log)
        for _ in range(round(seconds / 0.25)):
            bench.now += 0.25
            tree.root_node().execute_tick()
        return len(bench.log) - before

    tree.root_node().execute_tick()
    bench.fast = 5.0
    assert runs(4.0) == 8  # 2 Hz
    bench.fast = 0.0
    assert runs(0.5) == 1  # the last period was that of full speed
    assert runs(4.0) == 2  # 0.5 Hz
    tree.root_blackboard().set("goal", "elsewhere")
    assert runs(0.25) == 1  # at once


def test_distance_controller_counts_from_where_its_child_succeeded() -> None:
    bench = Bench(A="S")
    root = bench.tree(
        f"<DistanceController distance='0.5'>{bare('A')}</DistanceController>"
    ).root_node()
    for x, result, runs in ((0.0, "S", 1), (0.4, "R", 1), (0.6, "S", 2), (1.0, "R", 2)):
        bench.where = (x, 0.0)
        assert (LETTER[root.execute_tick().name], len(bench.log)) == (result, runs)
    bench.where = None
    assert root.execute_tick() is NodeStatus.FAILURE
    assert root.failure_reason() == "where the robot is is not known"


def test_goal_updated_controller_runs_its_child_for_new_goals() -> None:
    bench = Bench(A="S")
    tree = bench.tree(f"<GoalUpdatedController>{bare('A')}</GoalUpdatedController>")
    for goal, runs in (("a", 1), ("a", 1), ("b", 2), ("b", 2)):
        tree.root_blackboard().set("goal", goal)
        tree.root_node().execute_tick()
        assert len(bench.log) == runs


def test_single_trigger_runs_its_child_once() -> None:
    bench = Bench(A="RS")
    tree = bench.tree(f"<SingleTrigger>{bare('A')}</SingleTrigger>")
    root = tree.root_node()
    assert "".join(LETTER[root.execute_tick().name] for _ in range(4)) == "RSFF"
    tree.halt_tree()
    assert root.execute_tick() is NodeStatus.SUCCESS


def path_of(*points: float) -> Any:
    def pose(x: float) -> Any:
        return SimpleNamespace(pose=SimpleNamespace(position=SimpleNamespace(x=x, y=0.0, z=0.0)))

    return SimpleNamespace(poses=[pose(x) for x in points])


def test_path_longer_on_approach_runs_its_child_for_a_detour_near_the_goal() -> None:
    bench = Bench(A="F")
    tree = bench.tree(f"<PathLongerOnApproach path='{{path}}'>{bare('A')}</PathLongerOnApproach>")
    near, longer = path_of(0.0, 2.0), path_of(0.0, -1.5, 2.0)
    for path, result in (
        (None, "S"),
        (near, "S"),  # the first path
        (near, "S"),  # the same one
        (longer, "F"),  # 5 m instead of 2 m
        (longer, "S"),
        (path_of(0.0, -9.0, 2.0), "S"),  # too far from the goal
        (path_of(0.0, 30.0, 3.0), "S"),  # another goal
    ):
        tree.root_blackboard().set("path", path)
        assert LETTER[tree.root_node().execute_tick().name] == result
    assert bench.log == "A"


def condition(bench: Bench, body: str) -> tuple[Callable[[], str], TreeNode, Any]:
    tree = bench.tree(body)
    root = tree.root_node()
    return lambda: LETTER[root.execute_tick().name], root, tree.root_blackboard()


def test_goal_updated_forgets_when_it_is_halted_and_global_updated_goal_does_not() -> None:
    for name, expected in (("GoalUpdated", "FFSFFF"), ("GlobalUpdatedGoal", "SFSFSF")):
        tick, root, blackboard = condition(Bench(), f"<{name}/>")
        seen = ""
        for goal in "aab":
            blackboard.set("goal", goal)
            seen += tick()
        seen += tick()
        root.halt_node()
        root.reset_status()
        blackboard.set("goal", "c")
        seen += tick() + tick()
        assert seen == expected


@pytest.mark.parametrize(
    ("name", "code", "helps"),
    [
        ("WouldAPlannerRecoveryHelp", 208, True),
        ("WouldAPlannerRecoveryHelp", 206, False),
        ("WouldAControllerRecoveryHelp", 105, True),
        ("WouldAControllerRecoveryHelp", 103, False),
        ("WouldASmootherRecoveryHelp", 504, True),
        ("WouldARouteRecoveryHelp", 405, True),
        ("AreErrorCodesPresent error_codes_to_check='5;7'", 7, True),
        ("AreErrorCodesPresent error_codes_to_check='5;7'", 6, False),
    ],
)
def test_error_codes(name: str, code: int, helps: bool) -> None:
    tick, root, blackboard = condition(Bench(), f"<{name} error_code='{{code}}'/>")
    assert tick() == "F"  # nobody has written one
    blackboard.set("code", code)
    assert tick() == ("S" if helps else "F")
    assert helps or f"error code {code} is none of" in root.failure_reason()


def test_times_that_expire() -> None:
    bench = Bench()
    tick, *_ = condition(bench, "<TimeExpired seconds='1.0'/>")
    seen = ""
    for _ in range(6):
        seen += tick()
        bench.now += 0.5
    assert seen == "FFSFSF"
    bench.now = -100.0  # the clock is set back
    seen = tick()
    bench.now += 1.0
    assert seen + tick() == "FS"
    tick, root, blackboard = condition(bench, "<PathExpiringTimer seconds='1.0' path='{path}'/>")
    seen = ""
    for path in "aaabbb":
        blackboard.set("path", path)
        seen += tick()
        root.reset_status()
        bench.now += 0.5
    assert seen == "FFSFFS"


def test_path_tracking_bounds() -> None:
    tick, root, blackboard = condition(
        Bench(), "<IsWithinPathTrackingBounds max_error_left='0.2' tracking_feedback='{t}'/>"
    )
    assert tick() == "S"
    for error, heading, result in ((0.1, 0.0, "S"), (0.3, 0.0, "F"), (-0.3, 0.0, "S"), (0, 4, "F")):
        feedback = {"position_tracking_error": error, "heading_tracking_error": heading}
        blackboard.set("t", SimpleNamespace(**feedback))
        assert tick() == result
    assert root.failure_reason() == "the robot is 4.00 rad turned from its path"


def test_an_initial_pose() -> None:
    tick, _, blackboard = condition(Bench(), "<InitialPoseReceived/>")
    assert tick() == "F"
    blackboard.set("initial_pose_received", True)
    assert tick() == "S"


def test_goal_updater_takes_goals_that_are_no_older_than_the_one_given() -> None:
    bench = Bench(A="R")
    tree = bench.tree(
        f"<GoalUpdater input_goal='{{goal}}' output_goal='{{new}}'>{bare('A')}</GoalUpdater>"
    )
    blackboard, given = tree.root_blackboard(), pose_of("given", 5)
    blackboard.set("goal", given)
    for name, second, wins in (("old", 4, False), ("no stamp", 0, False), ("new", 5, True)):
        bench.sent["goal_update"] = sent = pose_of(name, second)
        assert tree.tick_exactly_once() is NodeStatus.RUNNING
        assert blackboard.get("new") is (sent if wins else given)


def pose_of(frame: str, second: int) -> PoseStamped:
    made = PoseStamped()
    made.header.frame_id, made.header.stamp.sec = frame, second
    return made


def test_selectors_write_what_was_chosen_last() -> None:
    bench = Bench()
    tick, root, blackboard = condition(
        bench, "<PlannerSelector default_planner='Grid' selected_planner='{chosen}'/>"
    )
    assert (tick(), blackboard.get("chosen")) == ("S", "Grid")
    bench.sent["planner_selector"] = String(data="Lattice")
    assert (tick(), blackboard.get("chosen")) == ("S", "Lattice")
    body = "<GoalCheckerSelector topic_name='choice' selected_goal_checker='{c}'/>"
    tick, root, blackboard = condition(bench, body)
    assert tick() == "F"
    assert root.failure_reason() == "nobody has chosen a goal checker"
