# SPDX-License-Identifier: Apache-2.0
"""SetBlackboard, UnsetBlackboard, WasEntryUpdated."""

from __future__ import annotations

from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.blackboard import Entry
from behavior_tree.blackboard.ports import (
    BidirectionalPort,
    InputPort,
    braced_key,
    pointer_key,
    ports_list,
)
from behavior_tree.blackboard.rules_4_8 import ANY, origin_of, parse_for, set_value
from behavior_tree.errors import BlackboardError, PortError
from behavior_tree.kernel.leaf import SyncActionNode
from behavior_tree.kernel.node import FAILURE, SUCCESS, NodeConfig
from behavior_tree.nodes.decorators.updated import UpdateWatch


class SetBlackboard(SyncActionNode):
    """Write ``value``, a literal or a copy of ``{entry}``, to the entry named by ``output_key``.

    ``output_key="k"`` writes k; ``output_key="{k}"`` writes the entry whose name stands in k.
    """

    ports = ports_list(
        InputPort("value", Any, description="value to write: literal, or {entry} to copy"),
        BidirectionalPort("output_key", Any, description="name of the entry to write"),
    )

    def tick(self) -> NodeStatus:
        exact = self._rt.quirks.exact_values
        key: str = self._rt.types.cast(self.get_input("output_key"), str)
        if not key and not exact:
            raise PortError("missing port [output_key]: it names the entry to write")
        text = self.raw_port("value")
        if text is None:
            raise PortError('missing port [value]: give it in the XML, value="..."')
        source_key = braced_key(text) if exact else pointer_key(text, "value")
        if exact:
            return self._write_as_4_8(key, text, source_key)
        if source_key is None:
            return self._write_literal(key, text)
        return self._copy(source_key, key)

    def _write_literal(self, key: str, text: str) -> NodeStatus:
        entry = self._bb.entry(key)
        if entry is None:
            self._bb.create_entry(key, str).store(text)
        else:
            self._store(key, entry, text)
        return SUCCESS

    def _copy(self, source_key: str, key: str) -> NodeStatus:
        source = self._source(source_key)
        target = self._bb.entry(key)
        if target is None:
            target = self._bb.create_entry(key, source.type)
        if source.value is None:
            self.set_failure_reason(f"entry [{source_key}] is empty")
            return FAILURE
        self._store(key, target, source.value)
        return SUCCESS

    def _source(self, key: str) -> Entry:
        source = self._bb.entry(key)
        if source is None:
            raise BlackboardError(f"Can't find the port referred by [value]: no entry [{key}]")
        return source

    def _store(self, key: str, entry: Entry, value: Any) -> None:
        if entry.type is Any and isinstance(value, str):
            entry.store(value)
        else:
            self._bb.write(key, entry, value)

    def _write_as_4_8(self, key: str, text: str, source_key: str | None) -> NodeStatus:
        bb = self._bb
        target = bb.entry(key)
        value: Any = text
        origin = None
        if source_key is not None:
            source = self._source(source_key)
            if target is None:
                bb.create_entry(key, source.type).opaque = source.opaque
                target = bb.entry(key)
            if source.value is None:
                self.set_failure_reason(f"entry [{source_key}] is empty")
                return FAILURE
            value, origin = source.value, origin_of(source)
        if target is not None and target.type is not str and isinstance(value, str):
            value = parse_for(bb, target, value)
            origin = None if value is None else target.type
        set_value(bb, key, value, ANY, origin)
        return SUCCESS


class UnsetBlackboard(SyncActionNode):
    """Remove the local entry named by ``key``; SUCCESS even if there is none."""

    ports = ports_list(InputPort("key", str, description="name of the entry to remove"))

    def tick(self) -> NodeStatus:
        self._bb.unset(self.get_input("key"))
        return SUCCESS


class WasEntryUpdated(SyncActionNode):
    """SUCCESS if the entry was written since this node looked last."""

    ports = ports_list(InputPort("entry", Any, description="blackboard key to watch"))

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._entry = UpdateWatch(self)

    def save_state(self) -> Any:
        return self._entry.seen.count

    def restore_state(self, state: Any) -> None:
        self._entry.seen.restore(state)

    def tick(self) -> NodeStatus:
        return SUCCESS if self._entry.updated(self._bb) else FAILURE
