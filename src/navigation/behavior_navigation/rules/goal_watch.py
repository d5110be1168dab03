# SPDX-License-Identifier: Apache-2.0
"""A goal in a frame that may move or get lost."""

from __future__ import annotations

import math
from dataclasses import dataclass

from behavior_motion.planar_pose import Pose2D


@dataclass(frozen=True, slots=True)
class GoalFrameRule:
    """When a goal that moves with its frame is worth a new route."""

    translation: float = 0.2
    """[m] by which it must have moved, or"""
    rotation: float = 0.3
    """[rad] by which it must have turned,"""
    ticks: int = 3
    """for this many ticks;"""
    release: float = 0.8
    """below this part of the thresholds the count starts anew; between, it rests."""
    period: float = 1.0
    """[s] between two changes at least."""
    max_timeout: float = 3.0
    """[s] for which a frame may be unknown."""


class GoalWatch:
    """Follows one goal."""

    def __init__(self, rule: GoalFrameRule, now: float) -> None:
        """Start with a goal whose place is not known yet."""
        self.rule = rule
        self.pursued: Pose2D | None = None
        """The goal that routes are made to; None: never known."""
        self.changed = False
        """It is somewhere else now; `accept` takes it over."""
        self.moved = False
        """When it was seen last it was somewhere else, for however short a time."""
        self._newest: Pose2D | None = None
        self._seen = now
        self._accepted = -math.inf
        self._ticks = 0
        self._now = now

    def update(self, now: float, goal: Pose2D | None) -> None:
        """Look at the goal in this tick.

        Args:
            now: [s]
            goal: in the frame of routes; None: its frame is unknown.
        """
        self._now = now
        if goal is None:
            self._seen = min(self._seen, now)  # the clock may be set back
            return
        self._newest, self._seen = goal, now
        if self.pursued is None:
            self.pursued, self._accepted = goal, now
            return
        self._count(self.pursued, goal)
        rested = not 0.0 <= now - self._accepted < self.rule.period
        self.changed = self._ticks >= self.rule.ticks and rested

    def accept(self) -> Pose2D | None:
        """Pursue the goal where it is now."""
        if self._newest is not None:
            self.pursued, self._accepted = self._newest, self._now
        self._ticks, self.changed, self.moved = 0, False, False
        return self.pursued

    @property
    def lost(self) -> bool:
        """Whether the frame has been unknown for too long."""
        return self._now - self._seen > self.rule.max_timeout

    def _count(self, old: Pose2D, new: Pose2D) -> None:
        rule = self.rule
        moved, turned = old.distance(new), old.turn(new)
        self.moved = moved > rule.translation or turned > rule.rotation
        if self.moved:
            self._ticks += 1
        elif moved < rule.release * rule.translation and turned < rule.release * rule.rotation:
            self._ticks = 0
