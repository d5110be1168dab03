# SPDX-License-Identifier: Apache-2.0
"""Whether the robot knows where it is, and where that is now."""

from __future__ import annotations

import math
from dataclasses import dataclass

from behavior_motion.planar_pose import Pose2D
from behavior_navigation.rules.state import LocalizationState


@dataclass(frozen=True, slots=True)
class Estimate:
    """One result of the localizer."""

    stamp: float
    """[s] node time that the pose is of."""
    pose: Pose2D
    """Of the robot in `frame`."""
    good: bool
    """The localizer trusts it."""
    score: float
    """0..1"""
    map_id: str
    frame: str


class LocalizationWatch:
    """Keeps the section of the state: verdict, and edges from good to not good."""

    def __init__(self, state: LocalizationState) -> None:
        """Begin without an estimate; `state` is written only here."""
        self.state = state
        self.newest: Estimate | None = None
        self.placed: Estimate | None = None
        """The newest with a pose; a localizer that is lost may tell one that is no number."""
        self._not_before = -math.inf
        self._bad_since: float | None = None

    def take(self, estimate: Estimate, now: float) -> None:
        """A result has arrived; one from before the last reset says nothing any more."""
        if now < self._not_before:  # the clock was set back
            self._not_before = -math.inf
        if estimate.stamp >= self._not_before:
            self.newest = estimate
            if all(map(math.isfinite, (estimate.pose.x, estimate.pose.y, estimate.pose.yaw))):
                self.placed = estimate
            self.settle(now, fresh=True)

    def settle(self, now: float, *, fresh: bool, silent_for: float = 0.0) -> None:
        """Judge what is known.

        Args:
            now: [s] node time.
            fresh: the newest result is young enough.
            silent_for: [s] its age.
        """
        state, newest = self.state, self.newest
        state.fresh = fresh and newest is not None
        was_good = state.good
        state.good = state.fresh and newest is not None and newest.good
        if newest is None:
            state.reason = "no localization result yet"
        elif not state.fresh:
            state.reason = f"no localization result for {silent_for:.1f} s"
        else:
            state.reason = "" if newest.good else f"localizer doubts its pose ({newest.score:.2f})"
        if newest is not None:
            state.map_id, state.frame, state.score = newest.map_id, newest.frame, newest.score
        if was_good and not state.good:
            state.failures += 1
        if state.good:
            self._bad_since = None
        elif self._bad_since is None or now < self._bad_since:
            self._bad_since = now
        state.bad_for = 0.0 if self._bad_since is None else now - self._bad_since

    def clear(self) -> None:
        """Know nothing, as before the first result."""
        self.newest = self.placed = None

    def forget(self, now: float) -> None:
        """The localizer was reset: only results from now on count. This is no failure."""
        self.clear()
        self._not_before = now
        self.state.good = False
        self.settle(now, fresh=False)


def brought_to_now(map_T_robot: Pose2D, static_T_robot: Pose2D, now: Pose2D) -> Pose2D:
    """A pose estimate of some time, moved on by what the robot did since.

    Args:
        map_T_robot: the estimate.
        static_T_robot: pose of the robot at the time of the estimate, in a frame that does not
            move between then and now, like odom.
        now: its pose there now.

    Returns:
        ``map_T_robot(t) = map_T_robot(t1) * static_T_robot(t1)^-1 * static_T_robot(t)``
    """
    return map_T_robot @ static_T_robot.inverse() @ now
