# SPDX-License-Identifier: Apache-2.0
"""The executor without ROS, on small trees."""

from dataclasses import replace
from pathlib import Path

import pytest
from core_bench import TREE, Bench

from behavior_executor.missions.mission import (
    Code,
    Kind,
    Mission,
    MissionError,
    MissionRequest,
    Policy,
    State,
)
from behavior_executor.missions.report import Report
from behavior_executor.running.feedback import FeedbackGate, progress_of
from behavior_executor.running.tree_run import Activity
from behavior_tree import Cause, CauseKind, NodeStatus
from behavior_tree.authoring import register_authoring_nodes

LOST = Cause(CauseKind.SERVER_LOST, "action /pick: the server of /pick is gone")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_good_mission_passes_through_its_states(bench: Bench) -> None:
    mission = bench.run("good")
    assert (mission.code, mission.state) == (Code.SUCCESS, State.FINISHED)
    assert [state for _, state in bench.events] == [
        State.WAITING,
        State.INITIALIZING,
        State.RUNNING,
        State.FINISHED,
    ]
    assert mission.elapsed(99.0) == pytest.approx(1.0, abs=0.06)
    names = {metric.name: metric.value for metric in bench.core.metrics()}
    assert names["missions_success"] == 1.0
    assert names["execution_time"].samples >= 20


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("fails", Code.TREE_FAILED, ["too hot", "lathe"]),
        ("raises", Code.TREE_ERROR, ["bad one", "boom"]),
        ("skipped", Code.TREE_FAILED, ["skipped"]),
        ("unknown_node", Code.INVALID_TREE, ["unknown_node.xml:4", "Pikc"]),
        ("missing_tree", Code.INVALID_TREE, ["missing_tree.xml:3", "elsewhere"]),
        ("missing_include", Code.INVALID_TREE, ["missing_include.xml:3", "nowhere.xml"]),
        ("not_xml", Code.INVALID_TREE, ["not_xml.xml:3"]),
    ],
)
def test_bad_missions_end_with_their_reason_and_the_next_one_runs(
    bench: Bench, name: str, code: Code, words: list[str]
) -> None:
    mission = bench.run(name)
    assert mission.code is code
    assert mission.state is State.FAILED
    for word in words:
        assert word in mission.text
    bench.events.clear()
    assert bench.run("good").code is Code.SUCCESS


def test_last_report_tells_how_far_the_tree_came(bench: Bench) -> None:
    assert bench.run("tells").code is Code.TREE_FAILED
    assert bench.last_detail == "half done"
    assert bench.core.activity == Activity()


def test_file_that_vanished_between_request_and_start(bench: Bench) -> None:
    mission = bench.submit("good")
    (bench.folder / "good.xml").unlink()
    bench.tick()
    assert mission.code is Code.UNKNOWN_MISSION
    assert mission.state is State.FAILED


def test_mended_file_counts_at_once(bench: Bench) -> None:
    assert bench.run("unknown_node").code is Code.INVALID_TREE
    text = (bench.folder / "unknown_node.xml").read_text()
    (bench.folder / "unknown_node.xml").write_text(text.replace("<Pikc/>", "<AlwaysSuccess/>"))
    assert bench.run("unknown_node").code is Code.SUCCESS


def test_unknown_mission_and_unserved_kinds_are_refused(bench: Bench) -> None:
    with pytest.raises(MissionError, match="did you mean 'good'") as error:
        bench.submit("goood")
    assert error.value.code is Code.UNKNOWN_MISSION
    with pytest.raises(MissionError, match=r"NAVIGATE_TO_POSE.*navigation_tree") as error:
        bench.submit("", kind=Kind.NAVIGATE_TO_POSE)
    assert error.value.code is Code.UNKNOWN_MISSION
    assert bench.events == []


def test_second_mission_rejected(bench: Bench) -> None:
    first = bench.submit("forever")
    bench.tick()
    with pytest.raises(MissionError, match="'forever' runs") as error:
        bench.submit("good", "b")
    assert error.value.code is Code.BUSY
    bench.tick()
    assert first.state is State.RUNNING
    assert bench.halted == 0


def test_second_mission_queued(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Policy.QUEUE)
    bench.submit("forever")
    bench.tick()
    second = bench.submit("good", "b")
    bench.tick()
    assert second.state is State.WAITING
    bench.core.cancel("a")
    assert bench.halted == 1
    for _ in range(40):
        bench.tick()
    assert second.code is Code.SUCCESS
    assert second.state is State.FINISHED


def test_second_mission_replaces_the_first_by_its_own_policy(bench: Bench) -> None:
    first = bench.submit("forever")
    bench.tick()
    second = bench.submit("good", "b", policy=Policy.REPLACE)
    # Halted at once, not at the next tick.
    assert bench.halted == 1
    assert (first.state, first.code) == (State.CANCELED, Code.REPLACED)
    assert ("a", State.CANCELED) in bench.events
    bench.tick()
    assert second.state is State.RUNNING


@pytest.mark.parametrize("ticks", [0, 1, 2, 10])
def test_cancel_at_every_phase(bench: Bench, ticks: int) -> None:
    mission = bench.submit("forever")
    for _ in range(ticks):
        bench.tick()
    assert bench.core.cancel("a") is mission
    assert (mission.state, mission.code) == (State.CANCELED, Code.CANCELED_BY_CLIENT)
    assert bench.halted == (1 if ticks else 0)
    bench.tick()
    assert bench.events[-1] == ("a", State.CANCELED)
    with pytest.raises(MissionError):
        bench.core.cancel("a")
    assert bench.run("good").code is Code.SUCCESS


def test_cancel_by_request_of_type_cancel(bench: Bench) -> None:
    mission = bench.submit("forever")
    bench.tick()
    bench.submit("", "", kind=Kind.CANCEL)
    assert mission.code is Code.CANCELED_BY_CLIENT


def test_node_that_raises_while_halted_does_no_harm(bench: Bench) -> None:
    mission = bench.submit("stubborn")
    bench.tick()
    bench.core.cancel("")
    assert mission.state is State.CANCELED
    assert "boom" in bench.problems[-1]
    assert bench.run("good").code is Code.SUCCESS


def test_what_runs_beside_a_node_that_raises_while_halted_is_halted(bench: Bench) -> None:
    body = "<Parallel><Stubborn/><Wait name='arm'/></Parallel>"
    (bench.folder / "both.xml").write_text(TREE.format(about="Both", body=body))
    for request in (Kind.PAUSE, Kind.CANCEL):
        bench.halted = 0
        mission = bench.submit("both", request.name)
        bench.tick()
        bench.submit("", request.name, kind=request)
        assert bench.halted == 1, "an arm must not go on after its mission"
        assert "Stubborn" in bench.problems[-1]
        if not mission.is_final:
            bench.core.cancel("")


def test_a_pause_is_no_time_that_a_mission_takes(tmp_path: Path) -> None:
    bench = Bench(tmp_path, mission_timeout=2.0)
    mission = bench.submit("forever")
    for _ in range(2):
        bench.tick(0.5)
        bench.submit("", "a", kind=Kind.PAUSE)
        bench.tick(100.0)
        bench.submit("", "a", kind=Kind.RESUME)
    bench.tick(0.5)
    assert mission.state is State.RUNNING
    bench.tick(2.0)
    assert mission.code is Code.TIMED_OUT


@pytest.mark.parametrize("value", ["'half'", "1e308 * 10", "''"])
def test_progress_that_is_no_number_is_not_known(bench: Bench, value: str) -> None:
    body = f'<Sequence><Script code="mission_progress := {value}"/><Wait/></Sequence>'
    (bench.folder / "odd.xml").write_text(TREE.format(about="Odd", body=body))
    mission = bench.submit("odd")
    bench.tick()
    assert mission.state is State.RUNNING
    assert bench.core.activity.progress == -1.0


def test_pause_halts_the_tree_and_resume_ticks_it_again(bench: Bench) -> None:
    mission = bench.submit("forever")
    bench.tick()
    bench.submit("", "a", kind=Kind.PAUSE)
    assert (mission.state, bench.halted) == (State.PAUSED, 1)
    ticks = bench.last_run.ticks
    bench.tick()
    assert bench.last_run.ticks == ticks
    bench.submit("", "", kind=Kind.RESUME)
    bench.tick()
    assert mission.state is State.RUNNING
    assert bench.last_run.ticks == ticks + 1
    bench.submit("", "", kind=Kind.PAUSE)
    bench.core.cancel("")
    assert mission.state is State.CANCELED


def test_shutdown_halts_and_ends_all(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Policy.QUEUE)
    missions = [bench.submit("forever"), bench.submit("good", "b")]
    bench.tick()
    bench.core.shut_down()
    assert bench.halted == 1
    assert [m.code for m in missions] == [Code.SHUTDOWN] * 2
    bench.core.shut_down()


def test_mission_timeout(tmp_path: Path) -> None:
    bench = Bench(tmp_path, mission_timeout=2.0)
    mission = bench.run("forever")
    assert mission.code is Code.TIMED_OUT
    assert mission.elapsed(0.0) == pytest.approx(2.0, abs=0.1)
    assert bench.halted == 1


def test_lost_server_is_waited_for_then_named(tmp_path: Path) -> None:
    bench = Bench(tmp_path, server_lost_grace=1.0)
    bench.server = LOST
    mission = bench.submit("server")
    bench.tick()
    assert mission.state is State.RUNNING
    assert "waiting for a server" in mission.text
    while not mission.is_final:
        bench.tick()
    assert mission.code is Code.SERVER_LOST
    assert "/pick is gone" in mission.text
    assert mission.elapsed(0.0) == pytest.approx(1.0, abs=0.1)


def test_server_that_returns_goes_on_with_the_mission(tmp_path: Path) -> None:
    bench = Bench(tmp_path, server_lost_grace=1.0)
    bench.server = LOST
    mission = bench.submit("server")
    for _ in range(10):
        bench.tick()
    bench.server = None
    bench.tick()
    assert mission.code is Code.SUCCESS
    assert mission.state is State.FINISHED


def test_what_a_reason_is_tells_its_kind_and_not_its_words(bench: Bench) -> None:
    bench.server = "the guests say: server lost, no server of beer"
    assert bench.run("server").code is Code.TREE_FAILED


def test_server_that_returns_and_fails_for_another_reason(tmp_path: Path) -> None:
    bench = Bench(tmp_path, server_lost_grace=1.0)
    bench.server = LOST
    mission = bench.submit("server")
    for _ in range(10):
        bench.tick()
    bench.server = "no grasp"
    while not mission.is_final:
        bench.tick()
    assert mission.code is Code.TREE_FAILED
    assert "no grasp" in mission.text


def handled(bench: Bench, msec: int, catch: str = "Catch kind='SERVER_LOST'") -> str:
    name, kind = f"handled_{msec}", catch.split(maxsplit=1)[0]
    body = f"<Try><Server/><{catch}><Sleep msec='{msec}'/></{kind}></Try>"
    (bench.folder / f"{name}.xml").write_text(TREE.format(about="Handled", body=body))
    register_authoring_nodes(bench.factory)
    return name


@pytest.mark.parametrize("msec", [500, 3000])
def test_a_clause_for_lost_servers_works_as_long_as_it_needs(tmp_path: Path, msec: int) -> None:
    bench = Bench(tmp_path, server_lost_grace=1.0)
    bench.server = LOST
    mission = bench.run(handled(bench, msec))
    assert mission.code is Code.SUCCESS
    assert mission.elapsed(0.0) == pytest.approx(msec / 1000, abs=0.1)


def test_what_one_step_waited_for_is_not_told_of_the_next(tmp_path: Path) -> None:
    bench = Bench(tmp_path, server_lost_grace=1.0)
    bench.server = LOST
    names = (handled(bench, 500), "forever")
    steps = tuple(MissionRequest(f"s#{n}", name=name) for n, name in enumerate(names, 1))
    mission = bench.core.submit(MissionRequest("s", kind=Kind.SEQUENCE, steps=steps))
    bench.tick()
    assert "waiting for a server" in mission.text
    while mission.steps_done == 0:
        bench.tick()
    bench.tick()
    assert (mission.state, mission.text) == (State.RUNNING, "")


def test_a_server_that_a_clause_does_not_bring_back_is_given_up(tmp_path: Path) -> None:
    bench = Bench(tmp_path, server_lost_grace=1.0)
    bench.server = LOST
    catch = "Catch kind='SERVER_LOST' then='retry' max_retries='-1'"
    mission = bench.run(handled(bench, 300, catch))
    assert mission.code is Code.SERVER_LOST
    assert mission.elapsed(0.0) == pytest.approx(1.2, abs=0.2)


def test_what_cleans_up_after_a_lost_server_is_not_cut_short(tmp_path: Path) -> None:
    bench = Bench(tmp_path, server_lost_grace=1.0)
    bench.server = LOST
    body = "<TryCatch><Server/><Sleep msec='3000'/></TryCatch>"
    (tmp_path / "cleans.xml").write_text(TREE.format(about="Cleans up", body=body))
    mission = bench.run("cleans")
    assert mission.code is Code.TREE_FAILED
    assert mission.elapsed(0.0) == pytest.approx(3.0, abs=0.1)


def test_tick_tells_which_nodes_it_touched(bench: Bench) -> None:
    bench.submit("good")
    bench.tick()
    assert bench.last_run.changes == {1: (NodeStatus.RUNNING, True), 2: (NodeStatus.RUNNING, True)}
    bench.tick()
    assert bench.last_run.changes == {1: (NodeStatus.RUNNING, True), 2: (NodeStatus.RUNNING, True)}
    assert bench.core.activity.active_path == "Sleep::2"
    while bench.core.queue.running:
        bench.tick()
    assert bench.last_run.changes[3] == (NodeStatus.SUCCESS, True)
    assert bench.last_run.changes[2] == (NodeStatus.SUCCESS, True)


def test_feedback_gate_lets_changes_and_periods_through() -> None:
    gate = FeedbackGate(period=0.2)
    mission = Mission(MissionRequest("a", name="n"), accepted_at=0.0)
    first = progress_of(mission, Activity(), 0.0)
    assert gate.lets_through(first, 10.0)
    assert not gate.lets_through(first, 10.1)
    assert gate.lets_through(first, 10.25)
    changed = progress_of(mission, Activity(active_path="x"), 0.0)
    assert gate.lets_through(changed, 10.26)
    assert not gate.lets_through(changed, 10.3)


def test_managers_add_to_what_clients_are_told() -> None:
    mission = Mission(MissionRequest("1", Kind.NAVIGATE_TO_POSE), 0.0)
    report = Report(0.5, "half way", 12.5, planner_mode=2, reroutes=1, autonomy=3)
    told = progress_of(mission, Activity(), 0.0, report)
    assert (told.progress, told.detail, told.distance_remaining) == (0.5, "half way", 12.5)
    assert (told.planner_mode, told.reroutes, told.autonomy) == (2, 1, 3)
    own = progress_of(mission, Activity(progress=0.25, detail="mine"), 0.0, report)
    assert (own.progress, own.detail) == (0.25, "mine")
    gate = FeedbackGate(period=1.0)
    assert gate.lets_through(told, 0.0)
    assert not gate.lets_through(replace(told, distance_remaining=12.0), 0.1)
    assert gate.lets_through(replace(told, planner_mode=0), 0.2)


def test_ticked_tells_nodes_that_ran_from_those_that_were_only_stopped(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    body = """<ReactiveFallback>
      <Inverter><ScriptCondition code="mission_progress == 0"/></Inverter>
      <Sequence><Wait name="first"/></Sequence>
    </ReactiveFallback>"""
    text = f'<root BTCPP_format="4"><BehaviorTree ID="main">{body}</BehaviorTree></root>'
    (tmp_path / "reacts.xml").write_text(text)
    bench.submit("reacts", parameters={"mission_progress": "0"})
    bench.tick()
    run = bench.last_run
    root, inverter, condition, sequence, wait = (node.uid() for node in run.tree.nodes())
    running, idle = NodeStatus.RUNNING, NodeStatus.IDLE
    assert run.changes == {
        root: (running, True),
        inverter: (NodeStatus.FAILURE, True),
        condition: (NodeStatus.SUCCESS, True),
        sequence: (running, True),
        wait: (running, True),
    }
    bench.tick()
    assert run.changes[condition] == (NodeStatus.SUCCESS, True)
    assert run.changes[wait] == (running, True)
    run.tree.root_blackboard().set("mission_progress", "1")
    bench.tick()
    assert run.changes[inverter] == (NodeStatus.SUCCESS, True)
    assert run.changes[wait] == run.changes[sequence] == (idle, False)
