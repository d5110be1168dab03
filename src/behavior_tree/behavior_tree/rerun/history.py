# SPDX-License-Identifier: Apache-2.0
"""What is known of a run that is over: its tree, and what happened in each tick.

Every kind of recording is read into this, and whatever looks at runs looks at this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from behavior_tree.basic_types import NodeStatus

UNKNOWN = -1
"""Writer of whom a record does not tell."""
_APART = 1e-6
"""[s] What times since 1970 still tell apart as numbers."""


@dataclass(frozen=True)
class RecordedWrite:
    """One write of a blackboard entry."""

    board: str
    """Instance of a tree whose blackboard it is; empty: the main one."""
    key: str
    """Name of the entry on that blackboard."""
    value: Any
    uid: int | None = None
    """The node that wrote it; None: nobody of the tree; `UNKNOWN`: the record does not tell."""
    place: int = 0
    """How many changes of status of the tick came before."""


@dataclass(frozen=True)
class RecordedTick:
    """One tick of a tree, or a halt of all of it."""

    time: float
    """Reading of the tree's clock [s]."""
    changes: tuple[tuple[int, NodeStatus], ...] = ()
    """Uids and new statuses, in order, those between this tick and the last one first."""
    ticked: frozenset[int] = frozenset()
    """Uids of the nodes that were ticked; empty: the tree was only halted."""
    reasons: tuple[tuple[int, str], ...] = ()
    """Uids, and why these nodes failed, in order."""
    writes: tuple[RecordedWrite, ...] = ()
    """In order; those of nobody are made before the tick."""
    moment: float = 0.0
    """The time by which its leaves are asked [s], see `apart`."""


@dataclass(frozen=True)
class RecordedRun:
    """One tree, from its first tick to its last one."""

    xml: str
    """The tree with the ``_uid`` of each node, one ``<BehaviorTree>`` for each instance, as
    monitors get it."""
    ticks: tuple[RecordedTick, ...]
    name: str = ""
    """Of the mission or the file."""
    origin: float = 0.0
    """Reading of the clock from which times are told in words [s]."""


def apart(ticks: Iterable[RecordedTick]) -> Iterator[RecordedTick]:
    """The ticks with moments that grow from each to the next.

    A simulation's clock often stands still from one tick to the next, since results wake the tree
    at once: which of both brought a result is told by their order alone.
    """
    last = float("-inf")
    for tick in ticks:
        last = max(tick.time, last + _APART)
        yield replace(tick, moment=last)


def results(tick: RecordedTick) -> tuple[tuple[int, NodeStatus], ...]:
    """The changes of a tick without RUNNING where the node ended in the same tick: some leaves show
    it while they work, others do not.
    """
    ended: set[int] = set()
    kept: list[tuple[int, NodeStatus]] = []
    for uid, status in reversed(tick.changes):
        if status is NodeStatus.RUNNING and uid in ended:
            ended.discard(uid)
            continue
        if status.completed:
            ended.add(uid)
        else:
            ended.discard(uid)
        kept.append((uid, status))
    return tuple(reversed(kept))
