# SPDX-License-Identifier: Apache-2.0
"""The skill /reach: goals become requests, targets come with the goal, a topic or a frame."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from behavior_msgs.action import Reach
from geometry_msgs.msg import PoseStamped
from rclpy.exceptions import InvalidTopicNameException
from rclpy.validate_full_topic_name import validate_full_topic_name

from behavior_ros import pose_to_matrix, seconds
from behavior_skills.arm.reach import ReachSkill
from behavior_skills.arm.reach_request import ReachRequest, ReachTarget
from behavior_skills.goal_checks import check_goal, check_not_negative, invalid
from behavior_skills.interfaces import Array, FailureCode, SkillFailure
from behavior_skills.node import conversion
from behavior_skills.node.skill_server import Part, SkillGoal, SkillServer

DISCOVERY = 2.0
"""[s] wall time that a publisher of targets may take to be found."""


class TargetSource:
    """Newest target of a goal: given with it, then, where it names a topic, from there."""

    def __init__(self, goal: SkillGoal) -> None:
        """Raises INVALID_REQUEST where the goal names no target, or two."""
        wanted: Reach.Goal = goal.message
        posed, placed = bool(wanted.pose.header.frame_id), bool(wanted.position.header.frame_id)
        if posed == placed:
            raise invalid(
                f"{'both pose and position name' if posed else 'neither pose nor position names'} "
                "a frame_id; give one of the two as the target"
            )
        check_not_negative(wanted, "target_timeout")
        self.position_only = placed
        self._goal, self._wanted = goal, wanted
        header = wanted.position.header if placed else wanted.pose.header
        point = wanted.position.point if placed else wanted.pose.pose.position
        self._frame, self._stamp = header.frame_id, seconds(header.stamp)
        self._pose = np.eye(4) if placed else pose_to_matrix(wanted.pose.pose)
        self._pose[:3, 3] = point.x, point.y, point.z
        self._base_T_frame: Array | None = None
        self._goal_context = goal.context.goal_context
        self._heard, self._began = self._goal_context.now(), time.monotonic()
        self._message: PoseStamped | None = None
        self._topic = goal.listen(PoseStamped, _topic(wanted)) if wanted.target_topic else None

    def close(self) -> None:
        """Listen no more."""
        if self._topic is not None:
            self._topic.close()

    def __call__(self) -> ReachTarget:
        """Newest; raises `SkillFailure` TARGET_LOST, UNKNOWN_FRAME or INVALID_REQUEST."""
        if self._topic is not None:
            self._take_newest(self._topic)
        if self._base_T_frame is None or self._wanted.follow_frame:
            self._base_T_frame = self._locate(first=self._base_T_frame is None)
        return ReachTarget(self._base_T_frame @ self._pose, self._base_T_frame[:3, :3])

    def _locate(self, *, first: bool) -> Array:
        stamp = 0.0 if self._wanted.follow_frame else self._stamp
        try:
            return self._goal.frames(self._frame, stamp)
        except SkillFailure as failure:
            if first or failure.failure is not FailureCode.UNKNOWN_FRAME:
                raise
            raise SkillFailure(
                FailureCode.TARGET_LOST, f"The target's frame '{self._frame}' is gone: {failure}"
            ) from failure

    def _take_newest(self, topic: Any) -> None:
        message, now = topic.newest, self._goal_context.now()
        self._heard = min(self._heard, now)  # the clock may be set back
        if message is not None and message is not self._message:
            self._message, self._heard = message, now
            try:
                check_goal(message)
            except SkillFailure as failure:
                raise SkillFailure(
                    failure.failure, f"A target on {topic.name} is bad. {failure}"
                ) from failure
            self._frame, self._stamp = message.header.frame_id, seconds(message.header.stamp)
            self._pose, self._base_T_frame = pose_to_matrix(message.pose), None
            return
        timeout = self._wanted.target_timeout
        silent = 0.0 < timeout < now - self._heard
        nobody = topic.publishers() == 0 and time.monotonic() - self._began > DISCOVERY
        if silent or nobody:
            how = f"has been silent for {now - self._heard:.2f} s" if silent else "has no publisher"
            raise SkillFailure(
                FailureCode.TARGET_LOST,
                f"The topic of targets {topic.name} {how}. Publish "
                "geometry_msgs/PoseStamped there as long as the goal runs.",
            )


def _topic(wanted: Reach.Goal) -> str:
    name: str = wanted.target_topic
    try:
        validate_full_topic_name(name if name.startswith("/") else f"/{name}")
    except InvalidTopicNameException as error:
        reason = str(error).splitlines()[0].rstrip(":.")
        raise invalid(f"target_topic '{name}' is no name of a topic: {reason}") from None
    return name


def reach(goal: SkillGoal) -> Reach.Result:
    """Bring the tool to a target that may move."""
    source = TargetSource(goal)
    try:
        return _reach(goal, source)
    finally:
        source.close()


def _reach(goal: SkillGoal, source: TargetSource) -> Reach.Result:
    wanted: Reach.Goal = goal.message
    approach = wanted.approach
    request = ReachRequest(
        target=source,
        position_only=source.position_only,
        approach=(approach.x, approach.y, approach.z),
        approach_along_tool=wanted.approach_along_tool,
        approach_std_dev=wanted.approach_std_dev,
        feel=wanted.feel,
        smooth=wanted.smooth,
        posture=tuple(wanted.posture),
        may_touch=tuple(wanted.may_touch),
        obstacles_off=tuple(wanted.obstacles_off),
        obstacles_on=tuple(wanted.obstacles_on),
        min_distance=wanted.min_distance,
        position_tolerance=wanted.position_tolerance,
        orientation_tolerance=wanted.orientation_tolerance,
        hold=wanted.hold,
        local_only=wanted.local_only,
        max_linear_velocity=wanted.max_linear_velocity,
        velocity_scaling=wanted.velocity_scaling,
        acceleration_scaling=wanted.acceleration_scaling,
        timeout=wanted.timeout,
    )
    skill = ReachSkill(goal.context, request, goal.stream)
    skill.check()
    result = Reach.Result(message="The tool is at the target.")
    with goal.occupied():
        try:
            skill.run()
        except SkillFailure as failure:
            conversion.fail(result, failure.failure, str(failure))
        context = goal.context
        try:
            q = context.arm.state().q
            result.tool = goal.stamped(context.world.planner.robot.forward_kinematics(q))
        except SkillFailure:
            pass  # The robot is gone; the result says so.
    result.distance, result.angle, result.plans = skill.distance, skill.angle, skill.plans
    return result


REACH = SkillServer(
    interface=Reach,
    work=reach,
    needs=Part.ARM,
    occupies=frozenset({Part.ARM}),
    replaces=True,
)
