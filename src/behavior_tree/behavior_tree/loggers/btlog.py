# SPDX-License-Identifier: Apache-2.0
"""The ``.btlog`` format that Groot2 replays: `FileLogger` writes it, `read_btlog` reads it.

All integers are little-endian::

    18 bytes  "BTCPP4-FileLogger2"
     1 byte   version, 1
     4 bytes  length L of the XML, signed
     L bytes  XML of the tree, UTF-8, with the uid of each node
     8 bytes  time of opening, since the epoch [us], signed
     9 bytes  for each change: 6 bytes time since opening [us], 2 bytes uid, 1 byte status
"""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass
from pathlib import Path

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.loggers.base import StatusChangeLogger
from behavior_tree.loggers.document import tree_document
from behavior_tree.node import TreeNode
from behavior_tree.tree import Tree

__all__ = ["BtLog", "BtLogError", "FileLogger", "Transition", "pack_transition", "read_btlog"]

_MAGIC = b"BTCPP4-FileLogger2"
_VERSION = 1
_RECORD = 9
_FLUSH_INTERVAL = 100_000
"""Longest time that changes are held back while others follow [us]."""


class BtLogError(BehaviorTreeError):
    """A file is not a ``.btlog``, or a damaged one."""


@dataclass(frozen=True)
class Transition:
    """One status change."""

    timestamp: int
    """Since the epoch [us]."""
    uid: int
    status: NodeStatus


@dataclass(frozen=True)
class BtLog:
    """Contents of a ``.btlog`` file."""

    xml: str
    """The tree."""
    start: int
    """When the log was opened, since the epoch [us]."""
    transitions: tuple[Transition, ...]


def pack_transition(microseconds: int, uid: int, status: int) -> bytes:
    """The 9 bytes of one change, shared by ``.btlog`` and the Groot2 protocol."""
    time_part = min(max(microseconds, 0), 2**48 - 1).to_bytes(6, "little")
    return time_part + struct.pack("<HB", uid, status)


class FileLogger(StatusChangeLogger):
    """Writes a ``.btlog`` file.

    A write costs about as much as the change of status itself; the file lags at most 0.1 s behind
    while changes go on, so call `flush` to read it in between, and `close` at the end.

    Args:
        tree: the tree
        filepath: must end in ``.btlog``; an existing file is replaced

    Raises:
        BtLogError: another extension
        OSError: the file cannot be written
    """

    def __init__(self, tree: Tree, filepath: str | Path) -> None:
        path = Path(filepath)
        if path.suffix != ".btlog":
            raise BtLogError(
                f"FileLogger: the file extension must be [.btlog], not '{path.suffix}'"
            )
        xml = tree_document(tree).encode()
        self._start = self._flushed = time.time_ns() // 1000
        self._file = path.open("wb")
        self._file.write(_MAGIC + struct.pack("<Bi", _VERSION, len(xml)) + xml)
        self._file.write(struct.pack("<q", self._start))
        self._file.flush()
        super().__init__(tree)

    def record(self, timestamp: int, node: TreeNode, previous: NodeStatus, new: NodeStatus) -> None:
        self._file.write(pack_transition(timestamp - self._start, node.uid(), new.value))
        if timestamp - self._flushed > _FLUSH_INTERVAL:
            self._flushed = timestamp
            self._file.flush()

    def flush(self) -> None:
        if not self._file.closed:
            self._file.flush()

    def close(self) -> None:
        super().close()
        self._file.close()


def read_btlog(filepath: str | Path) -> BtLog:
    """Read a ``.btlog`` of this logger or of BehaviorTree.CPP's FileLogger2.

    An incomplete last record, as a killed process leaves it, is ignored.

    Raises:
        BtLogError: not such a file, another version, or damaged
        OSError: the file cannot be read
    """
    data = Path(filepath).read_bytes()
    if not data.startswith(_MAGIC):
        raise BtLogError(f"{filepath}: not a .btlog file: it does not begin with {_MAGIC.decode()}")
    position = len(_MAGIC)
    if len(data) < position + 5:
        raise BtLogError(f"{filepath}: ends inside the header: record it again")
    version, length = struct.unpack_from("<Bi", data, position)
    if version != _VERSION:
        raise BtLogError(f"{filepath}: version {version}; this reader knows version {_VERSION}")
    position += 5
    if length < 0 or len(data) < position + length + 8:
        raise BtLogError(f"{filepath}: ends inside the XML of {length} bytes: record it again")
    try:
        xml = data[position : position + length].decode()
    except UnicodeDecodeError as error:
        raise BtLogError(f"{filepath}: the XML is not UTF-8: {error}") from error
    position += length
    (start,) = struct.unpack_from("<q", data, position)
    return BtLog(xml, start, _transitions(data, position + 8, start, filepath))


def _transitions(
    data: bytes, position: int, start: int, filepath: str | Path
) -> tuple[Transition, ...]:
    found = []
    for offset in range(position, len(data) - _RECORD + 1, _RECORD):
        uid, status = struct.unpack_from("<HB", data, offset + 6)
        if status > NodeStatus.SKIPPED.value:
            raise BtLogError(f"{filepath}: byte {offset + 8} is {status}, which is no status")
        elapsed = int.from_bytes(data[offset : offset + 6], "little")
        found.append(Transition(start + elapsed, uid, NodeStatus(status)))
    return tuple(found)
