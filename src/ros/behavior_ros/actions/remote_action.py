# SPDX-License-Identifier: Apache-2.0
"""The actions of other nodes as one node uses them: their clients, and the goals that are out.

A goal that nobody waits for any more is not over: its server may need a second to stop the robot.
So goals are kept here until they end. A patient goal waits while an earlier one of its action is
closing, and if it was rejected while others were closing, it is sent again when they have closed,
since one robot has one arm however many actions move it.

rclpy's ActionClient may be used in the executor's thread only: an answer that arrives between
sending and registering the request is lost for good. So everything happens in that thread, but for
what says that workers may use it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from behavior_ros.actions.burst_action_client import BurstActionClient
from behavior_ros.actions.goal_context import GoalContext, ServerLost, WaitTimeout
from behavior_ros.actions.remote_goal import End, GoalOutcome, RemoteGoal
from behavior_ros.actions.server_watch import ServerWatch
from behavior_ros.node.at_work import at_work
from behavior_ros.node.closing import register_closable
from behavior_ros.node.node_parts import node_parts
from behavior_tree.cause import Cancelled

SERVER_TIMEOUT = 3.0
"""[s] wall time without a sign of life after which a server counts as lost."""
_LOOK = 0.1
"""[s] wall time between two looks at the goals that are out."""
_CANCEL_GRACE = 2.0
"""[s] wall time for which a cancelled goal's end is awaited in a worker thread."""


class RemoteActions:
    """Those of one node; get it from :func:`remote_actions`.

    Args:
        node: the clients' node
        wall: wall clock in seconds, for tests
    """

    def __init__(self, node: Node, *, wall: Callable[[], float] = time.monotonic) -> None:
        self.node = node
        self.wall = wall
        self.mark = b""
        """First half of the identifiers of goals that are sent from now on (`mark_of`); empty: they
        are sent on nobody's behalf."""
        self.goals: dict[RemoteGoal, None] = {}
        """Those that have not ended, in the order of sending."""
        self._actions: dict[tuple[Any, str], RemoteAction] = {}
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(_LOOK, self.look, clock=steady)
        self._timer.cancel()
        register_closable(node, self)

    def action(self, action_type: Any, name: str) -> RemoteAction:
        """Return an action, the same for all who use it."""
        key = action_type, resolve_action_name(self.node, name)
        if key not in self._actions:
            self._actions[key] = RemoteAction(self, action_type, name)
        return self._actions[key]

    def begin(self, goal: RemoteGoal) -> None:
        """Send a goal, at once or as soon as that can be done, and look after it."""
        self.goals[goal] = None
        if self._timer.is_canceled():
            self._timer.reset()
        goal.look()

    def ended(self, goal: RemoteGoal) -> None:
        """Forget a goal, and send those that waited for its end."""
        self.goals.pop(goal, None)
        for other in [other for other in self.goals if not other.sent]:
            other.look()

    def look(self) -> None:
        """Look after all goals that are out."""
        for goal in list(self.goals):
            goal.look()
        if not self.goals:
            self._timer.cancel()

    def begin_close(self) -> None:
        """Cancel everything that runs: the process is about to end."""
        for goal in list(self.goals):
            goal.cancel()

    def closed(self) -> bool:
        """Tell whether no goal is out any more."""
        return not self.goals


class RemoteAction:
    """An action of another node; from :meth:`RemoteActions.action`."""

    def __init__(self, actions: RemoteActions, action_type: Any, name: str) -> None:
        self.node, self.type = actions.node, action_type
        self.name = resolve_action_name(actions.node, name)
        """Resolved name."""
        self.wall = actions.wall
        self.workers = at_work(actions.node)
        """Of the node: what is under way to a server counts as work."""
        self._actions = actions
        self.client = BurstActionClient(actions.node, action_type, name)

    def ready(self) -> bool:
        """Tell whether a server is there."""
        return bool(self.client.server_is_ready())

    def send(
        self,
        goal: Any,
        *,
        server_timeout: float = SERVER_TIMEOUT,
        mark: bytes = b"",
        patient: bool = False,
        from_worker: bool = False,
        on_feedback: Callable[[Any], None] | None = None,
        on_accept: Callable[[], None] | None = None,
        on_end: Callable[[GoalOutcome], None] | None = None,
    ) -> RemoteGoal:
        """Send a goal, as soon as there is a server.

        Args:
            goal: message
            server_timeout: [s] wall time to wait for a server, and without a sign of life after
                which it counts as lost
            mark: on whose behalf it is sent (`mark_of`); empty: as the node's `RemoteActions` have
                it now
            patient: wait until earlier goals of this action have closed, and send it again where it
                was rejected while other goals of this node were closing, or where its server was
                restarted before it acknowledged the goal
            from_worker: this is another thread than the executor's, which is told to send it
            on_feedback: gets each feedback message until the end, or until it is cancelled
            on_accept: called once a server has accepted it
            on_end: gets the outcome, once; all are called in the executor's thread

        Raises:
            ServerLost: in a worker, where the node does not spin
        """
        sent = RemoteGoal(
            self,
            goal,
            server_timeout=server_timeout,
            mark=mark or self._actions.mark,
            patient=patient,
            on_feedback=on_feedback,
            on_accept=on_accept,
            on_end=on_end,
        )
        if from_worker:
            self.in_executor(self._actions.begin, sent)
        else:
            self._actions.begin(sent)
        return sent

    def run(
        self,
        context: GoalContext,
        goal: Any,
        *,
        timeout: float = float("inf"),
        on_feedback: Callable[[Any], None] | None = None,
        lost: Callable[[], str | None] = lambda: None,
    ) -> GoalOutcome:
        """Run a goal to its end, in a worker thread.

        Args:
            context: of the goal on whose behalf this one runs, which is then sent for the same
                sender; its cancellation cancels this one
            goal: message
            timeout: [s] of the node's clock, after which the goal is cancelled
            on_feedback: gets feedback messages, in the executor's thread
            lost: looked at every now and then, in wall time; returns why the goal is pointless

        Returns:
            The end: succeeded, aborted, cancelled by others, or rejected.

        Raises:
            Cancelled, WaitTimeout: after this goal was cancelled and, if it does so in time,
                ended
            ServerLost: the server is not there, or went away; or `lost` returned a reason, and
                this goal was cancelled as above
        """
        ended = threading.Event()

        def end(outcome: GoalOutcome) -> None:
            ended.set()
            context.wake()

        sent = self.send(
            goal, mark=context.mark, from_worker=True, on_feedback=on_feedback, on_end=end
        )
        try:
            context.wait_until(ended.is_set, timeout, lost=lost)
        except (Cancelled, WaitTimeout, ServerLost) as error:
            sent.cancel_soon()
            ended.wait(_CANCEL_GRACE)
            if isinstance(error, WaitTimeout):
                raise WaitTimeout(f"action {self.name} did not end within {timeout:g} s") from None
            raise
        assert sent.outcome is not None
        if sent.outcome.end is End.LOST:
            raise ServerLost(sent.outcome.message)
        return sent.outcome

    # -- what goals need ---------------------------------------------------------------------------

    def watch(self, server_timeout: float) -> ServerWatch:
        """Return a watch on the server that is there now."""
        node = self._actions.node
        return ServerWatch(node, self.client, self.name, server_timeout, clock=self.wall)

    def closing(self, *, anywhere: bool) -> bool:
        """Tell whether a goal of this action, or of any of the node's, is closing."""
        return any(
            goal.closing and (anywhere or goal.action is self) for goal in self._actions.goals
        )

    def ended(self, goal: RemoteGoal) -> None:
        """Forget a goal."""
        self._actions.ended(goal)

    def in_executor(self, function: Callable[..., Any], *args: Any) -> None:
        """Have the executor call a function soon; raises ServerLost."""
        executor = self._actions.node.executor
        if executor is None:
            raise ServerLost(f"no goal can be sent to {self.name}: the node is not spinning")
        executor.create_task(function, *args)


def resolve_action_name(node: Node, name: str) -> str:
    """The full name by which an action goes: in the node's namespace unless it is absolute.

    A node's remappings count as they do for the action's services: rcl has none for actions.
    """
    service = "/_action/send_goal"
    return str(node.resolve_service_name(name + service)).removesuffix(service)


def remote_actions(node: Node) -> RemoteActions:
    """Return the node's: one, whoever uses them. Call it first in the executor's thread."""
    return node_parts(node).shared(RemoteActions, lambda: RemoteActions(node))
