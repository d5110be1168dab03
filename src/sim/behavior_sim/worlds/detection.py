# SPDX-License-Identifier: Apache-2.0
"""What a camera with a detector would report of a world, with all that real ones do wrong.

The defaults are those of a good depth camera and a good detector about a metre away: not perfect.
The same seed and the same world give the same faults.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from behavior_sim.worlds.layouts import Pose

DOUBLE_OFFSET = 0.01
"""[m] standard deviation of a second report's place, beside the noise of the first."""


@dataclass(frozen=True, kw_only=True)
class DetectorConfig:
    """How good the detector is."""

    position_noise: float = 0.002
    """Standard deviation of each coordinate of what is seen whole; of what is half hidden twice as
    much, and so on [m]."""
    orientation_noise: float = 0.02
    """Standard deviation of the rotation about each axis [rad]."""
    dropout: float = 0.05
    """Probability that an object in the field goes unreported."""
    latency: float = 0.1
    """From picture to report [s]."""
    minimum_visible: float = 0.25
    """What shows less than this part of itself to the cameras, because something stands before it,
    goes unreported; 0: all is seen through everything."""
    confusion: float = 0.005
    """Probability that an object reported is called by the name of another class."""
    doubles: float = 0.02
    """Probability that an object is reported a second time, about a centimetre beside."""


@dataclass(frozen=True)
class Detection:
    """One object reported."""

    name: str
    """What it really is."""
    class_id: str
    """What it is taken for."""
    pose: Pose
    """world_T_object (4, 4)."""
    score: float
    """0..1"""
    deviation: float
    """Standard deviation of each coordinate [m]."""


@dataclass(frozen=True)
class DetectionFrame:
    """Everything reported of one picture."""

    time: float
    """When the picture was taken [s]."""
    detections: tuple[Detection, ...]


@dataclass(frozen=True)
class _Draw:
    """All that is random about one object in one picture."""

    shift: NDArray[np.float64]
    turn: NDArray[np.float64]
    beside: NDArray[np.float64]
    lost: float
    confused: float
    doubled: float
    score: float
    other: float

    @classmethod
    def of(cls, rng: np.random.Generator) -> "_Draw":
        normal, uniform = rng.normal(size=(3, 3)), rng.random(5)
        score = 0.9 + 0.09 * float(uniform[3])
        lost, confused, doubled, _, other = (float(value) for value in uniform)
        return cls(normal[0], normal[1], normal[2], lost, confused, doubled, score, other)


class Detector:
    """Turns true poses into reports.

    Args:
        field: intervals of x, y and z [m] in which an object's centre is seen.
        config: noise, gaps, delay and errors; may be exchanged at any time.
        seed: of everything random in it.
        classes: class of each object; of those that are not named, their names.
    """

    def __init__(
        self,
        field: Mapping[str, tuple[float, ...]],
        config: DetectorConfig,
        seed: int = 0,
        classes: Mapping[str, str] | None = None,
    ) -> None:
        self._field = [(float(field[axis][0]), float(field[axis][1])) for axis in "xyz"]
        self.config = config
        self._classes = dict(classes or {})
        self._known = sorted(set(self._classes.values()))
        self._pending: deque[DetectionFrame] = deque()
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Start the noise anew and forget what is under way."""
        self._rng = np.random.default_rng([seed, 1])
        self._pending.clear()

    def sees(self, position: NDArray[np.float64]) -> bool:
        """Whether an object's centre [m] lies in the field."""
        rows = zip(self._field, position.tolist(), strict=True)
        return all(low <= at <= high for (low, high), at in rows)

    def capture(
        self, t: float, poses: Mapping[str, Pose], visible: Mapping[str, float] | None = None
    ) -> None:
        """Take a picture.

        Args:
            t: now [s].
            poses: world_T_object (4, 4) of everything.
            visible: part of each thing that nothing hides, 0..1; of those not named: all.
        """
        seen: list[tuple[str, Pose, float, _Draw]] = []
        for name, pose in poses.items():
            # Drawn in any case, so that one object's absence leaves the others' noise alone.
            draw, part = _Draw.of(self._rng), (visible or {}).get(name, 1.0)
            hidden = part < self.config.minimum_visible
            if not (hidden or draw.lost < self.config.dropout) and self.sees(pose[:3, 3]):
                seen.append((name, pose, max(part, 0.1), draw))
        turns = np.array([draw.turn for *_, draw in seen]).reshape(-1, 3)
        rotations = Rotation.from_rotvec(self.config.orientation_noise * turns).as_matrix()
        reports = [self._reports(*each, turn) for each, turn in zip(seen, rotations, strict=True)]
        self._pending.append(DetectionFrame(t, tuple(chain.from_iterable(reports))))

    def _reports(
        self, name: str, pose: Pose, seen: float, draw: _Draw, turn: NDArray[np.float64]
    ) -> list[Detection]:
        """The report of an object of which a part is seen, and the second one if it is doubled."""
        config = self.config
        deviation = config.position_noise / seen
        noisy = np.eye(4)
        noisy[:3, 3] = pose[:3, 3] + deviation * draw.shift
        noisy[:3, :3] = turn @ pose[:3, :3]
        first = Detection(name, self._called(name, draw), noisy, draw.score, deviation)
        if draw.doubled >= config.doubles:
            return [first]
        beside = noisy.copy()
        beside[:3, 3] += DOUBLE_OFFSET * draw.beside
        return [first, Detection(name, first.class_id, beside, 0.8 * draw.score, deviation)]

    def _called(self, name: str, draw: _Draw) -> str:
        """The class that an object is taken for."""
        class_id = self._classes.get(name, name)
        others = [other for other in self._known if other != class_id]
        if not others or draw.confused >= self.config.confusion:
            return class_id
        return others[int(draw.other * len(others))]

    def due(self, t: float) -> list[DetectionFrame]:
        """The reports that have arrived by `t` [s], each returned once."""
        arrived = []
        while self._pending and self._pending[0].time + self.config.latency <= t + 1e-9:
            arrived.append(self._pending.popleft())
        return arrived
