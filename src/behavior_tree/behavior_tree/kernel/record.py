# SPDX-License-Identifier: Apache-2.0
"""The record of a tree's ticks: what nodes write down, and how readers get it.

A node that is ticked adds four items to the `TickRecord` of its tree: time, node, status before and
after. They differ if the status changed; nodes that are started or reset by others add the same. So
the record tells which nodes were ticked and which changes of status there were, in order. Reasons
for failures stand beside. To add four items costs a fraction of a call; whatever is made of them is
made later, of many at once.

A time is written down where a node's own work ends and at the start of a tick of the tree: what
control nodes do in between takes less than a microsecond. The others write 0 and have the time
before. All write 0 while no reader looks at times: reading the clock takes as long as the rest of
an entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, repeat
from operator import is_not, or_
from typing import TYPE_CHECKING, Any, Protocol, Self

from behavior_tree.basic_types import NodeStatus

if TYPE_CHECKING:
    from behavior_tree.kernel.node import TreeNode

StatusCallback = Callable[["TreeNode", NodeStatus, NodeStatus], None]
"""Given a node, its previous and its new status."""

_ITEMS = 4
IDLE = NodeStatus.IDLE
RUNNING = NodeStatus.RUNNING


class TickRecord(list[Any]):
    """Items, four by four, as nodes add them by ``+=``; flat, so no object per entry is kept."""

    __slots__ = ("reasons", "timed")

    def __init__(self, *, timed: bool = False) -> None:
        super().__init__()
        self.timed = timed
        """True while somebody looks at the times."""
        self.reasons: list[tuple[TreeNode, str]] = []
        """Failure reasons that nodes gave, in order."""

    def drain(self) -> tuple[list[Any], list[tuple[TreeNode, str]]]:
        """Items and reasons so far, which are forgotten; from any thread."""
        items = self[:]  # whole entries, since each is added in one step
        del self[: len(items)]
        reasons: list[tuple[TreeNode, str]] = []
        if self.reasons:
            reasons = self.reasons[:]
            del self.reasons[: len(reasons)]
        return items, reasons

    def repeat(self, items: list[Any], reasons: list[tuple[TreeNode, str]]) -> None:
        """Add what another record took down meanwhile."""
        self += items
        self.reasons += reasons


class CallbackRecord(TickRecord):
    """A record that tells callbacks of changes of status as they are added.

    Args:
        callbacks: whom to tell
        kept: False if nobody reads the record besides
    """

    def __init__(self, callbacks: Iterable[StatusCallback], *, kept: bool) -> None:
        super().__init__()
        self._callbacks = tuple(callbacks)
        self._kept = kept

    def __iadd__(self, items: Iterable[Any]) -> Self:  # type: ignore[misc]
        items = tuple(items)
        if self._kept:
            super().__iadd__(items)
        for node, before, after in zip(items[1::4], items[2::4], items[3::4], strict=True):
            if before is not after:
                for callback in self._callbacks:
                    callback(node, before, after)
        return self


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
        return self.of([i for i, new in enumerate(self.new) if new is not IDLE])


class RecordBatch:
    """Part of a record.

    Args:
        items: as in `TickRecord`
        reasons: failure reasons given meanwhile, in order
        thread: native id of the thread that wrote it
        begun: time for the first entries, if they have none [ns]
    """

    def __init__(
        self, items: list[Any], reasons: list[tuple[TreeNode, str]], thread: int, begun: int
    ) -> None:
        self._items = items
        self._begun = begun
        self.reasons = reasons
        self.thread = thread

    def __len__(self) -> int:
        """Number of entries."""
        return len(self._items) // _ITEMS

    @cached_property
    def nodes(self) -> list[TreeNode]:
        """Nodes of all entries, in order."""
        return self._items[1::_ITEMS]

    @cached_property
    def previous(self) -> list[NodeStatus]:
        """Status before, of all entries."""
        return self._items[2::_ITEMS]

    @cached_property
    def new(self) -> list[NodeStatus]:
        """Status after, of all entries."""
        return self._items[3::_ITEMS]

    def repeats(self, other: RecordBatch) -> bool:
        """True if the entries are the same but for their times."""
        if len(self) != len(other):
            return False
        return self._items == other._items or (  # without times, as mostly, they are the same lists
            self.nodes == other.nodes and self.previous == other.previous and self.new == other.new
        )

    @cached_property
    def changes(self) -> Changes:
        """The entries in which the status changed."""
        changed = list(map(is_not, self.previous, self.new))
        return Changes(
            list(compress(self._times(), changed)),
            list(compress(self.nodes, changed)),
            list(compress(self.previous, changed)),
            list(compress(self.new, changed)),
            self.thread,
        )

    def newest_first(self, entries: int) -> Iterator[RecordBatch]:
        """Parts of so many entries, the newest first."""
        for end in range(len(self), 0, -entries):
            items = self._items[max(end - entries, 0) * _ITEMS : end * _ITEMS]
            yield RecordBatch(items, [], self.thread, self._begun)

    def last_statuses(self) -> dict[TreeNode, tuple[NodeStatus, NodeStatus]]:
        """Status before and after of the last entry of each node; ticks that left it IDLE do not
        count.
        """
        changed = map(is_not, self.previous, self.new)
        kept = list(map(or_, changed, map(is_not, self.new, repeat(IDLE))))
        pairs = zip(self.previous, self.new, strict=True)
        return dict(zip(compress(self.nodes, kept), compress(pairs, kept), strict=True))

    def _times(self) -> list[int]:
        times, last = self._items[0::_ITEMS], self._begun
        for index, time in enumerate(times):
            if time:
                last = time
            else:
                times[index] = last
        return times

    def ticked(self) -> set[TreeNode]:
        """The nodes that were ticked: those whose tick is recorded, and those above them, since a
        node that goes on because a child goes on adds nothing.
        """
        entries = self._entries()
        found = {node for node, old, new in entries if new is not IDLE or old is IDLE}
        return found | _above(found)

    def _entries(self) -> Iterator[tuple[TreeNode, NodeStatus, NodeStatus]]:
        return zip(self.nodes, self.previous, self.new, strict=True)


def outcomes(
    batches: Iterable[RecordBatch],
) -> tuple[dict[TreeNode, NodeStatus], set[TreeNode]]:
    """What each node came to, and which nodes were ticked, in all these parts of a record.

    A node's result is its last status that is not IDLE, since a parent resets its children after
    they have ended; IDLE if it was halted, or only reset; RUNNING if it only went on because a
    child did.
    """
    results: dict[TreeNode, NodeStatus] = {}
    ticked: set[TreeNode] = set()
    for batch in batches:
        for node, before, after in batch._entries():
            if after is not IDLE:
                results[node] = after
                ticked.add(node)
            elif before is IDLE:  # skipped
                results.setdefault(node, IDLE)
                ticked.add(node)
            elif before is RUNNING or node not in results:
                results[node] = IDLE
    for node in _above(ticked):
        ticked.add(node)
        results.setdefault(node, RUNNING)
    return results, ticked


def _above(nodes: set[TreeNode]) -> set[TreeNode]:
    """All nodes above these, apart from themselves."""
    above: set[TreeNode] = set()
    for node in nodes:
        up = node._up
        while up is not None and up not in nodes and up not in above:
            above.add(up)
            up = up._up
    return above


class ChangeReader(Protocol):
    """What `Tree.subscribe_changes` takes. Nothing of it may raise."""

    @property
    def completes_runs(self) -> bool:
        """Whether `read` shall be called as soon as a run of the tree ends."""

    @property
    def reads_times(self) -> bool:
        """Whether it looks at times; looked at whenever it has been told of something."""

    def read(self, batch: RecordBatch) -> None:
        """Read what has happened since the last call, from any thread, never two at once."""

    def on_interval(self) -> None:
        """Do what takes long; called by the recorder's thread every 10 ms while ticks go on."""


class LastTick:
    """Reader that keeps which nodes the last tick of a tree ticked, and the reasons given."""

    completes_runs = False
    reads_times = False

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """A tick begins."""
        self.nodes: set[TreeNode] = set()
        self.reasons: list[tuple[TreeNode, str]] = []

    def read(self, batch: RecordBatch) -> None:
        """Called by the tree."""
        self.nodes |= batch.ticked()
        self.reasons += batch.reasons

    def on_interval(self) -> None:
        """Nothing takes long."""
