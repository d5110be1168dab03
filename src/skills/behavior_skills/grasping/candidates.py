# SPDX-License-Identifier: Apache-2.0
"""Grasps from the shape of an object.

A grasp is the pose of the tool frame in the object's frame: z is the direction of approach, y the
axis along which the fingers close, x = y cross z. A box offers one grasp for every face and every
in-face direction of the fingers: 6 x 4 = 24, where it is thin enough for the gripper. A cylinder
offers its end faces with turned fingers and its mantle from the sides, a sphere what a box does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from behavior_motion import check_interrupted
from behavior_skills.interfaces import Array, ObjectView

NEIGHBOUR_RANGE = 0.25
"""[m] objects nearer than this are in the fingers' way."""
NEIGHBOUR_WEIGHT = 10.0
NEIGHBOUR_SPREAD = 0.15
"""[m] standard deviation of the penalty over the distance."""
DEEPEST = 0.03
"""[m] the tool goes at most this far below the face that it comes from."""
FINGER_MARGIN = 0.008
"""[m] by which the open gripper must be wider than the object."""
TILT_LIMIT = math.acos(0.9)
"""[rad] an approach within this of straight down is from above (25.84 degrees)."""
TILT_PENALTY = 1.0
"""Posture lost per radian of tilt beyond that."""
POOL = 20
"""Grasps that are tried, the best first."""
YAWS_OF_A_CYLINDER = 8
LEANS = (math.radians(8.0), math.radians(16.0), math.radians(24.0))
"""[rad] by which a grasp may be turned about the fingers' axis: the pads stay flat on the faces."""
LEAN_PENALTY = 4.0
"""Posture lost per radian of lean."""


@dataclass(frozen=True, slots=True)
class Grasp:
    """One way to take hold of an object."""

    object_T_tool: Array
    """4x4 [m]."""
    width: float
    """Thickness of the object between the fingers [m]."""
    lean: float = 0.0
    """Angle by which the tool is turned about the fingers' axis from its plain pose [rad]."""
    score: float = 0.0
    """As annotated, lower is better; 0 where nobody has annotated it."""


def grasp_pose(approach: Sequence[float], fingers: Sequence[float], depth: float) -> Array:
    """4x4 tool pose `depth` above the object's centre against the `approach` direction."""
    z, y = np.asarray(approach, dtype=np.float64), np.asarray(fingers, dtype=np.float64)
    pose = np.eye(4)
    pose[:3, :3] = np.column_stack([np.cross(y, z), y, z])
    pose[:3, 3] = -z * depth
    return pose


def grasps_for(obj: ObjectView, max_width: float) -> list[Grasp]:
    """All grasps that the shape offers to a gripper that opens to `max_width` [m]."""
    grasps = _cylinder_grasps(obj) if obj.shape == "cylinder" else _box_grasps(obj)
    return [grasp for grasp in grasps if grasp.width <= max_width - FINGER_MARGIN]


def _box_grasps(obj: ObjectView) -> list[Grasp]:
    half = obj.half_extents
    grasps = []
    for face in range(3):
        for side in (1.0, -1.0):
            approach = np.zeros(3)
            approach[face] = -side
            depth = max(0.0, half[face] - DEEPEST)
            for axis in {0, 1, 2} - {face}:
                for sign in (1.0, -1.0):
                    fingers = np.zeros(3)
                    fingers[axis] = sign
                    pose = grasp_pose(approach.tolist(), fingers.tolist(), depth)
                    grasps.append(Grasp(pose, float(2 * half[axis])))
    return grasps


def _cylinder_grasps(obj: ObjectView) -> list[Grasp]:
    height, radius = obj.size
    grasps = []
    for step in range(YAWS_OF_A_CYLINDER):
        angle = 2 * math.pi * step / YAWS_OF_A_CYLINDER
        around = [math.cos(angle), math.sin(angle), 0.0]
        depth = max(0.0, height / 2 - DEEPEST)
        for side in (1.0, -1.0):
            pose = grasp_pose([0.0, 0.0, -side], around, depth)
            grasps.append(Grasp(pose, 2 * radius))
        from_side = [math.sin(angle), -math.cos(angle), 0.0]
        pose = grasp_pose(from_side, around, max(0.0, radius - DEEPEST))
        grasps.append(Grasp(pose, 2 * radius))
    return grasps


def tilt_of(base_T_tool: Array) -> float:
    """Angle between a tool's approach and straight down [rad]."""
    return math.acos(float(np.clip(-base_T_tool[2, 2], -1.0, 1.0)))


def neighbour_penalty(fingers: Array, at: Array, neighbours: Iterable[Array]) -> float:
    """How much the fingers, on their axis, would get in the way of other objects; at most 0.

    Args:
        fingers: unit vector of the fingers' axis in the base frame.
        at: centre of the object to be grasped [m].
        neighbours: centres of the others [m].
    """
    penalty = 0.0
    for other in neighbours:
        distance = float(np.linalg.norm(other - at))
        if 1e-9 < distance < NEIGHBOUR_RANGE:
            closeness = math.exp(-(distance**2) / (2 * NEIGHBOUR_SPREAD**2))
            along = float(fingers @ (other - at)) / distance
            penalty -= NEIGHBOUR_WEIGHT * closeness * along**2
    return penalty


def posture(base_T_tool: Array, at: Array, neighbours: Iterable[Array]) -> float:
    """How comfortable a grasp is for the arm; higher is better.

    The tool's x axis should point away from the base, which leaves most arms' last joint near the
    middle of its range, and the fingers should close across the line to the neighbours.
    """
    outward = at / max(float(np.linalg.norm(at)), 1e-9)
    comfort = float(base_T_tool[:3, 0] @ outward)
    tilted = max(0.0, tilt_of(base_T_tool) - TILT_LIMIT)
    crowded = neighbour_penalty(base_T_tool[:3, 1], at, neighbours)
    return comfort + crowded - TILT_PENALTY * tilted


def leaning(grasp: Grasp) -> list[Grasp]:
    """The grasp turned about the fingers' axis to both sides.

    What is too far for a hand that points straight down is within reach of one that leans out.
    """
    grasps = []
    for angle in (sign * lean for lean in LEANS for sign in (1.0, -1.0)):
        pose = grasp.object_T_tool.copy()
        depth = float(np.linalg.norm(pose[:3, 3]))
        pose[:3, :3] = pose[:3, :3] @ Rotation.from_rotvec([0.0, angle, 0.0]).as_matrix()
        pose[:3, 3] = -pose[:3, 2] * depth
        grasps.append(Grasp(pose, grasp.width, angle, grasp.score))
    return grasps


def ranked_grasps(
    obj: ObjectView,
    grasps: Iterable[Grasp],
    neighbours: Iterable[Array],
    max_tilt: float = math.pi,
    *,
    lean: bool = False,
) -> list[Grasp]:
    """The `POOL` best grasps whose approach is within `max_tilt` [rad] of straight down.

    The score decides, among those of equal score the posture. With `lean`, the grasps that pass are
    also offered leaning to both sides, behind the plain ones of like posture.
    """
    pose = obj.base_T_object
    centres = list(neighbours)

    def tilted_too_much(grasp: Grasp) -> bool:
        return tilt_of(pose @ grasp.object_T_tool) > max_tilt + 1e-9

    def badness(grasp: Grasp) -> tuple[float, float]:
        check_interrupted()
        plain = posture(pose @ grasp.object_T_tool, pose[:3, 3], centres)
        return (grasp.score, LEAN_PENALTY * abs(grasp.lean) - plain)

    usable = [grasp for grasp in grasps if not tilted_too_much(grasp)]
    if lean:
        turned = [other for grasp in usable for other in leaning(grasp)]
        usable += [grasp for grasp in turned if not tilted_too_much(grasp)]
    return sorted(usable, key=badness)[:POOL]


def from_above(obj: ObjectView, grasps: Sequence[Grasp]) -> list[Grasp]:
    """Those of the grasps that come from above; all where none does.

    For grasps that nobody has chosen: what stands on an object, or right beside it, is safe from a
    hand that comes from above.
    """
    pose = obj.base_T_object
    above = [grasp for grasp in grasps if tilt_of(pose @ grasp.object_T_tool) <= TILT_LIMIT + 1e-9]
    return above or list(grasps)
