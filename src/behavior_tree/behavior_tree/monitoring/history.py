# SPDX-License-Identifier: Apache-2.0
"""`BlackboardHistory`: the last values of all blackboard entries of a tree, and who wrote them.

While nobody records, an entry is a plain `Entry` and costs nothing more. A recorder changes the
class of the entries to one whose ``stamp``, the last thing every write sets, keeps a copy, and lets
the nodes of the tree say which of them is being ticked.
"""

from __future__ import annotations

import copy
import threading
from collections import deque
from dataclasses import dataclass
from typing import Any

from behavior_tree.blackboard.blackboard import Blackboard, Entry
from behavior_tree.errors import LogicError
from behavior_tree.kernel.node import TreeNode
from behavior_tree.kernel.structure import StructureChange
from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.closing import Closing

EXTERNAL = "external"
"""Writer of what no node of the tree wrote."""

_PLAIN_STAMP: Any = Entry.__dict__["stamp"]
_COPIED = (list, dict, set, deque, bytearray)


@dataclass(frozen=True)
class BlackboardWrite:
    """One write of an entry."""

    value: Any
    """As written; containers of Python are copied, other objects are not."""
    seq: int
    """Number of writes of the entry, this one included."""
    stamp: float
    """`time.monotonic` of the write [s]."""
    writer: str
    """Full path of the node being ticked or halted, or `EXTERNAL`."""
    uid: int | None
    """Its uid; None if external."""


class BlackboardHistory(Closing):
    """Records every write to the blackboards of a tree, from its creation until `close`.

    Writes by other threads than the one that ticks are external. It is a context manager that
    closes itself. Create and close it between ticks.

    Args:
        tree: its blackboards, and those above its root blackboard, are recorded
        depth: number of writes kept for each entry

    Raises:
        LogicError: another recorder is at work on one of the blackboards
    """

    def __init__(self, tree: Tree, depth: int = 50) -> None:
        if depth < 1:
            raise LogicError(f"depth is {depth}: keep at least one write of each entry")
        self._tree = tree
        self._depth = depth
        self._writes: dict[tuple[Blackboard, str], deque[BlackboardWrite]] = {}
        self._places: dict[Entry, tuple[Blackboard, str]] = {}
        self._boards: list[Blackboard] = []
        self._entry_class = self._make_entry_class()
        self._stop_following = tree.subscribe_structure_change(self._follow)
        try:
            self._follow(None)
        except LogicError:
            self.close()
            raise

    # -- asking ---------------------------------------------------------------------------------

    def writes(self, key: str, blackboard: Blackboard | None = None) -> list[BlackboardWrite]:
        """Writes of the entry that ``key`` addresses, oldest first; also of one removed since.

        Args:
            key: as seen from ``blackboard``, through remappings
            blackboard: None for the root blackboard of the tree
        """
        board = blackboard or self._tree.root_blackboard()
        entry = board.entry(key)
        place = (board, key) if entry is None else self._places.get(entry, (board, key))
        return list(self._writes.get(place, ()))

    def recent(self) -> list[tuple[str, BlackboardWrite]]:
        """Keys and writes that are still kept, of all blackboards, in order of time."""
        found = [(key, w) for (_, key), writes in list(self._writes.items()) for w in list(writes)]
        return sorted(found, key=lambda each: each[1].stamp)

    # -- recording ------------------------------------------------------------------------------

    def _make_entry_class(self) -> type[Entry]:
        keep = self._keep

        def set_stamp(entry: Entry, stamp: float) -> None:
            _PLAIN_STAMP.__set__(entry, stamp)
            keep(entry)

        stamp = property(_PLAIN_STAMP.__get__, set_stamp)
        return type("RecordedEntry", (Entry,), {"__slots__": (), "stamp": stamp})

    def _keep(self, entry: Entry) -> None:
        place = self._places.get(entry)
        if place is None:
            return  # it is being made: nobody has written it
        value = copy.copy(entry.value) if isinstance(entry.value, _COPIED) else entry.value
        node = self._writer()
        path, uid = (node.full_path(), node.uid()) if node is not None else (EXTERNAL, None)
        write = BlackboardWrite(value, entry.seq, entry.stamp, path, uid)
        self._writes.setdefault(place, deque(maxlen=self._depth)).append(write)

    def _writer(self) -> TreeNode | None:
        thread, node = self._tree.runtime.at_work
        return node if thread == threading.get_ident() else None

    def _new_entry(self, board: Blackboard, key: str, entry: Entry) -> None:
        self._places[entry] = (board, key)
        entry.__class__ = self._entry_class

    def _follow(self, change: StructureChange | None) -> None:
        """Record all blackboards that the tree has now."""
        for subtree in self._tree.subtrees:
            board: Blackboard | None = subtree.blackboard
            while board is not None and board not in self._boards:
                board.watch_entries(self._new_entry)
                self._boards.append(board)
                board = board.parent
        self._tree.trace_work(True)

    def close(self) -> None:
        """Stop recording; what was recorded stays. Further calls do nothing."""
        self._stop_following()
        for board in self._boards:
            board.watch_entries(None)
        if self._boards:
            self._tree.trace_work(False)
        self._boards.clear()
        for entry in self._places:
            entry.__class__ = Entry
