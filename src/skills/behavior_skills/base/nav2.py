# SPDX-License-Identifier: Apache-2.0
"""Drives of Nav2: NavigateToPose for poses, FollowPath for paths (Jazzy). Needs nav2_msgs."""

from __future__ import annotations

from typing import Any

from behavior_msgs.action import MoveBase
from rclpy.node import Node

from behavior_ros import GoalContext, remote_actions
from behavior_skills.base.drive import BaseMode
from behavior_skills.interfaces import FailureCode, SkillFailure


class Nav2Base:
    """Nav2 behind the base's action."""

    def __init__(self, node: Node) -> None:
        from nav2_msgs.action import FollowPath, NavigateToPose

        self._types = {BaseMode.POSE: NavigateToPose, BaseMode.PATH: FollowPath}
        actions = remote_actions(node)
        self._actions = {
            BaseMode.POSE: actions.action(NavigateToPose, "/navigate_to_pose"),
            BaseMode.PATH: actions.action(FollowPath, "/follow_path"),
        }

    def serves(self, mode: int) -> bool:
        """Whether Nav2 is there for goals of this mode."""
        action = self._actions.get(BaseMode(mode)) if mode in list(BaseMode) else None
        return action is not None and action.ready()

    def run(self, context: GoalContext) -> None:
        """Drive; raises `SkillFailure`, `Cancelled` or `ServerLost`."""
        goal, mode = context.goal, BaseMode(context.goal.mode)
        wanted = self._types[mode].Goal()
        if mode is BaseMode.POSE:
            wanted.pose = goal.target
        else:
            wanted.path = goal.path

        def feedback(message: Any) -> None:
            left = getattr(message, "distance_remaining", None)
            if left is None:
                left = message.distance_to_goal
            context.publish_feedback(
                MoveBase.Feedback(phase="move", distance_remaining=float(left))
            )

        outcome = self._actions[mode].run(
            context, wanted, timeout=goal.timeout or float("inf"), on_feedback=feedback
        )
        if outcome.succeeded:
            return
        code = getattr(outcome.result, "error_code", 0)
        text = getattr(outcome.result, "error_msg", "") or outcome.message
        raise SkillFailure(
            FailureCode.EXECUTION_FAILED,
            f"Nav2 ended with {outcome.end.name}, error {code}: {text or 'no reason given'}. See "
            "Nav2's log; clear the way or choose another goal.",
        )
