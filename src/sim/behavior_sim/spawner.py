# SPDX-License-Identifier: Apache-2.0
"""Brings objects into a world, one at a time: the next when the last one has left a region.

Objects cannot be made while the physics runs, so all that may come lie outside from the start.
"""

import numpy as np

from behavior_sim.config import SpawnerConfig, brought
from behavior_sim.layouts import Pose, draw_yaw, pose_of
from behavior_sim.world import InvalidDisturbance, World

_UPSIDE_DOWN = np.diag([-1.0, 1.0, -1.0])
"""Half a turn about y."""


class Spawner:
    """Brings the objects of a world.

    Args:
        world: with objects and a place for them to come.
        config: how they come.
        seed: of places and orientations.
    """

    def __init__(self, world: World, config: SpawnerConfig, seed: int) -> None:
        self._world, self._config = world, config
        self._names = brought(world.config.objects, config)
        self._low, self._high = np.array([config.region["x"], config.region["y"]]).T
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Begin anew; the world was reset."""
        self._rng = np.random.default_rng([seed, 2])
        self.count = 0
        """Objects that have come."""
        self._next = self._draw()

    @property
    def exhausted(self) -> bool:
        """Whether all have come."""
        return self.count == len(self._names)

    def step(self) -> None:
        """Bring the next one, if it is due and its place is free."""
        if self.exhausted or self._last_is_there():
            return
        try:
            velocity = np.array(self._config.velocity, dtype=np.float64)
            self._world.bring(self._names[self.count], self._next, velocity)
        except InvalidDisturbance:
            return  # Something lies where it comes: it waits.
        self.count += 1
        self._next = self._draw()

    def _last_is_there(self) -> bool:
        """Whether the last one is still in the region."""
        if self.count == 0:
            return False
        place = self._world.object_pose(self._names[self.count - 1])[:2, 3]
        return bool(((place > self._low) & (place < self._high)).all())

    def _draw(self) -> Pose:
        """Where and how the next one comes."""
        config, rng = self._config, self._rng
        shift = rng.uniform(-1.0, 1.0, 3) * config.jitter
        pose = pose_of(np.array(config.position) + shift, draw_yaw(config.yaw, rng))
        if rng.random() < config.upside_down:
            pose[:3, :3] = pose[:3, :3] @ _UPSIDE_DOWN
        return pose
