# SPDX-License-Identifier: Apache-2.0
"""Parts of messages as plain values; units and frames as in the messages."""

from __future__ import annotations

import math
from typing import Any

LONGEST_TEXT = 1_000


def seconds(stamp: Any) -> float:
    """A stamp or a duration [s]."""
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)


def point(value: Any) -> list[float]:
    """A point or vector: x, y, z."""
    return [float(value.x), float(value.y), float(value.z)]


def quaternion(value: Any) -> list[float]:
    """A quaternion: x, y, z, w."""
    return [float(value.x), float(value.y), float(value.z), float(value.w)]


def pose(value: Any) -> list[float]:
    """A pose: x, y, z [m], then the quaternion x, y, z, w."""
    return [*point(value.position), *quaternion(value.orientation)]


def color(value: Any) -> list[float]:
    """A colour: r, g, b, a from 0 to 1."""
    return [round(float(each), 4) for each in (value.r, value.g, value.b, value.a)]


def numbers(values: Any) -> list[float]:
    """Numbers of an array; those that are not finite become 0."""
    return [number if math.isfinite(number) else 0.0 for number in map(float, values)]


def short(text: str) -> str:
    """A text that a page shows; a very long one is cut."""
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
