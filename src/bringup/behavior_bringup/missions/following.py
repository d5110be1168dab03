# SPDX-License-Identifier: Apache-2.0
"""Runs one mission to its end and shows it meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from behavior_msgs.msg import MissionFeedback

from behavior_bringup.client import StackClient
from behavior_bringup.conversion import progress_of
from behavior_bringup.errors import BringupError
from behavior_bringup.missions.progress import ProgressDisplay
from behavior_ros.node.silence import Silence

# An executor that says nothing for so long is gone [s], of wall time and of simulated time.
SILENCE = 20.0
# Where simulated time stands still, or there is none, so many times as much wall time counts.
_STANDSTILL = 6.0
_SHOW_PERIOD, _CHECK_PERIOD = 0.2, 0.5


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a mission ended."""

    state: int
    """One of MissionFeedback's states."""
    text: str
    simulated: float
    """[s] of node time."""
    wall: float
    """[s]."""

    @property
    def succeeded(self) -> bool:
        """Whether the executor reports success."""
        return bool(self.state == MissionFeedback.FINISHED)


class TookTooLong(BringupError):
    """A mission did not end in time; it was cancelled."""


def follow(
    client: StackClient,
    action_id: str,
    *,
    display: ProgressDisplay | None = None,
    summary: Callable[[], str] = lambda: "",
    check: Callable[[], None] = lambda: None,
    on_feedback: Callable[[MissionFeedback], None] = lambda feedback: None,
    timeout: float | None = None,
    simulated_limit: float | None = None,
    now: Callable[[], float] | None = None,
) -> Ending:
    """Wait until a mission ends.

    Args:
        client: the client that started it.
        action_id: which mission.
        display: where to show it.
        summary: the job in one line.
        check: called now and then; raises when the stack is broken.
        on_feedback: given each new feedback of the mission.
        timeout: [s] of wall time.
        simulated_limit: [s] of node time.
        now: simulated time [s]; None: the client's.

    Raises:
        TookTooLong: it takes too long; it is cancelled then.
        BringupError: the executor is silent, or `check` raises.
    """
    begin = shown = checked = time.monotonic()
    silence = Silence(now or (lambda: client.time), SILENCE, standstill=_STANDSTILL)
    last: MissionFeedback | None = None
    while not client.finished(action_id):
        client.work()
        wall = time.monotonic()
        feedback = client.feedback(action_id)
        if feedback is not None and feedback is not last:
            last = feedback
            silence.end()
            on_feedback(feedback)
        if display and feedback and wall - shown >= _SHOW_PERIOD:
            shown = wall
            display.update(progress_of(feedback, summary=summary(), wall=wall - begin))
        if wall - checked >= _CHECK_PERIOD:
            checked = wall
            check()
        if silence.too_long:
            raise BringupError(f"The executor has said nothing about the mission for {SILENCE:g} s")
        if timeout is not None and wall - begin > timeout:
            _give_up(client, f"{timeout:g} s")
        if simulated_limit is not None and feedback and feedback.elapsed > simulated_limit:
            _give_up(client, f"{simulated_limit:g} s of simulated time")
    feedback = client.feedback(action_id)
    assert feedback is not None
    wall = time.monotonic() - begin
    if display:
        display.update(progress_of(feedback, summary=summary(), wall=wall))
    return Ending(state=feedback.state, text=feedback.text, simulated=feedback.elapsed, wall=wall)


def _give_up(client: StackClient, limit: str) -> None:
    client.cancel()
    raise TookTooLong(f"The mission did not end within {limit}; it was cancelled")
