# SPDX-License-Identifier: Apache-2.0
"""The rules of a message cache, without ROS: what is newest, how old it is, what is left out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Generic, TypeVar

M = TypeVar("M")

JUMP_BACK = 0.001
"""[s] A clock that goes back by more than this was set anew."""


@dataclass(frozen=True, slots=True)
class _Entry(Generic[M]):
    message: M
    since: float
    """[s] time from which on its age counts."""
    stamp: float
    """[s] what it is ordered by among messages of the same `since`."""


class NewestEntry(Generic[M]):
    """The newest of the messages that were offered, in the order of their stamps.

    A stamp from the future (clocks of two machines, simulated time that arrives late) counts as the
    time of arrival, so that such a message is never fresh for longer than others, and cannot shut
    out those that follow. When time goes backwards everything is forgotten: the world was reset.
    """

    def __init__(self, max_age: float = math.inf) -> None:
        """Start empty.

        Args:
            max_age: [s] age up to which, inclusive, a message is fresh; infinite: always.

        Raises:
            ValueError: `max_age` is zero, negative or no number.
        """
        self.max_age = max_age
        self.late = 0
        """Messages left out because a newer one was there already."""
        self.duplicates = 0
        """Messages left out because one of the same stamp was there already."""
        self._newest: _Entry[M] | None = None
        self._clock = -math.inf

    @property
    def max_age(self) -> float:
        """[s] Age up to which a message is fresh."""
        return self._max_age

    @max_age.setter
    def max_age(self, value: float) -> None:
        if not value > 0:
            raise ValueError(f"max_age is {value} s: give a positive number, or inf for no limit")
        self._max_age = value

    def offer(self, message: M, now: float, stamp: float | None = None) -> bool:
        """Take in a message if it is newer than the one that is there.

        Args:
            message: anything.
            now: [s] time of its arrival.
            stamp: [s] time that its age counts from, on the same clock; None: arrival.

        Returns:
            False if it was late or a duplicate; it is counted, and otherwise ignored.
        """
        self.notice(now)
        raw = now if stamp is None else stamp
        entry = _Entry(message, min(raw, now), raw)
        newest = self._newest
        if stamp is not None and newest is not None:
            if (entry.since, entry.stamp) < (newest.since, newest.stamp):
                self.late += 1
                return False
            if entry.stamp == newest.stamp:
                self.duplicates += 1
                return False
        self._newest = entry
        return True

    def notice(self, now: float) -> None:
        """Forget everything if the clock was set back."""
        if now < self._clock - JUMP_BACK:
            self._newest = None
        self._clock = now

    def clear(self) -> None:
        """Forget the message."""
        self._newest = None

    def newest(self) -> M | None:
        """The newest message however old, None before the first."""
        newest = self._newest
        return None if newest is None else newest.message

    def age(self, now: float) -> float:
        """Seconds since the newest message's stamp or arrival, infinite before the first."""
        # Read once: other threads may look while a message arrives.
        newest = self._newest
        return math.inf if newest is None else max(0.0, now - newest.since)

    def fresh(self, now: float) -> bool:
        """Whether there is a message no older than `max_age`."""
        newest = self._newest
        return newest is not None and now - newest.since <= self._max_age
