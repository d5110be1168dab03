# SPDX-License-Identifier: Apache-2.0
"""Runners of cheap episodes, which workers of the tests import."""

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from behavior_bringup.errors import BringupError
from behavior_bringup.evaluation.record import Episode, EpisodeRecord
from behavior_bringup.evaluation.task import RunEpisode


def record(seed: int, **values: Any) -> EpisodeRecord:
    """Every fifth fails, by a reason with a number; longer by the seed."""
    usual = {
        "outcome": "success" if seed % 5 else "failure",
        "reason": "done" if seed % 5 else f"the block is {seed / 100:.2f} m off",
        "sim_time_s": 10.0 + seed / 10,
        "wall_time_s": 1.0 + seed / 100,
    }
    return EpisodeRecord(seed=seed, **{**usual, **values})


@contextmanager
def quick(settings: Mapping[str, Any]) -> Iterator[RunEpisode]:
    """Ends at once."""
    yield lambda episode: record(
        episode.seed, variant=episode.variant, variation=dict(episode.variation)
    )


@contextmanager
def deadly(settings: Mapping[str, Any]) -> Iterator[RunEpisode]:
    """Its process dies in the first attempt of every third seed, and in each of seed 4."""
    folder = Path(os.environ["EVALUATION_TEST_FOLDER"])

    def run(episode: Episode) -> EpisodeRecord:
        mark = folder / f"died-{episode.seed}"
        if episode.seed == 4 or (episode.seed % 3 == 0 and not mark.exists()):
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return record(episode.seed)

    yield run


@contextmanager
def greedy(settings: Mapping[str, Any]) -> Iterator[RunEpisode]:
    """Takes 400 MB in seed 2, and keeps them until it is ended."""

    def run(episode: Episode) -> EpisodeRecord:
        if episode.seed == 2:
            hoard = os.urandom(1000) * 400_000
            signal.pause()
            raise AssertionError(len(hoard))
        return record(episode.seed)

    yield run


@contextmanager
def deaf(settings: Mapping[str, Any]) -> Iterator[RunEpisode]:
    """Hears no signal, and hangs in its first episode."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def run(episode: Episode) -> EpisodeRecord:
        while True:
            signal.pause()

    yield run


@contextmanager
def waiting(settings: Mapping[str, Any]) -> Iterator[RunEpisode]:
    """Never ends an episode after the second; says which processes there are."""
    folder = Path(os.environ["EVALUATION_TEST_FOLDER"])
    (folder / f"worker-{os.getpid()}").touch()

    def run(episode: Episode) -> EpisodeRecord:
        if episode.seed >= 2:
            (folder / f"waits-{episode.seed}").touch()
            signal.pause()
        return record(episode.seed)

    try:
        yield run
    finally:
        (folder / f"closed-{os.getpid()}").touch()


@contextmanager
def closed(settings: Mapping[str, Any]) -> Iterator[RunEpisode]:
    """Cannot be opened."""
    raise BringupError("the stack does not become ready")
    yield


@contextmanager
def talkative(settings: Mapping[str, Any]) -> Iterator[RunEpisode]:
    """Prints what would be no answer, and ends by an exception."""
    print("hello from the runner", flush=True)

    def run(episode: Episode) -> EpisodeRecord:
        print("an episode", flush=True)
        if episode.seed == 1:
            raise ValueError("the runner has a fault")
        return record(episode.seed)

    yield run
