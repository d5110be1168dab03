# SPDX-License-Identifier: Apache-2.0
"""Brings objects into a world, one at a time: the next when the last one has left a region.

Objects cannot be made while the physics runs, so all that may come lie outside from the start.
"""

from collections.abc import Collection

import numpy as np

from behavior_sim.worlds.config import SpawnerConfig, brought
from behavior_sim.worlds.layouts import Pose, draw_yaw, pose_of
from behavior_sim.worlds.world import InvalidDisturbance, World

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
        self.resume(seed, [])

    def resume(self, seed: int, present: Collection[str]) -> None:
        """Go on as if these had come and no others; the next is what the seed has after so many."""
        self._rng = np.random.default_rng([seed, 2])
        self._to_come = [name for name in self._names if name not in present]
        self._come = [name for name in self._names if name in present]
        # Whichever is still in the region counts as the last.
        self._come.sort(key=self._is_there)
        for _ in range(self.count + 1):
            self._next = self._draw()

    @property
    def count(self) -> int:
        """Objects that have come."""
        return len(self._come)

    @property
    def exhausted(self) -> bool:
        """Whether all have come."""
        return not self._to_come

    def step(self) -> None:
        """Bring the next one, if it is due and its place is free."""
        if self.exhausted or (self._come and self._is_there(self._come[-1])):
            return
        try:
            velocity = np.array(self._config.velocity, dtype=np.float64)
            self._world.bring(self._to_come[0], self._next, velocity)
        except InvalidDisturbance:
            return  # Something lies where it comes: it waits.
        self._come.append(self._to_come.pop(0))
        self._next = self._draw()

    def _is_there(self, name: str) -> bool:
        """Whether one that has come is still in the region."""
        place = self._world.object_pose(name)[:2, 3]
        return bool(((place > self._low) & (place < self._high)).all())

    def _draw(self) -> Pose:
        """Where and how the next one comes."""
        config, rng = self._config, self._rng
        shift = rng.uniform(-1.0, 1.0, 3) * config.jitter
        pose = pose_of(np.array(config.position) + shift, draw_yaw(config.yaw, rng))
        if rng.random() < config.upside_down:
            pose[:3, :3] = pose[:3, :3] @ _UPSIDE_DOWN
        return pose
