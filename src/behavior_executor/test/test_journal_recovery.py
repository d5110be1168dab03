# SPDX-License-Identifier: Apache-2.0
"""Damaged journals and those of the first version: what is recovered, held, and told."""

import json
import sqlite3
from pathlib import Path

import pytest
from core_bench import Bench

from behavior_executor.journal.journal import MissionJournal, RestartPolicy
from behavior_executor.journal.mission_log import MissionLog
from behavior_executor.journal.record_file import FLOOR, Place, Scan, line, scan
from behavior_executor.journal.record_store import merge
from behavior_executor.missions.mission import DOUBT, Code, Mission, MissionRequest, State
from behavior_executor.missions.request_text import request_to_text


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal of ten missions that wait, and of two that have ended after them."""
    path = tmp_path / "missions.journal"
    log = MissionLog(MissionJournal(path))
    missions = [Mission(MissionRequest(f"m{n}", name="good"), accepted_at=1.0) for n in range(12)]
    for mission in missions:
        log.accepted(mission)
    for mission in missions[:2]:
        mission.advance(State.INITIALIZING, 2.0)
        mission.advance(State.RUNNING, 2.0)
        mission.end(Code.SUCCESS, "done", 3.0)
        log.changed(mission)
    log.close()
    return path


def copies(path: Path) -> list[Path]:
    return [path, path.with_name(path.name + ".copy")]


def spoil(file: Path, *numbers: int) -> None:
    """Damage records of these numbers."""
    content = file.read_bytes()
    lines = content.split(b"\n")
    for number in numbers:
        lines[number] = lines[number][:-3] + b"???"
    file.write_bytes(b"\n".join(lines))


def ids(missions: list[Mission]) -> list[str]:
    return sorted(mission.action_id for mission in missions)


def reopened(path: Path) -> MissionJournal:
    """The journal, opened a second time: then all is well again."""
    first = MissionJournal(path)
    before = first.records()
    first.close()
    journal = MissionJournal(path)
    assert journal.damage == ""
    assert journal.records() == before
    return journal


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1])
def test_what_one_file_lost_comes_from_the_other(path: Path, which: int) -> None:
    whole = path.read_bytes()
    spoil(copies(path)[which], 0, 3, 13, 14)
    journal = MissionJournal(path)
    assert "nothing was lost" in journal.damage
    assert len(journal.records()) == 12
    journal.close()
    (aside,) = path.parent.glob("*.damaged-*")
    assert aside.read_bytes() != whole
    assert str(aside) in journal.damage
    reopened(path).close()


@pytest.mark.slow
def test_both_files_damaged_at_different_places_lose_nothing(path: Path) -> None:
    spoil(path, 1, 2, 3)
    spoil(copies(path)[1], 4, 5, 14)
    journal = MissionJournal(path)
    assert "nothing was lost" in journal.damage
    assert ids([mission for _, mission in journal.unfinished()]) == ids(
        [Mission(MissionRequest(f"m{n}"), 1.0) for n in range(2, 12)]
    )
    journal.close()


def test_unreadable_mission_does_not_keep_the_others_from_being_taken_up(
    path: Path, tmp_path: Path
) -> None:
    for file in copies(path):
        spoil(file, 5)
    journal = MissionJournal(path)
    assert "1 records were lost" in journal.damage
    assert len(journal.unfinished()) == 9
    trees = tmp_path / "trees"
    trees.mkdir()
    bench = Bench(trees, log=MissionLog(journal))
    assert "lost" in bench.log.problem  # for diagnostics
    bench.core.restore(bench.log.unfinished(), RestartPolicy.RESUME)
    bench.submit("good", "m4")  # the one that was lost is sent again
    journal.close()


@pytest.mark.slow
def test_mission_whose_end_may_be_lost_is_not_run_again(path: Path, tmp_path: Path) -> None:
    for file in copies(path):
        spoil(file, 14)  # the end of m1
    log = MissionLog(MissionJournal(path))
    found = log.unfinished()
    assert "m1" in ids(found)
    trees = tmp_path / "trees"
    trees.mkdir()
    bench = Bench(trees, log=log)
    bench.core.restore(found, RestartPolicy.RESUME)
    for _ in range(50):
        bench.tick()
    assert bench.managers[0].told == []
    assert all(mission.text.startswith(DOUBT) for mission in found)
    bench.core.cancel("m1")
    log.close()
    journal = reopened(path)
    assert ids([mission for _, mission in journal.unfinished()]) == ids(found[1:])
    journal.close()


def test_only_those_before_the_loss_are_in_doubt(path: Path) -> None:
    for file in copies(path):
        spoil(file, 6)
    journal = MissionJournal(path)
    states = {mission.action_id: mission.state for _, mission in journal.unfinished()}
    assert [states[f"m{n}"] for n in (2, 3, 4)] == [State.PAUSED] * 3
    assert {states[f"m{n}"] for n in range(6, 12)} == {State.WAITING}
    journal.close()


@pytest.mark.slow
def test_mission_of_which_only_a_change_is_left_has_ended(path: Path) -> None:
    log = MissionLog(MissionJournal(path))
    mission = log.unfinished()[0]
    mission.advance(State.INITIALIZING, 4.0)
    log.changed(mission)
    log.close()
    for file in copies(path):
        spoil(file, 3, 13)  # the requests of m2, which runs, and the end of m0
    journal = MissionJournal(path)
    (record,) = [one for one in journal.records() if one.action_id == "m2"]
    assert (record.state, record.code) == (State.FAILED, Code.SHUTDOWN)
    assert "the request was lost of m2" in journal.damage
    journal.close()
    reopened(path).close()


def test_good_record_that_makes_no_mission_is_told_and_kept_aside(path: Path) -> None:
    for file in copies(path):
        content = file.read_bytes()
        found = scan(content)
        payload = json.dumps({"number": 13, "action_id": "odd", "state": 77}).encode()
        generation = found.generation
        new = line(Place(generation, len(found.records)), payload)
        file.write_bytes(content[: found.end] + new + content[found.end + len(new) :])
    journal = MissionJournal(path)
    assert "odd" in journal.damage
    assert len(journal.records()) == 12
    assert list(path.parent.glob("*.damaged-*"))
    journal.close()


def test_cut_between_records_is_noticed(path: Path) -> None:
    for file in copies(path):
        content = file.read_bytes()
        end = scan(content).end
        file.write_bytes(content[: content.rindex(b"\n", 0, end - 1) + 1])
    journal = MissionJournal(path)
    assert "an unknown number of records were lost" in journal.damage
    assert len(journal.unfinished()) == 11
    journal.close()


def test_crash_between_the_two_files_is_no_damage(path: Path) -> None:
    content = copies(path)[1].read_bytes()
    log = MissionLog(MissionJournal(path))
    log.accepted(Mission(MissionRequest("new", name="n"), accepted_at=1.0))
    log.close()
    copies(path)[1].write_bytes(content)
    journal = MissionJournal(path)
    assert journal.damage == ""
    assert journal.records()[0].action_id == "new"
    journal.close()


def test_crash_while_both_are_written_anew_is_no_damage(path: Path) -> None:
    old = copies(path)[1].read_bytes()
    journal = MissionJournal(path)
    journal._rewrite(journal._store)
    records = journal.records()
    journal.close()
    copies(path)[1].write_bytes(old)
    journal = MissionJournal(path)
    assert journal.damage == ""
    assert journal.records() == records
    journal.close()


def test_text_of_a_client_cannot_pass_for_a_record() -> None:
    inner = line(Place(9, 9), b"{}").decode()
    content = line(Place(1, 0), json.dumps({"text": inner}).encode()) + b"\n" * FLOOR
    assert scan(content).records.keys() == {Place(1, 0)}
    assert scan(content).is_whole


def test_nothing_readable_is_told() -> None:
    found = merge([Scan(size=5), Scan(size=5)])
    assert found.records == []
    assert found.lost_up_to > Place(-1, -1)


# -- the first version

SCHEMA = """
CREATE TABLE missions (number INTEGER PRIMARY KEY AUTOINCREMENT, action_id TEXT NOT NULL,
    kind INTEGER NOT NULL, title TEXT NOT NULL, request TEXT NOT NULL, state INTEGER NOT NULL,
    code INTEGER NOT NULL, text TEXT NOT NULL, steps_done INTEGER NOT NULL,
    interruptions INTEGER NOT NULL, accepted REAL NOT NULL, started REAL, ended REAL);
CREATE UNIQUE INDEX unfinished ON missions (action_id) WHERE state < 4;
PRAGMA application_id = 0x62656861;
PRAGMA user_version = 1;
PRAGMA journal_mode = WAL;
"""


def first_version(path: Path, count: int = 10) -> Path:
    with sqlite3.connect(path) as database:
        database.executescript(SCHEMA)
        for number in range(count):
            request = MissionRequest(f"m{number}", name="n", parameters={"x": "y" * 400})
            ended = number % 2 == 0
            values = (f"m{number}", 0, "n", request_to_text(request), 4 if ended else 0, 0, "t")
            database.execute(
                "INSERT INTO missions (action_id, kind, title, request, state, code, text,"
                " steps_done, interruptions, accepted, ended) VALUES (?,?,?,?,?,?,?,0,0,1.5,?)",
                (*values, 2.5 if ended else None),
            )
    database.close()
    return path


def test_journal_of_the_first_version_is_taken_over(tmp_path: Path) -> None:
    path = first_version(tmp_path / "missions.sqlite")
    old = path.read_bytes()
    journal = MissionJournal(path)
    assert journal.damage == ""
    assert [mission.action_id for mission in journal.records()] == [
        f"m{n}" for n in range(9, -1, -1)
    ]
    assert ids([mission for _, mission in journal.unfinished()]) == ["m1", "m3", "m5", "m7", "m9"]
    assert journal.records()[1].ended_at == 2.5
    journal.close()
    (aside,) = path.parent.glob("*.version1-*")
    assert aside.read_bytes() == old
    assert len(reopened(path).records()) == 10


@pytest.mark.slow
def test_damaged_journal_of_the_first_version_gives_what_can_be_read(tmp_path: Path) -> None:
    path = first_version(tmp_path / "missions.sqlite", 200)
    content = bytearray(path.read_bytes())
    content[12 * 4096 : 13 * 4096] = bytes(4096)
    path.write_bytes(content)
    journal = MissionJournal(path)
    assert "is damaged" in journal.damage
    assert 150 < len(journal.records()) < 200
    journal.close()
    reopened(path).close()


def test_row_of_the_first_version_that_makes_no_sense_does_not_stop_the_others(
    tmp_path: Path,
) -> None:
    path = first_version(tmp_path / "missions.sqlite")
    with sqlite3.connect(path) as database:
        database.execute("UPDATE missions SET request = '{' WHERE number IN (3, 6)")
    database.close()
    journal = MissionJournal(path)
    assert "makes no sense" in journal.damage
    assert len(journal.records()) == 8
    journal.close()
