# SPDX-License-Identifier: Apache-2.0
"""What all nodes of a tree share: the clock, timers, the wake-up event, the tick record.

No threads: a timer is a deadline that its node looks at when ticked. The tree looks at all of them
when it sleeps or decides whether to tick again, so an expired timer ends a sleep like a wake-up
does.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from behavior_tree.blackboard.conversion import TypeRegistry
from behavior_tree.errors import LogicError
from behavior_tree.kernel.claims import NO_PARTS, Parts
from behavior_tree.kernel.record import TickRecord
from behavior_tree.quirks import MENDED, Quirks

if TYPE_CHECKING:
    from behavior_tree.kernel.node import Tick, TreeNode

_POLL = 0.001
"""Wall time between looks at a clock that is not the wall's [s]."""
_PATIENCE = 5.0
"""Wall time that an edit waits for the end of a tick [s]."""


class Timer:
    """A deadline on the tree's clock."""

    __slots__ = ("_runtime", "deadline", "on_expiry")

    def __init__(
        self, runtime: TreeRuntime, deadline: float, on_expiry: Callable[[], bool] | None = None
    ) -> None:
        self._runtime = runtime
        self.deadline = deadline
        """Clock reading at which it expires [s]."""
        self.on_expiry = on_expiry
        """Called by `TreeRuntime.expire_timers`; True if it wants another tick soon."""

    @property
    def expired(self) -> bool:
        """True from the deadline on."""
        return self._runtime.clock() >= self.deadline

    def start(self) -> None:
        """Let the deadline wake the tree."""
        self._runtime._timers.add(self)

    def cancel(self) -> None:
        """Forget the deadline, so that it wakes nobody."""
        self._runtime._timers.discard(self)


class TreeControl(Protocol):
    """Puts something around the nodes of a tree, when they choose how they are ticked."""

    stands: bool
    """True if since the last tick something waits for an operator, and no leaf runs."""

    def around(self, node: TreeNode, run: Tick) -> Tick:
        """How a node is ticked that without control is ticked by ``run``."""


class TreeRuntime:
    """Shared state of the nodes of one tree."""

    __slots__ = (
        "_event",
        "_flowing",
        "_timers",
        "_wall_clock",
        "at_work",
        "clock",
        "commanding",
        "concurrent",
        "control",
        "locks",
        "on_wake_up",
        "parts",
        "quirks",
        "record",
        "tick_lock",
        "ticking",
        "ticks",
        "tracing",
        "types",
    )

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        quirks: Quirks = MENDED,
        types: TypeRegistry | None = None,
        parts: Parts = NO_PARTS,
    ) -> None:
        self.clock = clock
        self.quirks = quirks
        self.types = types or TypeRegistry()
        self.parts = parts
        """What the names of `commanding` stand for that are made of others."""
        self.record: TickRecord | None = None
        """What nodes write their ticks into; None while nobody asks."""
        self.tracing = False
        """True while `at_work` is kept up to date."""
        self.at_work: tuple[int, TreeNode | None] = (0, None)
        """Thread that ticks, and the node it is in."""
        self.control: TreeControl | None = None
        """What stands around the nodes, see `behavior_tree.run_control`; None while nobody controls
        the tree."""
        self.concurrent = True
        """False: each list of concurrent layering does one child after the other, for a trial."""
        self.commanding: dict[TreeNode, frozenset[str]] = {}
        """What leaves command that run, or have run; see `behavior_tree.kernel.claims`."""
        self.locks: dict[TreeNode, bool] = {}
        """Nodes that hold a lock, see `behavior_tree.nodes.decider.locks`."""
        self.ticks = 0
        """Ticks of the tree so far."""
        self.tick_lock = threading.RLock()
        """Held while the tree is ticked or edited."""
        self.ticking = False
        """True in a tick, for whoever holds the lock."""
        self.on_wake_up: Callable[[], None] | None = None
        """Called by `emit_wake_up`, in its thread: for whoever ticks the tree without `wait`."""
        self._flowing = clock
        self._event = threading.Event()
        self._timers: set[Timer] = set()
        self._wall_clock = clock is time.monotonic

    @contextlib.contextmanager
    def between_ticks(self) -> Iterator[None]:
        """Keep ticks of other threads waiting; one that is under way is waited for.

        Raises:
            LogicError: called from inside a tick, or a tick does not end
        """
        if not self.tick_lock.acquire(timeout=_PATIENCE):
            raise LogicError(f"the tree is in a tick that has not ended for {_PATIENCE:g} s")
        try:
            if self.ticking:
                raise LogicError("a tree cannot be edited from inside its tick: do it afterwards")
            yield
        finally:
            self.tick_lock.release()

    def hold_time(self) -> None:
        """Let the clock show this one time until `release_time`: for a tick that is recorded.

        A clock that goes on within a tick, as a simulation's does in another thread, would have a
        node's timer begin later than the record says of its tick, and a re-run decide otherwise.
        """
        self._flowing = self.clock
        now = self.clock()
        self.clock = lambda: now

    def release_time(self) -> None:
        """Let the clock go on."""
        self.clock = self._flowing

    def emit_wake_up(self) -> None:
        """Ask for another tick soon; may be called from any thread."""
        self._event.set()
        on_wake_up = self.on_wake_up
        if on_wake_up is not None:
            on_wake_up()

    def start_timer(self, seconds: float, on_expiry: Callable[[], bool] | None = None) -> Timer:
        """A timer that expires ``seconds`` from now and wakes the tree then, if ``on_expiry``
        says so.
        """
        timer = Timer(self, self.clock() + seconds, on_expiry)
        self._timers.add(timer)
        return timer

    def postpone_timers(self, seconds: float) -> None:
        """Let all pending timers expire later, as after a pause."""
        for timer in self._timers:
            timer.deadline += seconds

    def next_deadline(self) -> float | None:
        """Clock reading at which the next timer expires [s]; None if there is none."""
        return min((timer.deadline for timer in self._timers), default=None)

    def expire_timers(self) -> None:
        """Let the timers act that have expired, in the order of their deadlines."""
        if not self._timers:
            return
        now = self.clock()
        expired = [timer for timer in self._timers if now >= timer.deadline]
        for timer in sorted(expired, key=lambda each: each.deadline):
            if timer not in self._timers:
                continue  # cancelled by one that expired before
            self._timers.discard(timer)
            if timer.on_expiry is None or timer.on_expiry():
                self._event.set()

    def wake_up_pending(self) -> bool:
        """True if a node has asked for another tick that has not been given."""
        return self._event.is_set()

    def timer_pending(self, timer: Timer) -> bool:
        """True if a timer will still wake the tree."""
        return timer in self._timers

    def consume_wake_up(self) -> bool:
        """True if a wake-up is pending or a timer expired since the last call; clears both."""
        self.expire_timers()
        woken = self._event.is_set()
        if woken:
            self._event.clear()
        return woken

    def wait(self, seconds: float) -> bool:
        """Sleep on the tree's clock until woken; True if woken before the time was over."""
        end = self.clock() + seconds
        while not self.consume_wake_up():
            now = self.clock()
            if now >= end:
                return False
            until = min([end, *(timer.deadline for timer in self._timers)])
            pause = max(until - now, 0.0)
            self._event.wait(pause if self._wall_clock else min(pause, _POLL))
        return True


class WakeUpSignal:
    """What wakes a tree, for whoever sleeps between its ticks in a way of their own."""

    def __init__(self, runtime: TreeRuntime) -> None:
        self._runtime = runtime

    def emit_signal(self) -> None:
        """Wake the tree, from any thread."""
        self._runtime.emit_wake_up()

    def wait_for(self, seconds: float) -> bool:
        """Wait on the tree's clock, with 0 only look; True if it was woken, which is forgotten.

        Args:
            seconds: [s]
        """
        return self._runtime.wait(seconds)
