# SPDX-License-Identifier: Apache-2.0
"""Episodes are shared out among workers that may die; each counts once."""

from __future__ import annotations

import io
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from evaluation_runners import record
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.evaluation import worker_process
from behavior_bringup.evaluation.crew import Crew
from behavior_bringup.evaluation.display import EpisodeDisplay
from behavior_bringup.evaluation.memory import kill_tree
from behavior_bringup.evaluation.plan import EpisodePlan
from behavior_bringup.evaluation.record import Episode, EpisodeRecord
from behavior_bringup.evaluation.schedule import Schedule
from behavior_bringup.evaluation.shard import Shard
from behavior_bringup.evaluation.task import Task, load_runner
from behavior_bringup.evaluation.versions import present_versions
from behavior_bringup.evaluation.worker_process import (
    CannotWorkError,
    WorkerDiedError,
    WorkerProcess,
)

HANG = 240.0
"""[s] after which a test has hung."""


def episodes(count: int) -> Iterator[Episode]:
    return (Episode(seed=seed) for seed in range(count))


class Kept:
    """Takes each record once."""

    def __init__(self) -> None:
        self.records: list[EpisodeRecord] = []

    def __call__(self, each: EpisodeRecord) -> bool:
        if each.key in {known.key for known in self.records}:
            return False
        self.records.append(each)
        return True

    @property
    def seeds(self) -> list[int]:
        return sorted(each.seed for each in self.records)


# -- the plan --------------------------------------------------------------------------------------


@given(first=st.integers(0, 50), total=st.integers(0, 60), shards=st.integers(1, 9))
def test_shards_divide_an_evaluation(first: int, total: int, shards: int) -> None:
    parts = [EpisodePlan(first, total, shard=Shard(i, shards)) for i in range(shards)]
    seeds = [seed for part in parts for seed in part.missing([])]
    assert sorted(seeds) == list(range(first, first + total))
    assert sum(part.total for part in parts) == total
    sizes = [part.total for part in parts]
    assert max(sizes) - min(sizes) <= 1


def test_only_what_is_missing_is_run() -> None:
    records = [record(4), record(6), record(99)]
    plan = EpisodePlan(4, 5)
    assert list(plan.missing(records)) == [5, 7, 8]
    assert (plan.done(records), plan.total) == (2, 5)


def with_parts(seed: int, parts: int) -> EpisodeRecord:
    return record(seed, parts=[{"kind": "bin"}] * parts)


def test_episodes_are_run_until_there_are_so_many_parts() -> None:
    plan = EpisodePlan(10, 20, parts=10)
    records = [with_parts(11, 4), with_parts(3, 9)]
    assert (plan.total, plan.unit, plan.done(records)) == (10, "parts", 4)
    run = []
    for seed in plan.missing(records):
        run.append(seed)
        records.append(with_parts(seed, 3))
    assert run == [10, 12]
    assert plan.done(records) == 10


def test_episodes_without_parts_do_not_go_on_for_ever() -> None:
    records: list[EpisodeRecord] = []
    for seed in EpisodePlan(0, 20, parts=5).missing(records):
        records.append(with_parts(seed, 1 if seed == 1 else 0))
    assert len(records) == 5


# -- the schedule ----------------------------------------------------------------------------------


@pytest.mark.slow
@given(st.data())
def test_every_episode_counts_once_whatever_dies(data: st.DataObject) -> None:
    """Workers take, finish, die and finish late in any order; nothing is lost or counted twice."""
    count, kept = data.draw(st.integers(0, 12)), Kept()
    schedule = Schedule(episodes(count), kept, attempts=2)
    running: list[Episode] = []
    late: list[Episode] = []
    deaths: Counter[int] = Counter()
    while True:
        if running and (len(running) == 3 or data.draw(st.booleans())):
            episode = running.pop(data.draw(st.integers(0, len(running) - 1)))
            if data.draw(st.booleans()):
                deaths[episode.seed] += 1
                known = episode.seed in kept.seeds
                lost = schedule.give_back(episode, "killed")
                assert (lost is not None) == (deaths[episode.seed] == 2 and not known)
                late += [] if lost else [episode]
            else:
                schedule.finish(record(episode.seed))
        elif late and data.draw(st.booleans()):
            schedule.finish(record(late.pop().seed))  # it was thought dead
        elif not running:
            episode = schedule.take()
            if episode is None:
                break
            running.append(episode)
        else:
            nxt = schedule._waiting
            if not nxt and len(kept.records) + len(running) >= count:
                continue  # `take` would wait for those that run
            episode = schedule.take()
            assert episode is not None
            running.append(episode)
    assert kept.seeds == list(range(count))
    assert schedule.exhausted


def test_who_has_nothing_to_do_waits_for_what_others_may_give_back() -> None:
    kept = Kept()
    schedule = Schedule(episodes(1), kept)
    first = schedule.take()
    assert first is not None
    taken: list[Episode | None] = []
    other = threading.Thread(target=lambda: taken.append(schedule.take()), daemon=True)
    other.start()
    schedule.give_back(first, "killed")
    other.join(HANG)
    assert taken == [first]
    schedule.finish(record(0))
    assert schedule.take() is None


def test_no_more_is_handed_out_after_a_stop() -> None:
    schedule = Schedule(episodes(5), Kept())
    assert schedule.take() is not None
    taken: list[Episode | None] = []
    schedule.stop()
    other = threading.Thread(target=lambda: taken.append(schedule.take()), daemon=True)
    other.start()
    other.join(HANG)
    assert taken == [None]
    assert not schedule.exhausted


# -- the crew, with workers that are no processes --------------------------------------------------


class FakeWorker:
    """Follows a script: what each episode of it does."""

    def __init__(self, script: Callable[[Episode], EpisodeRecord], versions: Mapping[str, str]):
        self.script, self.versions = script, versions
        self.alive, self.closed = True, False

    def open(self) -> Mapping[str, str]:
        return self.versions

    def run(self, episode: Episode) -> EpisodeRecord:
        return self.script(episode)

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.alive = False


def crew_of(
    schedule: Schedule, script: Callable[[Episode], EpisodeRecord], size: int = 3, **options: object
) -> tuple[Crew, list[FakeWorker]]:
    made: list[FakeWorker] = []
    versions = options.pop("found", {"commit": "a"})

    def make() -> FakeWorker:
        made.append(FakeWorker(script, versions))  # type: ignore[arg-type]
        return made[-1]

    return Crew(schedule, make, size=size, versions={"commit": "a"}, **options), made


def test_dead_workers_are_replaced_and_their_episodes_done_by_others() -> None:
    kept, died, notices = Kept(), set[int](), list[str]()

    def script(episode: Episode) -> EpisodeRecord:
        if episode.seed % 4 == 0 and episode.seed not in died:
            died.add(episode.seed)
            raise WorkerDiedError("killed")
        return record(episode.seed)

    crew, made = crew_of(Schedule(episodes(50), kept), script, notice=notices.append)
    crew.run()
    assert kept.seeds == list(range(50))
    assert len(notices) == len(died) == 13
    assert all(worker.closed for worker in made)


def test_an_episode_that_kills_every_worker_counts_as_lost() -> None:
    kept = Kept()

    def script(episode: Episode) -> EpisodeRecord:
        if episode.seed == 2:
            raise WorkerDiedError("it was ended by SIGSEGV")
        return record(episode.seed)

    crew, _ = crew_of(Schedule(episodes(6), kept), script)
    crew.run()
    assert kept.seeds == list(range(6))
    (lost,) = [each for each in kept.records if each.outcome == "lost"]
    assert (lost.seed, lost.sim_time_s) == (2, None)
    assert "died 3 times: it was ended by SIGSEGV" in lost.reason


def test_after_so_many_episodes_a_fresh_worker_goes_on() -> None:
    kept = Kept()
    crew, made = crew_of(
        Schedule(episodes(10), kept), lambda e: record(e.seed), size=1, episodes_each=4
    )
    crew.run()
    assert len(made) == 3
    assert len(kept.records) == 10


def test_workers_of_another_version_do_not_work() -> None:
    kept = Kept()
    crew, made = crew_of(
        Schedule(episodes(3), kept), lambda e: record(e.seed), found={"commit": "b"}
    )
    with pytest.raises(BringupError, match="A worker has commit b, but this evaluation a"):
        crew.run()
    assert kept.records == []
    assert all(worker.closed for worker in made)


def test_what_cannot_be_kept_ends_the_evaluation() -> None:
    def full(each: EpisodeRecord) -> bool:
        raise BringupError("the disk is full")

    crew, made = crew_of(Schedule(episodes(100), full), lambda e: record(e.seed))
    with pytest.raises(BringupError, match="the disk is full"):
        crew.run()
    assert all(worker.closed for worker in made)


def test_who_cannot_begin_gives_up_and_the_others_go_on() -> None:
    kept, schedule = Kept(), None
    made = []

    class Useless(FakeWorker):
        def open(self) -> Mapping[str, str]:
            raise CannotWorkError("no project there")

    def make() -> FakeWorker:
        kind = FakeWorker if made else Useless
        made.append(kind(lambda e: record(e.seed), {"commit": "a"}))
        return made[-1]

    notices: list[str] = []
    schedule = Schedule(episodes(5), kept)
    Crew(schedule, make, size=2, versions={"commit": "a"}, notice=notices.append).run()
    assert kept.seeds == list(range(5))
    assert notices == ["A worker gives up: no project there"]


# -- processes -------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EVALUATION_TEST_FOLDER", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=":")
    return tmp_path


def task(name: str, **options: object) -> Task:
    return Task(runner=f"evaluation_runners:{name}", **options)  # type: ignore[arg-type]


def run_processes(work: Task, count: int, size: int = 2) -> Kept:
    kept = Kept()
    Crew(
        Schedule(episodes(count), kept),
        lambda: WorkerProcess(work),
        size=size,
        versions=present_versions(),
        episodes_each=work.episodes_each,
    ).run()
    return kept


def test_killed_processes_lose_nothing(folder: Path) -> None:
    kept = run_processes(task("deadly"), 10)
    assert kept.seeds == list(range(10))
    outcomes = {each.seed: each.outcome for each in kept.records}
    assert outcomes[4] == "lost"
    assert [outcomes[seed] for seed in (0, 3, 6, 9)] == ["failure", "success", "success", "success"]
    (lost,) = [each for each in kept.records if each.outcome == "lost"]
    assert "SIGKILL" in lost.reason
    assert all(each.peak_memory_mb for each in kept.records if each.outcome != "lost")


def test_who_takes_too_much_memory_is_ended_and_counted_as_such(folder: Path) -> None:
    kept = run_processes(task("greedy", memory_mb=300.0), 5, size=1)
    outcomes = {each.seed: each for each in kept.records}
    assert sorted(outcomes) == list(range(5))
    assert outcomes[2].outcome == "memory"
    assert "more than the 300 MB of --memory" in outcomes[2].reason
    assert (outcomes[2].peak_memory_mb or 0) > 300.0
    assert [outcomes[seed].outcome for seed in (1, 3, 4)] == ["success"] * 3


def test_who_is_slow_to_die_is_given_no_other_episode(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The memory of an episode is not counted for the next one while its worker still dies."""

    def kill_late(process: int) -> None:
        threading.Timer(1.5, kill_tree, [process]).start()

    monkeypatch.setattr("behavior_bringup.evaluation.worker_process.kill_tree", kill_late)
    kept = run_processes(task("greedy", memory_mb=300.0), 4, size=1)
    outcomes = {each.seed: each.outcome for each in kept.records}
    assert (outcomes[2], outcomes[3]) == ("memory", "success")


def test_a_runner_that_cannot_be_opened_says_why(folder: Path) -> None:
    with pytest.raises(BringupError, match="the stack does not become ready"):
        run_processes(task("closed"), 2, size=1)


def test_what_a_runner_prints_is_no_answer_and_its_faults_are_told(folder: Path) -> None:
    kept = run_processes(task("talkative"), 3, size=1)
    outcomes = {each.seed: each for each in kept.records}
    assert outcomes[2].outcome == "success"
    assert "ValueError: the runner has a fault" in outcomes[1].reason


def test_each_worker_has_a_domain_of_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from behavior_bringup.evaluation.domains import claimed_domain

    with claimed_domain() as first, claimed_domain() as second, claimed_domain() as third:
        assert len({first, second, third}) == 3


def test_a_runner_that_is_not_there_is_named() -> None:
    for name in ("no_such_module:run", "os:no_such_function", "nonsense", ":"):
        with pytest.raises(UsageError, match=f"There is no runner '{name}'"):
            load_runner(name)


def test_no_process_is_left_after_an_interruption(folder: Path) -> None:
    schedule = Schedule(episodes(6), Kept())
    crew = Crew(
        schedule, lambda: WorkerProcess(task("waiting")), size=2, versions=present_versions()
    )

    class InterruptedError(Exception):
        """Stands in for Ctrl-C, which only a main thread gets."""

    def look(timeout: float) -> None:
        if len(list(folder.glob("waits-*"))) == 2:
            raise InterruptedError
        raise_error(timeout)

    raise_error, crew._raise_error = crew._raise_error, look  # type: ignore[method-assign]
    with pytest.raises(InterruptedError):
        crew.run()
    workers = {int(file.name.split("-")[1]) for file in folder.glob("worker-*")}
    assert len(workers) == 2
    assert not [each for each in workers if psutil.pid_exists(each)]
    closed = {int(file.name.split("-")[1]) for file in folder.glob("closed-*")}
    assert closed == workers, "their stacks are brought down"


def test_a_worker_that_hears_no_signal_is_killed_in_the_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = WorkerProcess(task("deaf"))
    worker.open()
    with monkeypatch.context() as patch:
        patch.setattr(worker_process, "_FAREWELL", 0.0)
        worker.abort()
    with pytest.raises(WorkerDiedError, match="it was ended"):
        worker.run(Episode(seed=0))
    assert not worker.alive
    worker.close()


# -- the display -----------------------------------------------------------------------------------


def test_lines_tell_the_time_that_is_left() -> None:
    now = [0.0]
    out = io.StringIO()
    with EpisodeDisplay(
        Console(file=out, width=200), EpisodePlan(0, 12), 2, clock=lambda: now[0]
    ) as display:
        for seed in (2, 3):
            now[0] += 60.0
            display.episode(replace(record(seed), outcome="success"))
    first, second = out.getvalue().splitlines()
    assert first.startswith("[3/12, 9 min left] seed 2: success")
    assert second.startswith("[4/12, 8 min left]")


def test_a_terminal_shows_a_bar_with_the_time_left() -> None:
    out = io.StringIO()
    console = Console(file=out, width=120, force_terminal=True)
    with EpisodeDisplay(console, EpisodePlan(0, 3)) as display:
        display.episode(record(1))
    text = out.getvalue()
    assert "seed 1: success" in text
    assert "1/3" in text
    assert "left" in text
