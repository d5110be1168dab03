# SPDX-License-Identifier: Apache-2.0
"""The ROS node that waits: action /wait, on the node's clock, any number of goals at a time."""

from __future__ import annotations

from typing import Any

from behavior_msgs.action import Wait
from rclpy.node import Node

from behavior_ros import Cancelled, GoalContext, WorkerActionServer, run
from behavior_skills.goal_checks import check_goal, check_not_negative
from behavior_skills.interfaces import SkillFailure
from behavior_skills.node import conversion

FEEDBACK_PERIOD = 0.5
"""[s]"""


class WaitNode(Node):  # type: ignore[misc] # rclpy has no type information
    """Serves /wait."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(kwargs.pop("node_name", "wait"), **kwargs)
        self._server = WorkerActionServer(self, Wait, "/wait", self._wait)

    def destroy_node(self) -> None:
        """Cancel what runs, wait up to 2 s for it, and destroy the node."""
        self._server.destroy()
        super().destroy_node()

    def _wait(self, context: GoalContext) -> Wait.Result:
        duration, begun = context.goal.duration, context.now()
        result = Wait.Result()
        try:
            check_goal(context.goal)
            check_not_negative(context.goal, "duration")
        except SkillFailure as failure:
            return conversion.fail(result, failure.failure, str(failure))
        try:
            while (left := begun + duration - context.now()) > 0.0:
                progress = max(0.0, 1.0 - left / duration)
                context.publish_feedback(Wait.Feedback(phase="wait", progress=progress))
                context.sleep(min(left, FEEDBACK_PERIOD))
            result.message = "The time is over."
        except Cancelled as cancelled:
            result.code, result.message = Wait.Result.CANCELED, f"Cancelled: {cancelled}."
        result.waited = context.now() - begun
        return result


def main(args: list[str] | None = None) -> int:
    """Entry point of `wait_node`."""
    return int(run([WaitNode], args))


if __name__ == "__main__":
    raise SystemExit(main())
