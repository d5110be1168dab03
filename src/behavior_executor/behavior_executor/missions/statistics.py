# SPDX-License-Identifier: Apache-2.0
"""What a component measures about itself: counters and distributions. No ROS."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True)
class Distribution:
    """Summary of the samples of a :class:`Histogram`."""

    samples: int
    """Number of samples since the start."""
    mean: float
    """Of all samples."""
    median: float
    """Of the newest samples (``Histogram.window``)."""
    p99: float
    """99th percentile of the newest samples, by the nearest-rank rule."""
    maximum: float
    """Of all samples."""


class Histogram:
    """Distribution of a measured quantity; adding a sample costs a few hundred nanoseconds."""

    def __init__(self, *, window: int = 4096) -> None:
        """Start empty.

        Args:
            window: number of newest samples that the quantiles refer to, at least 1.
        """
        self._recent: deque[float] = deque(maxlen=window)
        self._samples = 0
        self._sum = 0.0
        self._maximum = 0.0

    def add(self, value: float) -> None:
        """Take in one sample."""
        self._recent.append(value)
        self._sum += value
        self._maximum = value if not self._samples else max(self._maximum, value)
        self._samples += 1

    def summary(self) -> Distribution:
        """The distribution so far; all zero when there is no sample."""
        if not self._samples:
            return Distribution(0, 0.0, 0.0, 0.0, 0.0)
        ordered = sorted(self._recent)
        n = len(ordered)
        return Distribution(
            samples=self._samples,
            mean=self._sum / self._samples,
            median=0.5 * (ordered[(n - 1) // 2] + ordered[n // 2]),
            p99=ordered[max(0, -(-99 * n // 100) - 1)],
            maximum=self._maximum,
        )


@dataclass(frozen=True)
class Metric:
    """One number or distribution under a name."""

    name: str
    unit: str
    """SI unit, empty for counts."""
    value: float | Distribution
    """A distribution, or a count, or a gauge."""
    is_counter: bool = False
    """A number that only ever grows."""


class TickStatistics:
    """How long ticks take (wall time), and how late they come (node time)."""

    def __init__(self) -> None:
        """Start empty."""
        self.duration = Histogram()
        self.lateness = Histogram()
        self._last_start: float | None = None

    def add(self, start: float, duration: float, period: float) -> None:
        """Take in one tick.

        Args:
            start: node time [s] at which it began.
            duration: wall time [s] that it took.
            period: node time [s] that should lie between two starts.
        """
        self.duration.add(duration)
        if self._last_start is not None:
            self.lateness.add(max(0.0, start - self._last_start - period))
        self._last_start = start

    def interrupt(self) -> None:
        """Ticking stops for a while; the gap is no lateness."""
        self._last_start = None

    def metrics(self) -> list[Metric]:
        """Both distributions."""
        return [
            Metric("execution_time", "s", self.duration.summary()),
            Metric("tick_lateness", "s", self.lateness.summary()),
        ]
