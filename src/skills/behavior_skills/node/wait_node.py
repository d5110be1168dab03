# SPDX-License-Identifier: Apache-2.0
"""Waiting: action /wait, on the node's clock, any number of goals at a time."""

from __future__ import annotations

from typing import Any

from behavior_msgs.action import Wait
from rclpy.node import Node

from behavior_ros import Cancelled, GoalContext, WorkerActionServer, run
from behavior_ros.node.elapsed import Elapsed
from behavior_skills import interfaces
from behavior_skills.goal_checks import check_goal, check_not_negative
from behavior_skills.interfaces import SkillFailure
from behavior_skills.node import conversion
from behavior_skills.node.skill_server import SkillGoal, SkillServer

FEEDBACK_PERIOD = 0.5
"""[s]"""


def wait(goal_context: interfaces.GoalContext, duration: float) -> Wait.Result:
    """Let a time of the node's clock pass [s]; a cancelled goal tells how long it has waited."""
    passed, result = Elapsed(goal_context.now), Wait.Result()
    try:
        while (left := duration - passed()) > 0.0:
            goal_context.feedback("wait", max(0.0, 1.0 - left / duration))
            goal_context.sleep(min(left, FEEDBACK_PERIOD))
        result.message = "The time is over."
    except Cancelled as cancelled:
        result.code, result.message = Wait.Result.CANCELED, f"Cancelled: {cancelled}."
    result.waited = passed()
    return result


def _skill(goal: SkillGoal) -> Wait.Result:
    check_not_negative(goal.message, "duration")
    return wait(goal.context.goal_context, goal.message.duration)


WAIT = SkillServer(interface=Wait, work=_skill)
"""For the table of skills."""


class WaitNode(Node):  # type: ignore[misc] # rclpy has no type information
    """Serves /wait on robots whose skills node does not: those without an arm."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(kwargs.pop("node_name", "wait"), **kwargs)
        self._server = WorkerActionServer(self, Wait, "wait", self._wait)

    def destroy_node(self) -> None:
        """Cancel what runs, wait up to 2 s for it, and destroy the node."""
        self._server.destroy()
        super().destroy_node()

    def _wait(self, context: GoalContext) -> Wait.Result:
        try:
            check_goal(context.goal)
            check_not_negative(context.goal, "duration")
        except SkillFailure as failure:
            return conversion.fail(Wait.Result(), failure.failure, str(failure))
        return wait(context, context.goal.duration)


def main(args: list[str] | None = None) -> int:
    """Entry point of `wait_node`."""
    return int(run([WaitNode], args))


if __name__ == "__main__":
    raise SystemExit(main())
