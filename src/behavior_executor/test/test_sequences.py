# SPDX-License-Identifier: Apache-2.0
"""Missions of several kinds and of several steps."""

from pathlib import Path

import pytest
from core_bench import Bench

from behavior_executor.missions.mission import (
    Code,
    Kind,
    Mission,
    MissionError,
    MissionRequest,
    State,
    code_of,
    failed,
)
from behavior_executor.running.feedback import progress_of
from behavior_motion.planar_pose import FramedPose, Pose2D
from behavior_tree import Cause, CauseKind

GOAL = FramedPose("map", Pose2D(1.0, 2.0, 0.5))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, navigation_tree="forever", map_tree="good")


def sequence(bench: Bench, *names: str, action_id: str = "s") -> Mission:
    steps = tuple(
        MissionRequest(f"{action_id}#{number}", name=name) for number, name in enumerate(names, 1)
    )
    return bench.core.submit(MissionRequest(action_id, kind=Kind.SEQUENCE, steps=steps))


def run_to_end(bench: Bench, mission: Mission) -> None:
    for _ in range(1000):
        if mission.is_final:
            return
        bench.tick()
    raise AssertionError("it did not end")


@pytest.mark.parametrize("kind", [Kind.NAVIGATE_TO_POSE, Kind.FOLLOW_ROUTE])
def test_driving_runs_the_navigation_tree_and_managers_get_the_goal(
    bench: Bench, kind: Kind
) -> None:
    route = (GOAL,) if kind is Kind.FOLLOW_ROUTE else ()
    goal = GOAL if kind is Kind.NAVIGATE_TO_POSE else None
    mission = bench.core.submit(MissionRequest("n", kind=kind, goal=goal, route=route))
    bench.tick()
    assert mission.state is State.RUNNING
    assert bench.last_run.tree_id == "main"
    assert "(1, 2) in map" in mission.request.title
    bench.core.cancel("n")
    assert bench.managers[0].told == [("started", "n"), ("ended", Code.CANCELED_BY_CLIENT)]


def test_map_missions_run_their_tree_or_are_refused_by_parameter(tmp_path: Path) -> None:
    request = MissionRequest("m", kind=Kind.LOAD_MAP, map_id="hall")
    bench = Bench(tmp_path, map_tree="good")
    run_to_end(bench, mission := bench.core.submit(request))
    assert mission.code is Code.SUCCESS
    bench = Bench(tmp_path, map_tree="good", serves_maps=False)
    with pytest.raises(MissionError, match="use_tile_loader"):
        bench.core.submit(request)


def test_steps_run_in_order_and_managers_are_told_of_each(bench: Bench) -> None:
    mission = sequence(bench, "good", "server", "good")
    seen = []
    while not mission.is_final:
        bench.tick()
        seen.append(progress_of(mission, bench.core.activity, bench.time))
    assert (mission.code, mission.steps_done) == (Code.SUCCESS, 3)
    assert bench.managers[0].told == [
        ("started", "s#1"),
        ("ended", Code.SUCCESS),
        ("started", "s#2"),
        ("ended", Code.SUCCESS),
        ("started", "s#3"),
        ("ended", Code.SUCCESS),
    ]
    shares = [progress.progress for progress in seen]
    assert shares == sorted(shares)
    assert {round(share, 3) for share in shares} == {0.0, 0.333, 0.667, 1.0}
    assert seen[0].detail == "step 1 of 3 (good)"
    assert [state for _, state in bench.events].count(State.INITIALIZING) == 1


def test_failing_step_is_named_and_the_rest_is_not_run(bench: Bench) -> None:
    mission = sequence(bench, "good", "fails", "good")
    run_to_end(bench, mission)
    assert (mission.state, mission.code) == (State.FAILED, Code.TREE_FAILED)
    assert mission.text.startswith("step 2 of 3 (fails): too hot")
    assert mission.steps_done == 1
    assert ("started", "s#3") not in bench.managers[0].told


def test_all_wrong_steps_are_told_at_once(bench: Bench) -> None:
    with pytest.raises(MissionError) as error:
        sequence(bench, "good", "goood", "fialed")
    assert error.value.code is Code.UNKNOWN_MISSION
    assert "step 2 (goood): no mission 'goood'" in str(error.value)
    assert "step 3 (fialed)" in str(error.value)
    assert bench.events == []


def test_pause_and_cancel_in_the_middle(bench: Bench) -> None:
    mission = sequence(bench, "server", "forever", "good")
    for _ in range(3):
        bench.tick()
    assert mission.steps_done == 1
    bench.submit("", "s", kind=Kind.PAUSE)
    assert bench.halted == 1
    bench.submit("", "s", kind=Kind.RESUME)
    bench.tick()
    assert mission.part.name == "forever"
    bench.core.cancel("s")
    assert (mission.state, mission.steps_done) == (State.CANCELED, 1)
    assert bench.managers[0].told[-3:] == [
        ("paused",),
        ("resumed",),
        ("ended", Code.CANCELED_BY_CLIENT),
    ]


def test_manager_knows_better_why_it_failed(bench: Bench) -> None:
    bench.managers[0].why = failed(Code.NO_ROUTE, "the goal is walled in")
    mission = sequence(bench, "fails")
    run_to_end(bench, mission)
    assert mission.code is Code.NO_ROUTE
    assert mission.text == "step 1 of 1 (fails): the goal is walled in"


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (CauseKind.SERVER_LOST, Code.SERVER_LOST),
        (CauseKind.TIMED_OUT, Code.TIMED_OUT),
        (CauseKind.OTHER, Code.TREE_FAILED),
    ],
)
def test_the_kind_of_a_managers_cause_is_its_code_where_it_gives_none(bench, kind, code) -> None:
    bench.managers[0].why = Cause(kind, "the lift is away", remedy="call it")
    mission = sequence(bench, "fails")
    run_to_end(bench, mission)
    assert mission.code is code
    assert mission.text.endswith("the lift is away: call it")


def test_a_code_for_clients_keeps_kind_and_remedy() -> None:
    lost = Cause(CauseKind.SERVER_LOST, "the loader is gone", remedy="start it")
    why = failed(Code.MAP_FAILED, lost.at("the map was not changed"))
    assert why == "the map was not changed: the loader is gone: start it"
    assert (why.kind, why.remedy) == (CauseKind.SERVER_LOST, "start it")
    assert code_of(why) is Code.MAP_FAILED
