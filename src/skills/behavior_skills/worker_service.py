# SPDX-License-Identifier: Apache-2.0
"""Services whose requests are worked on in a thread, while the node's callbacks never block."""

from __future__ import annotations

import threading
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
    """Serve a service; `work` gets a `GoalContext` with the request and returns the response."""

    def __init__(
        self,
        node: Node,
        service_type: Any,
        name: str,
        work: Callable[[GoalContext], Any],
        *,
        busy: Callable[[], Any],
    ) -> None:
        """`busy` makes the response where too many requests are worked on already."""
        self._node, self._work_on, self._busy = node, work, busy
        self._contexts: set[GoalContext] = set()
        # Reentrant: what the work waits for arrives by other callbacks of the node.
        self._service = node.create_service(
            service_type, name, self._on_request, callback_group=ReentrantCallbackGroup()
        )

    def destroy(self) -> None:
        """End what is worked on."""
        for context in list(self._contexts):
            context.cancel("the server is closing")

    async def _on_request(self, request: Any, response: Any) -> Any:
        if len(self._contexts) >= MOST_AT_ONCE:
            return self._busy()
        context, outcome = GoalContext(self._node, request), Future()
        self._contexts.add(context)
        threading.Thread(target=self._work, args=(context, outcome), daemon=True).start()
        try:
            return await outcome or response
        finally:
            self._contexts.discard(context)

    def _work(self, context: GoalContext, outcome: Future) -> None:
        """Work on a request (in its thread), then have the executor take over the response."""
        answer: Any = None
        try:
            answer = self._work_on(context)
        finally:
            executor = self._node.executor
            try:
                if executor is not None:
                    executor.create_task(outcome.set_result, answer)
            except InvalidHandle:
                pass  # the executor was shut down meanwhile, nobody waits any more
