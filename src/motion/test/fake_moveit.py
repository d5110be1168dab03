# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for moveit_msgs and for what is behind moveit_py, where neither is installed.

The messages have the fields of moveit_msgs (Jazzy) and no others, so a wrong name is an error. The
planner behind keeps a scene of its own, built from the messages alone, and searches in it: what
the conversion loses is missing there.
"""

from __future__ import annotations

import types
from types import SimpleNamespace
from typing import Any

import moveit_bindings
import numpy as np
from conftest import let_go
from geometry_msgs.msg import Pose, Quaternion
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from shape_msgs.msg import SolidPrimitive
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from behavior_motion import Box, Cylinder, EmbeddedPlanner, Mesh, RobotModel, Sphere
from behavior_motion.planning.options import OrientationConstraint as AxisConstraint
from behavior_motion.planning.options import PlanOptions
from behavior_motion.planning.query import JointGoal, PlanningFailed, Query
from behavior_motion.planning.routes import routes

FIELDS: dict[str, dict[str, Any]] = {
    "AllowedCollisionEntry": {"enabled": list},
    "AllowedCollisionMatrix": {
        "entry_names": list,
        "entry_values": list,
        "default_entry_names": list,
        "default_entry_values": list,
    },
    "AttachedCollisionObject": {
        "link_name": str,
        "object": "CollisionObject",
        "touch_links": list,
        "detach_posture": JointTrajectory,
        "weight": float,
    },
    "CollisionObject": {
        "header": Header,
        "pose": Pose,
        "id": str,
        "type": object,
        "primitives": list,
        "primitive_poses": list,
        "meshes": list,
        "mesh_poses": list,
        "planes": list,
        "plane_poses": list,
        "subframe_names": list,
        "subframe_poses": list,
        "operation": lambda: b"\x00",
    },
    "Constraints": {
        "name": str,
        "joint_constraints": list,
        "position_constraints": list,
        "orientation_constraints": list,
        "visibility_constraints": list,
    },
    "JointConstraint": {
        "joint_name": str,
        "position": float,
        "tolerance_above": float,
        "tolerance_below": float,
        "weight": float,
    },
    "LinkPadding": {"link_name": str, "padding": float},
    "OrientationConstraint": {
        "header": Header,
        "orientation": Quaternion,
        "link_name": str,
        "absolute_x_axis_tolerance": float,
        "absolute_y_axis_tolerance": float,
        "absolute_z_axis_tolerance": float,
        "parameterization": int,
        "weight": float,
    },
    "PlanningSceneWorld": {"collision_objects": list, "octomap": object},
    "PlanningScene": {
        "name": str,
        "robot_state": "RobotState",
        "robot_model_name": str,
        "fixed_frame_transforms": list,
        "allowed_collision_matrix": "AllowedCollisionMatrix",
        "link_padding": list,
        "link_scale": list,
        "object_colors": list,
        "world": "PlanningSceneWorld",
        "is_diff": bool,
    },
    "RobotState": {
        "joint_state": JointState,
        "multi_dof_joint_state": object,
        "attached_collision_objects": list,
        "is_diff": bool,
    },
    "RobotTrajectory": {"joint_trajectory": JointTrajectory, "multi_dof_joint_trajectory": object},
}
ADD, REMOVE = b"\x00", b"\x01"
CONSTANTS = {
    "CollisionObject": {"ADD": ADD, "REMOVE": REMOVE, "APPEND": b"\x02", "MOVE": b"\x03"},
    "OrientationConstraint": {"XYZ_EULER_ANGLES": 0, "ROTATION_VECTOR": 1},
}


def _message(name: str) -> type:
    fields = FIELDS[name]

    def start(self: Any, **values: Any) -> None:
        for field, kind in fields.items():
            make = MESSAGES[kind] if isinstance(kind, str) else kind
            setattr(self, field, values.pop(field) if field in values else make())
        if values:
            raise AttributeError(f"{name} has no field {sorted(values)}")

    members: dict[str, Any] = {"__slots__": tuple(fields), "__init__": start}
    return type(name, (), {**members, **CONSTANTS.get(name, {})})


MESSAGES: dict[str, type] = {}
MESSAGES.update({name: _message(name) for name in FIELDS})


def matrix_of(pose: Pose) -> np.ndarray:
    """4x4 of a pose."""
    matrix = np.eye(4)
    q, p = pose.orientation, pose.position
    matrix[:3, :3] = Rotation.from_quat([q.x, q.y, q.z, q.w]).as_matrix()
    matrix[:3, 3] = p.x, p.y, p.z
    return matrix


def shapes_of(message: Any) -> list[tuple[Any, np.ndarray]]:
    """Shapes of a collision object and their poses in its frame_id."""
    whole = matrix_of(message.pose)
    made = []
    for solid, pose in zip(message.primitives, message.primitive_poses, strict=True):
        size = list(solid.dimensions)
        if solid.type == SolidPrimitive.BOX:
            shape: Any = Box((size[0], size[1], size[2]))
        elif solid.type == SolidPrimitive.SPHERE:
            shape = Sphere(size[0])
        else:
            assert solid.type == SolidPrimitive.CYLINDER
            shape = Cylinder(radius=size[1], height=size[0])
        made.append((shape, whole @ matrix_of(pose)))
    for mesh, pose in zip(message.meshes, message.mesh_poses, strict=True):
        points = np.array([[v.x, v.y, v.z] for v in mesh.vertices])
        corners = np.array([t.vertex_indices for t in mesh.triangles], dtype=np.int64)
        shape = Mesh(vertices=points, triangles=corners, convex=False)
        made.append((shape, whole @ matrix_of(pose)))
    return made


class FakeMoveIt:
    """What is behind the bindings: a scene, a planner that searches in it."""

    group = "panda_arm"

    def __init__(self, robot: RobotModel) -> None:
        self.planner = EmbeddedPlanner(robot, padding=0.0)
        self.arm_joints = robot.joint_names
        self.all_joints = (*robot.joint_names, *robot.gripper.joint_names)
        self.parts: dict[str, list[str]] = {}
        self.attached: set[str] = set()
        self.padding: dict[str, float] = {}
        self.matrix: dict[tuple[str, str], bool] = {}
        self.requests: list[SimpleNamespace] = []
        self.refuses_scenes = False
        self.error = 0
        self.locks = 0
        self.start: moveit_bindings.RobotState | None = None
        self.moveit_py: Any = moveit_bindings.MoveItPy.around(self)
        """As the bindings show it."""
        self.scene_state = moveit_bindings.RobotState(moveit_bindings.RobotModel.around(self))

    def shutdown(self) -> None:
        self.planner.scene.clear()

    # ---- planning scene and its monitor

    def check_locked(self) -> None:
        """Fail where the scene is looked at without its lock."""
        assert self.locks, "the scene may be looked at within read_only only"

    def scene_message(self) -> Any:
        """The scene with what the SRDF allows."""
        entry, matrix = MESSAGES["AllowedCollisionEntry"], MESSAGES["AllowedCollisionMatrix"]
        names = ["panda_link0", "panda_link1"]
        rows = [entry(enabled=[False, True]), entry(enabled=[True, False])]
        message = MESSAGES["PlanningScene"](
            allowed_collision_matrix=matrix(entry_names=names, entry_values=rows)
        )
        for name in self.parts:
            thing = MESSAGES["CollisionObject"](id=name)
            if name in self.attached:
                held = MESSAGES["AttachedCollisionObject"](object=thing)
                message.robot_state.attached_collision_objects.append(held)
            else:
                message.world.collision_objects.append(thing)
        return message

    def new_planning_scene_message(self, message: Any) -> bool:
        """As MoveIt: first the robot and what it holds, then the world, object by object.

        What it holds is no part of the answer.
        """
        assert message.is_diff
        assert message.robot_state.is_diff
        fine = not self.refuses_scenes
        self.padding = {pad.link_name: pad.padding for pad in message.link_padding}
        state = message.robot_state.joint_state
        told = dict(zip(state.name, state.position, strict=True))
        self.scene_state.joint_positions = told
        q = np.array([told[name] for name in self.arm_joints])
        for held in message.robot_state.attached_collision_objects:
            self._change_attached(held, q)
        names = message.allowed_collision_matrix.entry_names
        self.matrix = {
            (name, other): allowed
            for name, row in zip(names, message.allowed_collision_matrix.entry_values, strict=True)
            for other, allowed in zip(names, row.enabled, strict=True)
        }
        for obj in message.world.collision_objects:
            assert obj.header.frame_id == self.planner.robot.base_frame
            fine &= self._change(obj)
        self.scene_state.attached = frozenset(self.attached)
        return fine

    def _change_attached(self, held: Any, q: np.ndarray) -> None:
        scene, name = self.planner.scene, held.object.id
        if held.object.operation == REMOVE:
            for part in self.parts[name]:
                let_go(self.planner, part, q)  # it stays in the world
            self.attached.remove(name)
            return
        if held.link_name not in self.planner.robot.urdf_links:
            return  # link not found
        assert held.object.header.frame_id == held.link_name
        self._take_out(name)
        self.attached.add(name)
        for i, (shape, pose) in enumerate(shapes_of(held.object)):
            part = f"{name}/{i}"
            scene.add_object(part, shape, pose)
            scene.attach_object(part, held.link_name, link_T_object=pose)
            self.parts.setdefault(name, []).append(part)

    def _change(self, obj: Any) -> bool:
        known = obj.id in self.parts and obj.id not in self.attached
        if obj.operation == REMOVE:
            if known:
                self._take_out(obj.id)
                self.matrix = {pair: v for pair, v in self.matrix.items() if obj.id not in pair}
            return known
        assert obj.operation == ADD
        self._take_out(obj.id)
        for i, (shape, pose) in enumerate(shapes_of(obj)):
            part = f"{obj.id}/{i}"
            self.planner.scene.add_object(part, shape, pose)
            self.parts.setdefault(obj.id, []).append(part)
        return True

    def _take_out(self, name: str) -> None:
        for part in self.parts.pop(name, []):
            self.planner.scene.remove_object(part)

    # ---- planning component

    def set_goals(self, constraints: list[Any]) -> None:
        names = self.planner.robot.joint_names
        self._goals = []
        for each in constraints:
            joints = {c.joint_name: c.position for c in each.joint_constraints}
            self._goals.append(np.array([joints[name] for name in names]))

    def set_constraints(self, path_constraints: Any) -> None:
        self._constraints = path_constraints.orientation_constraints

    def plan(self, parameters: Any) -> tuple[Any, Any]:
        """As MoveIt's, which takes the start state for the scene's: with what is attached to it."""
        start = self.scene_state if self.start is None else self.start
        self._start = np.array([start.positions[name] for name in self.arm_joints])
        fingers = self.planner.robot.gripper
        self._width = fingers.width([start.positions[name] for name in fingers.joint_names])
        self._held = start.attached
        self.requests.append(
            SimpleNamespace(
                pipeline=parameters.planning_pipeline,
                planner=parameters.planner_id,
                goals=len(self._goals),
                constraints=list(self._constraints),
                attached=set(start.attached),
                width=self._width,
                seconds=parameters.planning_time,
            )
        )
        if self.error:
            return None, SimpleNamespace(val=self.error)
        path = self._search(parameters.planning_pipeline, parameters.planning_time)
        found = path is not None
        return (self._message(path) if found else None), SimpleNamespace(val=1 if found else 99999)

    def _search(self, pipeline: str, seconds: float) -> np.ndarray | None:
        planner = self.planner
        cone = self._cone()
        gone = [(part, "*") for name in self.attached - self._held for part in self.parts[name]]
        with planner.scene.allowing([*self._allowed(), *gone]):
            try:
                query = Query(
                    planner.robot,
                    planner._world(self._width),
                    self._start,
                    PlanOptions(allowed_planning_time=seconds, path_constraints=cone),
                    seed=len(self.requests),
                    padding=self.padding["panda_hand"],
                    constrained=None if cone is None else planner._ik(cone.link_name),
                    route_finder=routes,
                )
                if pipeline != "ompl":
                    line = np.linspace(self._start, self._goals[0], 60)
                    return None if any(query.blocked(q) for q in line) else line
                goals = [JointGoal(q, i, 0.0) for i, q in enumerate(self._goals)]
                return next(iter(routes(query, self._start, goals)))[1]
            except PlanningFailed:
                return None

    def _allowed(self) -> list[tuple[str, str]]:
        """Pairs of parts for pairs of things."""
        return [
            (part, other)
            for (a, b), allowed in self.matrix.items()
            if allowed
            for part in self.parts.get(a, [a])
            for other in self.parts.get(b, [b])
        ]

    def _cone(self) -> AxisConstraint | None:
        if not self._constraints:
            return None
        wanted = self._constraints[0]
        tolerances = [getattr(wanted, f"absolute_{axis}_axis_tolerance") for axis in "xyz"]
        free = int(np.argmax(tolerances))
        q = wanted.orientation
        columns = Rotation.from_quat([q.x, q.y, q.z, q.w]).as_matrix()
        axis = np.eye(3)[free]
        return AxisConstraint(
            min(tolerances), tuple(axis), tuple(columns[:, free]), wanted.link_name
        )

    def _message(self, path: np.ndarray) -> Any:
        names = list(self.planner.robot.joint_names)
        trajectory = JointTrajectory(joint_names=names[::-1])  # in an order of its own
        for q in path:
            trajectory.points.append(JointTrajectoryPoint(positions=q[::-1].tolist()))
        return MESSAGES["RobotTrajectory"](joint_trajectory=trajectory)


def _named(*names: str) -> dict[str, Any]:
    return {name: getattr(moveit_bindings, name) for name in names}


def modules() -> dict[str, types.ModuleType]:
    """What to put into ``sys.modules``."""
    made = {
        "moveit_msgs": {},
        "moveit_msgs.msg": MESSAGES,
        "moveit": {},
        "moveit.core": {},
        "moveit.core.planning_interface": _named("MotionPlanResponse"),
        "moveit.core.robot_state": _named("RobotState"),
        "moveit.planning": _named(
            "MoveItPy",
            "PlanningComponent",
            "PlanningSceneMonitor",
            "PlanRequestParameters",
        ),
    }
    found = {}
    for name, members in made.items():
        module = found[name] = types.ModuleType(name)
        vars(module).update(members)
    return found
