# SPDX-License-Identifier: Apache-2.0
"""What differs between two moments of a stack, in sentences. No ROS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from behavior_bringup.preview.base_state import base_differences
from behavior_bringup.preview.live_state import BelievedObject, LiveState
from behavior_motion.pose_difference import angle_between, distance_between


@dataclass(frozen=True, kw_only=True)
class Tolerances:
    """Up to where two moments count as equal."""

    distance: float = 0.01
    """Between places of an object [m]: noise of detections, and more than an arm repeats."""
    angle: float = 0.2
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
    old = {name: item for name, item in before.objects.items() if not item.derived}
    new = {name: item for name, item in after.objects.items() if not item.derived}
    for name in sorted(old.keys() | new.keys()):
        found += _object(old.get(name), new.get(name), tolerances)
    return found


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


def _object(
    old: BelievedObject | None, new: BelievedObject | None, tolerances: Tolerances
) -> list[str]:
    if old is None or new is None:
        gone = old or new
        assert gone is not None
        return [f"{gone.name} is {'no more there' if new is None else 'new'}"]
    found = []
    if _held(old) != _held(new):
        found.append(f"{old.name} {'is held now' if _held(new) else 'is not held any more'}")
    if (old.sight == "lost") != (new.sight == "lost"):
        found.append(f"{old.name} {'is lost now' if new.sight == 'lost' else 'was found again'}")
    shift, turn = distance_between(old.pose, new.pose), angle_between(old.pose, new.pose)
    if shift > tolerances.distance:
        found.append(f"{old.name} has moved by {1e3 * shift:.0f} mm")
    elif turn > tolerances.angle:
        found.append(f"{old.name} has turned by {np.rad2deg(turn):.0f} degrees")
    return found


def _held(item: BelievedObject) -> bool:
    return item.sight == "held"
