# SPDX-License-Identifier: Apache-2.0
"""An action server that does everything that a server may do to a client, on command.

It is made of the services and topics that an action consists of, so that each can be late, missing
or wrong by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from action_msgs.msg import GoalInfo, GoalStatus, GoalStatusArray
from action_msgs.srv import CancelGoal
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.qos import qos_profile_action_status_default
from rclpy.task import Future

from behavior_ros.conformance.stage import Stage


@dataclass(eq=False)
class HostileGoal:
    """A goal that a client has sent."""

    identifier: Any
    message: Any
    answer: Future = field(default_factory=Future)
    """Of its acceptance; never done: it was lost."""
    results: list[Future] = field(default_factory=list)
    """Of the requests for its result, in their order; likewise."""
    cancels: int = 0
    """How often it was asked to end."""
    status: int = GoalStatus.STATUS_ACCEPTED

    @property
    def key(self) -> bytes:
        """Its identifier."""
        return bytes(self.identifier.uuid)


class HostileServer:
    """Serves an action; everything else than answering is told it.

    Args:
        stage: where it lives
        action_type: type of the action
        name: of the action
    """

    def __init__(self, stage: Stage, action_type: Any, name: str) -> None:
        self.goals: list[HostileGoal] = []
        """In the order of their arrival."""
        self.refusals = 0
        """Requests to cancel a goal that are refused, before one is granted."""
        self.loses_results = False
        """Whether requests for the result of a goal that has ended are not answered."""
        self._stage, self._type, self._name = stage, action_type, name
        self.node: Node = stage.node("hostile_server")
        stage.do(self._serve)

    def _serve(self) -> None:
        parts, group = self._type.Impl, ReentrantCallbackGroup()
        for kind, part, take in (
            (parts.SendGoalService, "send_goal", self._on_goal),
            (parts.GetResultService, "get_result", self._on_result),
            (parts.CancelGoalService, "cancel_goal", self._on_cancel),
        ):
            name = f"{self._name}/_action/{part}"
            self.node.create_service(kind, name, take, callback_group=group)
        self._feedback = self.node.create_publisher(
            parts.FeedbackMessage, f"{self._name}/_action/feedback", 10
        )
        self._status = self.node.create_publisher(
            GoalStatusArray, f"{self._name}/_action/status", qos_profile_action_status_default
        )

    # -- what it is told to do ---------------------------------------------------------------------

    def accept(self, goal: HostileGoal, *, accepted: bool = True) -> None:
        """Answer a goal."""
        response = self._type.Impl.SendGoalService.Response(accepted=accepted)
        self._stage.do(lambda: goal.answer.set_result(response))

    def publish_status(self, goal: HostileGoal, status: int) -> None:
        """Publish the list of goals, one of them with this status."""
        goal.status = status
        statuses = GoalStatusArray(
            status_list=[
                GoalStatus(goal_info=GoalInfo(goal_id=each.identifier), status=each.status)
                for each in self.goals
            ]
        )
        self._stage.do(lambda: self._status.publish(statuses))

    def publish_feedback(self, goal: HostileGoal) -> None:
        """Publish a feedback message of a goal."""
        message = self._type.Impl.FeedbackMessage(goal_id=goal.identifier)
        self._stage.do(lambda: self._feedback.publish(message))

    def end(self, goal: HostileGoal, status: int = GoalStatus.STATUS_SUCCEEDED) -> None:
        """End a goal, and answer whoever asks for its result, now or later."""
        self.publish_status(goal, status)

        def answer() -> None:
            for future in goal.results:
                if not future.done():
                    future.set_result(self._result(goal))

        self._stage.do(answer)

    def leave(self) -> None:
        """Go away, without a word."""
        self._stage.forget(self.node)

    # -- what it is asked --------------------------------------------------------------------------

    async def _on_goal(self, request: Any, _: Any) -> Any:
        goal = HostileGoal(request.goal_id, request.goal)
        self.goals.append(goal)
        return await goal.answer

    async def _on_result(self, request: Any, response: Any) -> Any:
        goal = self._find(request.goal_id)
        if goal is None:
            response.status = GoalStatus.STATUS_UNKNOWN
            return response
        future = Future()
        goal.results.append(future)
        if goal.status >= GoalStatus.STATUS_SUCCEEDED and not self.loses_results:
            future.set_result(self._result(goal))
        return await future

    def _on_cancel(self, request: Any, response: Any) -> Any:
        goal = self._find(request.goal_info.goal_id)
        if goal is None:
            response.return_code = CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID
            return response
        goal.cancels += 1
        if goal.cancels <= self.refusals:
            response.return_code = CancelGoal.Response.ERROR_REJECTED
        else:
            response.goals_canceling = [GoalInfo(goal_id=goal.identifier)]
        return response

    def _find(self, identifier: Any) -> HostileGoal | None:
        key = bytes(identifier.uuid)
        return next((goal for goal in self.goals if goal.key == key), None)

    def _result(self, goal: HostileGoal) -> Any:
        return self._type.Impl.GetResultService.Response(
            status=goal.status, result=self._type.Result()
        )
