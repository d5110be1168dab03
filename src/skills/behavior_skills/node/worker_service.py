# SPDX-License-Identifier: Apache-2.0
"""Services whose requests are worked on in a thread, while the node's callbacks never block."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.task import Future

from behavior_ros import GoalContext

MOST_AT_ONCE = 8
"""Requests of one service that are worked on at a time."""


class WorkerService:
    """Serve a service; `work` gets a `GoalContext` with the request and returns the response.

    An exception of `work` is a fault of the server: its trace goes to the log, the client gets what
    `failed` makes of a sentence that says where to look.
    """

    def __init__(
        self,
        node: Node,
        service_type: Any,
        name: str,
        work: Callable[[GoalContext], Any],
        failed: Callable[[str], Any],
    ) -> None:
        """`failed` makes the response of a request that failed for a reason in words."""
        self._node, self._name, self._work_on, self._failed = node, name, work, failed
        self._contexts: set[GoalContext] = set()
        # Reentrant: what the work waits for arrives by other callbacks of the node.
        self._service = node.create_service(
            service_type, name, self._on_request, callback_group=ReentrantCallbackGroup()
        )

    def destroy(self) -> None:
        """End what is worked on."""
        for context in list(self._contexts):
            context.cancel("the server is closing")

    async def _on_request(self, request: Any, _: Any) -> Any:
        if len(self._contexts) >= MOST_AT_ONCE:
            return self._failed("Too many requests at once: wait for the answers.")
        context, outcome = GoalContext(self._node, request), Future()
        self._contexts.add(context)
        context.begin_work()
        threading.Thread(target=self._work, args=(context, outcome), daemon=True).start()
        try:
            return await outcome
        finally:
            self._contexts.discard(context)

    def _work(self, context: GoalContext, outcome: Future) -> None:
        """Work on a request (in its thread), then have the executor take over the response."""
        answer, executor = self.answer(context), self._node.executor
        try:
            if executor is not None:
                executor.create_task(outcome.set_result, answer)
        except InvalidHandle:
            pass  # the executor was shut down meanwhile, nobody waits any more
        context.end_work()

    def answer(self, context: GoalContext) -> Any:
        """The response to a request, in the caller's thread."""
        try:
            return self._work_on(context)
        except Exception:
            self._node.get_logger().error(f"{self._name}: {traceback.format_exc()}")
            return self._failed(
                f"A fault in the server of {self._name} ended the request; the log of node "
                f"'{self._node.get_name()}' has its trace. Please report it."
            )
