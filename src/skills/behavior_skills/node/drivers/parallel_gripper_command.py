# SPDX-License-Identifier: Apache-2.0
"""Driver `parallel_gripper_command`: control_msgs/ParallelGripperCommand, which ros2_control's
parallel gripper controller takes.
"""

from __future__ import annotations

from behavior_ros import remote_actions
from behavior_ros.messages.interfaces import load_interface
from behavior_skills.interfaces import Command
from behavior_skills.node.drivers.controller_goal import ControllerGoal
from behavior_skills.node.drivers.driver import Driver, DriverParts, Options, Role
from behavior_skills.node.drivers.gripper_command import stalling_outcome
from behavior_tree.shown_text import named


class ParallelGripperCommandOptions(Options):
    """The action, and the one joint that its controller drives."""

    action: str
    joint: str = ""
    """One of gripper.joints; empty: the first."""


class ParallelGripperCommandGripper:
    """Fingers of which one joint is told its position."""

    def __init__(self, parts: DriverParts, options: ParallelGripperCommandOptions) -> None:
        assert parts.robot is not None
        self._type, _ = load_interface("control_msgs/action/ParallelGripperCommand", "action")
        gripper = parts.robot.gripper
        joint = options.joint or gripper.joint_names[0]
        if joint not in gripper.joint_names:
            raise ValueError(f"joint '{joint}' is none of {named(gripper.joint_names)}")
        self._gripper, self._joint = gripper, joint
        self._action = remote_actions(parts.node).action(self._type, options.action)

    def move(self, width: float, effort: float) -> Command:
        """Send a gap [m] and effort [N] to the controller, which takes exactly one position."""
        index = self._gripper.joint_names.index(self._joint)
        goal = self._type.Goal()
        goal.command.name = [self._joint]
        goal.command.position = [float(self._gripper.joint_positions(width)[index])]
        goal.command.effort = [float(effort)]
        return ControllerGoal(self._action.send(goal, from_worker=True), stalling_outcome)


PARALLEL_GRIPPER_COMMAND = Driver(
    role=Role.GRIPPER, options=ParallelGripperCommandOptions, make=ParallelGripperCommandGripper
)
