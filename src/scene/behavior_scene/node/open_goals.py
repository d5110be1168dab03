# SPDX-License-Identifier: Apache-2.0
"""Goals of an action that wait for the scene; nothing waits in a thread.

All goals under way are looked at together, at 20 Hz and whenever there is news.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from rclpy.action import CancelResponse
from rclpy.task import Future

from behavior_ros import BurstActionServer
from behavior_ros.node.closing import register_closable
from behavior_ros.node.resting_timer import RestingTimer
from behavior_scene.node.host import SceneHost
from behavior_tree.shown_text import reason_text

LOOK = 0.05
"""[s] node time between two looks at goals under way."""


@dataclass(slots=True, eq=False, kw_only=True)
class OpenGoal:
    """A goal under way."""

    handle: Any
    begun: float
    """[s]"""
    timeout: float
    """[s]"""
    done: Future = field(default_factory=Future)
    """Gets code and message."""

    def end(self, code: int, message: str) -> None:
        """End it, if it has not ended already."""
        if not self.done.done():
            self.done.set_result((code, reason_text(message)))


G = TypeVar("G", bound=OpenGoal)


class OpenGoals(Generic[G]):
    """Serves an action whose goals wait; its results have the constants SUCCESS and CANCELED."""

    def __init__(
        self,
        host: SceneHost,
        action: Any,
        name: str,
        *,
        work: Callable[[Any], Awaitable[Any]],
        look: Callable[[], None],
    ) -> None:
        """Start the server.

        Args:
            host: of the part that serves it.
            action: its type.
            name: of the action.
            work: gets a goal's handle; returns the result.
            look: goes on with all goals that wait.
        """
        self._result, self._on_look = action.Result, look
        self._goals: list[G] = []
        self._closing = False
        BurstActionServer(host.node, action, name, work=work, cancel_callback=self.cancel)
        self._timer = RestingTimer(host.node, LOOK, self.look)
        register_closable(host.node, self)

    @property
    def waiting(self) -> list[G]:
        """Those that have not ended."""
        return [goal for goal in self._goals if not goal.done.done()]

    def look(self) -> None:
        """Look at the goals now; while some wait this goes on by itself."""
        if not self.waiting:
            self._timer.rest()
        self._on_look()

    async def ended(self, goal: G, begin: Callable[[], None]) -> tuple[int, str]:
        """Begin a goal and wait for its end; returns code and message."""
        self._goals.append(goal)
        if self._closing or goal.handle.is_cancel_requested:
            why = "the scene is closing" if self._closing else "cancelled by the client"
            goal.end(self._result.CANCELED, why)
        else:
            self._timer.start()
            begin()
        code, message = await goal.done
        self._goals.remove(goal)
        return code, message

    def begin_close(self) -> None:
        """End all goals."""
        self._closing = True
        for goal in self._goals:
            goal.end(self._result.CANCELED, "the scene is closing")

    def closed(self) -> bool:
        """Whether all have ended."""
        return not self._goals

    def cancel(self, handle: Any) -> CancelResponse:
        """The client wants a goal to end."""
        for goal in self._goals:
            if goal.handle.goal_id == handle.goal_id:
                goal.end(self._result.CANCELED, "cancelled by the client")
        return CancelResponse.ACCEPT
