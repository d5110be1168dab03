# SPDX-License-Identifier: Apache-2.0
"""MoveIt's planning scene kept equal to ours, through its planning scene monitor."""

from __future__ import annotations

import copy
import itertools

import numpy as np
from moveit.core.robot_state import RobotState
from moveit.planning import PlanningSceneMonitor

from behavior_motion.checks import Vector
from behavior_motion.collision.scene import AttachedObject, SceneSnapshot, WorldObject
from behavior_motion.collision.shapes import Shape
from behavior_motion.moveit import messages
from behavior_motion.robot.model import RobotModel


class SceneMirror:
    """Sends the differences to MoveIt's scene before each request."""

    def __init__(self, robot: RobotModel, monitor: PlanningSceneMonitor) -> None:
        """Start from the scene as MoveIt has it, which must hold no object of ours."""
        self._robot, self._monitor = robot, monitor
        self._sent = SceneSnapshot()
        with monitor.read_only() as scene:
            self._base = scene.planning_scene_message.allowed_collision_matrix

    def update(
        self,
        snapshot: SceneSnapshot,
        q: Vector,
        gripper_width: float | None,
        padding: float = 0.0,
    ) -> None:
        """Make MoveIt's scene that of ``snapshot``, the robot at ``q`` with ``padding`` [m].

        Raises:
            RuntimeError: MoveIt refuses the scene.
        """
        robot = self._robot
        joints = self._joints(q, gripper_width)
        message = messages.scene_message(
            self._sent,
            snapshot,
            messages.allowed_matrix(self._base, self._pairs(snapshot)),
            messages.robot_state(tuple(joints), joints.values()),
            robot=robot,
            padding=padding,
        )
        if self._monitor.new_planning_scene_message(message) is False:
            self._sent = self._taken(self._sent, snapshot)
            raise RuntimeError(
                "MoveIt refused the planning scene: see its log for the object that it cannot take"
            )
        self._sent = snapshot

    def _taken(self, before: SceneSnapshot, now: SceneSnapshot) -> SceneSnapshot:
        """What MoveIt's scene holds of two of ours: of what it refuses it takes a part.

        None of it is like ours, so that the next message has it all.
        """
        with self._monitor.read_only() as scene:
            message = scene.planning_scene_message
        shapes: dict[str, Shape] = {}
        for snapshot in (before, now):
            shapes |= {name: obj.shape for name, obj in snapshot.objects.items()}
            shapes |= {name: obj.shape for name, obj in snapshot.attached.items()}
        world = {each.id for each in message.world.collision_objects}
        held = {each.object.id for each in message.robot_state.attached_collision_objects}
        return SceneSnapshot(
            {n: WorldObject(shapes[n], np.eye(4)) for n in world & shapes.keys()},
            {n: AttachedObject(shapes[n], "", np.eye(4), ()) for n in held & shapes.keys()},
        )

    def state(self, q: Vector, gripper_width: float | None) -> RobotState:
        """The state of MoveIt's scene, with what the hand holds, the robot at ``q`` [rad].

        MoveIt takes a request's start state for the scene's: what is not attached to it is not
        there while it plans. The joints are set again, since joint states may have come between.
        """
        with self._monitor.read_only() as scene:
            state = copy.deepcopy(scene.current_state)
        state.joint_positions = self._joints(q, gripper_width)
        state.update()
        return state

    def _joints(self, q: Vector, gripper_width: float | None) -> dict[str, float]:
        """Positions of arm and fingers by name; without a width they are open."""
        robot = self._robot
        width = robot.gripper.open_width if gripper_width is None else gripper_width
        names = (*robot.joint_names, *robot.gripper.joint_names)
        positions = (*q, *robot.gripper.joint_positions(width))
        return {name: float(value) for name, value in zip(names, positions, strict=True)}

    def _pairs(self, snapshot: SceneSnapshot) -> dict[tuple[str, str], bool]:
        """Whether each object may touch each link and each other object.

        As in our own collision world, what no motion changes is no collision: an object in the hand
        with what moves as the hand does, the base with what it stands on.
        """
        things = [*snapshot.objects, *snapshot.attached]
        links = self._robot.collision_links
        moved_by = {link: self._robot.moved_by(link) for link in links}
        pairs = {
            (obj, other): snapshot.allowed(obj, other)
            for obj in things
            for other in (*links, *things)
            if obj != other
        }
        moved_by |= dict.fromkeys(snapshot.objects, 0)
        for name, held in snapshot.attached.items():
            moved_by[name] = self._robot.moved_by(held.link)
            for link in held.touch_links:
                pairs[name, link] = True
        for name, other in itertools.product(things, moved_by):
            if name != other and moved_by[name] == moved_by[other]:
                pairs[name, other] = True
        for a, b in itertools.permutations(links, 2):
            if snapshot.allowed(a, b):
                pairs[a, b] = True
        return pairs
