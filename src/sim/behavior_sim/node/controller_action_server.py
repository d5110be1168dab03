# SPDX-License-Identifier: Apache-2.0
"""An action server in front of a controller that is stepped in another thread.

A goal is handed to the controller when it is accepted and completed when the controller reports its
outcome: no thread waits meanwhile, and no coroutine is polled.
"""

from collections.abc import Callable
from typing import Any

from rclpy.action import CancelResponse
from rclpy.node import Node

from behavior_ros import BurstActionServer
from behavior_sim.goals import Ending, Goal, InvalidGoal, Outcome


class _Running:
    """A ROS goal and, as soon as the controller took it, the controller's goal."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self.goal: Goal | None = None


class ControllerActionServer(BurstActionServer):
    """Serves an action by a controller; a new goal replaces the running one.

    `start`, `cancel` and `result` run in the simulation's thread.

    Args:
        node: the node.
        action_type: type of the action.
        name: of the action.
        post: has a function run in the simulation's thread.
        start: hands a goal message to the controller; raises InvalidGoal.
        cancel: ends the controller's goal.
        result: makes the result message of an outcome, or of a goal that was refused.
    """

    def __init__(
        self,
        node: Node,
        action_type: Any,
        name: str,
        *,
        post: Callable[[Callable[[], Any]], None],
        start: Callable[[Any, Callable[[Outcome], None]], Goal],
        cancel: Callable[[Goal], None],
        result: Callable[[Outcome | InvalidGoal], Any],
    ) -> None:
        self._post, self._begin, self._end, self._result = post, start, cancel, result
        self._running: dict[bytes, _Running] = {}
        super().__init__(
            node,
            action_type,
            name,
            handle_accepted_callback=self._take,
            cancel_callback=self._on_cancel,
        )

    def _take(self, handle: Any) -> None:
        """Hand an accepted goal to the controller."""
        running = _Running(handle)
        self._running[_key(handle)] = running
        self.begin(handle)
        self._post(lambda: self._start(running))

    def publish_feedback(self, feedback: Any) -> None:
        """Send feedback on the goal being worked on, if there is one."""
        for running in list(self._running.values()):
            if running.goal is not None and running.goal.outcome is None:
                running.handle.publish_feedback(feedback)

    def _start(self, running: _Running) -> None:
        try:
            running.goal = self._begin(
                running.handle.request, lambda outcome: self._finish(running, outcome)
            )
        except InvalidGoal as error:
            self._finish(running, error)

    def _on_cancel(self, handle: Any) -> CancelResponse:
        running = self._running.get(_key(handle))
        if running is None:
            return CancelResponse.REJECT
        self._post(lambda: running.goal is not None and self._end(running.goal))
        return CancelResponse.ACCEPT

    def _finish(self, running: _Running, outcome: Outcome | InvalidGoal) -> None:
        """Have rclpy's thread complete the goal; called in the simulation's thread."""
        result = self._result(outcome)
        succeeded = isinstance(outcome, Outcome) and outcome.ending is Ending.SUCCEEDED
        executor = self._node.executor
        if executor is not None:
            executor.create_task(self._complete, running.handle, result, succeeded)

    def _complete(self, handle: Any, result: Any, succeeded: bool) -> None:
        self._running.pop(_key(handle), None)
        self.finish(handle, result, succeeded=succeeded)


def _key(handle: Any) -> bytes:
    return bytes(handle.goal_id.uuid)
