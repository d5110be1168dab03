# SPDX-License-Identifier: Apache-2.0
"""`RecordClock`: the executor's clock, which pages show, and the wall time of a recording."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

__all__ = ["RecordClock", "filled"]

_SET_BACK = 5.0
"""[s] A step back of more is another run of a simulation, whose clock begins anew."""


class RecordClock:
    """Readings of the executor's clock at wall times, and what lies between them.

    Simulated time may run faster than wall time and stand still. Where the executor's clock was set
    back, a moment that has been twice is the later one.

    Args:
        readings: wall time [ns] and executor's clock [s], in the order of wall time; none: the
            executor's clock is taken for wall time.
        start: wall time of the first message [ns].
        end: of the last one [ns].
    """

    def __init__(self, readings: Sequence[tuple[int, float]], *, start: int, end: int) -> None:
        self._runs = _runs(readings or [(start, start * 1e-9), (end, end * 1e-9)])
        first, last = self._runs[0], self._runs[-1]
        self.begin = first[0][1] - (first[0][0] - start) * 1e-9 * _rate(first)
        """[s] of the executor's clock when the recording began."""
        self.end = last[-1][1] + (end - last[-1][0]) * 1e-9 * _rate(last)
        """[s] when it ended."""
        self._start, self._end = start, end

    def wall_time(self, time: float) -> int:
        """The last wall time [ns] at which the executor's clock had read at most this [s]."""
        run = next((run for run in reversed(self._runs) if time >= run[0][1]), self._runs[0])
        index = bisect_right(run, time, key=lambda reading: reading[1]) - 1
        if index < 0:
            wall, stamp = run[0]
            return max(self._start, wall - _wall(stamp - time, run) - 1)
        wall, stamp = run[index]
        if index + 1 == len(run):
            latest = self._end if run is self._runs[-1] else wall
            return min(latest, wall + _wall(time - stamp, run))
        following, then = run[index + 1]
        # What was at the next reading has not been yet.
        return min(
            following - 1, wall + round((following - wall) * (time - stamp) / (then - stamp))
        )


def filled(
    readings: Sequence[tuple[int, float]], spare: Sequence[tuple[int, float]], *, within: int
) -> list[tuple[int, float]]:
    """Readings, with those of another kind where none was for a while.

    Args:
        readings: wall time [ns] and executor's clock [s], in order.
        spare: likewise.
        within: [ns] of a reading spare ones are left out.
    """
    walls = [wall for wall, _ in readings]

    def is_lonely(wall: int) -> bool:
        index = bisect_right(walls, wall)
        return all(abs(wall - near) > within for near in walls[max(0, index - 1) : index + 1])

    return sorted([*readings, *(each for each in spare if is_lonely(each[0]))])


def _runs(readings: Sequence[tuple[int, float]]) -> list[list[tuple[int, float]]]:
    """Stretches in which the clock did not go back."""
    runs: list[list[tuple[int, float]]] = [[]]
    for wall, stamp in readings:
        run = runs[-1]
        if run and stamp < run[-1][1] - _SET_BACK:
            runs.append([(wall, stamp)])
        elif not run or stamp >= run[-1][1]:
            run.append((wall, stamp))
    return runs


def _rate(run: Sequence[tuple[int, float]]) -> float:
    """Seconds of the executor's clock per second of wall time."""
    passed = (run[-1][0] - run[0][0]) * 1e-9
    return (run[-1][1] - run[0][1]) / passed if passed > 0.0 else 1.0


def _wall(seconds: float, run: Sequence[tuple[int, float]]) -> int:
    """How long that took [ns]."""
    rate = _rate(run)
    return round(seconds / rate * 1e9) if rate > 0.0 else 0
