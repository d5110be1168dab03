# SPDX-License-Identifier: Apache-2.0
"""What an evaluation costs beside MuJoCo alone: episodes per hour and core, and two cores by one.

    python benchmarks/evaluation_overhead.py [--episodes 40] [--real 2] [--job stack_blocks]

MuJoCo alone: the world of the job with its robot standing still, stepped for as long as an episode
lasts in simulated time, in one process. The same in workers of an evaluation shows what scheduling,
processes and the store on disk cost; with two workers it shows what a second core gives. `--real`
runs so many episodes with the whole stack: planning, perception, the executor, ROS.

Counted is processor time, of all processes with their children, which other programs on the machine
disturb little, and time on the clock, which they do disturb: the load is printed beside it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from behavior_bringup.cli import main as behavior
from behavior_bringup.evaluation.record import Episode, EpisodeRecord
from behavior_bringup.evaluation.store import read
from behavior_bringup.jobs.judges import job_named
from behavior_sim.simulation import Simulation
from behavior_sim.worlds.config import load_world
from behavior_sim.worlds.resources import find_world

SECONDS = 40.0
"""[s] simulated, about as long as the job takes."""


@contextmanager
def physics_alone(settings: Mapping[str, Any]) -> Iterator[Callable[[Episode], EpisodeRecord]]:
    """A runner without a stack: the world goes on for `SECONDS`."""
    name = os.environ["EVALUATION_BENCHMARK_WORLD"]
    simulation = Simulation(load_world(find_world(name)))

    def run(episode: Episode) -> EpisodeRecord:
        begin = time.monotonic()
        simulation.vary(episode.variation)
        simulation.reset(episode.seed)
        simulation.advance(round(SECONDS / simulation.world.timestep))
        return EpisodeRecord(
            seed=episode.seed,
            outcome="failure" if simulation.world.unstable else "success",
            reason="the world went on",
            sim_time_s=SECONDS,
            wall_time_s=time.monotonic() - begin,
        )

    yield run


@contextmanager
def nothing(settings: Mapping[str, Any]) -> Iterator[Callable[[Episode], EpisodeRecord]]:
    """A runner whose episodes are over at once: what is left is the evaluation's own."""
    yield lambda episode: EpisodeRecord(
        seed=episode.seed, outcome="success", reason="", sim_time_s=0.0, wall_time_s=0.0
    )


class Meter:
    """Clock and processor time [s] between two moments, children that have ended included."""

    def __init__(self) -> None:
        self._begin = self._now()

    @staticmethod
    def _now() -> tuple[float, float]:
        times = os.times()
        busy = times.user + times.system + times.children_user + times.children_system
        return time.monotonic(), busy

    def read(self) -> tuple[float, float]:
        """Since it was made."""
        return tuple(b - a for a, b in zip(self._begin, self._now(), strict=True))  # type: ignore[return-value]


def row(name: str, episodes: int, wall: float, busy: float) -> tuple[float, float]:
    """Print a line; returns episodes per hour, on the clock and per core that is kept busy."""
    hourly, per_core = 3600 * episodes / wall, 3600 * episodes / busy
    load = os.getloadavg()[0]
    print(
        f"{name:44} {wall / episodes:9.3f} {busy / episodes:9.3f} {hourly:10.0f} {per_core:10.0f}"
        f" {load:6.1f}",
        flush=True,
    )
    return hourly, per_core


def evaluated(name: str, words: list[str], episodes: int) -> tuple[float, float]:
    """An evaluation, measured."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        quiet = os.dup(1)
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            meter = Meter()
            code = behavior([*words, "--episodes", str(episodes), "--json", str(file)])
            wall, busy = meter.read()
            sys.stdout.flush()
            os.dup2(quiet, 1)
        os.close(quiet)
        assert code == 0, f"{words} ended with {code}"
        records = read(file.with_name("figures.episodes.sqlite")).records
        assert len(records) == episodes
        memory = max(record.peak_memory_mb or 0.0 for record in records)
        figures = row(name, episodes, wall, busy)
        print(f"{'':44} memory of an episode's processes: at most {memory:.0f} MB")
        return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--job", default="stack_blocks")
    parser.add_argument("--episodes", type=int, default=40, help="without a stack")
    parser.add_argument("--real", type=int, default=0, help="with the whole stack")
    options = parser.parse_args()
    os.environ["EVALUATION_BENCHMARK_WORLD"] = job_named(options.job).world
    here = str(Path(__file__).parent)
    os.environ["PYTHONPATH"] = os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])
    sys.path.insert(0, here)
    # One worker for all: what a fresh one costs is that of a stack.
    own = ["evaluate", options.job, "--per-stack", "1000", "--runner"]
    physics = [*own, "evaluation_overhead:physics_alone"]

    columns = ("wall [s]", "busy [s]", "per hour", "per core", "load")
    print(
        f"{'an episode':44} {columns[0]:>9} {columns[1]:>9} {columns[2]:>10} {columns[3]:>10}"
        f" {columns[4]:>6}"
    )
    with physics_alone({}) as run:
        meter = Meter()
        for seed in range(options.episodes):
            run(Episode(seed=seed))
        alone = row("MuJoCo alone, one process", options.episodes, *meter.read())
    evaluated("no episode at all, one worker", [*own, "evaluation_overhead:nothing"], 200)
    one = evaluated("MuJoCo in an evaluation, one worker", physics, options.episodes)
    two = evaluated(
        "MuJoCo in an evaluation, two workers", [*physics, "--jobs", "2"], options.episodes
    )
    print(f"\nevaluation by MuJoCo alone, per core: {one[1] / alone[1]:.2f}")
    print(f"two workers by one, on the clock:     {two[0] / one[0]:.2f}")
    print(f"two workers by one, per core:         {two[1] / one[1]:.2f}")
    if options.real:
        real = evaluated("the whole stack, one worker", ["evaluate", options.job], options.real)
        print(f"whole stack by MuJoCo alone, per core: 1/{alone[1] / real[1]:.0f}")


if __name__ == "__main__":
    main()
