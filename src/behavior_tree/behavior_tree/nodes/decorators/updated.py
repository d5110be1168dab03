# SPDX-License-Identifier: Apache-2.0
"""SkipUnlessUpdated, WaitValueUpdate: the child runs when a blackboard entry has been written."""

from __future__ import annotations

from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.blackboard import Blackboard, Entry
from behavior_tree.blackboard.ports import InputPort, pointer_key, ports_list
from behavior_tree.errors import LogicError
from behavior_tree.kernel.node import RUNNING, SKIPPED, NodeConfig, TreeNode
from behavior_tree.nodes.decorators.base import DecoratorNode


class SeenWrites:
    """Remembers how often an entry had been written when it was last looked at."""

    def __init__(self) -> None:
        self.count = 0
        self._entry: Entry | None = None
        """None: not known, the count alone tells."""

    def restore(self, count: int) -> None:
        """Go on with a count that was saved; the entries are others since."""
        self.count, self._entry = count, None

    def is_new(self, entry: Entry | None, *, by_count: bool = False) -> bool:
        """True if the entry was written since the last call; one that was removed and made again
        counts anew, so its first write is told by what it is, unless ``by_count``.
        """
        if not by_count:
            if entry is None or self._entry not in (None, entry):
                self.count = 0
            self._entry = entry
        if entry is None:
            return False
        count, self.count = self.count, entry.seq
        return count != entry.seq


class UpdateWatch:
    """Looks whether the entry was written that port ``entry`` names."""

    def __init__(self, node: TreeNode) -> None:
        text = node.raw_port("entry")
        if not text:
            raise LogicError(f"missing port [entry] in '{node.full_path()}': name a blackboard key")
        self._node = node
        self._text = text
        self._key = pointer_key(text, "entry") or text
        self.seen = SeenWrites()

    def updated(self, blackboard: Blackboard) -> bool:
        """True if the entry was written since the last call."""
        text = self._node.raw_port("entry")
        if text is not None and text is not self._text:  # set_port
            self._text, self._key = text, pointer_key(text, "entry") or text
            self.seen = SeenWrites()
        by_count = self._node._rt.quirks.unset_hides_write
        return self.seen.is_new(blackboard.entry(self._key), by_count=by_count)


class _EntryUpdated(DecoratorNode):
    _otherwise: NodeStatus

    ports = ports_list(InputPort("entry", Any, description="blackboard key to watch"))

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._entry = UpdateWatch(self)
        self._child_runs = False

    def save_state(self) -> Any:
        return {"seen": self._entry.seen.count, "child_runs": self._child_runs}

    def restore_state(self, state: Any) -> None:
        self._entry.seen.restore(state["seen"])
        self._child_runs = state["child_runs"]

    def tick(self) -> NodeStatus:
        if not self._child_runs and not self._entry.updated(self._bb):
            return self._otherwise
        status = self._tick_child()
        self._child_runs = status is RUNNING
        return status

    def halt(self) -> None:
        self._child_runs = False
        if not self._rt.quirks.entry_updated_keeps_child:
            super().halt()


class SkipUnlessUpdated(_EntryUpdated):
    """SKIPPED unless the entry was written since the last tick."""

    _otherwise = SKIPPED


class WaitValueUpdate(_EntryUpdated):
    """RUNNING until the entry is written."""

    _otherwise = RUNNING
