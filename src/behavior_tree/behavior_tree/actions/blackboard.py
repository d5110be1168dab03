# SPDX-License-Identifier: Apache-2.0
"""SetBlackboard, UnsetBlackboard, WasEntryUpdated."""

from __future__ import annotations

from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard import Entry
from behavior_tree.decorators.updated import UpdateWatch
from behavior_tree.errors import BlackboardError, LogicError, PortError
from behavior_tree.leaf import SyncActionNode
from behavior_tree.node import FAILURE, SUCCESS, NodeConfig
from behavior_tree.ports import BidirectionalPort, InputPort, PortInfo, pointer_key, ports_list

__all__ = ["SetBlackboard", "UnsetBlackboard", "WasEntryUpdated"]


class SetBlackboard(SyncActionNode):
    """Write ``value``, a literal or a copy of ``{entry}``, to the entry named by ``output_key``.

    ``output_key="k"`` writes k; ``output_key="{k}"`` writes the entry whose name stands in k.
    """

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        return ports_list(
            InputPort("value", Any, description="value to write: literal, or {entry} to copy"),
            BidirectionalPort("output_key", Any, description="name of the entry to write"),
        )

    def tick(self) -> NodeStatus:
        key: str = self._rt.types.cast(self.get_input("output_key"), str)
        if not key:
            raise PortError("missing port [output_key]: it names the entry to write")
        text = self.raw_port("value")
        if text is None:
            raise PortError('missing port [value]: give it in the XML, value="..."')
        source_key = pointer_key(text, "value")
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
        source = self._bb.entry(source_key)
        if source is None:
            raise BlackboardError(
                f"Can't find the port referred by [value]: no entry [{source_key}]"
            )
        target = self._bb.entry(key)
        if target is None:
            target = self._bb.create_entry(key, source.type)
            target.opaque = source.opaque
        if source.value is None:
            self._reason = f"entry [{source_key}] is empty"
            return FAILURE
        self._store(key, target, source.value)
        return SUCCESS

    def _store(self, key: str, entry: Entry, value: Any) -> None:
        quirks = self._rt.quirks
        if entry.type is Any and quirks.set_blackboard_literal_lost:
            if isinstance(value, str) and entry.opaque:
                raise LogicError(f"Can't convert string [{value}] to type [BT::Any]")
            entry.store(None if isinstance(value, str) else value)
            # Upstream types entries of the node's own scope "BT::Any" here, remapped ones not.
            entry.opaque = entry.opaque or self._bb.owns(key)
        elif entry.type is Any and isinstance(value, str):
            entry.store(value)
        elif (
            quirks.set_blackboard_keeps_type
            and entry.type not in (Any, type(value))
            and not isinstance(value, str)
        ):
            raise LogicError(f"Blackboard::set({key}): the type of a port shall not change")
        else:
            self._bb.write(key, entry, value)


class UnsetBlackboard(SyncActionNode):
    """Remove the local entry named by ``key``; SUCCESS even if there is none."""

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        return ports_list(InputPort("key", str, description="name of the entry to remove"))

    def tick(self) -> NodeStatus:
        self._bb.unset(self.get_input("key"))
        return SUCCESS


class WasEntryUpdated(SyncActionNode):
    """SUCCESS if the entry was written since this node looked last."""

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        return ports_list(InputPort("entry", Any, description="blackboard key to watch"))

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._entry = UpdateWatch(self)

    def tick(self) -> NodeStatus:
        return SUCCESS if self._entry.updated(self._bb) else FAILURE
