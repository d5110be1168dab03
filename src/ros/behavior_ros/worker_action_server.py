# SPDX-License-Identifier: Apache-2.0
"""Action servers whose goals are worked on in a thread, while callbacks never block."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.task import Future


class GoalCancelled(Exception):
    """The client cancelled the goal, or the node is closing."""


class WaitTimeout(Exception):
    """What was waited for did not come in time."""


class ServerLost(Exception):
    """The server of a goal went away, or was restarted and forgot it."""


class GoalContext:
    """What the function that executes a goal sees of it."""

    goal: Any
    """The goal message."""
    cancelled: threading.Event
    """Set as soon as the goal is to end; never clear it."""

    def publish_feedback(self, feedback: Any) -> None:
        """Publish a feedback message."""
        raise NotImplementedError

    def check_cancelled(self) -> None:
        """Raise GoalCancelled if the goal is to end."""
        raise NotImplementedError

    def wait(self, future: Future, timeout: float) -> Any:
        """Return a future's result; raises GoalCancelled, WaitTimeout ([s] node clock)."""
        raise NotImplementedError

    def sleep(self, duration: float) -> None:
        """Sleep [s] of the node's clock; raises GoalCancelled."""
        raise NotImplementedError


class WorkerActionServer:
    """Serve an action; each accepted goal is executed in a thread of its own.

    Args:
        node: the node
        action_type: type of the action
        name: of the action
        execute: gets a GoalContext, returns the result message
        accept: returns None to accept a goal, otherwise why it is refused (logged)
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
        raise NotImplementedError

    def destroy(self) -> None:
        """Cancel what runs, wait up to 2 s for it, and stop serving."""
        raise NotImplementedError
