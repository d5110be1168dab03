# SPDX-License-Identifier: Apache-2.0
"""Goals of other servers, run from a worker thread.

rclpy's ActionClient may be used in the executor's thread only: an answer that arrives between
sending and registering the request is lost for good. So every step is handed to the executor, and
the worker waits in its own :class:`GoalContext`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.task import Future

from behavior_ros.burst_action_client import burst_action_client
from behavior_ros.goal_context import GoalCancelled, GoalContext, ServerLost, WaitTimeout
from behavior_ros.goal_exchange import End, GoalExchange, GoalOutcome
from behavior_ros.server_watch import ServerWatch, server_lost

_CANCEL_GRACE = 2.0
"""[s] wall time for which a cancelled goal's end is awaited."""
_ASK_AGAIN = 0.2
"""[s] wall time between two requests to cancel a goal."""


class RemoteGoal:
    """A goal that was sent; from :meth:`GoalRunner.start`."""

    def __init__(
        self, runner: GoalRunner, goal: Any, feedback: Callable[[Any], None] | None
    ) -> None:
        self._runner = runner
        self._ended = Future()
        self._exchange: GoalExchange | None = None
        self._watch = runner.watch()
        self._cancelled = False
        runner.in_executor(self._send, goal, feedback)

    def _send(self, goal: Any, feedback: Callable[[Any], None] | None) -> None:
        self._exchange = GoalExchange(
            self._runner.client, goal, on_feedback=feedback, on_end=self._ended.set_result
        )
        if self._cancelled:
            self._exchange.cancel()

    @property
    def outcome(self) -> GoalOutcome | None:
        """How the goal ended, None before."""
        outcome: GoalOutcome | None = self._ended.result() if self._ended.done() else None
        return outcome

    def cancel(self) -> None:
        """Cancel the goal; at once, or as soon as it is accepted. May be called again."""
        self._cancelled = True
        self._runner.in_executor(self._cancel)

    def _cancel(self) -> None:
        if self._exchange is not None:
            self._exchange.cancel()

    def wait(self, context: GoalContext, timeout: float) -> GoalOutcome:
        """Wait for the end; the goal goes on where this raises.

        Args:
            context: of the goal on whose behalf this one runs
            timeout: [s] of the node's clock; may be infinite

        Raises:
            GoalCancelled, WaitTimeout, ServerLost: as in :meth:`GoalContext.wait`
        """
        outcome: GoalOutcome = context.wait(self._ended, timeout, lost=self._lost)
        if outcome.end is End.LOST:
            raise ServerLost(outcome.message)
        return outcome

    def _lost(self) -> str | None:
        exchange = self._exchange
        signs_of_life = 0 if exchange is None else exchange.signs_of_life
        accepted = exchange is not None and exchange.accepted
        reason = self._watch.look(signs_of_life, accepted=accepted)
        if reason is not None and exchange is not None:
            self._runner.in_executor(exchange.lose, reason)
        return reason

    def finish_cancelled(self) -> None:
        """Cancel, and wait a moment for the goal's end although the context is cancelled."""
        ended = threading.Event()
        self._ended.add_done_callback(lambda _: ended.set())
        deadline = time.monotonic() + _CANCEL_GRACE
        self.cancel()
        while not ended.wait(_ASK_AGAIN) and time.monotonic() < deadline:
            self.cancel()  # in case that it was refused


class GoalRunner:
    """Runs goals of one action from worker threads.

    Args:
        node: the client's node
        action_type: type of the action
        name: of the action
        server_timeout: [s] wall time without a sign of life after which the server counts as lost
    """

    def __init__(
        self, node: Node, action_type: Any, name: str, *, server_timeout: float = 3.0
    ) -> None:
        self.node = node
        self.name = name
        self.client = burst_action_client(node, action_type, name)
        self._server_timeout = server_timeout

    def ready(self) -> bool:
        """Tell whether the server is there."""
        return bool(self.client.server_is_ready())

    def watch(self) -> ServerWatch:
        """Return a watch on the server."""
        return ServerWatch(self.node, self.client, self.name, self._server_timeout)

    def in_executor(self, function: Callable[..., Any], *args: Any) -> None:
        """Have the executor call a function soon."""
        executor = self.node.executor
        if executor is None:
            raise ServerLost(f"no goal can be sent to {self.name}: the node is not spinning")
        executor.create_task(function, *args)

    def start(self, goal: Any, feedback: Callable[[Any], None] | None = None) -> RemoteGoal:
        """Send a goal and return at once.

        Args:
            goal: message
            feedback: gets feedback messages, in the executor's thread

        Raises:
            ServerLost: if there is no server
        """
        if not self.ready():
            raise ServerLost(server_lost(f"no server of action {self.name}; start it"))
        return RemoteGoal(self, goal, feedback)

    def run(
        self,
        context: GoalContext,
        goal: Any,
        *,
        timeout: float = float("inf"),
        feedback: Callable[[Any], None] | None = None,
    ) -> GoalOutcome:
        """Run a goal to its end: succeeded, aborted, cancelled by others, or rejected.

        Args:
            context: of the goal on whose behalf this one runs; its cancellation cancels this one
            goal: message
            timeout: [s] of the node's clock, after which the goal is cancelled
            feedback: gets feedback messages, in the executor's thread

        Raises:
            GoalCancelled, WaitTimeout: after this goal was cancelled and, if it does so in time,
                ended
            ServerLost: the server is not there, or went away
        """
        remote = self.start(goal, feedback)
        try:
            return remote.wait(context, timeout)
        except (GoalCancelled, WaitTimeout) as error:
            remote.finish_cancelled()
            if isinstance(error, WaitTimeout):
                raise WaitTimeout(f"action {self.name} did not end within {timeout:g} s") from None
            raise

    def destroy(self) -> None:
        """Destroy the client."""
        self.client.destroy()
