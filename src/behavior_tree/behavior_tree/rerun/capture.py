# SPDX-License-Identifier: Apache-2.0
"""`Capture`: notes what a tree in this process does, as a recording would tell of it."""

from __future__ import annotations

from behavior_tree.kernel.record import RecordBatch
from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.closing import Closing
from behavior_tree.monitoring.history import BlackboardHistory, BlackboardWrite
from behavior_tree.rerun.history import RecordedTick, RecordedWrite

_DEPTH = 1000
"""Most writes of an entry in one tick that are noted."""


class Capture(Closing):
    """Gives what has happened since the last call as a `RecordedTick`; call between ticks.

    Args:
        tree: is watched until `close`
        writes: note what is written to its blackboards, too, which costs each tick some time
    """

    completes_runs = False
    reads_times = True

    def __init__(self, tree: Tree, *, writes: bool = False) -> None:
        self._tree = tree
        self._batches: list[RecordBatch] = []
        self._history = BlackboardHistory(tree, _DEPTH) if writes else None
        self._seen: dict[tuple[str, str], BlackboardWrite] = {}
        self._take_writes([])
        self._unsubscribe = tree.subscribe_changes(self)

    def read(self, batch: RecordBatch) -> None:
        """Called by the tree."""
        self._batches.append(batch)

    def on_interval(self) -> None:
        """Nothing takes long."""

    def take(self, time: float) -> RecordedTick:
        """What has happened since the last call.

        Args:
            time: reading of the tree's clock in the tick [s]
        """
        self._tree.drain_changes()
        batches, self._batches = self._batches, []
        times = [each for batch in batches for each in batch.changes.times]
        return RecordedTick(
            time,
            tuple(
                (node.uid(), status)
                for batch in batches
                for node, status in zip(batch.changes.nodes, batch.changes.new, strict=True)
            ),
            frozenset(node.uid() for batch in batches for node in batch.ticked()),
            tuple((node.uid(), text) for batch in batches for node, text in batch.reasons),
            tuple(self._take_writes(times)),
        )

    def _take_writes(self, times: list[int]) -> list[RecordedWrite]:
        """The writes since the last call; ``times`` are those of the changes [ns]."""
        if self._history is None:
            return []
        found = []
        for subtree in self._tree.subtrees:
            for key in subtree.blackboard.get_keys():
                place = (subtree.instance_name, key)
                writes = self._history.writes(key, subtree.blackboard)
                last = self._seen.get(place)  # counts begin anew where an entry was removed
                known = next((i + 1 for i, each in enumerate(writes) if each is last), 0)
                found += [(write.stamp, place, write) for write in writes[known:]]
                self._seen.update((place, write) for write in writes[-1:])
        return [
            RecordedWrite(*place, write.value, write.uid, sum(time < stamp * 1e9 for time in times))
            for stamp, place, write in sorted(found, key=lambda each: each[0])
        ]

    def close(self) -> None:
        """Stop watching; further calls do nothing."""
        self._unsubscribe()
        if self._history is not None:
            self._history.close()
