# SPDX-License-Identifier: Apache-2.0
"""Where frames are that goals are given in, as seen from the robot's base.

TF keeps the last place of a frame of which nobody tells any more: of a camera that is unplugged, or
a part whose detector has ended. Whoever moves there moves to where something was.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rclpy.time import Time

from behavior_ros import TransformBuffer, TransformError, seconds, to_time
from behavior_skills.interfaces import Array, FailureCode, SkillFailure


class FrameLookup:
    """base_T_frame by the frame's name."""

    def __init__(
        self,
        transforms: TransformBuffer,
        *,
        base: str,
        world: str,
        most_age: float,
        now: Callable[[], float],
    ) -> None:
        """Look up in a buffer.

        Args:
            transforms: what is known of frames.
            base: frame of the robot's base.
            world: the scene's frame, which is suggested to who names none.
            most_age: [s] since which somebody must have told where a frame is that moves; 0: any.
            now: node time [s].
        """
        self._transforms, self._base, self._world = transforms, base, world
        self._most_age, self._now = most_age, now

    def __call__(self, frame: str, stamp: float) -> Array:
        """base_T_frame, 4x4 [m], at a time [s], 0: now; raises `SkillFailure` UNKNOWN_FRAME."""
        if frame == self._base:
            return np.eye(4)
        if not frame:
            raise _unknown(f"The pose has no frame_id: give one such as '{self._world}'.")
        at = Time.from_msg(to_time(stamp)) if stamp > 0.0 else None
        try:
            if at is None and self._most_age > 0.0:
                self._refuse_old(frame)
            matrix: Array = self._transforms.lookup_matrix(self._base, frame, at)
        except TransformError as error:
            raise _unknown(
                f"Frame '{frame}' is not known: {error}. Give a frame that is on /tf."
            ) from error
        return matrix

    def _refuse_old(self, frame: str) -> None:
        heard = seconds(self._transforms.lookup_transform(self._base, frame).header.stamp)
        age = self._now() - heard
        if heard > 0.0 and age > self._most_age:  # what stands still for ever has no time
            raise _unknown(
                f"Of frame '{frame}' was last heard {age:.1f} s ago, more than "
                f"{self._most_age:g} s: see whether who publishes it still runs."
            )


def _unknown(sentence: str) -> SkillFailure:
    return SkillFailure(FailureCode.UNKNOWN_FRAME, sentence)
