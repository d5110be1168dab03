# SPDX-License-Identifier: Apache-2.0
"""Which of the offered grasps a pick specification allows, and why the others are out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from behavior_skills.grasping.candidates import Grasp
from behavior_skills.grasping.specification import PickSpecification
from behavior_skills.interfaces import Array, ObjectView
from behavior_skills.orientations import satisfied

AXES = {"x": 0, "y": 1, "z": 2}


def allowed_grasps(
    grasps: Sequence[Grasp], thing: ObjectView, specification: PickSpecification
) -> tuple[list[Grasp], str]:
    """The grasps that pass all of the specification's filters.

    Returns:
        The grasps, with the fixed orientation where there is one, and how many fell to what.
    """
    fixed = specification.fixed_rotation()
    turned = [_turned(grasp, thing, fixed) for grasp in grasps] if fixed is not None else grasps
    fallen: Counter[str] = Counter()
    kept = []
    for grasp, within in zip(turned, _within_share(turned, specification), strict=True):
        reason = (
            "constraints" if not within else _problem(grasp, thing.base_T_object, specification)
        )
        if reason is None:
            kept.append(grasp)
        else:
            fallen[reason] += 1
    return kept, ", ".join(f"{count} by {reason}" for reason, count in fallen.items())


def _problem(grasp: Grasp, base_T_object: Array, specification: PickSpecification) -> str | None:
    base_T_tool = base_T_object @ grasp.object_T_tool
    for constraint in specification.filter_constraints():
        if not satisfied(base_T_tool[None, :3, :3], [constraint])[0]:
            return constraint.name
    side = base_T_tool[1, 3] - base_T_object[1, 3]
    if specification.direction_to_obj == "right" and side > 0.0:
        return "direction_to_obj: right"
    if specification.direction_to_obj == "left" and side <= 0.0:
        return "direction_to_obj: left"
    return None


def _within_share(grasps: Sequence[Grasp], specification: PickSpecification) -> list[bool]:
    """Whether each grasp's position lies in the wanted share of their spread along an axis."""
    if specification.constraints is None or not grasps:
        return [True] * len(grasps)
    axis, low, high = specification.constraints
    at = np.array([grasp.object_T_tool[AXES[axis], 3] for grasp in grasps])
    share = (at - at.min()) / max(float(np.ptp(at)), 1e-9)
    return [bool(low <= value <= high) for value in share]


def _turned(grasp: Grasp, thing: ObjectView, base_R_tool: Array) -> Grasp:
    pose = grasp.object_T_tool.copy()
    pose[:3, :3] = thing.base_T_object[:3, :3].T @ base_R_tool
    return Grasp(pose, 0.0, grasp.lean)  # from another side it may be of another thickness
