# SPDX-License-Identifier: Apache-2.0
"""Which of the offered grasps a pick specification allows, and why the others are out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from behavior_motion import check_interrupted
from behavior_skills.grasping.candidates import Grasp
from behavior_skills.grasping.specification import PickSpecification
from behavior_skills.interfaces import Array, ObjectView
from behavior_skills.orientations import satisfied

AXES = {"x": 0, "y": 1, "z": 2}


def allowed_grasps(
    grasps: Sequence[Grasp], obj: ObjectView, specification: PickSpecification
) -> tuple[list[Grasp], str]:
    """The grasps that pass all of the specification's filters.

    Returns:
        The grasps, with the fixed orientation where there is one, and how many fell to what.
    """
    fixed = specification.fixed_rotation()
    turned = [_turned(grasp, obj, fixed) for grasp in grasps] if fixed is not None else grasps
    poses = np.array([grasp.object_T_tool for grasp in turned]).reshape(-1, 4, 4)
    left, fallen = np.ones(len(turned), dtype=bool), []
    for name, good in _judgements(poses, obj.base_T_object, specification):
        check_interrupted()
        fell = int(np.count_nonzero(left & ~good))
        if fell:
            fallen.append(f"{fell} by {name}")
        left &= good
    kept = [grasp for grasp, good in zip(turned, left, strict=True) if good]
    return kept, ", ".join(fallen)


def _judgements(
    poses: Array, base_T_object: Array, specification: PickSpecification
) -> Iterator[tuple[str, np.ndarray]]:
    """Name of each filter and which of the grasps pass it."""
    if specification.constraints is not None and len(poses):
        axis, low, high = specification.constraints
        at = poses[:, AXES[axis], 3]
        share = (at - at.min()) / max(float(np.ptp(at)), 1e-9)
        yield "constraints", (low <= share) & (share <= high)
    tools = base_T_object @ poses
    for constraint in specification.filter_constraints():
        yield constraint.name, satisfied(tools[:, :3, :3], [constraint])
    side = tools[:, 1, 3] - base_T_object[1, 3]
    if specification.direction_to_obj == "right":
        yield "direction_to_obj: right", side <= 0.0
    if specification.direction_to_obj == "left":
        yield "direction_to_obj: left", side > 0.0


def _turned(grasp: Grasp, obj: ObjectView, base_R_tool: Array) -> Grasp:
    pose = grasp.object_T_tool.copy()
    pose[:3, :3] = obj.base_T_object[:3, :3].T @ base_R_tool
    # From another side the object may be of another thickness.
    return Grasp(pose, 0.0, grasp.lean, grasp.score)
