# SPDX-License-Identifier: Apache-2.0
"""`ServedTree`: what a publisher knows and says of one tree.

The thread that drains the record of the tree writes, the server thread reads. What belongs
together is one object that is replaced whole (`Structure`), so that a reply never mixes two
structures of the tree.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable

from behavior_tree.kernel.node import IDLE, TreeNode
from behavior_tree.kernel.record import Changes, RecordBatch
from behavior_tree.kernel.structure import StructureChange
from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.groot2.hooks import HookTable
from behavior_tree.monitoring.loggers.btlog import TRANSITION_SIZE, pack_transitions
from behavior_tree.monitoring.loggers.document import tree_document
from behavior_tree.monitoring.loggers.uid_limit import LARGEST_UID, check_uids

_LOG = logging.getLogger(__name__)
_MAX_TRANSITIONS = 1000
_MOST_KEPT = 20_000
"""Entries of the record that are kept until somebody asks, 1 MB."""
_PART = 1000
"""Entries of the record that are looked at together."""
_IDLE_FROM = 10
"""Added to the previous status when a node becomes IDLE."""


class Structure:
    """The tree between two edits: identifier, document, and the status of each node.

    Args:
        tree: the tree
        before: structure before the edit; nodes that stayed keep their status
    """

    def __init__(self, tree: Tree, before: Structure | None = None) -> None:
        self.uuid = uuid.uuid4().bytes
        self.document = tree_document(tree).encode()
        uids = [node.uid() for subtree in tree.subtrees for node in subtree.nodes]
        self.offsets = {uid: 3 * index + 2 for index, uid in enumerate(uids)}
        self.states = bytearray(b"".join(uid.to_bytes(2, "little") + b"\0" for uid in uids))
        if before is not None:
            for uid in self.offsets.keys() & before.offsets.keys():
                self.states[self.offsets[uid]] = before.states[before.offsets[uid]]


class ServedTree:
    """Follows a tree until closed, as a `ChangeReader`.

    Args:
        tree: must not be ticking now
        reached: called by the ticking thread with the uid of a node whose hook acts

    Raises:
        BehaviorTreeError: a uid does not fit into the protocol
    """

    completes_runs = False

    def __init__(self, tree: Tree, reached: Callable[[int], None]) -> None:
        check_uids(tree, "Groot2Publisher")
        self.tree = tree
        self._enabled = True
        self.structure = Structure(tree)
        self._batches: list[RecordBatch] = []
        self._kept = 0
        self._following = threading.Lock()
        self._transitions = b""
        self._recording_since: int | None = None
        unsubscribe = tree.subscribe_changes(self)
        self._unsubscribe_structure = tree.subscribe_structure_change(self._restructured)
        self.hooks = HookTable(tree, reached, unsubscribe)

    @property
    def enabled(self) -> bool:
        """Whether changes are followed."""
        return self._enabled

    @enabled.setter
    def enabled(self, enabled: bool) -> None:
        self.tree.drain_changes()
        self._enabled = enabled

    # -- changes, told by whichever thread drains the record ------------------------------------

    @property
    def reads_times(self) -> bool:
        """For the tree: it says when each node ended only while a client records transitions."""
        return self._recording_since is not None

    def read(self, batch: RecordBatch) -> None:
        """Keep what has happened until somebody asks for it, or it has become much."""
        if not self._enabled:
            return
        if self._recording_since is not None:
            self._record(batch.changes, self._recording_since)
        with self._following:
            if self._batches and batch.repeats(self._batches[-1]):
                self._batches[-1] = batch  # of which all that counts is the same
                return
            self._batches.append(batch)
            self._kept += len(batch)
            if self._kept > _MOST_KEPT:
                self._follow()

    def _follow(self) -> None:
        """Bring the statuses up to date."""
        offsets, states = self.structure.offsets, self.structure.states
        seen: set[TreeNode] = set()
        parts = (part for batch in reversed(self._batches) for part in batch.newest_first(_PART))
        for part in parts:
            if seen.issuperset(part.nodes):
                continue
            last = part.last_statuses()
            for node in last.keys() - seen:
                offset = offsets.get(node._config.uid)
                if offset is not None:
                    previous, status = last[node]
                    idle_from = _IDLE_FROM + previous._value_
                    states[offset] = idle_from if status is IDLE else status._value_
            seen |= last.keys()
        self._batches.clear()
        self._kept = 0

    def _record(self, changes: Changes, since: int) -> None:
        known = self.structure.offsets
        kept = [
            index
            for index, (time, node) in enumerate(zip(changes.times, changes.nodes, strict=True))
            if time >= since and node._config.uid in known
        ][-_MAX_TRANSITIONS:]
        packed = pack_transitions(changes.of(kept), since)
        self._transitions = (self._transitions + packed)[-_MAX_TRANSITIONS * TRANSITION_SIZE :]

    def on_interval(self) -> None:
        """Nothing takes long."""

    # -- edits ----------------------------------------------------------------------------------

    def _restructured(self, change: StructureChange) -> None:
        self.hooks.restructure()
        if any(node.uid() > LARGEST_UID for node in change.added):
            _LOG.error(
                "Groot2Publisher: the edited tree has a uid above %d, which the protocol cannot "
                "hold; it shows the tree as before the edit: build it anew and serve() it",
                LARGEST_UID,
            )
            return
        with self._following:
            self._follow()
            self.structure = Structure(self.tree, self.structure)

    # -- the server thread ----------------------------------------------------------------------

    def start_recording(self) -> int:
        """Forget the transitions so far and keep those from now on.

        Returns:
            the time from which theirs are counted, since the epoch [us]
        """
        self.tree.drain_changes()
        self._transitions = b""
        self._recording_since = time.monotonic_ns()
        began = time.time_ns() // 1000
        self.tree.drain_changes()  # times are written down from now on
        return began

    def stop_recording(self) -> None:
        """Keep no further transitions."""
        self.tree.drain_changes()
        self._recording_since = None
        self.tree.drain_changes()

    def take_transitions(self) -> bytes:
        """The transitions kept, 9 bytes each, which are forgotten thereby."""
        self.tree.drain_changes()
        taken, self._transitions = self._transitions, b""
        return taken

    def states(self, structure: Structure) -> bytes:
        """Status of all nodes of a structure as it is now, or was at its end, 3 bytes each."""
        self.tree.drain_changes()
        with self._following:
            self._follow()
            return bytes(structure.states)

    def follow_recording(self, other: ServedTree) -> None:
        """Go on with a recording of the tree that was served before, on the same time scale."""
        self._recording_since = other._recording_since

    # -- end ------------------------------------------------------------------------------------

    def close(self) -> None:
        """Let waiting nodes go on; the tree loses the callbacks at its next tick."""
        self.enabled = False
        self._unsubscribe_structure()
        self.hooks.close()
