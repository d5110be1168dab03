# SPDX-License-Identifier: Apache-2.0
"""Whether the operator holds the deadman switch."""

from __future__ import annotations

import math


class Deadman:
    """A switch that is held as long as its heartbeats come.

    Losing it latches: heartbeats that come back, as after a gap in the radio link, do not set the
    robot in motion; the operator has to release the switch and press it again. A switch that only
    sends while it is held shows its release by silence, one that tells of it by :meth:`release`.

    Who did not look for a while, because something blocked its process, cannot tell a silent switch
    from its own deafness: what was lost meanwhile halts, but does not latch.

    Time is steady time in seconds, never node time: a simulation that stands still must not keep
    a switch pressed.
    """

    def __init__(
        self,
        timeout: float = 0.0,
        *,
        latch: bool = True,
        release_time: float = 1.0,
        attention: float = math.inf,
    ) -> None:
        """Begin without a heartbeat.

        Args:
            timeout: [s] silence up to which, inclusive, the switch counts as held; zero or less:
                there is no switch.
            latch: whether a switch that was lost has to be released before it counts again.
            release_time: [s] silence that counts as a release; inf: only :meth:`release` does.
            attention: part of the timeout after which whoever did not look was deaf.
        """
        self.timeout = timeout
        self.latch = latch
        self.release_time = release_time
        self.attention = attention
        self._looked = math.inf
        self._beat = -math.inf
        self._held = False
        self._latched = False

    @property
    def enabled(self) -> bool:
        """Whether there is a switch."""
        return self.timeout > 0.0

    @property
    def latch_is_void(self) -> bool:
        """Whether each loss is a release as well: what counts as one is no longer than the timeout,
        so that the next heartbeat sets the robot in motion.
        """
        return self.enabled and self.latch and self.release_time <= self.timeout

    def beat(self, now: float) -> None:
        """A heartbeat: the switch is pressed."""
        self._settle(now)
        if now - self._beat >= self.release_time:
            self._latched = False
        self._beat = now
        self._held = not self._latched

    def release(self, now: float) -> None:
        """The switch said that it is not pressed."""
        self._settle(now)
        self._held = self._latched = False

    def alive(self, now: float) -> bool:
        """Whether the robot may move as far as the switch is concerned."""
        self._settle(now)
        return self._held or not self.enabled

    def age(self, now: float) -> float:
        """Seconds since the newest heartbeat; inf: there was none."""
        return max(0.0, now - self._beat)

    def deadline(self) -> float:
        """When it is lost if no heartbeat comes; inf: there is no switch."""
        return self._beat + self.timeout if self.enabled else math.inf

    def why_not(self, now: float) -> str:
        """Why the robot may not move; empty: it may."""
        if self.alive(now):
            return ""
        if self._latched and self.age(now) <= self.timeout:
            return "deadman switch was lost: release it and press it again"
        if math.isinf(self._beat):
            return "deadman switch was never pressed"
        return f"deadman switch not held for {self.age(now):.2f} s"

    def _settle(self, now: float) -> None:
        """Notice the loss."""
        deaf = now - self._looked > self.attention * self.timeout
        self._looked = now
        if not self.enabled:
            self._latched = False
        elif self._held and now - self._beat > self.timeout:
            self._held = False
            self._latched = self.latch and not deaf
