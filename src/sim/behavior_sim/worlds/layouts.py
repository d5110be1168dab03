# SPDX-License-Identifier: Apache-2.0
"""Start poses of a world's objects, drawn from its layouts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from behavior_sim.worlds.config import Placement, WorldConfig
from behavior_sim.worlds.reading import Vector

Pose = NDArray[np.float64]
_TRIES = 1000


class UnknownLayout(ValueError):
    """The world has no such layout; the message lists those it has."""


def pose_of(position: Any, yaw: float = 0.0) -> Pose:
    """world_T_object (4, 4) of a position [m] and an angle about z [rad]."""
    pose = np.eye(4)
    pose[:3, 3] = position
    pose[:3, :3] = Rotation.from_euler("z", yaw).as_matrix()
    return pose


def _draw_region(
    placement: Placement, taken: list[NDArray[np.float64]], rng: np.random.Generator
) -> NDArray[np.float64]:
    """A free place in the region; the least crowded one tried where none is free."""
    assert placement.region is not None
    low, high = np.array([placement.region["x"], placement.region["y"]], dtype=float).T
    best: NDArray[np.float64] = low
    best_distance = -1.0
    for _ in range(_TRIES):
        place: NDArray[np.float64] = rng.uniform(low, high)
        distance = min((float(np.linalg.norm(place - t)) for t in taken), default=np.inf)
        if distance >= placement.clearance:
            return place
        if distance > best_distance:
            best, best_distance = place, distance
    return best


def draw_yaw(yaw: float | Vector, rng: np.random.Generator) -> float:
    """An angle, or one of an interval [rad]."""
    if isinstance(yaw, tuple):
        low, high = yaw
        return float(rng.uniform(low, high))
    return float(yaw)


def draw_layout(config: WorldConfig, name: str, rng: np.random.Generator) -> dict[str, Pose]:
    """world_T_object (4, 4) of each object in the start state `name` (empty: ``default``).

    Raises:
        UnknownLayout: the world has no layout of that name.
    """
    layout = config.layouts.get(name or "default")
    if layout is None:
        raise UnknownLayout(
            f"world {config.name} has no layout {name!r}; there are {', '.join(config.layouts)}"
        )
    poses: dict[str, Pose] = {}
    # Those that stand on others come after them; everything else in the file's order.
    pending = dict(layout)
    while pending:
        ready = [n for n, p in pending.items() if p.above is None or p.above in poses]
        if not ready:
            raise ValueError(f"layout {name!r}: {', '.join(pending)} stand on each other")
        for key in ready:
            placement = pending.pop(key)
            half = config.objects[key].extents[2] / 2
            yaw = draw_yaw(placement.yaw, rng)
            if placement.above is not None:
                below = poses[placement.above]
                height = below[2, 3] + config.objects[placement.above].extents[2] / 2 + half
                poses[key] = pose_of([below[0, 3], below[1, 3], height], yaw)
                continue
            if placement.position is not None:
                xy = np.array(placement.position) + rng.uniform(-1, 1, 2) * placement.jitter
            else:
                xy = _draw_region(placement, [pose[:2, 3] for pose in poses.values()], rng)
            poses[key] = pose_of([xy[0], xy[1], config.ground + placement.height + half], yaw)
    return poses


def draw_start(config: WorldConfig, rng: np.random.Generator) -> NDArray[np.float64]:
    """Where a robot that drives starts: x, y, yaw in the world [m, m, rad]."""
    start = config.start or Placement(position=(0.0, 0.0))
    place = np.array(start.position) + rng.uniform(-1, 1, 2) * start.jitter
    return np.array([*place, draw_yaw(start.yaw, rng)])
