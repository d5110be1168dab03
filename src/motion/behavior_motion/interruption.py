# SPDX-License-Identifier: Apache-2.0
"""Long computations that can be interrupted.

Every loop of this package that may take long calls :func:`check_interrupted` at each step, at most
some milliseconds apart. Whoever starts a computation says within an :func:`interruptible` block
when it is to end: by raising an exception, which then leaves the computation. Nothing is left half
done: scenes, plans and caches are as they were. A :class:`Deadline` is the usual reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Check = Callable[[], None]


def _go_on() -> None:
    """Interrupt nothing."""


_check: ContextVar[Check] = ContextVar("check", default=_go_on)


@contextmanager
def interruptible(check: Check) -> Iterator[None]:
    """Within the block, computations of this thread call ``check``, which may raise to end them.

    Blocks nest: the outer one's check counts in the inner one as well. ``check`` is called many
    thousand times a second, so it must be cheap.
    """
    outer = _check.get()

    def both() -> None:
        outer()
        check()

    token = _check.set(check if outer is _go_on else both)
    try:
        yield
    finally:
        _check.reset(token)


def check_interrupted() -> None:
    """Raise what the checks of the surrounding :func:`interruptible` blocks raise, if any."""
    _check.get()()


class Deadline:
    """A time from now on, that is asked for often."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.thread_time) -> None:
        """Begin now; by default ``seconds`` of processor time of the thread, which asks then."""
        self.seconds, self.clock = seconds, clock
        self.began = clock()
        self._processor = clock is time.thread_time
        self._due = time.monotonic() + seconds

    def __str__(self) -> str:
        """The time that there is, in words."""
        return f"{self.seconds:g} s{' of processor time' if self._processor else ''}"

    @property
    def spent(self) -> float:
        """[s] since it began."""
        return self.clock() - self.began

    @property
    def left(self) -> float:
        """[s] until it is over; negative: since."""
        return self.seconds - self.spent

    @property
    def passed(self) -> bool:
        """Whether it is over."""
        # Processor time, which takes ten times as long to read, passes no faster than the wall's.
        if self._processor and time.monotonic() < self._due:
            return False
        left = self.left
        self._due = time.monotonic() + left
        return left < 0.0

    def part(self, share: float) -> Deadline:
        """One after a share of what is left of this one."""
        return Deadline(share * self.left, self.clock)


@contextmanager
def ended_by(deadline: Deadline, failure: Callable[[], Exception]) -> Iterator[None]:
    """Within the block, computations of this thread end with a failure once a time has passed."""

    def in_time() -> None:
        if deadline.passed:
            raise failure()

    with interruptible(in_time):
        yield
