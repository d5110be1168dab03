# SPDX-License-Identifier: Apache-2.0
"""What a job is, to whoever demonstrates and evaluates it: it makes trials, one for each run.

A :class:`~behavior_sim.judging.Mission`, judged by the objects of a simulated world, is the simple
kind. A job that is judged by something else is a class of its own, which a package offers under
``judges`` all the same: a :class:`Job`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from behavior_sim.judging import JobOption, Part, Setting, Verdict

if TYPE_CHECKING:
    from behavior_sim.recordings.rendering import Caption


class TrialError(Exception):
    """A trial cannot go on, or cannot be judged; the message says why."""


class RunningStack(Protocol):
    """What a trial may do with the stack that it watches."""

    def listen(
        self, kind: Any, topic: str, callback: Callable[[Any], None], qos: Any
    ) -> Callable[[], None]:
        """Have every message of a topic handed to `callback`; returns what ends it."""

    def call_later(self, kind: Any, name: str, request: Any) -> Any:
        """Call a service; returns the future of its response."""

    def give(self, action: Any) -> str:
        """Publish a `behavior_msgs/MissionAction`; returns its identifier."""

    def reset(self, *, seed: int, layout: str) -> None:
        """Put the world into a start state."""

    def wait_simulated(
        self,
        condition: Callable[[], bool],
        *,
        now: Callable[[], float] | None = None,
        limit: float = math.inf,
    ) -> bool:
        """Work until the condition holds, for at most `limit` seconds of `now`; whether it does."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """What a trial has to tell beside its verdict."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Trial(Protocol):
    """One run of a job, watched from before its mission is given until it is judged."""

    def prepare(self, seed: int) -> None:
        """Put the world into the start state of a seed.

        Raises:
            TrialError: it does not get there.
        """

    def begin(self, mission: Any) -> None:
        """The mission, a `behavior_msgs/MissionAction` with its identifier, has been given."""

    def now(self) -> float:
        """Simulated time that was heard of last [s]; -1: none yet."""

    def summary(self) -> str:
        """The state of the job in one line."""

    def settle(self) -> None:
        """The mission has ended: wait until the world has come to rest and all is heard."""

    def verdict(self) -> Verdict:
        """Whether the job is done.

        Raises:
            TrialError: what was meant to happen meanwhile did not.
        """

    def disturbances(self) -> list[str]:
        """What was done to the robot, with the time into the mission."""

    def not_disturbed(self) -> list[str]:
        """What was planned but did not happen, and why."""

    def tables(self) -> Sequence[Table]:
        """What is worth telling beside the verdict."""

    def parts(self) -> Sequence[Part]:
        """The like things that the run did or failed to do, if it has such."""

    def save(self, base: Path) -> None:
        """Keep what pictures need, while the stack is up.

        Args:
            base: folder and name of the files, without suffix.

        Raises:
            Exception: nothing can be kept; there are no pictures then.
        """

    def draw(self, base: Path, captions: Sequence[Caption], outcome: str) -> str:
        """Draw the run, the stack being down; returns what was drawn, in a sentence.

        Args:
            base: as for `save`.
            captions: what the mission did when.
            outcome: verdict and times.

        Raises:
            Exception: nothing can be drawn.
        """

    def close(self) -> None:
        """Watch and disturb no more."""


@runtime_checkable
class Job(Protocol):
    """What can be demonstrated and evaluated."""

    @property
    def name(self) -> str:
        """Of its mission: a tree, or a sequence that a package offers under `missions`."""

    @property
    def world(self) -> str:
        """Of the stack that it runs in, if nobody says another."""

    @property
    def time_limit(self) -> float:
        """[s] of simulated time for one run."""

    @property
    def parameters(self) -> Mapping[str, str]:
        """Given to its mission."""

    @property
    def parts_wanted(self) -> int:
        """Parts after which an evaluation ends; 0: it ends after so many episodes."""

    def demonstration(self, stack: Any) -> Trial:
        """A run that shows the job. `stack` is a `RunningStack`."""

    def episode(self, stack: Any, *, seed: int, disturb: bool) -> Trial:
        """A run that is measured, with disturbances drawn from the seed or without."""


@runtime_checkable
class ConfigurableJob(Job, Protocol):
    """A job that brings options of its own along."""

    @property
    def options(self) -> Sequence[JobOption]:
        """For the command line."""

    def configured(
        self, values: Mapping[str, Setting], parameters: Mapping[str, str], *, evaluation: bool
    ) -> Job:
        """The job for these values of its options, and more parameters of its mission.

        Raises:
            ValueError: a value cannot be; the message says what can.
        """
