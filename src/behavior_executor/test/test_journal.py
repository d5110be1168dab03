# SPDX-License-Identifier: Apache-2.0
"""The journal: what it keeps, what a restart makes of it, and what happens when it is broken."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from core_bench import Bench
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_executor.journal import JournalError, MissionJournal, RestartPolicy, open_log
from behavior_executor.missions import (
    FINAL_STATES,
    Code,
    Kind,
    Mission,
    MissionError,
    MissionRequest,
    Policy,
    State,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "missions.sqlite"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "trees"
    made.mkdir()
    return made


def ended(journal: MissionJournal, action_id: str, text: str = "done") -> Mission:
    mission = Mission(MissionRequest(action_id, name="n"), accepted_at=1.0)
    journal.accepted(mission)
    mission.advance(State.INITIALIZING, 2.0)
    mission.advance(State.RUNNING, 2.5)
    journal.changed(mission)
    mission.end(Code.SUCCESS, text, 3.0)
    journal.changed(mission)
    return mission


def test_what_was_written_is_there_after_a_restart(path: Path) -> None:
    journal = MissionJournal(path)
    done = ended(journal, "a")
    waiting = Mission(MissionRequest("b", name="n", priority=3), accepted_at=4.5)
    journal.accepted(waiting)
    journal.close()
    journal = MissionJournal(path)
    assert journal.records() == [waiting, done]
    assert journal.records(limit=1) == [waiting]
    assert journal.records(unfinished_only=True) == journal.unfinished() == [waiting]
    waiting.end(Code.CANCELED_BY_CLIENT, "no", 9.0)
    journal.changed(waiting)
    assert journal.unfinished() == []
    journal.close()


def test_started_come_first_then_priority_then_arrival(path: Path) -> None:
    journal = MissionJournal(path)
    missions = {
        name: Mission(MissionRequest(name, name="n", priority=priority), accepted_at=0.0)
        for name, priority in (("low", 0), ("high", 9), ("low2", 0), ("running", 0))
    }
    for mission in missions.values():
        journal.accepted(mission)
    missions["running"].advance(State.INITIALIZING, 1.0)
    journal.changed(missions["running"])
    assert [m.action_id for m in journal.unfinished()] == ["running", "high", "low", "low2"]
    journal.close()


def test_newest_of_the_ended_are_kept_and_all_unfinished(path: Path) -> None:
    journal = MissionJournal(path, capacity=3)
    journal.accepted(Mission(MissionRequest("open", name="n"), accepted_at=0.0))
    for number in range(10):
        ended(journal, str(number))
    assert [m.action_id for m in journal.records()] == ["9", "8", "7", "open"]
    journal.close()


def test_a_full_file_makes_room_by_dropping_the_older_half(path: Path) -> None:
    journal = MissionJournal(path, max_bytes=40 * 4096)
    journal.accepted(Mission(MissionRequest("open", name="n"), accepted_at=0.0))
    for number in range(200):
        ended(journal, str(number), text="x" * 2000)
    kept = [m.action_id for m in journal.records()]
    assert kept[0] == "199"
    assert kept[-1] == "open"
    assert 5 < len(kept) < 40
    journal.close()
    assert sum(file.stat().st_size for file in path.parent.iterdir()) < 3 * 2**20


def test_times_of_the_first_start_are_kept(path: Path) -> None:
    journal = MissionJournal(path)
    mission = Mission(MissionRequest("a", name="n"), accepted_at=1.0)
    journal.accepted(mission)
    mission.advance(State.INITIALIZING, 2.0)
    journal.changed(mission)
    mission.readmit("again")
    journal.changed(mission)
    mission.advance(State.INITIALIZING, 7.0)
    journal.changed(mission)
    assert journal.records()[0].started_at == 2.0
    journal.close()


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


def damaged(path: Path) -> Path:
    journal = MissionJournal(path)
    for number in range(200):
        ended(journal, str(number), text="y" * 500)
    journal.close()
    content = bytearray(path.read_bytes())
    content[4096:20000] = os.urandom(20000 - 4096)
    return write(path, bytes(content))


def foreign(path: Path) -> Path:
    write(path, b"")
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE addresses (name TEXT)")
    database.close()
    return path


def newer(path: Path) -> Path:
    MissionJournal(path).close()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    return path


BROKEN = {
    "text": (lambda path: write(path, b"Dear diary, " * 100), "not a database"),
    "damaged": (damaged, "damaged|malformed"),
    "foreign": (foreign, "another program"),
    "newer": (newer, "version 99"),
    "folder": (lambda path: path.mkdir(parents=True) or path, "unable to open"),
    "no_folder": (lambda path: write(path, b"") / "below.sqlite", "File exists|Not a directory"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_unusable_files_are_told_with_a_remedy_and_not_touched(path: Path, kind: str) -> None:
    make, words = BROKEN[kind]
    file = make(path)
    before = file.read_bytes() if file.is_file() else b""
    with pytest.raises(JournalError, match=f"{file}.*({words}).*journal_file"):
        MissionJournal(file)
    assert not before or file.read_bytes() == before


@pytest.mark.parametrize("what", ["file", "folder"])
def test_read_only_file_is_told_of(path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    MissionJournal(path).close()
    closed = path if what == "file" else path.parent
    really = os.access
    # Root, as whom tests may run, writes everywhere.
    monkeypatch.setattr(os, "access", lambda p, *a, **k: p != closed and really(p, *a, **k))
    with pytest.raises(JournalError, match=rf"{closed} is read-only.*journal_file"):
        MissionJournal(path)


def test_two_executors_cannot_share_a_journal(path: Path) -> None:
    journal = MissionJournal(path)
    with pytest.raises(JournalError, match="another executor uses it"):
        MissionJournal(path)
    journal.close()
    MissionJournal(path).close()


@pytest.mark.parametrize("required", [True, False])
def test_without_a_journal_missions_run_or_are_refused(
    folder: Path, path: Path, required: bool
) -> None:
    told: list[str] = []
    log = open_log(write(path, b"no journal" * 99), capacity=9, required=required, tell=told.append)
    assert "not a database" in told[0]
    bench = Bench(folder, log=log)
    if required:
        with pytest.raises(MissionError, match=r"not accepted.*not a database") as error:
            bench.submit("good")
        assert error.value.code is Code.BUSY
        assert bench.core.queue.waiting == []
    else:
        assert bench.run("good").code is Code.SUCCESS
        assert log.problem
        assert [m.action_id for m in log.journal.records()] == ["a"]


def test_a_disk_that_fills_up_is_told_once_and_heals(folder: Path, path: Path) -> None:
    told: list[str] = []
    journal = MissionJournal(path)
    log = open_log(None, capacity=9, required=False, tell=told.append)
    log.journal = journal
    bench = Bench(folder, log=log)
    journal._database.execute("PRAGMA query_only = 1")
    assert bench.run("good").code is Code.SUCCESS
    assert len(told) == 1
    assert "readonly" in log.problem
    journal._database.execute("PRAGMA query_only = 0")
    assert bench.run("good").code is Code.SUCCESS
    assert log.problem == ""
    assert len(journal.records()) == 1
    journal.close()


def test_replacing_mission_that_cannot_be_written_replaces_nothing(
    folder: Path, path: Path
) -> None:
    log = open_log(path, capacity=9, required=True, tell=lambda text: None)
    bench = Bench(folder, log=log)
    first = bench.submit("forever")
    bench.tick()
    log.journal._database.execute("PRAGMA query_only = 1")
    with pytest.raises(MissionError, match="not accepted"):
        bench.submit("good", "b", policy=Policy.REPLACE)
    assert first.state is State.RUNNING
    assert bench.core.queue.waiting == []
    log.journal.close()


# -- restarts


class Restarts:
    """Executors on one journal, each of which ends without a word."""

    def __init__(self, folder: Path, path: Path) -> None:
        self.folder, self.path = folder, path
        self.start()

    def start(self, policy: RestartPolicy = RestartPolicy.RESUME) -> list[Mission]:
        self.journal = MissionJournal(self.path)
        self.bench = Bench(self.folder, Policy.QUEUE, journal=self.journal)
        unfinished = self.journal.unfinished()
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


@settings(max_examples=40, deadline=None)
@given(st.lists(VERBS, max_size=40))
def test_nothing_is_lost_and_nothing_done_that_was_not(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple]
) -> None:
    base = tmp_path_factory.mktemp("restarts")
    restarts = Restarts(base, base / "journal.sqlite")
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


WRITER = """
import sys
from pathlib import Path
from behavior_executor.journal import MissionJournal
from behavior_executor.missions import Code, Mission, MissionRequest, State
journal = MissionJournal(Path(sys.argv[1]))
start = len(journal.records())
for number in range(start, 10**6):
    mission = Mission(MissionRequest(str(number), name="n"), accepted_at=1.0)
    journal.accepted(mission)
    print("accepted", number, flush=True)
    mission.advance(State.INITIALIZING, 2.0)
    journal.changed(mission)
    mission.advance(State.RUNNING, 3.0)
    mission.end(Code.SUCCESS, "done", 4.0)
    journal.changed(mission)
    print("ended", number, flush=True)
"""


def test_killed_writer_has_kept_every_promise(path: Path) -> None:
    chance = random.Random(1)
    accepted: set[str] = set()
    ended_: set[str] = set()
    for _ in range(5):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        for _ in range(chance.randrange(1, 40)):
            word, number = writer.stdout.readline().split()
            (accepted if word == "accepted" else ended_).add(number)
        writer.send_signal(signal.SIGKILL)
        for line in writer.stdout:
            if line.endswith("\n"):
                word, number = line.split()
                (accepted if word == "accepted" else ended_).add(number)
        writer.wait(20.0)
        writer.stdout.close()
        journal = MissionJournal(path)
        kept = {m.action_id: m for m in journal.records()}
        assert accepted <= set(kept)
        assert all(kept[number].state is State.FINISHED for number in ended_)
        for mission in journal.unfinished():
            mission.fail(Code.SHUTDOWN, "killed", 5.0)
            journal.changed(mission)
        journal.close()
    assert len(accepted) > 10
