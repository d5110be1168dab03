# SPDX-License-Identifier: Apache-2.0
"""What a camera with a detector would report: objects in its field, with noise, gaps and delay."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from behavior_sim.layouts import Pose


@dataclass(frozen=True, kw_only=True)
class DetectorConfig:
    """How good the detector is."""

    position_noise: float = 0.001
    """Standard deviation of each coordinate [m]."""
    orientation_noise: float = 0.01
    """Standard deviation of the rotation about each axis [rad]."""
    dropout: float = 0.0
    """Probability that an object in the field goes unreported."""
    latency: float = 0.0
    """From picture to report [s]."""


@dataclass(frozen=True)
class Detection:
    """One object reported."""

    name: str
    pose: Pose
    """world_T_object (4, 4)."""
    score: float
    """0..1"""


@dataclass(frozen=True)
class DetectionFrame:
    """Everything reported of one picture."""

    time: float
    """When the picture was taken [s]."""
    detections: tuple[Detection, ...]


class Detector:
    """Turns true poses into reports.

    Args:
        field: intervals of x, y and z [m] in which an object's centre is seen.
        config: noise, gaps, delay; may be exchanged at any time.
        seed: of everything random in it.
    """

    def __init__(
        self, field: Mapping[str, tuple[float, ...]], config: DetectorConfig, seed: int = 0
    ) -> None:
        self._low, self._high = np.array([field[axis] for axis in "xyz"], dtype=float).T
        self.config = config
        self._pending: deque[DetectionFrame] = deque()
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Start the noise anew and forget what is under way."""
        self._rng = np.random.default_rng([seed, 1])
        self._pending.clear()

    def sees(self, position: NDArray[np.float64]) -> bool:
        """Whether an object's centre [m] lies in the field."""
        return bool((position >= self._low).all() and (position <= self._high).all())

    def capture(self, t: float, poses: Mapping[str, Pose]) -> None:
        """Take a picture at `t` [s] of things at world_T_thing (4, 4)."""
        found = []
        for name, pose in poses.items():
            # Drawn in any case, so that one object's absence leaves the others' noise alone.
            shift, turn = self._rng.normal(size=3), self._rng.normal(size=3)
            lost, score = self._rng.random(), self._rng.uniform(0.9, 0.99)
            if lost < self.config.dropout or not self.sees(pose[:3, 3]):
                continue
            noisy = np.eye(4)
            noisy[:3, 3] = pose[:3, 3] + self.config.position_noise * shift
            rotation = Rotation.from_rotvec(self.config.orientation_noise * turn)
            noisy[:3, :3] = rotation.as_matrix() @ pose[:3, :3]
            found.append(Detection(name, noisy, score))
        self._pending.append(DetectionFrame(t, tuple(found)))

    def due(self, t: float) -> list[DetectionFrame]:
        """The reports that have arrived by `t` [s], each returned once."""
        arrived = []
        while self._pending and self._pending[0].time + self.config.latency <= t + 1e-9:
            arrived.append(self._pending.popleft())
        return arrived
