# SPDX-License-Identifier: Apache-2.0
"""What a robot that drives by a map believes at one moment. No ROS."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label

Planar = tuple[float, float, float]
"""x, y [m] and yaw [rad] in the map."""
Box = tuple[float, float, float, float]
"""[m] x from, y from, x to, y to."""
_APART = 0.3
"""[m] Between places of something seen: beams do not end in the same cells every time."""


@dataclass(frozen=True, kw_only=True)
class BelievedBase:
    """Where the robot is, and what is around it."""

    pose: Planar
    tile: str
    """Map in force."""
    located: bool = True
    """Whether the localizer says so."""
    seen: Mapping[str, tuple[Box, ...]] = field(default_factory=dict)
    """What the scanner sees that the map does not show, each in parts."""
    frames: Mapping[str, Planar] = field(default_factory=dict)
    """That goals may be in."""
    autonomous: bool = True
    """Whether the operator has chosen that the autonomy drives."""
    switch_held: bool = True
    """The deadman switch."""

    def row(self) -> dict[str, Any]:
        """The state for a file of JSON: lengths in metres, angles in radians."""
        return {
            "pose": [round(value, 4) for value in self.pose],
            "tile": self.tile,
            "located": self.located,
            "seen": {name: [list(part) for part in parts] for name, parts in self.seen.items()},
            "frames": {name: list(pose) for name, pose in self.frames.items()},
            "autonomous": self.autonomous,
            "switch_held": self.switch_held,
        }


def seen_beside_map(
    seen: NDArray[np.bool_], shown: NDArray[np.bool_], corner: tuple[float, float], cell: float
) -> dict[str, tuple[Box, ...]]:
    """What is occupied in one grid and not in another of the same cells.

    Args:
        seen: (rows, columns), row 0 has the least y.
        shown: by the map, likewise.
        corner: with the least coordinates [m].
        cell: edge of a cell [m].

    Returns:
        Cells that belong together, as boxes of a row each.
    """
    numbered, count = label(seen & ~shown, structure=np.ones((3, 3)))
    found: dict[str, tuple[Box, ...]] = {}
    for number in range(1, count + 1):
        parts = []
        for row in np.flatnonzero((numbered == number).any(axis=1)):
            edges = np.diff(np.concatenate([[0], numbered[row] == number, [0]]).astype(int))
            y = corner[1] + row * cell
            for start, end in zip(
                np.flatnonzero(edges > 0), np.flatnonzero(edges < 0), strict=True
            ):
                left, right = (float(corner[0] + column * cell) for column in (start, end))
                parts.append((left, float(y), right, float(y + cell)))
        found[f"seen_{number}"] = tuple(parts)
    return found


def base_differences(
    before: BelievedBase, after: BelievedBase, *, distance: float, seen: bool
) -> Iterator[str]:
    """What is not as it was, a sentence each.

    Args:
        before: one moment.
        after: another.
        distance: up to which places count as equal [m].
        seen: whether what the scanner sees counts.
    """
    if (shift := math.dist(before.pose[:2], after.pose[:2])) > distance:
        yield f"The robot stands elsewhere, by {shift:.2f} m"
    for what, old, new in (
        ("tile", before.tile, after.tile),
        ("localized", before.located, after.located),
        ("autonomy chosen", before.autonomous, after.autonomous),
        ("deadman switch held", before.switch_held, after.switch_held),
    ):
        if old != new:
            yield f"{what}: {_word(new)} now, {_word(old)} before"
    for name in sorted(before.frames.keys() & after.frames.keys()):
        shift = math.dist(before.frames[name][:2], after.frames[name][:2])
        if shift > distance:
            yield f"frame {name} has moved by {shift:.2f} m"
    if seen:
        yield from (f"something new is seen at {place}" for place in _new(before, after))
        yield from (f"what was seen at {place} is gone" for place in _new(after, before))


def _word(value: str | bool) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


def _new(before: BelievedBase, after: BelievedBase) -> Iterator[str]:
    """Middles of what is seen in `after` only."""
    old = [part for parts in before.seen.values() for part in parts]
    for parts in after.seen.values():
        apart = min((_gap(part, other) for part in parts for other in old), default=math.inf)
        if apart > _APART:
            left, low, right, high = np.array(parts).T
            x, y = (left.min() + right.max()) / 2, (low.min() + high.max()) / 2
            yield f"({x:.1f}, {y:.1f})"


def _gap(one: Box, other: Box) -> float:
    beside = max(other[0] - one[2], one[0] - other[2], 0.0)
    above = max(other[1] - one[3], one[1] - other[3], 0.0)
    return math.hypot(beside, above)
