# SPDX-License-Identifier: Apache-2.0
"""Drivers that tell an arm its motion anew many times a second: `joint_trajectory`, messages on the
topic of a joint trajectory controller; `replaced_goals`, goals of its action; and `positions`, for
a forward command controller.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from control_msgs.action import FollowJointTrajectory
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from behavior_ros import End, RemoteGoal, remote_actions, to_duration, to_time
from behavior_skills.arm.execution import gave_up
from behavior_skills.arm.streaming import instant_of
from behavior_skills.interfaces import Done, FailureCode, SkillFailure, StreamedMotion
from behavior_skills.node.drivers.controller_goal import REFUSED, controller_lost
from behavior_skills.node.drivers.driver import Driver, DriverParts, Options, Role
from behavior_skills.node.drivers.follow_joint_trajectory import trajectory_outcome

LEAD = 0.03
"""[s] by which messages are sent ahead."""
GOAL_PERIOD = 0.05
"""[s] between goals: each takes several messages."""
QUEUED = 1
"""Only the newest message counts."""


class TopicOptions(Options):
    """The topic."""

    topic: str


class ActionOptions(Options):
    """The action."""

    action: str


class TrajectoryTopic:
    """Messages for a joint trajectory controller."""

    lead = LEAD

    def __init__(self, parts: DriverParts, options: TopicOptions) -> None:
        assert parts.robot is not None
        self.last: StreamedMotion | None = None
        self._joints = parts.robot.joint_names
        self._publisher = parts.node.create_publisher(JointTrajectory, options.topic, QUEUED)
        self.name = self._publisher.topic_name

    def send(self, motion: StreamedMotion, now: float) -> None:
        """Publish it; its stamp says when it began."""
        self.last = motion
        message = trajectory_message(motion, self._joints)
        message.header.stamp = to_time(float(motion.times[0]))
        self._publisher.publish(message)

    def check(self) -> None:
        """Raise SERVER_LOST where nobody listens."""
        _check_listened_to(self._publisher, self.name)


class PositionsTopic:
    """Positions for a forward command controller, which goes there at once."""

    lead = LEAD

    def __init__(self, parts: DriverParts, options: TopicOptions) -> None:
        self.last: StreamedMotion | None = None
        self._publisher = parts.node.create_publisher(Float64MultiArray, options.topic, QUEUED)
        self.name = self._publisher.topic_name

    def send(self, motion: StreamedMotion, now: float) -> None:
        """Publish where the joints are to be by now."""
        self.last = motion
        self._publisher.publish(Float64MultiArray(data=instant_of(motion, now).q.tolist()))

    def check(self) -> None:
        """Raise SERVER_LOST where nobody listens."""
        _check_listened_to(self._publisher, self.name)


class ReplacedGoals:
    """Goals of a joint trajectory controller's action, each in place of the one before."""

    lead = LEAD + GOAL_PERIOD

    def __init__(self, parts: DriverParts, options: ActionOptions) -> None:
        assert parts.robot is not None
        self.last: StreamedMotion | None = None
        self._joints = parts.robot.joint_names
        self._action = remote_actions(parts.node).action(FollowJointTrajectory, options.action)
        self.name = self._action.name
        self._goal: RemoteGoal | None = None
        self._sent = -float("inf")

    def send(self, motion: StreamedMotion, now: float) -> None:
        """Send it as a goal, where the one before is old enough."""
        if 0.0 <= now - self._sent < GOAL_PERIOD:  # below: the clock was set back
            return
        self.last, self._sent = motion, now
        trajectory = trajectory_message(motion, self._joints)
        trajectory.header.stamp = to_time(float(motion.times[0]))
        self._goal = self._action.send(
            FollowJointTrajectory.Goal(trajectory=trajectory), from_worker=True
        )

    def check(self) -> None:
        """Raise SERVER_LOST where the server is not there, EXECUTION_FAILED where it gave up."""
        ended = None if self._goal is None else self._goal.outcome
        if ended is None:
            return
        self._goal = None
        if ended.end is End.LOST:
            raise controller_lost(self.name, ended)
        if ended.succeeded:
            return
        if ended.result is None:
            raise gave_up("arm", Done(False, ended.end.value, remedy=REFUSED))
        raise gave_up("arm", trajectory_outcome(ended))


def trajectory_message(motion: StreamedMotion, joints: tuple[str, ...]) -> JointTrajectory:
    """Positions and velocities over the time since the motion's first point."""
    # array("d") passes the message's setters unchecked, which lists of floats do not.
    points = [
        JointTrajectoryPoint(
            positions=array("d", q.tobytes()),
            velocities=array("d", qd.tobytes()),
            time_from_start=to_duration(time),
        )
        for time, q, qd in zip(
            (motion.times - motion.times[0]).tolist(),
            np.ascontiguousarray(motion.positions),
            np.ascontiguousarray(motion.velocities),
            strict=True,
        )
    ]
    return JointTrajectory(joint_names=list(joints), points=points)


def _check_listened_to(publisher: Any, topic: str) -> None:
    if publisher.get_subscription_count() == 0:
        raise SkillFailure(
            FailureCode.SERVER_LOST,
            f"No controller of the arm listens on {topic}. Start the robot's driver or the "
            "simulation, or correct controllers.stream in the robot's file.",
        )


JOINT_TRAJECTORY = Driver(role=Role.STREAM, options=TopicOptions, make=TrajectoryTopic)
POSITIONS = Driver(role=Role.STREAM, options=TopicOptions, make=PositionsTopic)
REPLACED_GOALS = Driver(role=Role.STREAM, options=ActionOptions, make=ReplacedGoals)
