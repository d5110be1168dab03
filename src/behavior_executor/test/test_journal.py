# SPDX-License-Identifier: Apache-2.0
"""The journal: what it keeps, and which files it refuses."""

import os
import sqlite3
from pathlib import Path

import pytest
from core_bench import Bench

from behavior_executor.journal.journal import JournalError, MissionJournal
from behavior_executor.journal.mission_log import MissionLog, open_log
from behavior_executor.journal.record_file import Place, line, replace
from behavior_executor.journal.record_store import AHEAD
from behavior_executor.missions.mission import Code, Mission, MissionError, MissionRequest, State


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "missions.journal"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "trees"
    made.mkdir()
    return made


def opened(path: Path | None, **options: int) -> MissionLog:
    return MissionLog(MissionJournal(path, **options))


def accept(log: MissionLog, action_id: str, priority: int = 0) -> Mission:
    mission = Mission(MissionRequest(action_id, name="n", priority=priority), accepted_at=1.0)
    log.accepted(mission)
    return mission


def ended(log: MissionLog, action_id: str, text: str = "done") -> Mission:
    mission = accept(log, action_id)
    mission.advance(State.INITIALIZING, 2.0)
    mission.advance(State.RUNNING, 2.5)
    log.changed(mission)
    mission.end(Code.SUCCESS, text, 3.0)
    log.changed(mission)
    return mission


def ids(missions: list[Mission]) -> list[str]:
    return [mission.action_id for mission in missions]


def test_what_was_written_is_there_after_a_restart(path: Path) -> None:
    log = opened(path)
    done = ended(log, "a")
    waiting = accept(log, "b", priority=3)
    log.close()
    log = opened(path)
    assert log.journal.records() == [waiting, done]
    assert log.journal.records(limit=1) == [waiting]
    (again,) = log.unfinished()
    assert log.journal.records(unfinished_only=True) == [again] == [waiting]
    again.end(Code.CANCELED_BY_CLIENT, "no", 9.0)
    log.changed(again)
    assert log.journal.unfinished() == []
    log.close()
    assert log.journal.damage == ""


def test_started_come_first_then_priority_then_arrival(path: Path) -> None:
    log = opened(path)
    for name, priority in (("low", 0), ("high", 9), ("low2", 0)):
        accept(log, name, priority)
    running = accept(log, "running")
    running.advance(State.INITIALIZING, 1.0)
    log.changed(running)
    log.close()
    log = opened(path)
    assert ids(log.unfinished()) == ["running", "high", "low", "low2"]
    log.close()


def test_newest_of_the_ended_are_kept_and_all_unfinished(path: Path) -> None:
    log = opened(path, capacity=3)
    accept(log, "open")
    for number in range(10):
        ended(log, str(number))
    assert ids(log.journal.records()) == ["9", "8", "7", "open"]
    log.close()
    journal = MissionJournal(path, capacity=3)
    assert ids(journal.records()) == ["9", "8", "7", "open"]
    journal.close()


def test_mission_that_ends_behind_many_newer_ones_is_told(path: Path) -> None:
    log = opened(path, capacity=1)
    old = accept(log, "old")
    for number in range(5):
        ended(log, str(number))
    old.fail(Code.SHUTDOWN, "", 9.0)
    log.changed(old)
    assert log.is_kept(old)
    assert log.journal.unfinished() == []
    log.close()


@pytest.mark.slow
def test_files_stay_within_their_bound_by_dropping_the_oldest(path: Path) -> None:
    log = opened(path, max_bytes=2**17)
    accept(log, "open")
    for number in range(100):
        ended(log, str(number), text="x" * 2000)
    kept = ids(log.journal.records())
    assert kept[0] == "99"
    assert kept[-1] == "open"
    assert 15 < len(kept) < 60
    assert log.problem == ""
    log.close()
    assert path.stat().st_size < 2**17 + AHEAD + 2**15
    assert ids(MissionJournal(path).records())[0] == "99"


def test_times_of_the_first_start_are_kept(path: Path) -> None:
    log = opened(path)
    mission = accept(log, "a")
    mission.advance(State.INITIALIZING, 2.0)
    log.changed(mission)
    mission.readmit("again")
    log.changed(mission)
    mission.advance(State.INITIALIZING, 7.0)
    log.changed(mission)
    assert log.journal.records()[0].started_at == 2.0
    log.close()


def test_identifier_of_an_ended_mission_may_be_used_again(path: Path) -> None:
    log = opened(path)
    ended(log, "a")
    accept(log, "a")
    log.close()
    log = opened(path)
    assert [m.state for m in log.journal.records()] == [State.WAITING, State.FINISHED]
    log.close()


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


def foreign(path: Path) -> Path:
    write(path, b"")
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE addresses (name TEXT)")
    database.close()
    return path


def newer(path: Path) -> Path:
    path.parent.mkdir()
    replace(path, line(Place(1, 0), b'{"journal":99}'), 0).close()
    return path


BROKEN = {
    "text": (lambda path: write(path, b"Dear diary, " * 100), "no mission journal"),
    "foreign": (foreign, "another program"),
    "newer": (newer, "version 99"),
    "folder": (lambda path: path.mkdir(parents=True) or path, "Is a directory"),
    "no_folder": (lambda path: write(path, b"") / "below.journal", "File exists|Not a directory"),
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
    log = open_log(write(path, b"no journal" * 99), capacity=9, required=required, warn=told.append)
    assert "no mission journal" in told[0]
    bench = Bench(folder, log=log)
    if required:
        with pytest.raises(MissionError, match=r"not accepted.*no mission journal") as error:
            bench.submit("good")
        assert error.value.code is Code.BUSY
        assert bench.core.queue.waiting == []
    else:
        assert bench.run("good").code is Code.SUCCESS
        assert "no mission journal" in log.problem
        assert ids(log.journal.records()) == ["a"]
