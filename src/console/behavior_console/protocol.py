# SPDX-License-Identifier: Apache-2.0
"""What pages and the server say to each other, as msgpack maps: read with care. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import msgpack

from behavior_console.channels import CHANNELS, News, pack

LONGEST_MESSAGE = 256 * 1024
"""[bytes] from a page."""
LONGEST_NAME = 64
LONGEST_ID = 64
MOST_ENTRIES = 2_000
"""Of one map or list in a message."""


class ProtocolError(ValueError):
    """A page said what is not understood; the sentence is for people."""


class Role(IntEnum):
    """What a page may do; each may what those before it may."""

    VIEW = 0
    OPERATE = 1
    EDIT = 2

    @property
    def word(self) -> str:
        """As the protocol names it."""
        return self.name.lower()


@dataclass(frozen=True)
class Hello:
    """The first message of a page."""

    name: str
    role: Role
    record: str
    """Which record it shows; empty: what happens now."""


@dataclass(frozen=True)
class Subscribe:
    """The channels that the page shows now."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class At:
    """The moment that the page shows."""

    time: float | None
    """[s] of the executor's clock; None: what happens now."""


@dataclass(frozen=True)
class Command:
    """Something to do."""

    id: str | int
    name: str
    args: dict[str, Any]


@dataclass(frozen=True)
class Seen:
    """A frame was drawn."""

    frame: int


@dataclass(frozen=True)
class Answer:
    """What became of a command."""

    ok: bool
    message: str = ""
    value: Any = None


Message = Hello | Subscribe | At | Command | Seen


def role_named(word: str) -> Role:
    """The role of this name.

    Raises:
        ProtocolError: there is none
    """
    for role in Role:
        if role.word == word:
            return role
    raise ProtocolError(f"there is no role '{word[:20]}': choose view, operate or edit")


def read(data: bytes) -> Message:
    """What a page said.

    Raises:
        ProtocolError: it is not understood
    """
    if len(data) > LONGEST_MESSAGE:
        raise ProtocolError(f"a message has at most {LONGEST_MESSAGE} bytes")
    try:
        value = msgpack.unpackb(
            data,
            max_map_len=MOST_ENTRIES,
            max_array_len=MOST_ENTRIES,
            max_ext_len=0,
            strict_map_key=True,
        )
    except (ValueError, RecursionError, msgpack.UnpackException) as error:
        raise ProtocolError("a message is no msgpack, or too long or deep") from error
    if not isinstance(value, dict) or len(value) != 1:
        raise ProtocolError("a message is a map with one key")
    ((kind, content),) = value.items()
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        raise ProtocolError(f"a message is one of {', '.join(_READERS)}")
    found: Message = reader(content)
    return found


def frame(number: int, now: float, at: float | None, news: News) -> bytes:
    """A frame for a page, of parts that are packed already."""
    parts = {"frame": pack(number), "now": pack(now), "at": pack(at)}
    for key, channels in (("set", news.set), ("add", news.add), ("patch", news.patch)):
        if channels:
            parts[key] = _map(channels)
    return _map(parts)


def _map(parts: dict[str, bytes]) -> bytes:
    packer = msgpack.Packer()
    header: bytes = packer.pack_map_header(len(parts))
    return header + b"".join(pack(key) + value for key, value in parts.items())


def _text(content: Any, key: str, most: int, default: str | None = None) -> str:
    text = content.get(key, default) if isinstance(content, dict) else None
    if not isinstance(text, str) or len(text) > most:
        raise ProtocolError(f"'{key}' is a text of at most {most} characters")
    return text


def _hello(content: Any) -> Hello:
    record = ""
    if isinstance(content, dict) and content.get("view") == "record":
        record = _text(content, "record", 1_000)
    role = role_named(_text(content, "role", 20, "view"))
    return Hello(_text(content, "name", LONGEST_NAME, ""), role, record)


def _subscribe(content: Any) -> Subscribe:
    if not isinstance(content, list | tuple) or len(content) > 2 * len(CHANNELS):
        raise ProtocolError("'subscribe' is a list of channels")
    for name in content:
        if not isinstance(name, str) or name not in CHANNELS:
            shown = str(name)[:40]
            raise ProtocolError(f"there is no channel '{shown}': choose of {', '.join(CHANNELS)}")
    return Subscribe(tuple(content))


def _at(content: Any) -> At:
    if content is None:
        return At(None)
    number = isinstance(content, int | float) and not isinstance(content, bool)
    if not number or abs(content) > 1e12 or not math.isfinite(content):
        raise ProtocolError("'at' is a time in seconds, or null")
    return At(float(content))


def _command(content: Any) -> Command:
    if not isinstance(content, dict):
        raise ProtocolError("'command' is a map of id, name and args")
    identifier, args = content.get("id"), content.get("args", {})
    if not isinstance(identifier, str | int) or len(str(identifier)[: LONGEST_ID + 1]) > LONGEST_ID:
        raise ProtocolError(f"'id' is a number or a text of at most {LONGEST_ID} characters")
    if not isinstance(args, dict):
        raise ProtocolError("'args' is a map")
    return Command(identifier, _text(content, "name", 100), args)


def _seen(content: Any) -> Seen:
    if not isinstance(content, int) or not 0 <= content < 2**53:
        raise ProtocolError("'seen' is the number of a frame")
    return Seen(content)


_READERS: dict[str, Any] = {
    "hello": _hello,
    "subscribe": _subscribe,
    "at": _at,
    "command": _command,
    "seen": _seen,
}
