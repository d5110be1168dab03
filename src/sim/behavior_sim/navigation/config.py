# SPDX-License-Identifier: Apache-2.0
"""The description of a navigation world, read from YAML (see ``config/navigation/worlds``).

Lengths in metres, angles in radians, everything in the frame ``map``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PositiveFloat,
    ValidationError,
    model_validator,
)

from behavior_motion.robot.yaml_lines import with_lines
from behavior_packages.bounded_yaml import read_yaml
from behavior_packages.validation import faults
from behavior_sim.worlds.reading import WorldError

Box = tuple[float, float, float, float]
"""[m] x from, y from, x to, y to."""
Place = tuple[float, float]
"""[m]"""
RegionType = Literal[
    "navigable", "roi_obstacle", "restricted", "speed_zone", "stairs", "entrance", "dock"
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class StartConfig(_Strict):
    """Where the robot begins, and which tile is loaded then."""

    tile: str
    pose: tuple[float, float, float]


class RegionConfig(_Strict):
    """A polygon with a meaning."""

    type: RegionType
    polygon: list[Place] = Field(min_length=3)
    speed_limit: float = Field(default=0.0, ge=0.0)
    """[m/s], 0: none."""


class PersonConfig(_Strict):
    """Somebody who walks to and fro between waypoints."""

    route: list[Place] = Field(min_length=2)
    speed: float = Field(default=0.8, ge=0.0, le=3.0)
    """[m/s]"""
    yields: bool = True
    """Waits while the robot is in the way."""


class MobileRobotConfig(_Strict):
    """The base and its odometry."""

    radius: float = Field(default=0.35, gt=0.0)
    """[m] of the round footprint."""
    max_linear: float = Field(default=1.0, gt=0.0)
    """[m/s]"""
    max_angular: float = Field(default=1.6, gt=0.0)
    """[rad/s]"""
    linear_acceleration: float = Field(default=1.0, gt=0.0)
    """[m/s^2]"""
    angular_acceleration: float = Field(default=4.0, gt=0.0)
    """[rad/s^2]"""
    command_timeout: float = Field(default=0.5, gt=0.0)
    """[s] after which a velocity command counts no more."""
    distance_noise: float = Field(default=0.02, ge=0.0)
    """Slip: standard deviation of the measured way [m], per square root of metres driven."""
    heading_noise: float = Field(default=0.01, ge=0.0)
    """Slip: standard deviation of the measured heading [rad], per square root of metres."""


class NavigationConfig(_Strict):
    """A whole world. Read it with `load_navigation_world`."""

    name: str
    size: tuple[PositiveFloat, PositiveFloat]
    resolution: float = Field(default=0.1, gt=0.01, le=0.5)
    """[m] edge of a cell."""
    walls: dict[str, Box]
    tiles: dict[str, Box] = Field(min_length=1)
    start: StartConfig
    waypoints: dict[str, Place] = Field(min_length=2)
    edges: list[tuple[str, str]] = Field(min_length=1)
    regions: dict[str, RegionConfig] = {}
    frames: dict[str, tuple[float, float, float]] = {}
    people: dict[str, PersonConfig] = {}
    robot: MobileRobotConfig = MobileRobotConfig()

    @model_validator(mode="after")
    def _names_agree(self) -> NavigationConfig:
        if self.start.tile not in self.tiles:
            raise ValueError(f"start.tile '{self.start.tile}' is none of {sorted(self.tiles)}")
        for name in self.waypoints:
            if "-" in name:
                raise ValueError(f"waypoint '{name}': no '-' in a name, it joins those of an edge")
        for ends in self.edges:
            for end in ends:
                if end not in self.waypoints:
                    raise ValueError(f"edge {list(ends)}: '{end}' is no waypoint")
        for kind, boxes in (("wall", self.walls), ("tile", self.tiles)):
            for name, (left, low, right, high) in boxes.items():
                if left >= right or low >= high:
                    raise ValueError(f"{kind} '{name}' must be [x from, y from, x to, y to]")
        left, low, right, high = self.tiles[self.start.tile]
        x, y, _ = self.start.pose
        if not (left <= x <= right and low <= y <= high):
            raise ValueError(f"start.pose ({x:g}, {y:g}) lies outside of tile '{self.start.tile}'")
        return self


def edge_id(start: str, end: str) -> str:
    """Identifier of the edge between two waypoints, whichever way it is driven."""
    return "-".join(sorted((start, end)))


def load_navigation_world(file: Path) -> NavigationConfig:
    """Read and check a description.

    Raises:
        WorldError: names the file, the key, and what is wrong, one line per problem.
    """
    try:
        data = read_yaml(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise WorldError(f"{file}: cannot be read: {' '.join(str(error).split())}") from error
    try:
        return NavigationConfig.model_validate(data)
    except ValidationError as error:
        lines = "\n".join(f"{file}: {fault}" for fault in faults(error, "world"))
        raise WorldError(with_lines(lines, file)) from error
