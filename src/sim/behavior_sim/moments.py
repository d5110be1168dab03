# SPDX-License-Identifier: Apache-2.0
"""What plans of disturbances share: moments that come after something, and free places."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from behavior_sim.judging import Disturbance, Vector

_TRIES = 500


class Moment:
    """Comes `delay` seconds after a condition becomes true for the `nth` time, and only once."""

    def __init__(self, *, nth: int, delay: float) -> None:
        self.nth = nth
        self.delay = delay
        self.done = False
        self._count = 0
        self._since: float | None = None

    def reached(self, condition: bool, time: float, *, at_once: bool = False) -> bool:
        """Whether it is now. Where the delay does not fit, the next time counts.

        Args:
            condition: what is waited for.
            time: [s].
            at_once: the first time that the condition is true counts.
        """
        if self.done or not condition:
            self._since = None
            return False
        if self._since is None:
            self._since = time
            self._count += 1
        if (at_once or self._count >= self.nth) and time - self._since >= self.delay:
            self.done = True
            return True
        return False


def free_spot(
    x: tuple[float, float],
    y: tuple[float, float],
    taken: Iterable[Vector],
    random: np.random.Generator,
    *,
    clearance: float,
    allowed: Callable[[Vector], bool] = lambda place: True,
) -> Vector:
    """A place in a rectangle, clear of others; the least crowded one tried where none is clear.

    Args:
        x: interval [m].
        y: interval [m].
        taken: places of others [m], each (2,).
        random: source of chance.
        clearance: [m] to each of the others.
        allowed: tells whether a place may be used at all.

    Returns:
        [m], shape (2,).
    """
    others = list(taken)
    best: Vector = np.array([sum(x) / 2, sum(y) / 2])
    best_gap = -np.inf
    for _ in range(_TRIES):
        place = np.array([random.uniform(*x), random.uniform(*y)])
        if not allowed(place):
            continue
        gap = min((float(np.linalg.norm(place - other)) for other in others), default=np.inf)
        if gap >= clearance:
            return place
        if gap > best_gap:
            best, best_gap = place, gap
    return best


def put(
    name: str, position: Vector, random: np.random.Generator, cause: str, *, held: bool
) -> Disturbance:
    """Puts an object to a place [m], turned at random; `held`: out of the gripper."""
    return Disturbance(
        kind="release" if held else "move",
        object=name,
        position=position,
        yaw=float(random.uniform(-np.pi, np.pi)),
        cause=cause,
    )
