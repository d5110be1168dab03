# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_executor.missions.mission import (
    FINAL_STATES,
    Code,
    Mission,
    MissionError,
    MissionRequest,
    Policy,
    State,
)
from behavior_executor.missions.mission_queue import MissionQueue


def request(action_id: str, policy: Policy = Policy.DEFAULT, priority: int = 0) -> MissionRequest:
    return MissionRequest(action_id, name=f"name_{action_id}", policy=policy, priority=priority)


def run(queue: MissionQueue, now: float = 0.0) -> Mission:
    mission = queue.start_next(now)
    assert mission is not None
    mission.advance(State.RUNNING, now)
    return mission


def test_one_mission_runs_and_ends() -> None:
    queue = MissionQueue()
    mission = queue.submit(request("a"), 1.0).mission
    assert mission.state is State.WAITING
    assert run(queue, 2.0) is mission
    assert mission.elapsed(5.0) == 3.0
    mission.end(Code.SUCCESS, "done", 6.0)
    assert mission.state is State.FINISHED
    assert mission.elapsed(9.0) == 4.0
    assert queue.running is None
    assert queue.start_next(7.0) is None


def test_reject_names_the_running_mission() -> None:
    queue = MissionQueue(default_policy=Policy.QUEUE)
    queue.submit(request("a"), 0.0)
    first = run(queue)
    with pytest.raises(MissionError, match="'name_a' runs") as error:
        queue.submit(request("b", Policy.REJECT), 1.0)
    assert error.value.code is Code.BUSY
    assert first.state is State.RUNNING


def test_queue_runs_higher_priority_first_then_in_order() -> None:
    queue = MissionQueue(default_policy=Policy.QUEUE)
    queue.submit(request("a"), 0.0)
    run(queue)
    for name, priority in (("low", 0), ("high", 9), ("low2", 0), ("high2", 9)):
        queue.submit(request(name, priority=priority), 1.0)
    order = []
    while (mission := queue.current) is not None:
        order.append(mission.action_id)
        mission.advance(State.RUNNING, 2.0) if mission.state is State.INITIALIZING else None
        mission.end(Code.SUCCESS, "", 2.0)
        queue.start_next(2.0)
    assert order == ["a", "high", "high2", "low", "low2"]


def test_replace_ends_the_running_one_and_runs_before_the_waiting() -> None:
    queue = MissionQueue(default_policy=Policy.QUEUE)
    queue.submit(request("a"), 0.0)
    first = run(queue)
    queue.submit(request("b", priority=255), 1.0)
    queue.submit(request("c", Policy.REPLACE), 2.0)
    assert first.code is Code.REPLACED
    assert first.state is State.CANCELED
    assert "name_c" in first.text
    assert run(queue, 3.0).action_id == "c"


@pytest.mark.parametrize("runs", [True, False])
def test_of_many_that_replace_each_other_the_newest_remains(runs: bool) -> None:
    queue = MissionQueue(default_policy=Policy.REPLACE, capacity=2)
    if runs:
        queue.submit(request("running", Policy.REJECT), 0.0)
        run(queue)
    queued = [queue.submit(request(f"q{i}", Policy.QUEUE), 0.0).mission for i in range(2)]
    ended: list[Mission] = []
    for number in range(200):
        ended += queue.submit(request(f"r{number}"), 1.0).replaced
    assert [m.action_id for m in ended] == ["running"] * runs + [f"r{i}" for i in range(199)]
    assert {m.code for m in ended} == {Code.REPLACED}
    assert [m.action_id for m in queue.waiting] == ["r199", "q0", "q1"]
    assert not any(m.is_final for m in queued)


def test_a_mission_that_is_about_to_start_is_replaced_like_one_that_runs() -> None:
    queue = MissionQueue()
    queue.submit(request("a"), 0.0)
    _, replaced = queue.submit(request("b", Policy.REPLACE), 0.0)
    assert [m.action_id for m in replaced] == ["a"]
    assert [m.action_id for m in queue.waiting] == ["b"]


def test_full_queue_refuses() -> None:
    queue = MissionQueue(default_policy=Policy.QUEUE, capacity=1)
    queue.submit(request("a"), 0.0)
    run(queue)
    queue.submit(request("b"), 0.0)
    with pytest.raises(MissionError, match=r"1 missions wait.*queue_capacity 1"):
        queue.submit(request("c"), 0.0)


def test_identifier_in_use_is_refused_and_free_again_afterwards() -> None:
    queue = MissionQueue(default_policy=Policy.QUEUE)
    queue.submit(request("a"), 0.0)
    with pytest.raises(MissionError, match="belongs to a mission"):
        queue.submit(request("a"), 0.0)
    queue.cancel("a", 0.0)
    queue.submit(request("a"), 0.0)


def test_cancel_waiting_running_and_nothing() -> None:
    queue = MissionQueue(default_policy=Policy.QUEUE)
    queue.submit(request("a"), 0.0)
    queue.submit(request("b"), 0.0)
    run(queue)
    assert queue.cancel("b", 1.0).state is State.CANCELED
    assert queue.cancel("", 1.0).action_id == "a"
    with pytest.raises(MissionError, match="no mission runs"):
        queue.cancel("", 1.0)
    with pytest.raises(MissionError, match="no mission 'zz' waits or runs"):
        queue.cancel("zz", 1.0)


def test_pause_and_resume() -> None:
    queue = MissionQueue()
    queue.submit(request("a"), 0.0)
    with pytest.raises(MissionError, match="it is WAITING"):
        queue.pause("a", 0.0)
    run(queue)
    assert queue.pause("", 1.0).state is State.PAUSED
    with pytest.raises(MissionError, match="it is PAUSED"):
        queue.pause("", 1.0)
    assert queue.resume("a", 1.0).state is State.RUNNING
    with pytest.raises(MissionError, match="cannot resume"):
        queue.resume("a", 1.0)


def test_shutdown_ends_all() -> None:
    queue = MissionQueue(default_policy=Policy.QUEUE)
    queue.submit(request("a"), 0.0)
    queue.submit(request("b"), 0.0)
    run(queue)
    ended = queue.shut_down(1.0)
    assert {m.action_id for m in ended} == {"a", "b"}
    assert all(m.code is Code.SHUTDOWN for m in ended)
    assert queue.running is None
    assert queue.waiting == []


def test_wrong_construction() -> None:
    with pytest.raises(ValueError, match="default_policy"):
        MissionQueue(default_policy=Policy.DEFAULT)
    with pytest.raises(ValueError, match="capacity"):
        MissionQueue(capacity=-1)


STEPS = st.one_of(
    st.tuples(
        st.just("submit"),
        st.integers(0, 5),
        st.sampled_from(list(Policy)),
        st.integers(0, 2),
    ),
    st.tuples(st.sampled_from(["cancel", "pause", "resume"]), st.integers(-1, 5)),
    st.tuples(st.sampled_from(["start", "running", "succeed", "fail", "shutdown"])),
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.lists(STEPS, max_size=60), st.sampled_from([Policy.REJECT, Policy.QUEUE, Policy.REPLACE]))
def test_books_stay_right(steps: list[tuple], default: Policy) -> None:
    queue = MissionQueue(default_policy=default, capacity=3)
    accepted: list[Mission] = []
    for now, (verb, *arguments) in enumerate(steps):
        try:
            if verb == "submit":
                name, policy, priority = arguments
                accepted.append(queue.submit(request(str(name), policy, priority), now).mission)
            elif verb in ("cancel", "pause", "resume"):
                name = "" if arguments[0] < 0 else str(arguments[0])
                getattr(queue, verb)(name, now)
            elif verb == "start":
                queue.start_next(now)
            elif verb == "shutdown":
                queue.shut_down(now)
            elif queue.running is not None:
                mission = queue.running
                if mission.state is State.INITIALIZING and verb == "running":
                    mission.advance(State.RUNNING, now)
                elif mission.state is State.RUNNING and verb != "running":
                    mission.end(Code.SUCCESS if verb == "succeed" else Code.TREE_FAILED, "", now)
        except MissionError:
            pass
        alive = [m for m in accepted if m.state not in FINAL_STATES]
        running = [] if queue.running is None else [queue.running]
        assert sorted(m.action_id for m in alive) == sorted(
            m.action_id for m in running + queue.waiting
        )
        assert len({m.action_id for m in alive}) == len(alive)
        assert all(m.state is State.WAITING for m in queue.waiting)
        assert sum(m.state is State.WAITING for m in alive) == len(queue.waiting)
        assert all((m.ended_at is not None) == m.is_final for m in accepted)
    running_first = queue.running
    while (mission := queue.start_next(99.0)) is not None or running_first is not None:
        (mission or running_first).end(Code.TREE_FAILED, "", 99.0)
        running_first = None
    assert all(m.is_final for m in accepted)


def waits(queue: MissionQueue) -> str:
    return "".join(mission.action_id for mission in queue.waiting)


def test_missions_that_wait_are_moved() -> None:
    queue = MissionQueue(default_policy=Policy.QUEUE)
    for name in "abcd":
        queue.submit(request(name), 0.0)
    queue.move("d", 1)
    assert waits(queue) == "dabc"
    queue.move("d", 3)
    assert waits(queue) == "abdc"
    queue.move("a", 99)
    assert waits(queue) == "bdca"
    assert run(queue).action_id == "b"
    with pytest.raises(MissionError, match="no mission 'b' waits"):
        queue.move("b", 1)
    with pytest.raises(MissionError, match="the first place is 1"):
        queue.move("a", 0)
    assert waits(queue) == "dca"


def test_a_moved_mission_has_the_rank_of_its_place() -> None:
    queue = MissionQueue(default_policy=Policy.QUEUE)
    for name, priority in (("a", 0), ("b", 0), ("x", 9)):
        queue.submit(request(name, priority=priority), 0.0)
    queue.move("b", 1)
    assert waits(queue) == "bxa"
    queue.submit(request("y", priority=5), 0.0)
    assert waits(queue) == "byxa"  # behind the place of priority 9, before those of 0
