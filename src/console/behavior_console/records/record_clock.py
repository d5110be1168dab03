# SPDX-License-Identifier: Apache-2.0
"""`RecordClock`: the executor's clock, which pages show, and the wall time of a recording."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Sequence

_SET_BACK = 5.0
"""[s] A step back of more is another run of a simulation, whose clock begins anew."""

_Reading = tuple[int, float]
"""Wall time [ns] and the executor's clock [s]."""


class RecordClock:
    """Readings of the executor's clock at wall times, and what lies between them.

    Simulated time may run faster than wall time and stand still. Where the executor's clock was set
    back, a moment that has been twice is the later one. Without any reading the executor's clock is
    taken for wall time.

    Threads may share it.

    Args:
        start: wall time of the recording's first message [ns].
    """

    def __init__(self, *, start: int) -> None:
        self._start = start
        self._runs: list[list[_Reading]] = []
        """Stretches in which the clock did not go back."""
        self._spare: int | None = None
        """Wall time up to which a better reading takes the place of the last one."""
        self._lock = threading.Lock()
        self.newest = 0
        """Wall time of the last reading [ns]."""

    def add(self, wall: int, stamp: float, *, spare: int = 0) -> None:
        """Add a reading, later than those before.

        Args:
            wall: [ns].
            stamp: the executor's clock [s].
            spare: [ns] within which a reading that is not spare takes the place of this one.
        """
        with self._lock:
            if self._spare is not None and wall <= self._spare and not spare:
                self._drop_last()
            self._spare = wall + spare if spare else None
            self.newest = wall
            run = self._runs[-1] if self._runs else None
            if run is None or stamp < run[-1][1] - _SET_BACK:
                self._runs.append([(wall, stamp)])
            elif stamp >= run[-1][1]:
                run.append((wall, stamp))
            else:
                self._spare = None  # it was left out, and there is nothing to take the place of

    def _drop_last(self) -> None:
        self._runs[-1].pop()
        if not self._runs[-1]:
            self._runs.pop()

    @property
    def begin(self) -> float:
        """[s] of the executor's clock when the recording began."""
        with self._lock:
            if not self._runs:
                return self._start * 1e-9
            wall, stamp = self._runs[0][0]
            return stamp - (wall - self._start) * 1e-9 * _rate(self._runs[0])

    def time(self, wall: int) -> float:
        """[s] of the executor's clock at a wall time after the last reading [ns]."""
        with self._lock:
            if not self._runs:
                return wall * 1e-9
            last, stamp = self._runs[-1][-1]
            return stamp + max(0, wall - last) * 1e-9 * _rate(self._runs[-1])

    def wall_time(self, time: float) -> int:
        """The last wall time [ns] at which the executor's clock had read at most this [s]."""
        with self._lock:
            if not self._runs:
                return round(time * 1e9)
            return self._wall_time(time)

    def _wall_time(self, time: float) -> int:
        run = next((run for run in reversed(self._runs) if time >= run[0][1]), self._runs[0])
        index = bisect_right(run, time, key=lambda reading: reading[1]) - 1
        if index < 0:
            wall, stamp = run[0]
            return max(self._start, wall - _wall(stamp - time, run) - 1)
        wall, stamp = run[index]
        if index + 1 == len(run):
            return wall + (_wall(time - stamp, run) if run is self._runs[-1] else 0)
        following, then = run[index + 1]
        # What was at the next reading has not been yet.
        between = round((following - wall) * (time - stamp) / (then - stamp))
        return min(following - 1, wall + between)


def _rate(run: Sequence[_Reading]) -> float:
    """Seconds of the executor's clock per second of wall time."""
    passed = (run[-1][0] - run[0][0]) * 1e-9
    return (run[-1][1] - run[0][1]) / passed if passed > 0.0 else 1.0


def _wall(seconds: float, run: Sequence[_Reading]) -> int:
    """How long that took [ns]."""
    rate = _rate(run)
    return round(seconds / rate * 1e9) if rate > 0.0 else 0
