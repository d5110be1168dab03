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
import sys
import time
from array import array
from dataclasses import dataclass
from pathlib import Path

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.kernel.node import IDLE
from behavior_tree.kernel.record import Changes
from behavior_tree.kernel.structure import StructureChange
from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.loggers.base import BatchLogger
from behavior_tree.monitoring.loggers.document import tree_document
from behavior_tree.monitoring.loggers.files import cannot_write, create_file
from behavior_tree.monitoring.loggers.uid_limit import check_uids

_MAGIC = b"BTCPP4-FileLogger2"
_VERSION = 1
TRANSITION_SIZE = 9
"""Bytes of one change."""


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


def pack_transitions(changes: Changes, start: int) -> bytes:
    """9 bytes for each change, the same in ``.btlog`` and in the Groot2 protocol.

    Args:
        changes: none of them before ``start``
        start: from where times are counted, monotonic [ns]
    """
    times_and_uids = array(
        "Q",
        [
            (time - start) // 1000 | node._config.uid << 48
            for time, node in zip(changes.times, changes.nodes, strict=True)
        ],
    )
    if sys.byteorder == "big":
        times_and_uids.byteswap()
    words = times_and_uids.tobytes()
    packed = bytearray(TRANSITION_SIZE * len(times_and_uids))
    for byte in range(8):
        packed[byte::TRANSITION_SIZE] = words[byte::8]
    packed[8::TRANSITION_SIZE] = bytes([status._value_ for status in changes.new])
    return bytes(packed)


class FileLogger(BatchLogger):
    """Writes a ``.btlog`` file.

    The file is complete whenever a run of the tree ends, and lags about 10 ms behind in between;
    `flush` completes it.

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

    completes_runs = True

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
        self._start = time.monotonic_ns()
        opened = time.time_ns() // 1000
        try:
            self._file.write(_MAGIC + struct.pack("<Bi", _VERSION, len(xml)) + xml)
            self._file.write(struct.pack("<q", opened))
            self._file.flush()
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.close()
            raise cannot_write(path, "FileLogger", error) from error
        self._untouched = True

    def write(self, changes: Changes) -> None:
        self._untouched = False
        self._file.write(pack_transitions(changes, self._start))
        self._file.flush()

    def restructured(self, change: StructureChange) -> None:
        self._file.close()
        first = self.paths[0]
        if self._untouched:
            path = self.paths.pop()
        else:
            path = first.with_name(f"{first.stem}.{len(self.paths)}.btlog")
        self._begin(path)
        nodes = [node for node in self._tree.nodes() if node.status is not IDLE]
        states = [node.status for node in nodes]
        times = [self._start] * len(nodes)
        self._file.write(pack_transitions(Changes(times, nodes, states, states, 0), self._start))
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
    for offset in range(position, len(data) - TRANSITION_SIZE + 1, TRANSITION_SIZE):
        uid, status = struct.unpack_from("<HB", data, offset + 6)
        if status > NodeStatus.SKIPPED.value:
            raise BtLogError(f"{filepath}: byte {offset + 8} is {status}, which is no status")
        elapsed = int.from_bytes(data[offset : offset + 6], "little")
        found.append(Transition(start + elapsed, uid, NodeStatus(status)))
    return tuple(found)
