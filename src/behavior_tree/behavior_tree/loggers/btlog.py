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

import contextlib
import struct
import time
from dataclasses import dataclass
from pathlib import Path

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.loggers.base import StatusChangeLogger
from behavior_tree.loggers.document import tree_document
from behavior_tree.loggers.files import cannot_write, create_file
from behavior_tree.loggers.uid_limit import check_uids
from behavior_tree.node import IDLE, TreeNode
from behavior_tree.structure import StructureChange
from behavior_tree.tree import Tree

__all__ = ["BtLog", "BtLogError", "FileLogger", "Transition", "pack_transition", "read_btlog"]

_MAGIC = b"BTCPP4-FileLogger2"
_VERSION = 1
_RECORD = 9
_LATEST = 2**48 - 1
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
    elapsed = min(max(microseconds, 0), _LATEST)
    return (elapsed | uid << 48 | status << 64).to_bytes(_RECORD, "little")


class FileLogger(StatusChangeLogger):
    """Writes a ``.btlog`` file.

    A write costs about as much as the change of status itself. The file is complete whenever a run
    of the tree ends, and lags at most 0.1 s behind while changes go on; `flush` completes it in
    between.

    The format has room for one tree. An edit of the live tree therefore closes the file and begins
    the next one, ``run.1.btlog`` after ``run.btlog``, with the edited tree and the states that its
    nodes have; several edits between two changes of status make one file.

    Args:
        tree: the tree
        filepath: must end in ``.btlog``; an existing file is replaced

    Raises:
        BtLogError: another extension
        BehaviorTreeError: the file cannot be written, or the tree has uids above 65535
    """

    def __init__(self, tree: Tree, filepath: str | Path) -> None:
        path = Path(filepath)
        if path.suffix != ".btlog":
            raise BtLogError(
                f"FileLogger: the file extension must be [.btlog], not '{path.suffix}'"
            )
        self._tree = tree
        self.paths: list[Path] = []
        """Files written so far, in order."""
        self._begin(path)
        super().__init__(tree)

    def _begin(self, path: Path) -> None:
        check_uids(self._tree, "FileLogger")
        xml = tree_document(self._tree).encode()
        self._file = create_file(path, "FileLogger")
        self.paths.append(path)
        self._root = self._tree.root_node()
        self._start = self._flushed = time.time_ns() // 1000
        try:
            self._file.write(_MAGIC + struct.pack("<Bi", _VERSION, len(xml)) + xml)
            self._file.write(struct.pack("<q", self._start))
            self._file.flush()
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.close()
            raise cannot_write(path, "FileLogger", error) from error
        self._untouched = True

    def record(self, timestamp: int, node: TreeNode, previous: NodeStatus, new: NodeStatus) -> None:
        self._untouched = False
        self._file.write(pack_transition(timestamp - self._start, node._config.uid, new._value_))
        run_ended = new is IDLE and node is self._root
        if run_ended or timestamp - self._flushed > _FLUSH_INTERVAL:
            self._flushed = timestamp
            self._file.flush()

    def restructured(self, change: StructureChange) -> None:
        self._file.close()
        first = self.paths[0]
        if self._untouched:
            path = self.paths.pop()
        else:
            path = first.with_name(f"{first.stem}.{len(self.paths)}.btlog")
        self._begin(path)
        for node in self._tree.nodes():
            if node.status is not IDLE:
                self._file.write(pack_transition(0, node.uid(), node.status.value))

    def flush(self) -> None:
        if not self._file.closed:
            self._file.flush()

    def finish(self) -> None:
        self._file.close()

    def __str__(self) -> str:
        return f"FileLogger({self.paths[-1] if self.paths else ''})"


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
