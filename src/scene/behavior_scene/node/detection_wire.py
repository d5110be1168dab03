# SPDX-License-Identifier: Apache-2.0
"""Reads a serialized ``vision_msgs/Detection3DArray``: of it what the scene looks at."""

from __future__ import annotations

from typing import NamedTuple

from behavior_ros.messages.wire import WireReader, reading


class Hypothesis(NamedTuple):
    """What a thing may be, and where."""

    class_id: str
    score: float
    pose: tuple[float, ...]
    """x y z [m], quaternion x y z w"""
    covariance: tuple[float, ...]
    """36 numbers, row-major x y z roll pitch yaw"""


class WireDetection(NamedTuple):
    """One detected thing."""

    stamp: int
    """[ns] 0: that of the array"""
    frame: str
    """empty: that of the array"""
    hypotheses: list[Hypothesis]
    size: tuple[float, ...]
    """Edges of its box [m]"""


class WireDetections(NamedTuple):
    """All things of an image."""

    stamp: int
    """[ns]"""
    frame: str
    entries: list[WireDetection]


def read_detections(data: bytes) -> WireDetections:
    """The detections of a message.

    Raises:
        ValueError: the bytes are no such message, or are cut off
    """
    with reading(data, "vision_msgs/Detection3DArray") as wire:
        stamp, frame = wire.stamp(), wire.text()
        return WireDetections(stamp, frame, [_entry(wire) for _ in range(wire.count())])


def _entry(wire: WireReader) -> WireDetection:
    stamp, frame = wire.stamp(), wire.text()
    hypotheses = [_hypothesis(wire) for _ in range(wire.count())]
    box = wire.doubles(10)
    wire.text()  # the detector's identifier
    return WireDetection(stamp, frame, hypotheses, box[7:])


def _hypothesis(wire: WireReader) -> Hypothesis:
    class_id, numbers = wire.text(), wire.doubles(44)
    return Hypothesis(class_id, numbers[0], numbers[1:8], numbers[8:])
