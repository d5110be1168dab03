# SPDX-License-Identifier: Apache-2.0
"""Messages in CDR, made of plain values without ROS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

# What mcap_ros2.writer encodes with; its own Writer makes whole files only.
from mcap_ros2._dynamic import serialize_dynamic

from behavior_recording.schemas import schema_text
from behavior_tree.monitoring.tree_records import TreeRecord


def encode(message_type: str, values: Mapping[str, Any]) -> bytes:
    """A message in CDR.

    Args:
        message_type: like ``std_msgs/msg/String``
        values: fields by name, messages in it likewise; what is left out is 0 or empty

    Raises:
        SchemaError: nothing is known of the type
    """
    return _encoder(message_type)(values)


def time_values(nanoseconds: int) -> dict[str, int]:
    """A time for `encode`."""
    sec, nanosec = divmod(nanoseconds, 1_000_000_000)
    return {"sec": sec, "nanosec": nanosec}


def record_values(
    record: TreeRecord,
    *,
    life: int,
    sequence: int,
    action_id: str,
    tree_id: str,
) -> dict[str, Any]:
    """The fields of a `behavior_msgs/TreeRecord`.

    Args:
        record: what the tree did
        life: of whoever tells
        sequence: number of the record in it
        action_id: mission of the tree
        tree_id: ID of its main tree
    """
    blackboard = [
        {"board": board, "key": key, "type": kind, "value": value, "removed": removed}
        for board, key, kind, value, removed in record.blackboard
    ]
    return {
        **{name: getattr(record, name) for name in record.__dataclass_fields__},
        "header": {"stamp": time_values(round(record.clock * 1e9)), "frame_id": ""},
        "life": life,
        "sequence": sequence,
        "kind": int(record.kind),
        "action_id": action_id,
        "tree_id": tree_id,
        "blackboard": blackboard,
    }


@lru_cache(maxsize=64)
def _encoder(message_type: str) -> Callable[[Any], bytes]:
    made: Callable[[Any], bytes] = serialize_dynamic(message_type, schema_text(message_type))[
        message_type
    ]
    return made
