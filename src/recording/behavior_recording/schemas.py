# SPDX-License-Identifier: Apache-2.0
"""Definitions of messages as MCAP keeps them: a type's text, then the texts of all that is in it.

They are read from the interface packages on ``AMENT_PREFIX_PATH``; no ROS is imported.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_LINE = "=" * 80
_FIELD = re.compile(r"^\s*([A-Za-z][\w/]*)(?:<=\d+)?(?:\[[^\]]*\])?\s+[a-zA-Z]\w*", re.MULTILINE)
_PLAIN = {
    *("bool", "byte", "char", "string", "wstring", "float32", "float64"),
    *(f"{sign}int{size}" for sign in ("", "u") for size in (8, 16, 32, 64)),
}

NAV2_LOG = "nav2_msgs/msg/BehaviorTreeLog"
NAV2_LOG_TEXT = f"""builtin_interfaces/Time timestamp
BehaviorTreeStatusChange[] event_log
{_LINE}
MSG: nav2_msgs/BehaviorTreeStatusChange
builtin_interfaces/Time timestamp
string node_name
uint16 uid
string previous_status
string current_status
{_LINE}
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
"""
"""Nav2's type for changes of a tree, which tree panels of viewers read; no Nav2 need be there."""


class SchemaError(ValueError):
    """A message type whose definition is not found; the message says what to do."""


@cache
def schema_text(message_type: str) -> str:
    """Definition of a message type with all that it consists of.

    Args:
        message_type: like ``std_msgs/msg/String``

    Raises:
        SchemaError: a definition is not found
    """
    if message_type == NAV2_LOG:
        return NAV2_LOG_TEXT
    package, _, name = _split(message_type)
    parts = {(package, name): _definition(package, name)}
    waiting = [(package, name)]
    while waiting:
        for inner in _parts_of(*waiting.pop(), parts):
            if inner not in parts:
                parts[inner] = _definition(*inner)
                waiting.append(inner)
    head, *others = parts.items()
    return head[1] + "".join(f"{_LINE}\nMSG: {p}/{n}\n{text}" for (p, n), text in others)


def _split(message_type: str) -> list[str]:
    parts = message_type.split("/")
    if len(parts) != 3:
        raise SchemaError(f"'{message_type}' is no type of ROS messages, like std_msgs/msg/String")
    return parts


def _parts_of(
    package: str, name: str, texts: dict[tuple[str, str], str]
) -> Iterator[tuple[str, str]]:
    plain = re.sub(r"#.*", "", texts[package, name])
    for field in _FIELD.findall(plain):
        if field not in _PLAIN:
            owner, _, short = field.rpartition("/")
            yield owner.removesuffix("/msg") or package, short


def _definition(package: str, name: str) -> str:
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        file = Path(prefix, "share", package, "msg", f"{name}.msg")
        if prefix and file.is_file():
            text = file.read_text(encoding="utf-8")
            return text if text.endswith("\n") else f"{text}\n"
    raise SchemaError(
        f"the definition of {package}/msg/{name} is not on AMENT_PREFIX_PATH: activate the"
        f" environment in which {package} is built"
    )
