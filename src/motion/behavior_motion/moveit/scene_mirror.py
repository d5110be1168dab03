# SPDX-License-Identifier: Apache-2.0
"""MoveIt's planning scene kept equal to ours, through its planning scene monitor."""

from __future__ import annotations

import copy
import itertools

from moveit.core.robot_state import RobotState
from moveit.planning import PlanningSceneMonitor

from behavior_motion.checks import Vector
from behavior_motion.collision.scene import SceneSnapshot
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
            frame=robot.base_frame,
            padding=dict.fromkeys(robot.collision_links, padding),
        )
        if self._monitor.new_planning_scene_message(message) is False:
            raise RuntimeError(
                "MoveIt refused the planning scene: see its log for the object that it cannot take"
            )
        self._sent = snapshot

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
        """Whether each object may touch each link and each other object."""
        things = [*snapshot.objects, *snapshot.attached]
        links = self._robot.collision_links
        pairs = {
            (obj, other): snapshot.allowed(obj, other)
            for obj in things
            for other in (*links, *things)
            if obj != other
        }
        for name, held in snapshot.attached.items():
            for link in (held.link, *held.touch_links):
                pairs[name, link] = True
        # Things that stand in the world never move against each other.
        for a, b in itertools.permutations(snapshot.objects, 2):
            pairs[a, b] = True
        for a, b in itertools.permutations(links, 2):
            if snapshot.allowed(a, b):
                pairs[a, b] = True
        return pairs
