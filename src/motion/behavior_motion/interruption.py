# SPDX-License-Identifier: Apache-2.0
"""Long computations that can be interrupted.

Every loop of this package that may take long calls :func:`check_interrupted` at each step, at most
some milliseconds apart. Whoever starts a computation says within an :func:`interruptible` block
when it is to end: by raising an exception, which then leaves the computation. Nothing is left half
done: scenes, plans and caches are as they were.
"""

from __future__ import annotations

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
