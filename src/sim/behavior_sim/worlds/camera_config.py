# SPDX-License-Identifier: Apache-2.0
"""What a simulated camera is, and how bad its pictures are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class CameraNoise:
    """What is wrong with a camera's pictures and with what a detector makes of them."""

    depth: float = 0.0
    """Standard deviation of the depth at a distance of 1 m [m]; grows with the square of it, as
    that of stereo and structured light does."""
    depth_step: float = 0.0
    """Step between two depths that can be told apart at 1 m [m]; grows with the square too."""
    edge_dropout: float = 0.0
    """Probability that a pixel beside a jump of the depth has none (NaN)."""
    frame_dropout: float = 0.0
    """Probability that a picture is lost."""
    latency: float = 0.0
    """From the shutter to the message [s]."""
    object_dropout: float = 0.0
    """Probability that an object in the picture is not found."""
    class_confusion: float = 0.0
    """Probability that an object found is called by the name of another class."""
    score: Vector = (0.9, 0.99)
    """Interval that the confidence of what is found is drawn from."""
    minimum_pixels: int = 20
    """Objects that show fewer pixels are not found."""

    def problem(self) -> str:
        """What is wrong with the values; empty: nothing."""
        for name in ("edge_dropout", "frame_dropout", "object_dropout", "class_confusion"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                return f"{name}: {getattr(self, name)} is no probability, give 0 to 1"
        for name in ("depth", "depth_step", "latency"):
            if not 0.0 <= getattr(self, name) < np.inf:
                return f"{name}: must be 0 or more, not {getattr(self, name)}"
        if len(self.score) != 2 or not 0.0 <= self.score[0] <= self.score[1] <= 1.0:
            return f"score: give the lowest and the highest, from 0 to 1, not {self.score}"
        return ""


@dataclass(frozen=True, kw_only=True)
class CameraConfig:
    """A camera that is fixed to the world or to a link of the robot."""

    position: Vector
    """Of the lens in the parent's frame [m]."""
    target: Vector
    """Point that the camera looks at, in the parent's frame [m]."""
    fov: float
    """Vertical opening angle [rad]."""
    parent: str = "world"
    """Frame that the camera moves with: world, or a link of the robot."""
    up: Vector = (0.0, 0.0, 1.0)
    """Direction in the parent's frame that is up in the picture."""
    width: int = 320
    height: int = 240
    rate: float = 10.0
    """Pictures per simulated second [Hz]."""
    range: float = 10.0
    """Depth beyond which there is none (+inf, as REP 118 has it) [m]."""
    noise: CameraNoise = CameraNoise()

    @property
    def optical_turn(self) -> NDArray[np.float64]:
        """parent_R_optical (3, 3): z in the direction of sight, x right, y down (REP 103)."""
        z = np.subtract(self.target, self.position)
        x = np.cross(z, self.up)
        z, x = z / np.linalg.norm(z), x / np.linalg.norm(x)
        return np.column_stack([x, np.cross(z, x), z])

    @property
    def parent_T_optical(self) -> NDArray[np.float64]:
        """Pose of the optical frame in the parent's frame (4, 4)."""
        pose = np.eye(4)
        pose[:3, :3] = self.optical_turn
        pose[:3, 3] = self.position
        return pose

    @property
    def focal_length(self) -> float:
        """[px]; pixels are square."""
        return float(self.height / 2 / np.tan(self.fov / 2))

    @property
    def center(self) -> tuple[float, float]:
        """Principal point [px]; the middle of the first pixel is 0, 0."""
        return (self.width - 1) / 2, (self.height - 1) / 2

    def problem(self) -> str:
        """What is wrong with the values; empty: nothing."""
        if any(len(vector) != 3 for vector in (self.position, self.target, self.up)):
            return "position, target and up take three numbers each"
        sight = np.subtract(self.target, self.position)
        if np.linalg.norm(np.cross(sight, self.up)) < 1e-6:
            return "up: lies in the direction of sight; give another direction"
        if not 0.0 < self.fov < np.pi:
            return f"fov: {self.fov} is no opening angle, give one between 0 and pi"
        if not (8 <= self.width <= 1920 and 8 <= self.height <= 1440):
            return f"width, height: {self.width} x {self.height}; give 8 x 8 to 1920 x 1440"
        if not 0.0 < self.rate <= 100.0:
            return f"rate: {self.rate}; give more than 0 and at most 100"
        if not self.range > 0.0:
            return f"range: must be above 0, not {self.range}"
        trouble = self.noise.problem()
        return f"noise.{trouble}" if trouble else ""


def optical_frame(camera: str) -> str:
    """Name of the frame of a camera's pictures."""
    return f"{camera}_optical_frame"
