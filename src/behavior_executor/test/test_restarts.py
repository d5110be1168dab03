# SPDX-License-Identifier: Apache-2.0
"""What a restart makes of missions, after crashes in any order."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from core_bench import Bench
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_executor.journal import record_file
from behavior_executor.journal.journal import MissionJournal, RestartPolicy
from behavior_executor.missions.mission import (
    FINAL_STATES,
    Code,
    Kind,
    Mission,
    MissionError,
    MissionRequest,
    Policy,
    State,
)


@pytest.fixture(autouse=True, scope="module")
def no_power_cuts() -> Iterator[None]:
    """The disk need not be waited for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_file.os, "fdatasync", lambda file: None)
        patch.setattr(record_file.os, "fsync", lambda file: None)
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "missions.journal"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "trees"
    made.mkdir()
    return made


class Restarts:
    """Executors on one journal, each of which ends without a word."""

    def __init__(self, folder: Path, path: Path) -> None:
        self.folder, self.path = folder, path
        self.start()

    def start(self, policy: RestartPolicy = RestartPolicy.RESUME) -> list[Mission]:
        self.journal = MissionJournal(self.path)
        self.bench = Bench(self.folder, Policy.QUEUE, journal=self.journal)
        unfinished = self.bench.log.unfinished()
        self.bench.core.restore(unfinished, policy)
        return unfinished

    def crash(self) -> None:
        self.journal.close()  # what was not written is not there

    def sequence(self, *names: str) -> Mission:
        steps = tuple(MissionRequest(f"s#{n}", name=name) for n, name in enumerate(names, 1))
        return self.bench.core.submit(MissionRequest("s", kind=Kind.SEQUENCE, steps=steps))

    def tick(self, count: int = 3) -> None:
        for _ in range(count):
            self.bench.tick()


@pytest.fixture
def restarts(folder: Path, path: Path) -> Iterator[Restarts]:
    made = Restarts(folder, path)
    yield made
    made.crash()


def test_resumed_from_the_step_that_was_interrupted(restarts: Restarts) -> None:
    restarts.sequence("server", "forever", "server")
    restarts.bench.submit("server", "later")
    restarts.tick()
    restarts.crash()
    mission, later = restarts.start()
    assert (mission.steps_done, mission.interruptions, mission.state) == (1, 1, State.WAITING)
    assert "step 2 of 3 (forever)" in mission.text
    restarts.tick()
    assert restarts.bench.managers[0].told == [("started", "s#2")]
    assert (mission.state, later.state) == (State.RUNNING, State.WAITING)
    restarts.crash()
    mission, later = restarts.start()
    assert (mission.steps_done, mission.interruptions) == (1, 2)
    restarts.bench.core.cancel("s")
    restarts.tick()
    assert later.code is Code.SUCCESS
    assert restarts.journal.unfinished() == []


def test_failed_by_policy_with_a_reason(restarts: Restarts) -> None:
    restarts.sequence("server", "forever")
    restarts.tick()
    restarts.crash()
    (mission,) = restarts.start(RestartPolicy.FAIL)
    assert (mission.state, mission.code) == (State.FAILED, Code.SHUTDOWN)
    assert "step 2 of 2 (forever)" in mission.text
    assert restarts.journal.unfinished() == []
    assert restarts.bench.core.queue.waiting == []


@pytest.mark.slow
@pytest.mark.parametrize("decision", [Kind.RESUME, Kind.CANCEL])
def test_held_until_a_client_decides(restarts: Restarts, decision: Kind) -> None:
    restarts.sequence("server", "forever")
    restarts.tick()
    for count in (1, 2):  # nor does another restart change that
        restarts.crash()
        (mission,) = restarts.start(RestartPolicy.REPORT)
        assert (mission.state, mission.interruptions) == (State.PAUSED, count)
    restarts.tick()
    assert restarts.bench.managers[0].told == []
    with pytest.raises(MissionError, match="interrupted mission"):
        restarts.bench.submit("good", "s")
    restarts.bench.submit("", "s", kind=decision)
    restarts.tick()
    wanted = State.RUNNING if decision is Kind.RESUME else State.CANCELED
    assert mission.state is restarts.journal.records()[0].state is wanted


def test_paused_robot_does_not_start_to_move_by_itself(restarts: Restarts) -> None:
    restarts.bench.submit("forever")
    restarts.bench.submit("good", "b")
    restarts.tick()
    restarts.bench.submit("", "", kind=Kind.PAUSE)
    restarts.crash()
    missions = restarts.start(RestartPolicy.RESUME)
    restarts.tick(50)
    assert [m.state for m in missions] == [State.PAUSED] * 2
    assert restarts.bench.managers[0].told == []


def test_orderly_stop_leaves_nothing_unfinished(restarts: Restarts) -> None:
    restarts.bench.submit("forever")
    restarts.bench.submit("good", "b")
    restarts.tick()
    restarts.bench.core.shut_down()
    restarts.crash()
    assert restarts.start() == []
    assert {m.code for m in restarts.journal.records()} == {Code.SHUTDOWN}


VERBS = st.one_of(
    st.tuples(
        st.just("submit"), st.sampled_from(["good", "fails", "forever", "server", "unknown_node"])
    ),
    st.tuples(st.sampled_from(["tick", "ticks", "pause", "resume", "cancel"]), st.just("")),
    st.tuples(st.just("crash"), st.sampled_from(list(RestartPolicy))),
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(VERBS, max_size=40))
def test_nothing_is_lost_and_nothing_done_that_was_not(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple]
) -> None:
    base = tmp_path_factory.mktemp("restarts")
    restarts = Restarts(base, base / "journal")
    told: dict[str, State] = {}
    for number, (verb, argument) in enumerate(steps):
        bench = restarts.bench
        try:
            if verb == "submit":
                bench.submit(argument, f"m{number}")
                told[f"m{number}"] = State.WAITING
            elif verb in ("tick", "ticks"):
                restarts.tick(1 if verb == "tick" else 25)
            elif verb == "crash":
                restarts.crash()
                told.update(bench.events)
                restarts.start(argument)
            else:
                bench.submit("", "", kind=Kind[verb.upper()])
        except MissionError:
            pass
        told.update(restarts.bench.events)
        kept = {m.action_id: m for m in restarts.journal.records()}
        assert set(kept) == set(told)
        for action_id, state in told.items():
            assert kept[action_id].state is state
            if state in FINAL_STATES:
                assert kept[action_id].ended_at is not None
    restarts.crash()
