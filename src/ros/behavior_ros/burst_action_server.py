# SPDX-License-Identifier: Apache-2.0
"""An action server that a thousand goals at once do no harm to.

rclpy's own loses requests and grows slow, for four reasons that are mended here:

- its services keep the ten newest requests, whatever else was sent meanwhile;
- every message on the status topic lists all goals whose results are kept, so that each goal costs
  server and clients as much as there were goals in the last quarter of an hour. Here ended goals
  leave that list soon; their results are kept beside it, and are given to who asks for them;
- the executor visits every result that is awaited whenever the server has anything to do;
- a goal that only waits is a coroutine, which the executor resumes in each of its rounds. Here such
  a goal is a handle that lies still until `BurstActionServer.finish` is called.
"""

from __future__ import annotations

import time
import traceback
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionServer
from rclpy.action.server import GoalEvent, RCLError, ServerGoalHandle
from rclpy.node import Node
from rclpy.task import Future

from behavior_ros.qos import QOS_REQUESTS
from behavior_ros.resting_timer import OnSteadyTime

CODE_FIELDS = ("code", "error_code")
"""Members of results that are 0 after success."""
LISTED = 0.1
"""[s] wall time for which the status topic lists a goal that has ended."""
RESULT_KEPT = 900.0
"""[s] wall time for which a result can be asked for after its goal has ended."""
MOST_RESULTS = 5_000
"""Results that are kept; of more the oldest are forgotten."""


class BurstActionServer(ActionServer):  # type: ignore[misc] # rclpy has no type information
    """Serve an action; `finish` is where every goal ends.

    Args:
        node: the node
        action_type: type of the action
        name: of the action
        work: a coroutine that works on an accepted goal's handle and returns the result message.
            Without one a handle_accepted_callback has to take goals over, and to end them
        result_kept: [s] wall time for which results can be asked for
        callbacks: goal_callback, handle_accepted_callback, cancel_callback as of rclpy's server;
            none may block
    """

    def __init__(
        self,
        node: Node,
        action_type: Any,
        name: str,
        *,
        work: Callable[[ServerGoalHandle], Awaitable[Any]] | None = None,
        result_kept: float = RESULT_KEPT,
        **callbacks: Any,
    ) -> None:
        if work is not None:
            callbacks["handle_accepted_callback"] = partial(self._have_worked_on, work)
        self._result_kept = result_kept
        self._ended: OrderedDict[bytes, tuple[float, Any]] = OrderedDict()
        super().__init__(
            OnSteadyTime(node),
            action_type,
            name,
            _never_executed,
            goal_service_qos_profile=QOS_REQUESTS,
            result_service_qos_profile=QOS_REQUESTS,
            cancel_service_qos_profile=QOS_REQUESTS,
            feedback_pub_qos_profile=QOS_REQUESTS,
            result_timeout=LISTED,
            **callbacks,
        )
        self._node = node

    def begin(self, handle: ServerGoalHandle) -> None:
        """Show a goal as executing; calling it again does no harm."""
        if handle.status == GoalStatus.STATUS_ACCEPTED:
            handle._update_state(GoalEvent.EXECUTE)

    def finish(
        self, handle: ServerGoalHandle, result: Any, *, succeeded: bool | None = None
    ) -> None:
        """End a goal, and answer those who wait for its result; in the executor's thread.

        A goal without success ends cancelled if its client has asked for that, else aborted.

        Args:
            handle: of the goal
            result: message
            succeeded: None: what the result's code says
        """
        if succeeded is None:
            succeeded = result_code(result) == 0
        otherwise = GoalEvent.CANCELED if handle.is_cancel_requested else GoalEvent.ABORT
        self.begin(handle)
        handle._update_state(GoalEvent.SUCCEED if succeeded else otherwise)
        response = self.action_type.Impl.GetResultService.Response()
        response.status, response.result = handle.status, result
        self._result_futures[bytes(handle.goal_id.uuid)].set_result(response)

    def _have_worked_on(
        self, work: Callable[[ServerGoalHandle], Awaitable[Any]], handle: ServerGoalHandle
    ) -> None:
        async def until_the_end() -> None:
            try:
                result, succeeded = await work(handle), None
            except Exception:
                self._logger.error(traceback.format_exc())
                result, succeeded = self.action_type.Result(), False
            self.finish(handle, result, succeeded=succeeded)

        self.begin(handle)
        self._node.executor.create_task(until_the_end)

    def add_future(self, future: Future) -> None:
        """Leave the executor out: a result is sent by whoever has it, `finish`."""

    def remove_future(self, future: Future) -> None:
        """Undo `add_future`."""

    async def _execute_expire_goals(self, expired_goals: Any) -> None:
        now = time.monotonic()
        for info in expired_goals:
            key = bytes(info.goal_id.uuid)
            self._ended[key] = now, self._result_futures[key].result()
        await super()._execute_expire_goals(expired_goals)
        while self._ended and (
            len(self._ended) > MOST_RESULTS
            or now - next(iter(self._ended.values()))[0] > self._result_kept
        ):
            self._ended.popitem(last=False)

    async def _execute_get_result_request(self, request_header_and_message: Any) -> None:
        header, request = request_header_and_message
        kept = self._ended.get(bytes(request.goal_id.uuid))
        if kept is None:
            await super()._execute_get_result_request(request_header_and_message)
            return
        try:
            self._handle.send_result_response(header, kept[1])
        except RCLError:
            self._logger.warning("a result could not be sent: its client may have gone away")


def result_code(result: Any) -> int:
    """Return a result's code, 0 where its type has none."""
    return next((int(getattr(result, name)) for name in CODE_FIELDS if hasattr(result, name)), 0)


def _never_executed(handle: ServerGoalHandle) -> Any:
    raise RuntimeError("goals of this server are ended by finish()")
