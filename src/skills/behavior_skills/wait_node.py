# SPDX-License-Identifier: Apache-2.0
"""The ROS node that waits: action /wait, on the node's clock, any number of goals at a time."""

from __future__ import annotations

import math
from typing import Any

from behavior_msgs.action import Wait
from rclpy.node import Node

from behavior_ros import GoalCancelled, GoalContext, WorkerActionServer, run

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
        if not (math.isfinite(duration) and duration >= 0.0):
            result.code = Wait.Result.INVALID_REQUEST
            result.message = f"duration is {duration}, give seconds not below 0."
            return result
        try:
            while (left := begun + duration - context.now()) > 0.0:
                progress = 1.0 - left / duration
                context.publish_feedback(Wait.Feedback(phase="wait", progress=progress))
                context.sleep(min(left, FEEDBACK_PERIOD))
            result.message = "The time is over."
        except GoalCancelled as cancelled:
            result.code, result.message = Wait.Result.CANCELED, f"Cancelled: {cancelled}."
        result.waited = context.now() - begun
        return result


def main(args: list[str] | None = None) -> int:
    """Entry point of `wait_node`."""
    return int(run([WaitNode], args))


if __name__ == "__main__":
    raise SystemExit(main())
