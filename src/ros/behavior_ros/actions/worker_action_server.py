# SPDX-License-Identifier: Apache-2.0
"""Action servers whose goals are worked on in a thread, while callbacks never block.

Everything that touches goal states happens in the executor's thread: the worker hands its outcome
over to it, where the one final state is set. So a cancellation and an end can not cross.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rclpy.action import CancelResponse, GoalResponse
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node

from behavior_ros.actions.burst_action_server import BurstActionServer
from behavior_ros.actions.goal_context import GoalContext, ServerLost, WaitTimeout
from behavior_ros.actions.goal_identifier import mark_in
from behavior_ros.actions.result_cause import CODE_FIELDS, MESSAGE_FIELDS, result_code
from behavior_ros.node.answer_under_way import answer_under_way
from behavior_ros.node.closing import register_closable, unregister_closable
from behavior_tree.cause import Cancelled
from behavior_tree.shown_text import reason_text

_FAILED = 1
"""Code where the interface has no constant for the cause."""
MOST_GOALS = 100
"""Goals that are worked on side by side, each in its thread."""


@dataclass
class _Work:
    """A goal being worked on."""

    context: GoalContext
    thread: threading.Thread


class WorkerActionServer:
    """Serve an action; each accepted goal is executed in a thread of its own.

    More than MOST_GOALS at a time are refused.

    Args:
        node: the node
        action_type: type of the action
        name: of the action
        execute: gets a GoalContext, returns the result message
        accept: returns None to accept a goal, otherwise why it is refused (logged). Called in the
            executor's thread, so it must not block. By default every goal is accepted.

    A returned result with code 0 (or error_code 0, or no such field) succeeds the goal, any other
    aborts it. Cancelled, WaitTimeout and ServerLost abort it too, with their text as the
    result's message and, as far as the result type has such constants, the code CANCELED, TIMED_OUT
    or SERVER_LOST. Any other exception is a fault of the server: its trace goes to the log, the
    client gets EXECUTION_FAILED and a sentence that says where to look. A goal that ends without
    success after its client cancelled it is cancelled.
    """

    def __init__(
        self,
        node: Node,
        action_type: Any,
        name: str,
        execute: Callable[[GoalContext], Any],
        *,
        accept: Callable[[Any], str | None] | None = None,
    ) -> None:
        self._node = node
        self._type = action_type
        self._name = name
        self._work_on = execute
        self._accept = accept
        self._logger = node.get_logger()
        self._closing_since: float | None = None
        self._goals: dict[bytes, _Work] = {}
        self._answer = answer_under_way(node)
        self._server = BurstActionServer(
            node,
            action_type,
            name,
            goal_callback=self._decide,
            handle_accepted_callback=self._begin,
            cancel_callback=self._cancel,
        )
        register_closable(node, self)

    @property
    def busy(self) -> bool:
        """True while a goal is worked on."""
        return bool(self._goals)

    def begin_close(self) -> None:
        """Refuse new goals and cancel those that run."""
        if self._closing_since is None:
            self._closing_since = time.monotonic()
        for work in list(self._goals.values()):
            work.context.cancel("the server is closing")

    def closed(self) -> bool:
        """Tell whether no goal is worked on any more."""
        return not self._goals

    def destroy(self) -> None:
        """Cancel what runs, wait for it up to 2 s from the first cancellation, stop serving."""
        self.begin_close()
        assert self._closing_since is not None
        deadline = self._closing_since + 2.0
        for work in list(self._goals.values()):
            work.thread.join(max(0.0, deadline - time.monotonic()))
            if work.thread.is_alive():
                self._logger.error(f"{self._name}: the work on a goal did not end within 2 s")
        unregister_closable(self._node, self)
        self._server.destroy()

    def _decide(self, goal: Any) -> GoalResponse:
        self._answer.end()
        reason: str | None = "the server is closing"
        if len(self._goals) >= MOST_GOALS:
            reason = f"{len(self._goals)} goals are worked on already; wait for some to end"
        elif self._closing_since is None:
            try:
                reason = None if self._accept is None else self._accept(goal)
            except Exception:
                self._logger.error(f"{self._name}: {traceback.format_exc()}")
                reason = self._fault()
        if reason is None:
            return GoalResponse.ACCEPT
        self._logger.warning(f"{self._name}: goal refused: {reason_text(reason)}")
        return GoalResponse.REJECT

    def _cancel(self, handle: Any) -> CancelResponse:
        work = self._goals.get(bytes(handle.goal_id.uuid))
        if work is not None:
            work.context.cancel("cancelled by the client")
        return CancelResponse.ACCEPT

    def _begin(self, handle: Any) -> None:
        """Work on a goal that was accepted."""
        context = GoalContext(
            self._node,
            handle.request,
            handle.publish_feedback,
            self._type.Feedback,
            mark_in(handle.goal_id),
        )
        thread = threading.Thread(
            target=self._work, args=(handle, context), name=f"goal {self._name}", daemon=True
        )
        self._goals[bytes(handle.goal_id.uuid)] = _Work(context, thread)
        self._server.begin(handle)
        context.begin_work()
        thread.start()

    def _work(self, handle: Any, context: GoalContext) -> None:
        """Work on a goal (in its thread), then have the executor end it."""
        try:
            self._hand_over(handle, *self._end_of(context))
        finally:  # else this process would never have followed the clock again
            context.end_work()

    def _hand_over(self, handle: Any, succeeded: bool, result: Any) -> None:
        executor = self._node.executor
        try:
            if executor is not None:
                executor.create_task(self._finish, handle, succeeded, result)
        except InvalidHandle:
            pass  # the executor was shut down meanwhile, nobody waits any more

    def _finish(self, handle: Any, succeeded: bool, result: Any) -> None:
        # Where the executor is gone before, destroy() still joins the thread.
        del self._goals[bytes(handle.goal_id.uuid)]
        self._answer.begin()
        self._server.finish(handle, result, succeeded=succeeded)

    def _end_of(self, context: GoalContext) -> tuple[bool, Any]:
        """Return whether the goal succeeded, and its result."""
        try:
            context.check_cancelled()
            result = self._work_on(context)
        except Cancelled as error:
            return self._failure("CANCELED", str(error) or context.cancel_reason)
        except WaitTimeout as error:
            return self._failure("TIMED_OUT", str(error))
        except ServerLost as error:
            return self._failure("SERVER_LOST", str(error))
        except Exception:
            self._logger.error(f"{self._name}: {traceback.format_exc()}")
            return self._failure("EXECUTION_FAILED", self._fault())
        if not isinstance(result, self._type.Result):
            text = f"{self._name}: its server returned {result!r} instead of a result message"
            self._logger.error(text)
            return self._failure("EXECUTION_FAILED", text)
        return result_code(result) == 0, result

    def _fault(self) -> str:
        """What a client is told of a fault of the server: the trace is for its log alone."""
        return (
            f"A fault in the server of {self._name} ended the goal; the log of node "
            f"'{self._node.get_name()}' has its trace. Please report it."
        )

    def _failure(self, constant: str, message: str) -> tuple[bool, Any]:
        result = self._type.Result()
        code = getattr(type(result), constant, _FAILED)
        for name in CODE_FIELDS:
            if isinstance(getattr(result, name, None), int):
                setattr(result, name, code)
        for name in MESSAGE_FIELDS:
            if hasattr(result, name):
                setattr(result, name, message)
        return False, result
