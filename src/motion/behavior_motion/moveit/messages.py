# SPDX-License-Identifier: Apache-2.0
"""Between our types and MoveIt's messages; the only file of this package that knows ROS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import Point, Pose, Quaternion
from moveit_msgs.msg import (
    AllowedCollisionEntry,
    AllowedCollisionMatrix,
    AttachedCollisionObject,
    CollisionObject,
    Constraints,
    JointConstraint,
    LinkPadding,
    OrientationConstraint,
    PlanningScene,
    RobotState,
    RobotTrajectory,
)
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from shape_msgs.msg import Mesh as MeshMessage
from shape_msgs.msg import MeshTriangle, SolidPrimitive

from behavior_motion.checks import Matrix, Vector
from behavior_motion.collision.geometry import height_field_triangles, mesh_triangles
from behavior_motion.collision.scene import AttachedObject, SceneSnapshot
from behavior_motion.collision.shapes import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    HeightField,
    Mesh,
    PointCloud,
    Shape,
    Sphere,
)
from behavior_motion.robot.model import RobotModel

GROUND_SIZE = 20.0
"""[m] of the box that stands for a half space: MoveIt's planes are thin."""
GROUND_DEPTH = 1.0
"""[m]"""
JOINT_TOLERANCE = 1e-4
"""[rad]"""

PathConstraints = Constraints
"""What has to hold along a path; empty: nothing."""
Allowed = Mapping[tuple[str, str], bool]


def pose_message(matrix: Matrix) -> Pose:
    """A 4x4 matrix as a pose."""
    x, y, z = (float(v) for v in matrix[:3, 3])
    qx, qy, qz, qw = (float(v) for v in Rotation.from_matrix(matrix[:3, :3]).as_quat())
    return Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))


def collision_object(name: str, shape: Shape, pose: Matrix, frame: str) -> CollisionObject:
    """An object to add, its pose in ``frame``."""
    message = CollisionObject(id=name, pose=pose_message(pose), operation=CollisionObject.ADD)
    message.header.frame_id = frame
    for primitive, offset in _primitives(shape):
        message.primitives.append(primitive)
        message.primitive_poses.append(pose_message(offset))
    for mesh in _meshes(shape):
        message.meshes.append(mesh)
        message.mesh_poses.append(pose_message(np.eye(4)))
    return message


def removed_object(name: str, frame: str) -> CollisionObject:
    """An object to take out of the scene."""
    message = CollisionObject(id=name, operation=CollisionObject.REMOVE)
    message.header.frame_id = frame
    return message


def attached_object(name: str, held: AttachedObject, robot: RobotModel) -> AttachedCollisionObject:
    """An object that moves with a link."""
    # MoveIt knows the URDF's links alone, and tells nobody that it attaches nothing to others.
    link, link_T_frame = robot.carrier(held.link)
    return AttachedCollisionObject(
        link_name=link,
        object=collision_object(name, held.shape, link_T_frame @ held.link_T_object, link),
        touch_links=list(held.touch_links),
    )


def detached_object(name: str) -> AttachedCollisionObject:
    """An object to take off whatever link it is on."""
    return AttachedCollisionObject(object=removed_object(name, ""))


def scene_message(
    before: SceneSnapshot,
    now: SceneSnapshot,
    matrix: AllowedCollisionMatrix,
    state: RobotState,
    *,
    robot: RobotModel,
    padding: float,
) -> PlanningScene:
    """What turns MoveIt's scene from one snapshot of ours into another.

    Args:
        before: What MoveIt's scene holds.
        now: What it is to hold.
        matrix: All pairs that may touch.
        state: Of the robot.
        robot: Its model.
        padding: Clearance of its links [m].
    """
    message = PlanningScene(is_diff=True, allowed_collision_matrix=matrix, robot_state=state)
    message.robot_state.is_diff = True
    message.link_padding = [
        LinkPadding(link_name=link, padding=padding) for link in robot.collision_links
    ]
    held_changes = message.robot_state.attached_collision_objects
    world_changes = message.world.collision_objects
    # MoveIt takes what the robot holds first. What is let go is in the world from then on, what is
    # grasped no more. What is added replaces what is there of its name; were it removed before,
    # MoveIt would forget what it may touch.
    for name, held in before.attached.items():
        if now.attached.get(name) is not held:
            held_changes.append(detached_object(name))
    for name, held in now.attached.items():
        if before.attached.get(name) is not held:
            held_changes.append(attached_object(name, held, robot))
    for name in {**before.objects, **before.attached}:
        if name not in now.objects and name not in now.attached:
            world_changes.append(removed_object(name, robot.base_frame))
    for name, obj in now.objects.items():
        if before.objects.get(name) is not obj:
            world_changes.append(
                collision_object(name, obj.shape, obj.world_T_object, robot.base_frame)
            )
    return message


def allowed_matrix(base: AllowedCollisionMatrix, pairs: Allowed) -> AllowedCollisionMatrix:
    """``base`` (what the SRDF allows) with further pairs set."""
    allowed = {
        (a, b): enabled
        for a, row in zip(base.entry_names, base.entry_values, strict=True)
        for b, enabled in zip(base.entry_names, row.enabled, strict=True)
    }
    for (a, b), enabled in pairs.items():
        allowed[a, b] = allowed[b, a] = enabled
    names = sorted({name for pair in allowed for name in pair})
    rows = [
        AllowedCollisionEntry(enabled=[allowed.get((a, b), False) for b in names]) for a in names
    ]
    return AllowedCollisionMatrix(
        entry_names=names,
        entry_values=rows,
        default_entry_names=list(base.default_entry_names),
        default_entry_values=list(base.default_entry_values),
    )


def joint_constraints(names: Sequence[str], goals: Iterable[Vector]) -> list[Constraints]:
    """Joint goals, any of which will do."""
    return [
        Constraints(
            joint_constraints=[
                JointConstraint(
                    joint_name=name,
                    position=float(value),
                    tolerance_above=JOINT_TOLERANCE,
                    tolerance_below=JOINT_TOLERANCE,
                    weight=1.0,
                )
                for name, value in zip(names, goal, strict=True)
            ]
        )
        for goal in goals
    ]


def axis_constraint(
    link: str, frame: str, rotation: Matrix, axis: int, angle: float
) -> Constraints:
    """Keep a coordinate axis of a link within an angle of where ``rotation`` has it.

    Args:
        link: Of MoveIt's model.
        frame: That ``rotation`` (3x3) is in.
        rotation: Of the link.
        axis: 0, 1 or 2; turning about it is free.
        angle: [rad]
    """
    pose = np.eye(4)
    pose[:3, :3] = rotation
    tolerances = [2.0 * np.pi if i == axis else angle for i in range(3)]
    constraint = OrientationConstraint(
        link_name=link,
        orientation=pose_message(pose).orientation,
        absolute_x_axis_tolerance=tolerances[0],
        absolute_y_axis_tolerance=tolerances[1],
        absolute_z_axis_tolerance=tolerances[2],
        parameterization=OrientationConstraint.ROTATION_VECTOR,
        weight=1.0,
    )
    constraint.header.frame_id = frame
    return Constraints(orientation_constraints=[constraint])


def robot_state(names: Sequence[str], positions: Iterable[float]) -> RobotState:
    """Joint positions as a state that leaves the other joints as they are."""
    state = JointState(name=list(names), position=[float(value) for value in positions])
    return RobotState(joint_state=state, is_diff=True)


def path_of(message: RobotTrajectory, names: Sequence[str]) -> Matrix:
    """Positions of the joints ``names`` in a trajectory, (N, dof).

    Raises:
        ValueError: A joint is missing.
    """
    trajectory = message.joint_trajectory
    try:
        order = [list(trajectory.joint_names).index(name) for name in names]
    except ValueError as error:
        raise ValueError(f"MoveIt's trajectory has joints {trajectory.joint_names}") from error
    points = [point.positions for point in trajectory.points]
    return np.array(points, dtype=np.float64).reshape(len(points), -1)[:, order]


# -------------------------------------------------------------------- shapes


def _primitives(shape: Shape) -> list[tuple[SolidPrimitive, Matrix]]:
    """Solids that make up a shape, each with its pose in the shape's frame."""
    here = np.eye(4)
    if isinstance(shape, Box):
        return [(_solid(SolidPrimitive.BOX, shape.size), here)]
    if isinstance(shape, Sphere):
        return [(_solid(SolidPrimitive.SPHERE, [shape.radius]), here)]
    if isinstance(shape, Cylinder):
        return [(_solid(SolidPrimitive.CYLINDER, [shape.height, shape.radius]), here)]
    if isinstance(shape, Capsule):
        ends = [_at(0.0, 0.0, side * shape.height / 2) for side in (1.0, -1.0)]
        cap = _solid(SolidPrimitive.SPHERE, [shape.radius])
        trunk = _solid(SolidPrimitive.CYLINDER, [shape.height, shape.radius])
        return [(trunk, here), *((cap, end) for end in ends)]
    if isinstance(shape, HalfSpace):
        box = _solid(SolidPrimitive.BOX, [GROUND_SIZE, GROUND_SIZE, GROUND_DEPTH])
        return [(box, _at(0.0, 0.0, -GROUND_DEPTH / 2))]
    if isinstance(shape, PointCloud):
        cells = np.unique(np.floor(np.asarray(shape.points) / shape.resolution), axis=0)
        cube = _solid(SolidPrimitive.BOX, [shape.resolution] * 3)
        return [(cube, _at(*centre)) for centre in (cells + 0.5) * shape.resolution]
    return []


def _meshes(shape: Shape) -> list[MeshMessage]:
    if isinstance(shape, HeightField):
        return [_mesh(*height_field_triangles(shape))]
    if isinstance(shape, Mesh):
        return [_mesh(*mesh_triangles(shape))]
    return []


def _mesh(points: Matrix, triangles: Any) -> MeshMessage:
    return MeshMessage(
        vertices=[Point(x=float(x), y=float(y), z=float(z)) for x, y, z in points],
        triangles=[MeshTriangle(vertex_indices=[int(i) for i in corner]) for corner in triangles],
    )


def _solid(kind: int, dimensions: Iterable[float]) -> SolidPrimitive:
    return SolidPrimitive(type=kind, dimensions=[float(value) for value in dimensions])


def _at(x: float, y: float, z: float) -> Matrix:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose
