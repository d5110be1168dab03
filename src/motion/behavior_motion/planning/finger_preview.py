# SPDX-License-Identifier: Apache-2.0
"""What fingers will touch, hold and push when they open or close, before they do.

The arm stands at any joints: at those that a preview of a pose ends with (`preview_pose`), not just
where the hand is now. The gap is gone through in steps, then the first touch is sought between two.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from behavior_motion.checks import Vector, as_joints, positive
from behavior_motion.errors import ErrorCode, MotionError
from behavior_motion.planning.planner import MotionPlanner

STEP = 0.001
"""[m] of the gap between two looks: what is thinner, and moves past in between, is not seen."""
FINE = 1e-5
"""[m] of the gap to which a touch is told."""


@dataclass(frozen=True)
class FingerPreview:
    """What is known of a motion of the fingers."""

    width: float
    """Gap at which they come to rest [m]: the wanted one, or that of what they hold."""
    duration: float
    """[s] until then, at the gripper's greatest speed."""
    held: str = ""
    """Object that fingers touch from opposite sides, so that they stop; empty: none."""
    touched: dict[str, float] = field(default_factory=dict)
    """Gap [m] at which each object is touched first, in the order in which they are. What is not
    held is pushed aside."""


def preview_fingers(
    planner: MotionPlanner, joints: ArrayLike, width: float, *, start: float | None = None
) -> FingerPreview:
    """What fingers that move to a gap touch and hold, where the arm stands at some joints.

    What one finger meets before the other is pushed until both have it, so that the gap in the end
    is that of an object in the middle. What was touched before is not told, and neither is what the
    hand holds already.

    Args:
        planner: With the scene as it is.
        joints: Of the arm (dof,).
        width: Gap that is wanted [m].
        start: Gap before [m]; None: the widest.

    Raises:
        MotionError: The robot has no fingers, or a number cannot be.
    """
    gripper = planner.robot.gripper
    if not gripper.joint_names:
        raise MotionError(ErrorCode.INVALID_OPTION, f"{planner.robot.name} has no fingers to move")
    begin = gripper.open_width if start is None else start
    for name, value in (("width", width), ("start", begin)):
        positive(name, value, zero=True, at_most=gripper.open_width)
    fingers = _Fingers(planner, as_joints("joints", joints, planner.robot.joint_names))
    ways = fingers.ways(begin, width)
    sides: dict[str, dict[bool, float]] = {}
    seen = fingers.touches(begin)
    last = begin
    for gap in np.linspace(begin, width, max(2, int(np.ceil(abs(width - begin) / STEP)) + 1))[1:]:
        for link, name in sorted(fingers.touches(gap) - seen):
            seen.add((link, name))
            if link in ways:
                first = fingers.first_touch((link, name), last, float(gap))
                sides.setdefault(name, {}).setdefault(ways[link], first)
        for name, gaps in sides.items():
            if len(gaps) == 2:
                return _preview(begin, sum(gaps.values()) / 2.0, sides, gripper.max_speed, name)
        last = float(gap)
    return _preview(begin, width, sides, gripper.max_speed)


def _preview(
    begin: float,
    width: float,
    sides: dict[str, dict[bool, float]],
    speed: float,
    held: str = "",
) -> FingerPreview:
    way = np.sign(width - begin)
    touched = {name: min(gaps.values(), key=lambda gap: way * gap) for name, gaps in sides.items()}
    order = sorted(touched, key=lambda name: way * touched[name])
    return FingerPreview(
        width, abs(width - begin) / speed, held, {name: touched[name] for name in order}
    )


class _Fingers:
    """A hand that stands where it is and opens and shuts."""

    def __init__(self, planner: MotionPlanner, joints: Vector) -> None:
        self._planner, self._joints = planner, joints
        self._objects = frozenset(planner.scene.object_names())

    def ways(self, begin: float, end: float) -> dict[str, bool]:
        """Links that move with the gap, and on which of two sides: those of one move one way."""
        robot = self._planner.robot
        before, after = (robot.link_poses(self._joints, gap) for gap in (begin, end))
        moved = {name: after[name][:3, 3] - before[name][:3, 3] for name in before}
        farthest = max(moved.values(), key=lambda way: float(np.linalg.norm(way)))
        return {name: bool(way @ farthest > 0) for name, way in moved.items() if np.any(way)}

    def touches(self, gap: float) -> set[tuple[str, str]]:
        """Links and objects that touch."""
        pairs = self._planner.check_state(self._joints, gripper_width=gap).pairs
        found = {(b, a) if a in self._objects else (a, b) for a, b, _ in pairs}
        return {(link, name) for link, name in found if name in self._objects}

    def first_touch(self, pair: tuple[str, str], free: float, touching: float) -> float:
        """Gap between one without and one with a touch at which that begins [m]."""
        while abs(touching - free) > FINE:
            middle = 0.5 * (free + touching)
            if pair in self.touches(middle):
                touching = middle
            else:
                free = middle
        return touching
