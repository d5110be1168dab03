# SPDX-License-Identifier: Apache-2.0
"""One goal of an action client, from sending to its one end.

The hole that most action clients have: a goal that is cancelled before the server acknowledged it
has no handle to cancel with, so it runs on. Here the wish is kept, and fulfilled as soon as the
acknowledgement comes, however late.

States: SENDING (no answer yet), ACTIVE (accepted), ENDED (with exactly one outcome, reported once).
Not thread-safe on purpose: everything happens in the executor's thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal

from behavior_ros.server_watch import server_lost
from behavior_tree.cause import Cause, CauseKind


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
    """Result message; None if rejected or lost."""
    message: str = ""
    """Why, where no result says it; a `Cause` of its kind where the server is lost."""

    @property
    def succeeded(self) -> bool:
        """True if the server reported success."""
        return self.end is End.SUCCEEDED


class GoalSender(Protocol):
    """The part of rclpy's ActionClient that an exchange needs."""

    def send_goal_async(self, goal: Any, feedback_callback: Callable[[Any], None]) -> Any:
        """Send a goal; the future's result is a goal handle."""


_ENDS = {
    GoalStatus.STATUS_SUCCEEDED: End.SUCCEEDED,
    GoalStatus.STATUS_ABORTED: End.ABORTED,
    GoalStatus.STATUS_CANCELED: End.CANCELED,
}


def _refused(response: Any) -> bool:
    """Tell whether a server would not cancel a goal; rclpy's then cancels none without an error."""
    if response is None or response.return_code == CancelGoal.Response.ERROR_REJECTED:
        return True
    none = CancelGoal.Response.ERROR_NONE
    return response.return_code == none and not response.goals_canceling


class GoalExchange:
    """One goal.

    Args:
        sender: sends it
        goal: message
        on_feedback: gets each feedback message until the end
        on_accept: called once the server has accepted the goal
        on_end: gets the outcome, once
    """

    def __init__(
        self,
        sender: GoalSender,
        goal: Any,
        *,
        on_feedback: Callable[[Any], None] | None = None,
        on_accept: Callable[[], None] | None = None,
        on_end: Callable[[GoalOutcome], None] | None = None,
    ) -> None:
        self.outcome: GoalOutcome | None = None
        self.signs_of_life = 0
        """Number of answers the server gave so far."""
        self._handle: Any = None
        self._cancel_wanted = False
        self._cancel_pending = False
        self._on_feedback = on_feedback
        self._on_accept = on_accept
        self._on_end = on_end
        sender.send_goal_async(goal, self._receive_feedback).add_done_callback(self._answered)

    @property
    def accepted(self) -> bool:
        """True once the server accepted the goal."""
        return self._handle is not None

    @property
    def cancel_wanted(self) -> bool:
        """True once it was cancelled, be the server told already or not."""
        return self._cancel_wanted

    def cancel(self) -> None:
        """Cancel the goal: now, or as soon as it is accepted. Calling it again does no harm."""
        self._cancel_wanted = True
        self._send_cancel()

    def lose(self, message: str) -> None:
        """Give the goal up because its server is gone; `message` is a `Cause`.

        Should the server have been out of reach only, the goal is cancelled as soon as it can be.
        """
        if self.outcome is None:
            self.cancel()
            self._finish(GoalOutcome(End.LOST, message=message))

    def _send_cancel(self) -> None:
        if self._handle is None or self._cancel_pending or self._is_over():
            return
        self._cancel_pending = True
        self._handle.cancel_goal_async().add_done_callback(self._cancel_answered)

    def _is_over(self) -> bool:
        """Tell whether the server needs no cancellation any more."""
        return self.outcome is not None and self.outcome.end is not End.LOST

    def _cancel_answered(self, future: Any) -> None:
        self.signs_of_life += 1
        # After a refusal cancel() may be tried again; otherwise one request is enough.
        self._cancel_pending = not _refused(future.result())

    def _answered(self, future: Any) -> None:
        self.signs_of_life += 1
        handle = future.result()
        if handle is None or not handle.accepted:
            self._finish(
                GoalOutcome(
                    End.REJECTED, message=Cause(CauseKind.REJECTED, "the server rejected the goal")
                )
            )
            return
        self._handle = handle
        if self._on_accept is not None:
            self._on_accept()
        if self._cancel_wanted:
            self._send_cancel()
        if self.outcome is None:
            handle.get_result_async().add_done_callback(self._ended)

    def _ended(self, future: Any) -> None:
        self.signs_of_life += 1
        response = future.result()
        end = None if response is None else _ENDS.get(response.status)
        if end is None:
            self._finish(
                GoalOutcome(End.LOST, message=server_lost("it does not know the goal any more"))
            )
        else:
            self._finish(GoalOutcome(end, response.result))

    def _receive_feedback(self, message: Any) -> None:
        self.signs_of_life += 1
        if self.outcome is None and self._on_feedback is not None:
            self._on_feedback(message.feedback)

    def _finish(self, outcome: GoalOutcome) -> None:
        if self.outcome is None:
            self.outcome = outcome
            if self._on_end is not None:
                self._on_end(outcome)
