# SPDX-License-Identifier: Apache-2.0
"""Which of the sampled placements to take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from behavior_skills.interfaces import Array


@dataclass(frozen=True, slots=True)
class Reach:
    """Result of trying a list of poses: inverse kinematics or whole plans; each shape (n,)."""

    ok: np.ndarray
    """bool"""
    position_error: Array
    """[m]"""
    rotation_error: Array
    """[rad]"""
    travel: Array
    """Sum over the joints of the way that the motion takes [rad]."""


def priority(reach: Reach) -> list[int]:
    """Indices of the poses that were reached, the best first.

    Of the successes those with at most the mean position and rotation error are kept (all, if none
    has both), and sorted by joint travel.
    """
    reached = np.flatnonzero(reach.ok)
    if len(reached) == 0:
        return []
    exact = reached[
        (reach.position_error[reached] <= reach.position_error[reached].mean())
        & (reach.rotation_error[reached] <= reach.rotation_error[reached].mean())
    ]
    kept = exact if len(exact) else reached
    order = np.argsort(reach.travel[kept], kind="stable")
    return [int(index) for index in kept[order]]


def select_placement(place: Reach, pre: Reach | None = None) -> int | None:
    """The placement to take, or None when none can be reached.

    Args:
        place: result for the place poses.
        pre: result for the pre-place poses (dual rule); None: both are the same poses (single).

    Returns:
        Index of the best place pose whose pre-place pose is reached as well. Reached place poses
        that are less exact than the mean are fallen back on before giving up.
    """
    order = priority(place)
    rest = [int(i) for i in np.flatnonzero(place.ok) if int(i) not in order]
    rest.sort(key=lambda index: float(place.travel[index]))
    for index in [*order, *rest]:
        if pre is None or pre.ok[index]:
            return index
    return None
