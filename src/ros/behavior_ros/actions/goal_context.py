# SPDX-License-Identifier: Apache-2.0
"""What code that works on a goal has of it: feedback, time, waiting, cancellation."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.task import Future

from behavior_ros.actions.server_watch import server_lost
from behavior_ros.node.at_work import at_work
from behavior_ros.node.clock_alarm import clock_alarm
from behavior_ros.node.elapsed import Elapsed
from behavior_tree.cause import Cancelled

_LOOK = 0.25
"""[s] wall time between two looks at whether a server is still there."""
_FEEDBACK_PERIOD = 0.2
"""[s] between feedback messages of the same phase."""
_TICK = 0.05
"""[s] that a tick takes where nobody sets another pace."""


class WaitTimeout(Exception):
    """What was waited for did not come in time."""


class ServerLost(Exception):
    """A server went away, or was restarted and forgot the goal."""


class GoalContext:
    """A goal, or the request of a service, as the worker thread sees it.

    All waits end at once when the goal is cancelled, count the node's clock, and are woken by
    events, so that they cost nothing while nothing happens. When that clock is set back, as by a
    simulation that starts anew, they wait for what is left of their times.

    Args:
        node: of the server; its time is the goal's
        goal: its message
        publish_feedback: sends a feedback message
        feedback_type: makes one of its fields
        mark: on whose behalf the goal was sent (`goal_identifier.mark_in`); empty: nobody says
    """

    def __init__(
        self,
        node: Node,
        goal: Any,
        publish_feedback: Callable[[Any], None] = lambda feedback: None,
        feedback_type: Callable[..., Any] = dict,
        mark: bytes = b"",
    ) -> None:
        self.node = node
        self.goal = goal
        """The goal message."""
        self.mark = mark
        """On whose behalf the goal was sent; empty: nobody says."""
        self.cancelled = threading.Event()
        """Set as soon as the goal is to end; never clear it."""
        self.cancel_reason = ""
        """Why it is to end."""
        self.phase = ""
        """The phase that was told last."""
        self.pace: Callable[[], None] = lambda: self.sleep(_TICK)
        """What a tick waits for; it may raise what the work is to end with."""
        self._publish_feedback = publish_feedback
        self._feedback_type = feedback_type
        self._sent_at = -float("inf")
        self._shielded = False
        self._alarm = clock_alarm(node)
        self._condition = threading.Condition()
        self._nudged = False
        """Whether the tick that is under way, or else the next one, is to end at once."""
        self._workers = at_work(node)
        self._counted = self._resting = False
        """Whether a worker counts for this goal, and rests now."""

    def cancel(self, reason: str) -> None:
        """Have the goal end; the first reason stays. Any thread may call it."""
        with self._condition:
            if not self.cancelled.is_set():
                self.cancel_reason = reason
                self.cancelled.set()
            self._notify()

    def publish_feedback(self, feedback: Any) -> None:
        """Publish a feedback message."""
        self._publish_feedback(feedback)

    def feedback(self, phase: str, progress: float, **more: Any) -> None:
        """Tell the client where the work is, at each new phase and every now and then.

        Args:
            phase: a word
            progress: 0 to 1
            more: other fields of the action's feedback
        """
        now = self.now()
        # Less than nothing: the clock was set back.
        if phase == self.phase and 0.0 <= now - self._sent_at < _FEEDBACK_PERIOD:
            return
        self.phase, self._sent_at = phase, now
        self.publish_feedback(self._feedback_type(phase=phase, progress=float(progress), **more))

    def check_cancelled(self) -> None:
        """Raise Cancelled if the goal is to end, unless shielded."""
        if self.cancelled.is_set() and not self._shielded:
            raise Cancelled(self.cancel_reason)

    def shield(self, on: bool) -> None:
        """While on, a cancellation ends no wait: the robot is being brought to rest."""
        self._shielded = on

    def tick(self) -> None:
        """Let a moment pass, as long as `pace` makes it, or until a `nudge`; raises Cancelled."""
        self.pace()
        self._nudged = False
        self.check_cancelled()

    def nudge(self) -> None:
        """End the present tick: something has come that the work may wait for. Any thread."""
        with self._condition:
            self._nudged = True
            self._notify()

    @property
    def nudged(self) -> bool:
        """Whether the tick is to end: for whoever sets `pace`."""
        return self._nudged

    def now(self) -> float:
        """Return the node's time in seconds."""
        return self._alarm.now() * 1e-9

    def sleep(self, duration: float) -> None:
        """Let a time of the node's clock pass.

        Args:
            duration: [s]

        Raises:
            Cancelled: as soon as the goal is to end
        """
        passed, nanoseconds = Elapsed(self._alarm.now), duration * 1e9
        with self._condition:
            self.check_cancelled()
            while passed() < nanoseconds:
                self._pause(passed.end(nanoseconds))
                self.check_cancelled()

    def wait(
        self,
        future: Future,
        timeout: float,
        *,
        lost: Callable[[], str | None] = lambda: None,
    ) -> Any:
        """Wait for a future and return its result.

        Args:
            future: of a service call, or anything that the executor completes
            timeout: [s] of the node's clock; may be infinite
            lost: looked at every now and then, in wall time; returns why waiting is pointless

        Raises:
            Cancelled: as soon as the goal is to end; the future is left alone
            WaitTimeout: the time is over, or the future was cancelled
            ServerLost: `lost` returned a reason
        """
        future.add_done_callback(self._wake)
        self.wait_until(lambda: future.done() or future.cancelled(), timeout, lost=lost)
        if future.cancelled():
            raise WaitTimeout("what was waited for was given up")
        return future.result()

    def wait_until(
        self,
        predicate: Callable[[], bool],
        timeout: float,
        *,
        lost: Callable[[], str | None] = lambda: None,
    ) -> None:
        """Wait until a predicate holds; whoever makes it true calls :meth:`wake` afterwards.

        Args:
            predicate: cheap; called at every event
            timeout: [s] of the node's clock; may be infinite
            lost: as in :meth:`wait`

        Raises:
            Cancelled, WaitTimeout, ServerLost: as in :meth:`wait`
        """
        passed, nanoseconds = Elapsed(self._alarm.now), timeout * 1e9
        looked = time.monotonic()
        while True:
            with self._condition:
                if predicate():
                    return
                self.check_cancelled()
                if passed() >= nanoseconds:
                    raise WaitTimeout(f"nothing came within {timeout:g} s")
                self._pause(passed.end(nanoseconds), longest=_LOOK)
            if time.monotonic() - looked >= _LOOK:
                looked = time.monotonic()
                reason = lost()
                if reason is not None:
                    raise ServerLost(reason)

    def call(self, client: Any, request: Any, timeout: float) -> Any:
        """Call a service and return its response.

        Args:
            client: of the service, made with the node
            request: message
            timeout: [s] of the node's clock

        Raises:
            ServerLost: there is no such server, or it went away
            Cancelled, WaitTimeout: as in :meth:`wait`
        """

        def lost() -> str | None:
            there = client.service_is_ready()
            return None if there else server_lost(f"service {client.srv_name} is not there")

        reason = lost()
        if reason is not None:
            raise ServerLost(reason)
        future = client.call_async(request)
        try:
            return self.wait(future, timeout, lost=lost)
        except WaitTimeout:
            raise WaitTimeout(
                f"service {client.srv_name} did not answer within {timeout:g} s"
            ) from None
        finally:
            future.cancel()

    def wake(self) -> None:
        """Have waits look again at what they wait for."""
        with self._condition:
            self._notify()

    def begin_work(self) -> None:
        """A thread is about to work on the goal: it counts as one that computes (`at_work`)."""
        self._counted = True
        self._workers.begin()

    def end_work(self) -> None:
        """The thread has done its work."""
        self._counted = False
        self._workers.end()

    def _pause(self, deadline: float, **longest: float) -> None:
        """Wait as the alarm does; the condition is held. The worker rests meanwhile."""
        if self._counted:
            self._resting = True
            self._workers.end()
        try:
            self._alarm.wait(self._condition, deadline, self._notify, **longest)
        finally:
            self._resume()

    def _resume(self) -> None:
        if self._resting:
            self._resting = False
            self._workers.begin()

    def _notify(self) -> None:
        self._resume()
        self._condition.notify_all()

    def _wake(self, future: Future) -> None:
        self.wake()
