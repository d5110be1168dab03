# SPDX-License-Identifier: Apache-2.0
"""`TreeChannels`: puts what a tree did into a file, where seeking and tree panels find it.

Full records go to a topic of their own, so that a reader finds the last one before a time at once.
Changes of status are written once more as Nav2 tells them, and a tree's XML as text: that is what
the tree panels of viewers read.
"""

from __future__ import annotations

from typing import Any, Protocol

from behavior_recording import topics as names
from behavior_recording.encoding import encode, time_values
from behavior_recording.errors import RecordingError
from behavior_recording.schemas import NAV2_LOG
from behavior_recording.tree_document import TreeDocument
from behavior_tree.basic_types import NodeStatus
from behavior_tree.monitoring.tree_records import RecordKind

_NAMES = {status.value: status.name for status in NodeStatus}
_FULL = {int(kind) for kind in RecordKind if kind.full}


class MessageSink(Protocol):
    """What takes messages, as `McapFile.add` does."""

    def add(
        self, topic: str, message_type: str, data: bytes, *, log_time: int, publish_time: int = 0
    ) -> None:
        """Add a message."""


class TreeChannels:
    """Hands records on to a file.

    Args:
        sink: takes the messages
    """

    def __init__(self, sink: MessageSink) -> None:
        self._sink = sink
        self._xml = ""
        self._node_names: dict[int, str] = {}

    def add(self, record: Any, data: bytes, *, log_time: int, publish_time: int = 0) -> None:
        """Add a record.

        Args:
            record: a `behavior_msgs/TreeRecord`, or whatever has its fields
            data: the same in CDR
            log_time: when it was received [ns]
            publish_time: when it was sent [ns]
        """
        full = record.kind in _FULL
        topic = names.TREE_STATE if full else names.TREE_RECORD
        self._sink.add(
            topic, names.TREE_RECORD_TYPE, data, log_time=log_time, publish_time=publish_time
        )
        if full:
            self._show_tree(record.xml, log_time)
        elif len(record.uids):
            self._sink.add(names.TREE_LOG, NAV2_LOG, self._log(record), log_time=log_time)

    def _show_tree(self, xml: str, log_time: int) -> None:
        """Write the XML if it is new, and know the names of its nodes."""
        if xml == self._xml:
            return
        self._xml = xml
        try:
            nodes = TreeDocument.read(xml).nodes
        except RecordingError:
            nodes = {}
        self._node_names = {uid: node.name for uid, node in nodes.items()}
        data = encode(names.STRING_TYPE, {"data": xml})
        self._sink.add(names.TREE_XML, names.STRING_TYPE, data, log_time=log_time)

    def _log(self, record: Any) -> bytes:
        rows = zip(record.uids, record.previous, record.statuses, record.times, strict=True)
        return encode(
            NAV2_LOG,
            {
                "timestamp": time_values(record.begun),
                "event_log": [
                    {
                        "timestamp": time_values(record.begun + 1000 * time),
                        "node_name": self._node_names.get(uid, f"node {uid}"),
                        "uid": uid,
                        "previous_status": _NAMES.get(before, "?"),
                        "current_status": _NAMES.get(after, "?"),
                    }
                    for uid, before, after, time in rows
                ],
            },
        )
