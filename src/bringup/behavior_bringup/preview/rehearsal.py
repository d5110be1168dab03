# SPDX-License-Identifier: Apache-2.0
"""Runs a mission once in the copy."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from behavior_msgs.msg import MissionAction, MissionFeedback

from behavior_bringup.client import StackClient
from behavior_bringup.errors import BringupError
from behavior_bringup.missions.following import Ending, TookTooLong, follow
from behavior_bringup.missions.progress import ProgressDisplay
from behavior_bringup.preview.copy_stack import CopyStack
from behavior_bringup.preview.kinds import Kind
from behavior_bringup.preview.live_state import LiveState
from behavior_bringup.preview.motions import PlannedMotions
from behavior_bringup.preview.setting import CopySetter
from behavior_bringup.preview.start_state import CopiedWorld
from behavior_bringup.stacks.description import load_stack, stack_file
from behavior_bringup.stacks.environment import enter_domain
from behavior_bringup.stacks.readiness import wait_ready

REST = 1.0
"""[s simulated] in which everything comes to rest after a mission."""


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """What is to be run, and from where on."""

    copy: CopyStack
    """Which is up."""
    kind: Kind
    """Of its world."""
    live: LiveState
    world: CopiedWorld
    """The state made of `live`, which is in the copy's file."""
    order: MissionAction
    limit: float
    """[s simulated] for the mission."""


@dataclass(frozen=True, kw_only=True)
class Rehearsed:
    """How it went."""

    ending: Ending
    begun: float
    """[s] of the copy's time."""
    end: LiveState
    motions: int
    """How many were planned, which are in the copy's file."""
    notes: list[str]
    """What of the copy was not as in the real stack."""


class Stopwatch:
    """Where wall time goes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin now, by a clock [s]."""
        self._clock, self._last = clock, clock()
        self.laps: dict[str, float] = {}
        """[s] by the name of what ended with it."""

    def lap(self, name: str) -> None:
        """What has this name has ended."""
        now = self._clock()
        self.laps[name], self._last = now - self._last, now


def rehearse(
    rehearsal: Rehearsal, watch: Stopwatch, display: ProgressDisplay | None = None
) -> Rehearsed:
    """Set the copy, run the mission there, and let time stand still again.

    The motion is recorded in the copy's file, and what the skills planned in another.

    Raises:
        BringupError: the copy breaks, or cannot be set.
    """
    copy = rehearsal.copy
    state = copy.stack.state()
    if state is None:
        raise BringupError(f"The copy went down; its logs are in {copy.stack.folder}")
    enter_domain(state.domain)
    kind = rehearsal.kind
    with StackClient(truth=False, clock=not kind.has_scene) as client:
        observer = kind.observer(client)
        setter = kind.setter(client, observer)
        check = copy.stack.watch().check
        with _running(setter, copy.busy_speed):
            wait_ready(client, load_stack(stack_file(copy.world)).ready, check)
            _end_what_runs(client)
            notes = setter.set(rehearsal.live, rehearsal.world, str(copy.start_state))
            watch.lap("set")
            begun, planned = client.time, PlannedMotions(client)
            ending = _followed(client, rehearsal, display, check)
            watch.lap("run")
            rest(client)
            planned.end()
            motions, end = planned.save(copy.motions), observer.state()
            client.save_recording()
            watch.lap("rest")
    return Rehearsed(ending=ending, begun=begun, end=end, motions=motions, notes=notes)


def rest(client: StackClient) -> None:
    """Wait until everything has come to rest.

    Raises:
        BringupError: simulated time stands still.
    """
    until = client.time + REST
    client.wait_simulated(lambda: client.time >= until)


@contextmanager
def _running(setter: CopySetter, busy: float) -> Iterator[None]:
    """The copy's time runs meanwhile, and stands still afterwards."""
    setter.run(busy)
    try:
        yield
    finally:
        with suppress(BringupError):  # a copy that has gone needs no halt
            setter.halt()


def _end_what_runs(client: StackClient) -> None:
    """Cancel what an interrupted preview may have left."""
    with suppress(BringupError):  # nothing runs
        client.cancel()
        rest(client)


def _followed(
    client: StackClient,
    rehearsal: Rehearsal,
    display: ProgressDisplay | None,
    check: Callable[[], None],
) -> Ending:
    """Give the mission, and wait until it has ended; one that does not is cancelled."""
    begin, limit = time.monotonic(), rehearsal.limit
    action_id = client.give(rehearsal.order)
    try:
        return follow(client, action_id, display=display, check=check, simulated_limit=limit)
    except TookTooLong:
        return Ending(
            state=MissionFeedback.CANCELED,
            text=f"it did not end within {limit:g} s; if it is to go on for ever this is no"
            " failure, and --limit lets it go on for longer",
            simulated=limit,
            wall=time.monotonic() - begin,
        )
