# SPDX-License-Identifier: Apache-2.0
"""Driver `follow_joint_trajectory`: a joint trajectory controller of ros2_control."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from pydantic import Field

from behavior_motion import Trajectory
from behavior_motion.robot.robot_file import spread
from behavior_ros import End, GoalOutcome, remote_actions, to_duration
from behavior_skills.interfaces import Command, Done
from behavior_skills.node import conversion
from behavior_skills.node.drivers.controller_goal import ControllerGoal
from behavior_skills.node.drivers.driver import Driver, DriverParts, Options, Role

REMEDIES = {
    FollowJointTrajectory.Result.INVALID_GOAL: (
        "See the controller's log, and that no other program commands the arm."
    ),
    FollowJointTrajectory.Result.INVALID_JOINTS: (
        "Give the controller the joints that arm.joints of the robot's file has, and no others."
    ),
    FollowJointTrajectory.Result.OLD_HEADER_TIMESTAMP: (
        "See that the clocks of all machines agree (chrony)."
    ),
    FollowJointTrajectory.Result.PATH_TOLERANCE_VIOLATED: (
        "Clear what blocks the arm, ask for less speed, or allow more by path_tolerance in the "
        "robot's file or constraints.JOINT.trajectory of the controller."
    ),
    FollowJointTrajectory.Result.GOAL_TOLERANCE_VIOLATED: (
        "Clear what holds the arm, or allow more by goal_tolerance and goal_time_tolerance in the "
        "robot's file or constraints of the controller."
    ),
}
PREEMPTED, DEACTIVATED = "preempted", "deactivate"
"""What the controller says of a goal whose place another one took, and of one that ended with the
controller itself; both have the code INVALID_GOAL."""

Tolerance = float | Mapping[str, float]


class FollowJointTrajectoryOptions(Options):
    """The action, and how far the arm may be off; 0: as the controller's parameters say."""

    action: str
    path_tolerance: Tolerance = 0.0
    """[rad] while it moves; one number, or one for each joint."""
    goal_tolerance: Tolerance = 0.0
    """[rad] at the end."""
    goal_time_tolerance: float = Field(default=0.0, ge=0.0)
    """[s] that it may take longer to be within them."""


class FollowJointTrajectoryArm:
    """Trajectories as goals; a new one takes the place of the one that runs."""

    def __init__(self, parts: DriverParts, options: FollowJointTrajectoryOptions) -> None:
        assert parts.robot is not None
        joints = parts.robot.joint_names
        self._path = _tolerances("path_tolerance", options.path_tolerance, joints)
        self._goal = _tolerances("goal_tolerance", options.goal_tolerance, joints)
        self._time = to_duration(options.goal_time_tolerance)
        self._action = remote_actions(parts.node).action(FollowJointTrajectory, options.action)

    def execute(self, trajectory: Trajectory, on_start: Any, on_end: Any) -> Command:
        """Send it; `on_start` and `on_end` are called once it is accepted and when it is over."""
        goal = conversion.trajectory_goal(trajectory)
        goal.path_tolerance, goal.goal_tolerance = self._path, self._goal
        goal.goal_time_tolerance = self._time
        sent = self._action.send(
            goal, from_worker=True, on_accept=on_start, on_end=lambda _: on_end()
        )
        return ControllerGoal(sent, trajectory_outcome)


def trajectory_outcome(ended: GoalOutcome) -> Done:
    """What a controller's result says, and what to do about it."""
    result: FollowJointTrajectory.Result = ended.result
    if ended.succeeded and result.error_code == result.SUCCESSFUL:
        return Done(True, result.error_string)
    said = result.error_string or f"{ended.end.value}, error {result.error_code}"
    if ended.end is End.CANCELED:
        return Done(False, said, remedy="See who cancelled the controller's goal.")
    remedy = REMEDIES.get(result.error_code, "")
    if PREEMPTED in said:
        remedy = "Stop the other program that commands the arm."
    elif DEACTIVATED in said:
        remedy = "See why the controller was deactivated, and activate it again."
    return Done(False, said, remedy=remedy)


def _tolerances(name: str, tolerance: Tolerance, joints: tuple[str, ...]) -> list[JointTolerance]:
    if isinstance(tolerance, Mapping):
        each = {joint: tolerance.get(joint, 0.0) for joint in joints} | dict(tolerance)
    else:
        each = dict.fromkeys(joints, float(tolerance))
    if wrong := [value for value in spread(name, each, joints) if not value >= 0.0]:
        raise ValueError(f"{name} is {wrong[0]}, give radians from 0")
    return [
        JointTolerance(name=joint, position=value) for joint, value in each.items() if value > 0.0
    ]


FOLLOW_JOINT_TRAJECTORY = Driver(
    role=Role.ARM, options=FollowJointTrajectoryOptions, make=FollowJointTrajectoryArm
)
