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

An answer that the middleware drops, since its client is still being discovered, is lost. Here it is
sent again (:mod:`behavior_ros.node.kept_answers`).

And a process that is told to stop ends its goals and is gone before their clients could ask how
they ended. Here it stays for that moment (:mod:`behavior_ros.node.closing`).
"""

from __future__ import annotations

import math
import time
import traceback
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from action_msgs.msg import GoalInfo, GoalStatus
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import GoalEvent, RCLError, ServerGoalHandle
from rclpy.executors import await_or_execute
from rclpy.node import Node
from rclpy.task import Future

from behavior_ros.actions.result_cause import result_code
from behavior_ros.node.closing import register_closable, unregister_closable
from behavior_ros.node.kept_answers import kept_answers
from behavior_ros.node.resting_timer import OnSteadyTime
from behavior_ros.topics.qos import QOS_REQUESTS

LISTED = 0.1
"""[s] wall time for which the status topic lists a goal that has ended."""
RESULT_KEPT = 900.0
"""[s] wall time for which a result can be asked for after its goal has ended."""
MOST_RESULTS = 5_000
"""Results that are kept; of more the oldest are forgotten."""
CLAIMED = 1.0
"""[s] wall time after a goal's end within which a client that wants its result has asked for it."""
FAREWELL = 0.2
"""[s] wall time that the last result gets to reach its client before the server may go."""


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
        self._unclaimed: dict[bytes, float] = {}
        """Goals whose result nobody has asked for: the wall time of their end [s], or infinity."""
        self._last_result = -math.inf
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
        self._name = name
        self._answers = kept_answers(node)
        register_closable(node, self)

    def begin_close(self) -> None:
        """Nothing: goals are ended by whoever works on them."""

    def closed(self) -> bool:
        """Tell whether the clients of goals that have ended have their results."""
        now = time.monotonic()
        awaited = any(0.0 <= now - end < CLAIMED for end in self._unclaimed.values())
        return not awaited and not self._answers and now - self._last_result >= FAREWELL

    def destroy(self) -> None:
        """Serve no more."""
        unregister_closable(self._node, self)
        super().destroy()

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
        key = bytes(handle.goal_id.uuid)
        if key in self._unclaimed:
            self._unclaimed[key] = time.monotonic()
        self._result_futures[key].set_result(response)

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
        self._unclaimed = {key: t for key, t in self._unclaimed.items() if now - t < CLAIMED}
        while self._ended and (
            len(self._ended) > MOST_RESULTS
            or now - next(iter(self._ended.values()))[0] > self._result_kept
        ):
            self._ended.popitem(last=False)

    async def _execute_goal_request(self, request_header_and_message: Any) -> None:
        header, request = request_header_and_message
        info = GoalInfo(goal_id=request.goal_id)
        handle = None
        if not self._knows(info) and await self._is_wanted(request.goal):
            info.stamp = self._node.get_clock().now().to_msg()
            with self._lock:
                handle = ServerGoalHandle(self, info, request.goal)
            key = bytes(info.goal_id.uuid)
            self._goal_handles[key], self._result_futures[key] = handle, Future()
            self._unclaimed[key] = math.inf
        response = self.action_type.Impl.SendGoalService.Response()
        response.accepted, response.stamp = handle is not None, info.stamp
        sent = self._answer("goal", header, response)
        if handle is None:
            return
        if not sent:  # nobody knows of this goal, and nobody shall work on it
            del self._unclaimed[bytes(info.goal_id.uuid)]
            self.finish(handle, self.action_type.Result(), succeeded=False)
            return
        self._handle.publish_status()
        await await_or_execute(self._handle_accepted_callback, handle)

    def _knows(self, info: GoalInfo) -> bool:
        """Whether there is, or was, a goal of this identifier.

        The middleware forgets an ended goal when its end is taken from the wait set, a moment
        before it lies in `_ended`; the handles know it until then.
        """
        key = bytes(info.goal_id.uuid)
        return key in self._ended or key in self._goal_handles

    async def _is_wanted(self, goal: Any) -> bool:
        return bool(await await_or_execute(self._goal_callback, goal) == GoalResponse.ACCEPT)

    async def _execute_cancel_request(self, request_header_and_message: Any) -> None:
        header, request = request_header_and_message
        with self._lock:
            response = self._handle.process_cancel_request(
                request, self.action_type.Impl.CancelGoalService.Response
            )
        asked, response.goals_canceling = list(response.goals_canceling), []
        for info in asked:
            handle = self._goal_handles.get(bytes(info.goal_id.uuid))
            if handle is not None and await self._is_cancelled(handle):
                response.goals_canceling.append(info)
        if asked and not response.goals_canceling:
            response.return_code = response.ERROR_REJECTED
        self._answer("cancel", header, response)

    async def _is_cancelled(self, handle: ServerGoalHandle) -> bool:
        answer = await await_or_execute(self._cancel_callback, handle)
        if answer != CancelResponse.ACCEPT:
            return False
        try:
            handle._update_state(GoalEvent.CANCEL_GOAL)
        except RCLError:  # it has ended meanwhile
            return False
        return True

    async def _execute_get_result_request(self, request_header_and_message: Any) -> None:
        header, request = request_header_and_message
        key = bytes(request.goal_id.uuid)
        self._unclaimed.pop(key, None)
        running = self._result_futures.get(key)
        if running is not None:
            running.add_done_callback(partial(self._send_result_response, header))
        elif key in self._ended:
            self._send_result(header, self._ended[key][1])
        else:
            unknown = self.action_type.Impl.GetResultService.Response()
            unknown.status = GoalStatus.STATUS_UNKNOWN
            self._answer("result", header, unknown)

    def _send_result_response(self, header: Any, future: Future) -> None:
        self._send_result(header, future.result())

    def _send_result(self, header: Any, response: Any) -> None:
        self._last_result = time.monotonic()
        self._answer("result", header, response)

    def _answer(self, what: str, header: Any, response: Any) -> bool:
        """Answer a request, now or as soon as its client can be reached; False: never."""
        return self._answers.send(
            f"a {what} request to {self._name}",
            self._handle,
            f"send_{what}_response",
            header,
            response,
        )


def _never_executed(handle: ServerGoalHandle) -> Any:
    raise RuntimeError("goals of this server are ended by finish()")
