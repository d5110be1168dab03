# SPDX-License-Identifier: Apache-2.0
"""`Journal`: changes of status of one tree, written down in the tick and told to readers later.

To write a change down costs a fraction of a call; what loggers and monitors do with it is done for
many at once, in order and with the time of each. Readers are told

* every 10 ms while the tree is at work, by a thread of the journal's own
* when a run of the tree ends, if one of them wants its file to be complete then
* when somebody asks (`drain`), for example a monitor, also in the middle of a tick
* before an edit of the tree, and when another thread takes the ticks over
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from behavior_tree.basic_types import NodeStatus

if TYPE_CHECKING:
    from behavior_tree.node import TreeNode

__all__ = ["ChangeReader", "Changes", "Journal", "Record"]

_INTERVAL = 0.01
"""Time between two drains while the tree is at work [s]."""
_MOST = 400_000
"""Items after which the ticking thread itself drains: 100 000 changes, 8 MB."""
_ITEMS = 4

Record = tuple[int, "TreeNode", NodeStatus, NodeStatus]
"""Monotonic time [ns], node, previous and new status."""


@dataclass(frozen=True)
class Changes:
    """Changes of status in order, one list per column, all of the same length."""

    times: list[int]
    """Monotonic [ns]."""
    nodes: list[TreeNode]
    previous: list[NodeStatus]
    new: list[NodeStatus]
    thread: int
    """Native id of the thread that made them."""

    def of(self, kept: list[int]) -> Changes:
        """Those with these indices."""
        return Changes(
            [self.times[index] for index in kept],
            [self.nodes[index] for index in kept],
            [self.previous[index] for index in kept],
            [self.new[index] for index in kept],
            self.thread,
        )

    def without_idle(self) -> Changes:
        """Those whose new status is not IDLE."""
        return self.of([i for i, new in enumerate(self.new) if new is not NodeStatus.IDLE])


class ChangeReader(Protocol):
    """What `Tree.subscribe_changes` takes. Nothing of it may raise."""

    @property
    def completes_runs(self) -> bool:
        """Whether `take` shall be called as soon as a run of the tree ends."""

    def take(self, changes: Changes) -> None:
        """Take what has happened since the last call, from any thread, never two at once."""

    def settle(self) -> None:
        """Do what takes long; called by the journal's thread every 10 ms while ticks go on."""


class Journal:
    """Takes records by `write`, which is as fast as a list; keeps its thread until closed."""

    def __init__(self) -> None:
        self._items: list[Any] = []  # flat: no object per record
        self.write: Callable[[Record], None] = self._items.extend
        self._readers: tuple[ChangeReader, ...] = ()
        self._draining = threading.RLock()
        self._thread_id = threading.get_native_id()
        self._at_work = self._awake = False
        # Not an Event: the end of the journal may be noticed by the garbage collector, in a thread
        # that is just using it.
        self._wake: SimpleQueue[bool] = SimpleQueue()
        self._thread: threading.Thread | None = None

    @property
    def readers(self) -> tuple[ChangeReader, ...]:
        """Who is told."""
        return self._readers

    def add(self, reader: ChangeReader) -> None:
        """Tell a reader of what comes from now on."""
        with self._draining:
            self.drain()
            self._readers = (*self._readers, reader)
        if self._thread is None:
            wake = self._wake
            arguments = (weakref.ref(self, lambda _: wake.put(False)), wake)
            self._thread = threading.Thread(
                target=_work, args=arguments, name="tree-journal", daemon=True
            )
            self._thread.start()

    def remove(self, reader: ChangeReader) -> None:
        """Tell a reader of what there is, and of no more."""
        with self._draining:
            self.drain()
            self._readers = tuple(each for each in self._readers if each is not reader)

    def begin(self) -> None:
        """The calling thread goes to work on the tree."""
        self._at_work = True
        if not self._awake:
            self._awake = True
            self._wake.put(True)
        thread = threading.get_native_id()
        if thread != self._thread_id:
            self.drain()
            self._thread_id = thread

    def end(self, run_ended: bool) -> None:
        """The work is done; ``run_ended`` if the tree is not RUNNING now."""
        self._at_work = False
        if len(self._items) > _MOST or (
            run_ended and any(reader.completes_runs for reader in self._readers)
        ):
            self.drain()

    def drain(self) -> None:
        """Tell the readers of everything up to now."""
        with self._draining:
            count = len(self._items)  # whole records, since each is added in one step
            if not count:
                return
            items = self._items[:count]
            del self._items[:count]
            columns = [items[column::_ITEMS] for column in range(_ITEMS)]
            changes = Changes(columns[0], columns[1], columns[2], columns[3], self._thread_id)
            for reader in self._readers:
                reader.take(changes)

    def close(self) -> None:
        """End the thread."""
        self._wake.put(False)
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def work(self) -> None:
        """One turn of the thread."""
        self._awake = False
        self.drain()
        for reader in self._readers:
            reader.settle()
        if self._at_work:
            self._awake = True
            self._wake.put(True)


def _work(journal: weakref.ref[Journal], wake: SimpleQueue[bool]) -> None:
    """The thread; it keeps neither the journal nor the tree alive."""
    while wake.get():
        time.sleep(_INTERVAL)
        alive = journal()
        if alive is None:
            return
        alive.work()
        del alive
