# SPDX-License-Identifier: Apache-2.0
"""Messages of the Groot2 protocol, version 2; all integers are little-endian.

A request is a ZeroMQ message of one or two parts: the header (protocol version, request character,
number chosen by the client: 6 bytes), and a payload if the request has one. The reply repeats the
header followed by the 16 bytes of the tree's UUID, and has a payload if the request asks for one.
An error reply is the two parts ``error`` and a text.

One request is our own, made so that no client of the protocol sends it by chance: character ``?``
with the payload `DISCOVERY`. The reply is a JSON object with ``tree_id``, ``name``, ``port`` and
``pid``. Other publishers refuse it like any character that they do not know.
"""

from __future__ import annotations

import enum
import json
import struct
from dataclasses import dataclass
from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.monitoring.groot2.errors import Groot2Error

PROTOCOL = 2
DEFAULT_PORTS = range(1667, 1707, 2)
"""Where publishers are looked for: 1667 is Groot2's own, each takes the port behind it too."""
DISCOVERY = b"behavior_tree: who is there?"
_HEADER = struct.Struct("<BBI")

HookKey = tuple[int, "Position"]
"""Uid of a node, and where the hook is."""


class Request(enum.Enum):
    """Request characters."""

    FULLTREE = "T"
    STATUS = "S"
    BLACKBOARD = "B"
    HOOK_INSERT = "I"
    HOOK_REMOVE = "R"
    BREAKPOINT_REACHED = "N"
    """Not a request: published by the server."""
    BREAKPOINT_UNLOCK = "U"
    HOOKS_DUMP = "D"
    REMOVE_ALL_HOOKS = "A"
    DISABLE_ALL_HOOKS = "X"
    TOGGLE_RECORDING = "r"
    GET_TRANSITIONS = "t"


class HookMode(enum.Enum):
    """What a hook does when its node is ticked."""

    BREAKPOINT = 0
    """Wait until unlocked."""
    REPLACE = 1
    """Give the result at once."""


class Position(enum.Enum):
    """When a hook acts."""

    PRE = 0
    """Before the tick, which it can replace."""
    POST = 1
    """After the tick, whose result it can replace."""


@dataclass
class Hook:
    """A breakpoint or a replacement at one node."""

    uid: int
    position: Position = Position.PRE
    mode: HookMode = HookMode.BREAKPOINT
    desired_status: NodeStatus = NodeStatus.SKIPPED
    """SUCCESS or FAILURE is the node's result; anything else lets the node go on."""
    once: bool = False
    """Remove the hook after its first use."""
    enabled: bool = True

    @property
    def key(self) -> HookKey:
        """What identifies the hook."""
        return self.uid, self.position


@dataclass(frozen=True)
class Unlock:
    """How to go on from a breakpoint."""

    key: HookKey
    desired_status: NodeStatus
    """SUCCESS, FAILURE, or SKIPPED for anything else that was asked for: no result is imposed."""
    remove: bool

    @staticmethod
    def from_json(text: bytes) -> Unlock:
        """Read the payload of BREAKPOINT_UNLOCK; raises Groot2Error."""
        data = _object(_parse(text))
        name = data.get("desired_status")
        if not isinstance(name, str):
            raise Groot2Error("[desired_status] must be a text")
        status = NodeStatus[name] if name in ("SUCCESS", "FAILURE") else NodeStatus.SKIPPED
        return Unlock(_key(data), status, _flag(data, "remove_when_done"))


def pack_header(request: bytes, number: int) -> bytes:
    """The 6 bytes of a header.

    Args:
        request: one byte, the request character
        number: chosen by the client, 32 bits
    """
    return _HEADER.pack(PROTOCOL, request[0], number)


def unpack_header(header: bytes) -> tuple[bytes, int]:
    """Request character and number of a 6-byte header; raises Groot2Error."""
    if len(header) != _HEADER.size:
        raise Groot2Error("wrong request header")
    _, character, number = _HEADER.unpack(header)
    return bytes([character]), number


def hooks_from_json(text: bytes) -> list[Hook]:
    """Read the payload of HOOK_INSERT, a hook or an array of hooks; raises Groot2Error."""
    data = _parse(text)
    return [_hook(each) for each in (data if isinstance(data, list) else [data])]


def hook_key(text: bytes) -> HookKey:
    """Read the payload of HOOK_REMOVE; raises Groot2Error."""
    return _key(_object(_parse(text)))


def hooks_to_json(hooks: list[Hook]) -> bytes:
    """The payload that HOOKS_DUMP answers with, or HOOK_INSERT sends."""
    data = [
        {
            "desired_status": hook.desired_status.name,
            "enabled": hook.enabled,
            "mode": hook.mode.value,
            "once": hook.once,
            "position": hook.position.value,
            "uid": hook.uid,
        }
        for hook in hooks
    ]
    return json.dumps(data, separators=(",", ":")).encode()


def _hook(data: Any) -> Hook:
    data = _object(data)
    uid, position = _key(data)
    mode = HookMode(_integer(data, "mode", 1))
    return Hook(uid, position, mode, _status(data), _flag(data, "once"), _flag(data, "enabled"))


def _parse(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Groot2Error(f"the payload is no JSON: {error}") from error


def _object(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise Groot2Error("the payload must be a JSON object")
    return data


def _key(data: dict[str, Any]) -> HookKey:
    return _integer(data, "uid", 0xFFFF), Position(_integer(data, "position", 1))


def _integer(data: dict[str, Any], name: str, largest: int) -> int:
    value = data.get(name)
    if type(value) is not int or not 0 <= value <= largest:
        raise Groot2Error(f"[{name}] must be an integer from 0 to {largest}")
    return value


def _flag(data: dict[str, Any], name: str) -> bool:
    value = data.get(name)
    if not isinstance(value, bool):
        raise Groot2Error(f"[{name}] must be true or false")
    return value


def _status(data: dict[str, Any]) -> NodeStatus:
    value = data.get("desired_status")
    if not isinstance(value, str) or value not in NodeStatus.__members__:
        names = ", ".join(NodeStatus.__members__)
        raise Groot2Error(f"[desired_status] must be one of: {names}")
    return NodeStatus[value]
