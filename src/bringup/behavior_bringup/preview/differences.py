# SPDX-License-Identifier: Apache-2.0
"""What differs between two moments of a stack, in sentences. No ROS."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.spatial.transform import Rotation

from behavior_bringup.preview.base_state import base_differences
from behavior_bringup.preview.live_state import LiveState
from behavior_console.object_changes import MOVED, TURNED, SeenObject, object_changes


@dataclass(frozen=True, kw_only=True)
class Tolerances:
    """Up to where two moments count as equal."""

    distance: float = MOVED
    """Between places of an object [m]."""
    angle: float = TURNED
    """Between orientations of an object [rad]; infinite: they do not count."""
    joint: float = 0.02
    """Between positions of a joint [rad or m]."""
    base: float = 0.1
    """Between places of a robot that drives, and of frames in its map [m]: more than its localizer
    errs."""
    seen: bool = True
    """Whether what such a robot sees beside its map counts."""


def differences(before: LiveState, after: LiveState, tolerances: Tolerances) -> list[str]:
    """What is not as it was, a sentence each; empty: nothing differs.

    Derived objects do not count: they follow those that they are derived from.
    """
    found = [*_robot(before, after, tolerances)]
    if before.base is not None and after.base is not None:
        found += base_differences(
            before.base, after.base, distance=tolerances.base, seen=tolerances.seen
        )
    return found + object_changes(
        _seen(before), _seen(after), moved=tolerances.distance, turned=tolerances.angle
    )


def _robot(before: LiveState, after: LiveState, tolerances: Tolerances) -> list[str]:
    shifts = {
        name: abs(after.joints[name] - position)
        for name, position in before.joints.items()
        if name in after.joints
    }
    moved = {name: shift for name, shift in shifts.items() if shift > tolerances.joint}
    if not moved:
        return []
    farthest = max(moved, key=lambda name: moved[name])
    others = f", and {len(moved) - 1} more joints" if len(moved) > 1 else ""
    return [f"The robot stands elsewhere: {farthest} by {moved[farthest]:.3f}{others}"]


def _seen(state: LiveState) -> dict[str, SeenObject]:
    return {
        name: SeenObject(
            position=tuple(item.pose[:3, 3].tolist()),
            orientation=tuple(Rotation.from_matrix(item.pose[:3, :3]).as_quat().tolist()),
            held=item.sight == "held",
            lost=item.sight == "lost",
        )
        for name, item in state.objects.items()
        if not item.derived
    }
