# SPDX-License-Identifier: Apache-2.0
"""The joint positions of a world over time, enough to draw it again."""

from collections import deque
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from behavior_packages.bounded_yaml import read_yaml
from behavior_sim.worlds.config import WorldConfig, parse_world

_CAPACITY = 60 * 60 * 15


class RecordingError(ValueError):
    """A file is no recording, or an empty one."""


@dataclass(frozen=True)
class Recording:
    """Positions over time, and the world they belong to."""

    times: NDArray[np.float64]
    """(k,) [s] simulated."""
    qpos: NDArray[np.float32]
    """(k, nq) MuJoCo's generalised positions."""
    world: str
    """The world's description (YAML)."""

    def config(self) -> WorldConfig:
        """The world that was recorded."""
        return parse_world(read_yaml(self.world), "recording")

    def save(self, path: str | Path) -> None:
        """Write to `path` (NumPy archive); parent folders are made."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            np.savez_compressed(file, times=self.times, qpos=self.qpos, world=np.array(self.world))

    @classmethod
    def load(cls, path: str | Path) -> "Recording":
        """Read `path`.

        Raises:
            RecordingError: the file is missing or no recording.
        """
        try:
            with np.load(path, allow_pickle=False) as archive:
                return cls(archive["times"], archive["qpos"], str(archive["world"]))
        except (OSError, KeyError, ValueError) as error:
            raise RecordingError(f"{path} is no recording: {error}") from error


class MotionRecorder:
    """Keeps the newest hour of positions.

    Args:
        config: the world.
        rate: samples per simulated second.
    """

    def __init__(self, config: WorldConfig, rate: float = 15.0) -> None:
        self._world = config.text
        self._period = 1.0 / rate
        self.clear()

    def clear(self) -> None:
        """Forget everything; the next position is recorded at once."""
        self._times: deque[float] = deque(maxlen=_CAPACITY)
        self._qpos: deque[NDArray[np.float32]] = deque(maxlen=_CAPACITY)

    def record(self, t: float, qpos: NDArray[np.float64]) -> None:
        """Take the positions at `t` [s], if it is time to."""
        if not self._times or t >= self._times[-1] + self._period - 1e-9:
            self._times.append(t)
            self._qpos.append(qpos.astype(np.float32))

    def recording(self) -> Recording:
        """What was recorded so far.

        Raises:
            RecordingError: nothing was.
        """
        if not self._times:
            raise RecordingError("nothing was recorded yet; let the simulation run first")
        return Recording(np.array(self._times), np.array(self._qpos), self._world)
