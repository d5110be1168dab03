# SPDX-License-Identifier: Apache-2.0
"""A limit that also ends what never comes back by itself."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

_LEAST, _MOST = 1e-6, 1e9
"""What a timer can be set to [s]: 0 would mean none."""


class TimeIsUpError(BaseException):
    """Not an Exception, so that no node takes it for an error of its own."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeIsUpError` in the midst of a block that takes longer; in the main thread only.

    Args:
        seconds: [s] on the wall's clock
    """

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TimeIsUpError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, min(max(seconds, _LEAST), _MOST))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
