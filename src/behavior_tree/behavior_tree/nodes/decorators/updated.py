# SPDX-License-Identifier: Apache-2.0
"""SkipUnlessUpdated, WaitValueUpdate: the child runs when a blackboard entry has been written."""

from __future__ import annotations

from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.blackboard.ports import InputPort, pointer_key, ports_list
from behavior_tree.errors import LogicError
from behavior_tree.kernel.node import RUNNING, SKIPPED, NodeConfig, TreeNode
from behavior_tree.nodes.decorators.base import DecoratorNode


class UpdateWatch:
    """Remembers how often an entry had been written when it was last looked at."""

    def __init__(self, node: TreeNode) -> None:
        text = node.raw_port("entry")
        if not text:
            raise LogicError(f"missing port [entry] in '{node.full_path()}': name a blackboard key")
        self._node = node
        self._text = text
        self._key = pointer_key(text, "entry") or text
        self.seen = 0
        """Writes of the entry when it was last looked at."""

    def updated(self, blackboard: Blackboard) -> bool:
        """True if the entry was written since the last call."""
        text = self._node.raw_port("entry")
        if text is not None and text is not self._text:  # set_port
            self._text, self._key, self.seen = text, pointer_key(text, "entry") or text, 0
        entry = blackboard.entry(self._key)
        if entry is None:
            return False
        seen, self.seen = self.seen, entry.seq
        return seen != entry.seq


class _EntryUpdated(DecoratorNode):
    _otherwise: NodeStatus

    ports = ports_list(InputPort("entry", Any, description="blackboard key to watch"))

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._entry = UpdateWatch(self)
        self._child_runs = False

    def save_state(self) -> Any:
        return {"seen": self._entry.seen, "child_runs": self._child_runs}

    def restore_state(self, state: Any) -> None:
        self._entry.seen = state["seen"]
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
