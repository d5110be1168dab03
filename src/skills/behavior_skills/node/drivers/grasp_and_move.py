# SPDX-License-Identifier: Apache-2.0
"""Driver `grasp_and_move`: the actions Grasp and Move of franka_msgs.

Fingers that shut are to grasp: with force, whatever is between them and however wide it is. All
other ways are moves, which end where they are told and nowhere else.
"""

from __future__ import annotations

from behavior_ros import GoalOutcome, remote_actions
from behavior_ros.messages.interfaces import load_interface
from behavior_skills.interfaces import Command, Done
from behavior_skills.node.drivers.controller_goal import ControllerGoal
from behavior_skills.node.drivers.driver import Driver, DriverParts, Options, Role

GRASP_BELOW = 1e-3
"""[m] beyond the closed width, up to which a motion is a grasp."""


class GraspAndMoveOptions(Options):
    """The two actions."""

    grasp: str
    move: str
    speed: float = 0.0
    """[m/s]; 0: gripper.max_speed."""


class GraspAndMoveGripper:
    """A hand that tells moves from grasps."""

    def __init__(self, parts: DriverParts, options: GraspAndMoveOptions) -> None:
        assert parts.robot is not None
        self._hand = parts.robot.gripper
        if not 0.0 <= options.speed <= self._hand.max_speed:
            raise ValueError(f"speed is {options.speed}, give 0 to {self._hand.max_speed} m/s")
        self._speed = options.speed or self._hand.max_speed
        self._grasp_type, _ = load_interface("franka_msgs/action/Grasp", "action")
        self._move_type, _ = load_interface("franka_msgs/action/Move", "action")
        actions = remote_actions(parts.node)
        self._grasp = actions.action(self._grasp_type, options.grasp)
        self._move = actions.action(self._move_type, options.move)

    def move(self, width: float, effort: float) -> Command:
        """Grasp with `effort` [N] where the gap `width` [m] is none, else move."""
        hand = self._hand
        if width > hand.closed_width + GRASP_BELOW:
            goal = self._move_type.Goal(width=float(width), speed=self._speed)
            return ControllerGoal(self._move.send(goal, from_worker=True), _moved)
        goal = self._grasp_type.Goal(
            width=float(width), speed=self._speed, force=float(min(effort, hand.max_force))
        )
        # Whatever lies between the fingers is grasped: its width is checked by whoever asked.
        goal.epsilon.inner = goal.epsilon.outer = float(hand.open_width)
        return ControllerGoal(self._grasp.send(goal, from_worker=True), _grasped)


def _moved(ended: GoalOutcome) -> Done:
    return Done(_good(ended), _said(ended))


def _grasped(ended: GoalOutcome) -> Done:
    """Fingers that met nothing have grasped too: only their gap tells."""
    return Done(_good(ended), _said(ended), stalled=_good(ended))


def _good(ended: GoalOutcome) -> bool:
    return bool(ended.succeeded and ended.result.success)


def _said(ended: GoalOutcome) -> str:
    return str(ended.result.error) or ended.end.value


GRASP_AND_MOVE = Driver(role=Role.GRIPPER, options=GraspAndMoveOptions, make=GraspAndMoveGripper)
