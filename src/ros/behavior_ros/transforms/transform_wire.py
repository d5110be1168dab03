# SPDX-License-Identifier: Apache-2.0
"""Reads the transforms of a serialized ``tf2_msgs/TFMessage``, and writes such a message.

Every process that looks up frames receives all of them all the time, and hardly ever looks.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from geometry_msgs.msg import TransformStamped

from behavior_ros.messages.rotations import Quaternion, Vector
from behavior_ros.messages.wire import SECOND, WireWriter, reading


class WireTransform(NamedTuple):
    """``parent_T_child`` at a time."""

    parent: str
    child: str
    stamp: int
    """[ns]"""
    position: Vector
    """[m]"""
    rotation: Quaternion
    """x, y, z, w"""


Frames = tuple[str, str]
"""Parent and child."""
_Row = tuple[int, int, Sequence[float]]
"""Seconds, nanoseconds, and the numbers: position and rotation."""
_HEAD = 8
"""[bytes] that say how numbers are written, and how many transforms there are."""
_NUMBERS = 7
_EACH = 3 + _NUMBERS
"""Values of a transform: seconds, nanoseconds, names and numbers."""
_MOST_FORMS, _LARGEST = 50, 100_000
"""That are kept, and the bytes of messages of others whose forms are."""


class _Form:
    """What the messages of one sender have in common: all but stamps and numbers."""

    def __init__(self, data: bytes, order: str, names: Sequence[tuple[str, str, bytes]]) -> None:
        """Of a message; `names` are those of parents and children, and the bytes of both."""
        self._names = [(parent, child) for parent, child, _ in names]
        self._head, self._blocks = data[:_HEAD], tuple(block for _, _, block in names)
        each = "".join(f"iI{len(block)}s{_NUMBERS}d" for block in self._blocks)
        self._values = struct.Struct(f"{order}{_HEAD}s{each}")
        self.fits = self._values.size == len(data)
        """Whether there is nothing else in the message."""

    def read(self, data: bytes) -> list[WireTransform] | None:
        """The transforms of a message of the same length; None: it has other names."""
        values = self._values.unpack(data)
        if values[0] != self._head or values[3::_EACH] != self._blocks:
            return None
        return [
            WireTransform(
                parent,
                child,
                values[k] * SECOND + values[k + 1],
                values[k + 3 : k + 6],
                values[k + 6 : k + 10],
            )
            for k, (parent, child) in zip(range(1, len(values), _EACH), self._names, strict=True)
        ]

    def write(self, rows: Iterable[_Row]) -> bytes:
        """A message of transforms that have the same names."""
        values: list[Any] = [self._head]
        for (second, nanosecond, numbers), block in zip(rows, self._blocks, strict=True):
            values += (second, nanosecond, block, *numbers)
        return self._values.pack(*values)


_read_forms: dict[tuple[int, bytes], _Form] = {}
"""By a message's length and how its names begin."""
_written_forms: dict[tuple[Frames, ...], _Form] = {}
"""By all names."""


def read_transforms(data: bytes) -> list[WireTransform]:
    """The transforms of a message, in order.

    Raises:
        ValueError: the bytes are no such message, or are cut off
    """
    kind = len(data), data[_HEAD + 8 : _HEAD + 16]
    form = _read_forms.get(kind)
    found = None if form is None else form.read(data)
    if found is None:
        found, form = _read(data)
        if len(data) <= _LARGEST:
            _keep(_read_forms, kind, form)
    return found


def write_transforms(transforms: Sequence[TransformStamped]) -> bytes:
    """The message that holds these transforms, in order."""
    frames = [(each.header.frame_id, each.child_frame_id) for each in transforms]
    return _written(frames, [_row(each) for each in transforms])


def write_poses(stamp: int, frames: Sequence[Frames], poses: Iterable[Sequence[float]]) -> bytes:
    """The message of poses of one time; the arguments are those of a broadcaster's `send_poses`."""
    second, nanosecond = divmod(stamp, SECOND)
    return _written(frames, [(second, nanosecond, pose) for pose in poses])


def _row(transform: TransformStamped) -> _Row:
    stamp, p = transform.header.stamp, transform.transform.translation
    r = transform.transform.rotation
    return stamp.sec, stamp.nanosec, (p.x, p.y, p.z, r.x, r.y, r.z, r.w)


def _written(frames: Sequence[Frames], rows: Sequence[_Row]) -> bytes:
    names = tuple(frames)
    form = _written_forms.get(names)
    if form is not None:
        return form.write(rows)
    data = _write(frames, rows)
    _keep(_written_forms, names, _read(data)[1])
    return data


def _read(data: bytes) -> tuple[list[WireTransform], _Form]:
    """The transforms, field by field."""
    found, names = [], []
    with reading(data, "tf2_msgs/TFMessage") as wire:
        for _ in range(wire.count()):
            stamp, begin = wire.stamp(), wire.at
            parent, child = wire.text(), wire.text()
            x, y, z, i, j, k, w = wire.doubles(_NUMBERS)
            names.append((parent, child, data[begin : wire.at - 8 * _NUMBERS]))
            found.append(WireTransform(parent, child, stamp, (x, y, z), (i, j, k, w)))
        return found, _Form(data, wire.order, names)


def _write(frames: Sequence[Frames], rows: Sequence[_Row]) -> bytes:
    """The message, field by field."""
    wire = WireWriter()
    wire.numbers("I", len(rows))
    for (parent, child), (second, nanosecond, numbers) in zip(frames, rows, strict=True):
        wire.numbers("iI", second, nanosecond)
        wire.text(parent)
        wire.text(child)
        wire.numbers(f"{_NUMBERS}d", *numbers)
    return wire.message()


def _keep(forms: dict[Any, _Form], kind: Any, form: _Form) -> None:
    if form.fits:
        if len(forms) >= _MOST_FORMS:
            forms.clear()
        forms[kind] = form
