# SPDX-License-Identifier: Apache-2.0
"""What is promised and told while the disk is full, broken or slow."""

import contextlib
import errno
import os
import resource
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from core_bench import Bench

from behavior_executor.journal import record_file
from behavior_executor.journal.journal import MissionJournal
from behavior_executor.journal.mission_log import RETRY, MissionLog
from behavior_executor.missions.mission import (
    Code,
    Mission,
    MissionError,
    MissionRequest,
    Policy,
    State,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "missions.journal"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "trees"
    made.mkdir()
    return made


@pytest.fixture
def limit() -> Iterator[Callable[[int], None]]:
    """Lets files grow to so many bytes only; negative: as they like."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(
        resource.RLIMIT_FSIZE, (size if size >= 0 else soft, hard)
    )
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """A disk that takes nothing while this holds True."""
    states = [False]
    really = os.fdatasync, os.fsync

    def sync(file: int, call: Callable[[int], None]) -> None:
        if states[-1]:
            raise OSError(errno.EIO, "Input/output error")
        call(file)

    monkeypatch.setattr(record_file.os, "fdatasync", lambda file: sync(file, really[0]))
    monkeypatch.setattr(record_file.os, "fsync", lambda file: sync(file, really[1]))
    return states


class Clock:
    """Wall time that is set."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def make(path: Path, **options: object) -> tuple[MissionLog, Clock, list[str]]:
    clock, told = Clock(), []
    log = MissionLog(MissionJournal(path), wall=clock, warn=told.append, **options)
    log.flush(60.0)
    return log, clock, told


def mission(action_id: str) -> Mission:
    return Mission(MissionRequest(action_id, name="n"), accepted_at=1.0)


def end(log: MissionLog, one: Mission) -> None:
    one.advance(State.INITIALIZING, 2.0)
    one.advance(State.RUNNING, 2.0)
    log.changed(one)
    one.end(Code.SUCCESS, "well done " * 100, 3.0)
    log.changed(one)


def kept(path: Path) -> dict[str, Mission]:
    journal = MissionJournal(path)
    found = {one.action_id: one for one in journal.records()}
    journal.close()
    return found


@pytest.mark.slow
def test_full_disk_refuses_missions_and_takes_the_ends_of_all_it_accepted(
    path: Path, limit: Callable[[int], None]
) -> None:
    limit(60_000)
    log, clock, told = make(path)
    accepted: list[Mission] = []
    error = None
    while error is None:
        one = mission(f"m{len(accepted)}")
        try:
            log.accepted(one)
            accepted.append(one)
        except MissionError as refusal:
            error = refusal
    assert error.code is Code.BUSY
    assert "space" in str(error)
    assert len(accepted) > 10
    assert all(log.is_kept(one) for one in accepted)
    for one in accepted:
        end(log, one)
    assert all(log.is_kept(one) for one in accepted)
    limit(-1)
    clock.time += RETRY
    assert log.collect_writes() == []
    assert log.problem == ""
    log.accepted(mission("later"))
    log.close()
    found = kept(path)
    assert found.keys() == {"later", *(one.action_id for one in accepted)}
    assert all(found[one.action_id].state is State.FINISHED for one in accepted)
    assert any("space" in text for text in told) or not told


@pytest.mark.slow
def test_full_disk_at_the_start_heals(path: Path, limit: Callable[[int], None]) -> None:
    limit(10)
    log, clock, _ = make(path)
    assert log.problem
    with pytest.raises(MissionError, match="cannot be written"):
        log.accepted(mission("a"))
    limit(-1)
    with pytest.raises(MissionError):
        log.accepted(mission("a"))
    clock.time += RETRY
    log.collect_writes()
    log.accepted(mission("a"))
    log.close()
    assert kept(path).keys() == {"a"}


@pytest.mark.slow
def test_where_it_is_not_required_missions_run_and_say_so(
    path: Path, limit: Callable[[int], None]
) -> None:
    limit(10)
    log, clock, told = make(path, required=False)
    missions = [mission(f"m{number}") for number in range(5)]
    for one in missions:
        log.accepted(one)
        assert "not written down" in one.text
        assert log.is_kept(one)
    assert "5 missions" in log.problem
    assert len(told) == 1
    limit(-1)
    clock.time += RETRY
    log.collect_writes()
    assert log.problem == ""
    assert "written again" in told[-1]
    assert kept_before_close(log) == {one.action_id for one in missions}
    log.close()
    assert kept(path).keys() == {one.action_id for one in missions}


def kept_before_close(log: MissionLog) -> set[str]:
    return {one.action_id for one in log.journal.records()}


@pytest.mark.slow
def test_end_is_told_when_it_is_on_a_disk_that_works_again(
    path: Path, folder: Path, broken: list[bool]
) -> None:
    log, clock, _ = make(path)
    bench = Bench(folder, log=log)
    one = bench.submit("good")
    bench.tick()
    broken.append(True)
    for _ in range(30):
        bench.tick()
    assert one.state is State.FINISHED
    assert ("a", State.FINISHED) not in bench.events
    assert "Input/output" in log.problem
    with pytest.raises(MissionError, match="not accepted"):
        bench.submit("good", "b")
    broken.append(False)
    bench.tick()
    assert ("a", State.FINISHED) not in bench.events  # not tried again yet
    clock.time += RETRY
    bench.tick()
    assert bench.events[-1] == ("a", State.FINISHED)
    assert log.problem == ""
    log.close()
    assert kept(path)["a"].state is State.FINISHED


@pytest.mark.slow
def test_mission_that_turns_out_not_to_be_written_ends_with_busy(
    path: Path, folder: Path, broken: list[bool]
) -> None:
    log, clock, _ = make(path, in_background=True)
    bench = Bench(folder, log=log)
    broken.append(True)
    one = bench.submit("good")
    log.flush(60.0)
    bench.tick()
    assert (one.state, one.code) == (State.FAILED, Code.BUSY)
    assert bench.events == [("a", State.FAILED)]  # nobody heard that it was accepted
    assert bench.core.queue.waiting == []
    broken.append(False)
    clock.time += RETRY
    log.collect_writes()
    log.flush(60.0)
    bench.submit("good")
    log.close()
    assert [m.state for m in kept(path).values()] == [State.WAITING]


def test_replacing_mission_for_which_there_is_no_room_replaces_nothing(
    path: Path, folder: Path, limit: Callable[[int], None]
) -> None:
    limit(40_000)
    log, _, _ = make(path)
    bench = Bench(folder, Policy.QUEUE, log=log)
    first = bench.submit("forever")
    bench.tick()
    with contextlib.suppress(MissionError):
        for number in range(100):
            bench.submit("good", f"m{number}")
    waiting = len(bench.core.queue.waiting)
    with pytest.raises(MissionError, match="space"):
        bench.submit("good", "b", policy=Policy.REPLACE)
    assert first.state is State.RUNNING
    assert len(bench.core.queue.waiting) == waiting
    log.close()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["removed", "cut", "exchanged"])
def test_file_that_is_taken_away_is_written_anew(path: Path, how: str) -> None:
    log, clock, told = make(path)
    first, second = mission("a"), mission("b")
    log.accepted(first)
    log.accepted(second)
    if how == "removed":
        path.unlink()
    elif how == "cut":
        os.truncate(path, 100)
    else:
        path.rename(path.with_name("away"))
        path.write_bytes(b"")
    end(log, first)
    assert any("taken away or cut" in text for text in told)
    clock.time += RETRY
    log.collect_writes()
    assert log.is_kept(first)
    log.close()
    path.with_name(path.name + ".copy").unlink()
    assert {m.action_id: m.state for m in kept(path).values()} == {
        "a": State.FINISHED,
        "b": State.WAITING,
    }


class SlowDisk:
    """Writes wait until they may, in a thread that is not the caller's."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go = threading.Event()
        self.go.set()
        self.threads: list[int] = []
        really = os.fdatasync

        def sync(file: int) -> None:
            self.threads.append(threading.get_ident())
            assert self.go.wait(60.0)
            really(file)

        monkeypatch.setattr(record_file.os, "fdatasync", sync)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> SlowDisk:
    return SlowDisk(monkeypatch)


@pytest.mark.slow
def test_burst_is_one_write_that_no_call_waits_for(path: Path, slow: SlowDisk) -> None:
    log, _, _ = make(path, in_background=True)
    slow.go.clear()
    told: list[int] = []
    missions = [mission(str(number)) for number in range(300)]
    for number, one in enumerate(missions):
        log.accepted(one)
        log.when_kept(one, lambda number=number: told.append(number))
    log.collect_writes()
    assert told == []
    slow.go.set()
    log.flush(60.0)
    assert told == list(range(300))
    assert len(slow.threads) == 4  # the first one, then all others; two files
    assert threading.get_ident() not in slow.threads
    log.close()
    assert len(kept(path)) == 300


def test_ticks_go_on_while_the_disk_is_slow(path: Path, folder: Path, slow: SlowDisk) -> None:
    log, _, _ = make(path, in_background=True)
    bench = Bench(folder, Policy.QUEUE, log=log)
    slow.go.clear()
    one = bench.submit("server")
    bench.tick()
    assert one.state is State.WAITING  # it starts when it is kept
    assert bench.events == []
    slow.go.set()
    log.flush(60.0)
    slow.go.clear()
    bench.tick()
    bench.tick()
    assert one.state is State.FINISHED
    assert bench.events == [("a", State.WAITING)]
    slow.go.set()
    log.flush(60.0)
    assert bench.events[-1] == ("a", State.FINISHED)
    log.close()


def test_an_identifier_is_in_use_until_the_end_of_its_mission_is_kept(
    path: Path, folder: Path, slow: SlowDisk
) -> None:
    """Clients have not heard of that end: they could not tell both missions apart."""
    log, _, _ = make(path, in_background=True)
    bench = Bench(folder, log=log)
    bench.submit("server")
    log.flush(60.0)
    bench.tick()
    log.flush(60.0)
    slow.go.clear()
    bench.submit("forever", "b")
    bench.core.cancel("b")
    with pytest.raises(MissionError, match="'b' belongs to a mission whose end is being written"):
        bench.submit("forever", "b")
    slow.go.set()
    log.flush(60.0)
    assert bench.submit("forever", "b").state is State.WAITING
    log.close()


def test_worker_wakes_the_executor(path: Path) -> None:
    woken = threading.Event()
    log, _, _ = make(path, in_background=True, wake=woken.set)
    woken.clear()
    one = mission("a")
    log.accepted(one)
    assert woken.wait(60.0)
    log.flush(60.0)
    log.collect_writes()
    assert log.is_kept(one)
    log.close()
