# SPDX-License-Identifier: Apache-2.0
"""Driver `gripper_command`: control_msgs/GripperCommand."""

from __future__ import annotations

from control_msgs.action import GripperCommand
from pydantic import Field

from behavior_ros import GoalOutcome, remote_actions
from behavior_skills.interfaces import Command, Done
from behavior_skills.node import conversion
from behavior_skills.node.drivers.controller_goal import ControllerGoal
from behavior_skills.node.drivers.driver import Driver, DriverParts, Options, Role


class GripperCommandOptions(Options):
    """The action, and what its position means."""

    action: str
    position_per_width: float = Field(default=1.0, gt=0.0)
    """Of the command, per metre of the gap: 0.5 where it is that of one of two fingers."""


class GripperCommandGripper:
    """Fingers that are told a position and an effort."""

    def __init__(self, parts: DriverParts, options: GripperCommandOptions) -> None:
        self._scale = options.position_per_width
        self._action = remote_actions(parts.node).action(GripperCommand, options.action)

    def move(self, width: float, effort: float) -> Command:
        """Send a gap [m] and effort [N] to the controller."""
        goal = conversion.gripper_goal(width * self._scale, effort)
        return ControllerGoal(self._action.send(goal, from_worker=True), stalling_outcome)


def stalling_outcome(ended: GoalOutcome) -> Done:
    """What a result with `stalled` and `reached_goal` says: fingers that stall hold something."""
    stalled = bool(ended.result.stalled)
    if ended.succeeded:
        return Done(True, stalled=stalled)
    said = ended.end.value
    if not stalled and not ended.result.reached_goal:
        said += ", neither stalled nor at the goal"
    return Done(False, said, stalled=stalled)


GRIPPER_COMMAND = Driver(
    role=Role.GRIPPER, options=GripperCommandOptions, make=GripperCommandGripper
)
