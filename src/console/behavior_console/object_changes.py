# SPDX-License-Identifier: Apache-2.0
"""What differs between objects at two moments, in sentences. No ROS.

One rule for `behavior preview` and the console; the page has it in ``panels/preview/compare.ts``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

MOVED = 0.01
"""[m] from which on an object has moved: noise of detections, and more than an arm repeats."""
TURNED = 0.2
"""[rad] likewise as turned."""


@dataclass(frozen=True, kw_only=True)
class SeenObject:
    """An object of the scene at one moment. One that is derived from others is none: it follows."""

    position: tuple[float, ...]
    """[m]"""
    orientation: tuple[float, ...]
    """Unit quaternion x, y, z, w."""
    held: bool = False
    """The robot has it."""
    lost: bool = False
    """Nobody knows where it is."""


def object_changes(
    before: Mapping[str, SeenObject],
    after: Mapping[str, SeenObject],
    *,
    moved: float = MOVED,
    turned: float = TURNED,
) -> list[str]:
    """A sentence for each that moved or turned, came or is gone, was taken, put down or lost.

    Args:
        before: objects by name.
        after: the same, later.
        moved: [m] up to which an object is where it was.
        turned: [rad] likewise; infinite: orientations do not count.
    """
    found = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            found.append(f"{name} is {'no more there' if new is None else 'new'}")
            continue
        if old.held != new.held:
            found.append(f"{name} {'is held now' if new.held else 'is not held any more'}")
        if old.lost != new.lost:
            found.append(f"{name} {'is lost now' if new.lost else 'was found again'}")
        shift = math.dist(old.position, new.position)
        turn = _turn(old.orientation, new.orientation)
        if shift > moved:
            found.append(f"{name} has moved by {1e3 * shift:.0f} mm")
        elif turn > turned:
            found.append(f"{name} has turned by {math.degrees(turn):.0f} degrees")
    return found


def _turn(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """Angle of the turn between two orientations [rad], from 0 to pi."""
    same = abs(math.fsum(a * b for a, b in zip(one, other, strict=True)))
    return 2.0 * math.acos(min(1.0, same))
