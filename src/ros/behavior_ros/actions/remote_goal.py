# SPDX-License-Identifier: Apache-2.0
"""One goal at another node's action server, from the wish to its one end.

States: waiting to be sent, sent, accepted, ended (with exactly one outcome, told once). It ends by
itself whatever becomes of its server, so whoever waits for it needs no watch of his own.

The hole that most action clients have: a goal that is cancelled before the server acknowledged it
has no handle to cancel with, so it runs on. Here the wish is kept, and fulfilled as soon as the
acknowledgement comes, however late; a server that refuses to cancel is asked again.

Another hole: an answer that got lost is waited for for ever. Here the server's list of goals counts
too: what is in it was accepted, and if it has ended its result is asked for again. A goal that is
given up without an acknowledgement is cancelled by its identifier.

Not thread-safe on purpose: everything happens in the executor's thread, but for `cancel_soon`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal

from behavior_ros.actions.goal_context import ServerLost
from behavior_ros.actions.goal_identifier import new_identifier
from behavior_ros.actions.server_watch import ServerWatch, server_lost
from behavior_tree.cause import Cause, CauseKind

if TYPE_CHECKING:
    from behavior_ros.actions.remote_action import RemoteAction


class End(Enum):
    """How a goal ended."""

    SUCCEEDED = "succeeded"
    ABORTED = "aborted"
    CANCELED = "cancelled"
    REJECTED = "rejected"
    LOST = "lost"


@dataclass(frozen=True)
class GoalOutcome:
    """How a goal ended, and with what."""

    end: End
    """Which end it was."""
    result: Any = None
    """Result message; None if it was rejected or lost, or cancelled before it was sent."""
    message: str = ""
    """Why, where there is no result to say it: a `Cause`."""

    @property
    def succeeded(self) -> bool:
        """True if the server reported success."""
        return self.end is End.SUCCEEDED


_ENDS = {
    GoalStatus.STATUS_SUCCEEDED: End.SUCCEEDED,
    GoalStatus.STATUS_ABORTED: End.ABORTED,
    GoalStatus.STATUS_CANCELED: End.CANCELED,
}


_ASKED = 3
"""Times that is asked again, within `server_timeout`, for what was not answered."""


def _refused(response: Any) -> bool:
    """Tell whether a server would not cancel a goal; rclpy's then cancels none without an error."""
    if response is None or response.return_code == CancelGoal.Response.ERROR_REJECTED:
        return True
    none = CancelGoal.Response.ERROR_NONE
    return response.return_code == none and not response.goals_canceling


class RemoteGoal:
    """One goal; from :meth:`behavior_ros.RemoteAction.send`, which describes the arguments."""

    def __init__(
        self,
        action: RemoteAction,
        goal: Any,
        *,
        server_timeout: float,
        mark: bytes = b"",
        patient: bool = False,
        on_feedback: Callable[[Any], None] | None = None,
        on_accept: Callable[[], None] | None = None,
        on_end: Callable[[GoalOutcome], None] | None = None,
    ) -> None:
        self.outcome: GoalOutcome | None = None
        """How it ended; None: it has not."""
        self.action = action
        self._goal = goal
        self._server_timeout = server_timeout
        self._mark = mark
        self._patient = patient
        self._on_feedback, self._on_accept, self._on_end = on_feedback, on_accept, on_end
        self._since = action.wall()
        """[s] wall time since when it waits for a server."""
        self._watch: ServerWatch | None = None
        """Of the server it was sent to; another one for each time that it is sent."""
        self._others_closed = True
        """Whether, when it was sent, no other goal of the node was closing."""
        self._signs_of_life = 0
        """Number of answers the server gave so far."""
        self._handle: Any = None
        self._identifier: Any = None
        """Of the goal as it was sent last."""
        self._asked: float | None = None
        """[s] wall time when the result of the ended goal was awaited, or asked for, last."""
        self._asked_again = 0
        self._cancel_wanted = self._cancel_pending = False
        self._cancel_sent = 0.0
        """[s] wall time of the last request to cancel; infinite: it was granted."""
        self._period = server_timeout / _ASKED
        self._under_way = False
        """Whether it was sent and no answer has come: somebody has to take it, and it counts as
        work of the node (`at_work`)."""

    @property
    def sent(self) -> bool:
        """True while it is with a server, or on its way to one."""
        return self._watch is not None

    @property
    def accepted(self) -> bool:
        """True once the server accepted it."""
        return self._handle is not None

    @property
    def closing(self) -> bool:
        """True while it was cancelled and has not ended yet."""
        return self._cancel_wanted and self.outcome is None

    def cancel(self) -> None:
        """Have it end, now or as soon as it is accepted; no feedback is handed on any more.

        Calling it again does no harm.
        """
        self._cancel_wanted = True
        if self._watch is not None:
            self._send_cancel()
        else:
            self._end(End.CANCELED, Cause(CauseKind.CANCELED, "cancelled before it was sent"))

    def cancel_soon(self) -> None:
        """The same from any thread: the executor cancels it, as long as it spins."""
        with contextlib.suppress(ServerLost):
            self.action.in_executor(self.cancel)

    def look(self) -> None:
        """Send it if that can be done now, see whether its server is there, cancel it again."""
        if self.outcome is not None:
            return
        if self._watch is None:
            self._try_to_send()
            return
        self._look_for_result()
        reason = self._watch.look(self._signs_of_life, accepted=self.accepted)
        if reason is not None:
            self._lose(reason)
        elif self._cancel_wanted:
            self._send_cancel()

    def _try_to_send(self) -> None:
        action, now = self.action, self.action.wall()
        if self._patient and action.closing(anywhere=not self._others_closed):
            self._since = now
        elif action.ready():
            self._send()
        elif now - self._since >= self._server_timeout:
            sentence = f"no server of action {action.name} for {now - self._since:.1f} s"
            self._end(End.LOST, Cause(CauseKind.SERVER_LOST, sentence, remedy="start it"))

    def _send(self) -> None:
        self._others_closed = not self.action.closing(anywhere=True)
        watch = self._watch = self.action.watch(self._server_timeout)
        client, feedback = self.action.client, partial(self._receive_feedback, watch)
        self._identifier = new_identifier(self._mark)
        client.on_status[bytes(self._identifier.uuid)] = partial(self._receive_status, watch)
        answer = client.send_goal_async(
            self._goal, feedback_callback=feedback, goal_uuid=self._identifier
        )
        self._under_way = True
        self.action.workers.begin()
        answer.add_done_callback(partial(self._answered, watch))

    def _send_again(self) -> None:
        """Wait for the next chance to send it."""
        self._close_watch()
        self._watch, self._since = None, self.action.wall()

    def _arrived(self) -> None:
        """It is with its server, or will never be."""
        if self._under_way:
            self._under_way = False
            self.action.workers.end()

    def _answered(self, watch: ServerWatch, future: Any) -> None:
        self._signs_of_life += 1
        handle = future.result()
        accepted = handle is not None and handle.accepted
        lost = self.outcome is not None and self.outcome.end is End.LOST
        if watch is not self._watch or lost:
            if accepted:  # by a server that was given up, too early
                handle.cancel_goal_async()
        elif self.outcome is not None or self.accepted:
            pass  # the server's list of goals was here before
        elif accepted:
            self._accept(handle)
        elif self._patient and not self._others_closed and not self._cancel_wanted:
            self._send_again()
        else:
            self._end(End.REJECTED, Cause(CauseKind.REJECTED, "the server rejected the goal"))

    def _accept(self, handle: Any) -> None:
        self._handle = handle
        self._arrived()
        if self._on_accept is not None:
            self._on_accept()
        if self._cancel_wanted:
            self._send_cancel()
        handle.get_result_async().add_done_callback(self._receive_result)

    def _receive_status(self, watch: ServerWatch, status: int) -> None:
        """What the server's list tells of the goal, whatever becomes of its answers."""
        if watch is not self._watch or self.outcome is not None:
            return
        self._signs_of_life += 1
        if not self.accepted:
            self._accept(self.action.client.handle_of(self._identifier))
        if status in _ENDS and self._asked is None:
            self._asked = self.action.wall()

    def _look_for_result(self) -> None:
        """Ask again for the result of a goal that has ended, if it does not come."""
        now = self.action.wall()
        if self._asked is None or now - self._asked < self._period:
            return
        self._asked, self._asked_again = now, self._asked_again + 1
        if self._asked_again > _ASKED:
            self._end(End.LOST, server_lost(f"the result of {self.action.name} does not come"))
        else:
            self._handle.get_result_async().add_done_callback(self._receive_result)

    def _receive_feedback(self, watch: ServerWatch, message: Any) -> None:
        self._signs_of_life += 1
        wanted = watch is self._watch and not self._cancel_wanted and self.outcome is None
        if wanted and self._on_feedback is not None:
            self._on_feedback(message.feedback)

    def _receive_result(self, future: Any) -> None:
        self._signs_of_life += 1
        response = future.result()
        end = None if response is None else _ENDS.get(response.status)
        if end is None:
            self._end(End.LOST, server_lost("it does not know the goal any more"))
        else:
            self._end(end, result=response.result)

    def _send_cancel(self) -> None:
        if self._handle is None or self.outcome is not None:
            return
        now = self.action.wall()
        if self._cancel_pending and now - self._cancel_sent < self._period:
            return
        self._cancel_pending, self._cancel_sent = True, now
        self._handle.cancel_goal_async().add_done_callback(self._cancel_answered)

    def _cancel_answered(self, future: Any) -> None:
        self._signs_of_life += 1
        # After a refusal it is tried again; otherwise one request is enough.
        self._cancel_pending = not _refused(future.result())
        self._cancel_sent = math.inf if self._cancel_pending else self._cancel_sent

    def _lose(self, reason: Cause) -> None:
        """Give the server up, which may only be out of reach: then the goal is to end there too."""
        assert self._watch is not None
        # A killed server haunts the graph for a while: what is sent to it then is lost.
        never_arrived = self._watch.restarted and not self.accepted
        if never_arrived and self._patient and not self._cancel_wanted:
            self._send_again()
            return
        self.cancel()
        if not self.accepted:
            self.action.client.handle_of(self._identifier).cancel_goal_async()
        self._end(End.LOST, reason)

    def _end(self, end: End, message: str = "", *, result: Any = None) -> None:
        if self.outcome is not None:
            return
        self.outcome = GoalOutcome(end, result, message)
        self._close_watch()
        if self._on_end is not None:
            self._on_end(self.outcome)
        self.action.ended(self)

    def _close_watch(self) -> None:
        self._arrived()
        if self._watch is not None:
            self._watch.close()
            self.action.client.forget(self._identifier)
