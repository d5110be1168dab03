# SPDX-License-Identifier: Apache-2.0
"""The truth: walls, obstacles, people and the robot, stepped at a fixed rate."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from behavior_motion.planar_pose import Pose2D
from behavior_sim.control.differential_drive import DifferentialDrive
from behavior_sim.navigation.config import Box, NavigationConfig
from behavior_sim.navigation.grid import Grid
from behavior_sim.navigation.people import RADIUS, Person
from behavior_sim.navigation.state import NavigationState

BEAMS = 180
"""Of the laser scanner, all round."""
REACH = 8.0
"""[m] of the laser scanner."""
_RANGE_NOISE = 0.01
"""[m] standard deviation."""
_MOVING = 0.05
"""[m/s] above which the robot counts as moving."""


class UnknownName(ValueError):
    """Nothing has that name; the message lists what there is."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What the laser scanner saw, relative to the robot."""

    angles: NDArray[np.float64]
    """[rad]"""
    ranges: NDArray[np.float64]
    """[m]; `REACH` where nothing was hit."""


class NavigationWorld:
    """Everything that is really there.

    Args:
        config: the world.
        seed: of slip and noise.
    """

    def __init__(self, config: NavigationConfig, seed: int = 0) -> None:
        self.config = config
        self._random = np.random.default_rng([seed, 1])
        self.walls = Grid.empty((0.0, 0.0, *config.size), config.resolution)
        for box in config.walls.values():
            self.walls.fill(box)
        self.obstacles: dict[str, Box] = {}
        self.solid = self.walls
        """Walls and obstacles."""
        self.frames = {name: Pose2D(*pose) for name, pose in config.frames.items()}
        self.people = {
            name: Person(
                name, Pose2D(*person.route[0]), person.speed, person.yields, list(person.route)
            )
            for name, person in config.people.items()
        }
        robot = config.robot
        x, y, yaw = config.start.pose
        self.base = DifferentialDrive(
            max_linear=robot.max_linear,
            max_angular=robot.max_angular,
            linear_acceleration=robot.linear_acceleration,
            angular_acceleration=robot.angular_acceleration,
            command_timeout=robot.command_timeout,
            x=x,
            y=y,
            yaw=yaw,
        )
        self.time = 0.0
        """[s]"""
        self.odometry = Pose2D()
        """The base as its wheels tell, in the frame `odom`."""
        self.distance = 0.0
        """[m] really driven."""
        self.collisions = 0
        """Times that the moving robot ran into something."""
        self.touches = 0
        """Times that somebody ran into the standing robot."""
        self._in_contact = False
        self._angles = np.linspace(-math.pi, math.pi, BEAMS, endpoint=False)

    @property
    def robot(self) -> Pose2D:
        """The robot's true pose."""
        return Pose2D(self.base.x, self.base.y, self.base.yaw)

    @property
    def in_contact(self) -> bool:
        """Whether the robot touches something, or has not backed off from it yet."""
        return self._in_contact

    def step(self, dt: float) -> None:
        """Let `dt` [s] pass."""
        self.time += dt
        before = self.robot
        self.base.step(self.time, dt)
        moving = abs(self.base.linear) > _MOVING
        contact = self._runs_into(before, self.robot)
        if contact:
            self.base.x, self.base.y = before.x, before.y
            self.base.linear = 0.0
        self._measure(before)
        for person in self.people.values():
            person.step(dt, self.solid, self.robot, self.config.robot.radius)
        contact = contact or self._touches_person(self.robot) or self._still_in_contact()
        if contact and not self._in_contact:
            self.collisions += moving
            self.touches += not moving
        self._in_contact = contact

    def scan(self) -> Scan:
        """What the laser scanner sees now."""
        robot = self.robot
        ranges = self.solid.beams(robot, self._angles, REACH)
        for person in self.people.values():
            ranges = np.minimum(ranges, self._disc(person.pose, robot))
        hit = ranges < REACH
        noise = _RANGE_NOISE * self._random.standard_normal(len(ranges))
        return Scan(self._angles, np.where(hit, np.maximum(ranges + noise, 0.05), REACH))

    def block(self, name: str, pose: Pose2D, size: tuple[float, float]) -> None:
        """Put an obstacle with edges along x and y, turned by the nearest quarter, somewhere.

        Raises:
            ValueError: it has no size.
        """
        if not (0.0 < size[0] < 100.0 and 0.0 < size[1] < 100.0):
            raise ValueError(f"an obstacle of {size[0]:g} m by {size[1]:g} m: give its edges in m")
        quarter = round(pose.yaw / (math.pi / 2)) % 2
        x, y = size if quarter == 0 else (size[1], size[0])
        self.obstacles[name] = (pose.x - x / 2, pose.y - y / 2, pose.x + x / 2, pose.y + y / 2)
        self._rebuild()

    def unblock(self, name: str = "") -> None:
        """Take an obstacle away; all when no name is given.

        Raises:
            UnknownName: there is none of that name.
        """
        if name and name not in self.obstacles:
            raise unknown("obstacle", name, self.obstacles)
        self.obstacles = {} if not name else {k: v for k, v in self.obstacles.items() if k != name}
        self._rebuild()

    def add_person(self, name: str, pose: Pose2D, speed: float) -> None:
        """Somebody appears and walks straight on, turning round at walls."""
        self.people[name] = Person(name, pose, speed)

    def remove_person(self, name: str) -> None:
        """Somebody goes.

        Raises:
            UnknownName: there is nobody of that name.
        """
        if name not in self.people:
            raise unknown("person", name, self.people)
        del self.people[name]

    def move_frame(self, name: str, pose: Pose2D) -> None:
        """Put a frame elsewhere.

        Raises:
            UnknownName: there is none of that name.
        """
        if name not in self.frames:
            raise unknown("frame", name, self.frames)
        self.frames[name] = pose

    def put(self, state: NavigationState) -> None:
        """Take a state that was observed elsewhere.

        Raises:
            UnknownName: it has a frame that this world has not.
        """
        for name, pose in state.frames.items():
            self.move_frame(name, Pose2D(*pose))
        self.base.x, self.base.y, self.base.yaw = state.robot
        self.obstacles.update(state.obstacles)
        self._rebuild()

    def _rebuild(self) -> None:
        self.solid = Grid(self.walls.occupied.copy(), self.walls.resolution)
        for box in self.obstacles.values():
            self.solid.fill(box)

    def _runs_into(self, before: Pose2D, after: Pose2D) -> bool:
        """Whether a movement ends in something solid; a way out of it is always free."""
        places = np.array([[before.x, before.y], [after.x, after.y]])
        was, gap = self.solid.clearance_at(places)
        # Clearances are to the centres of cells: half a cell belongs to the obstacle.
        radius = self.config.robot.radius + 0.5 * self.solid.resolution
        return bool(gap < radius and gap < was)

    def _still_in_contact(self) -> bool:
        """Whether the robot has not yet backed off from what it ran into."""
        apart = self.config.robot.radius + 1.5 * self.solid.resolution
        return self._in_contact and not self.solid.is_free(self.base.x, self.base.y, apart)

    def _touches_person(self, robot: Pose2D) -> bool:
        reach = self.config.robot.radius + RADIUS
        return any(p.pose.distance_to(robot.x, robot.y) < reach for p in self.people.values())

    def _measure(self, before: Pose2D) -> None:
        """Advance the odometry by what the wheels tell of a movement."""
        moved = before.inverse() @ self.robot
        way = math.hypot(moved.x, moved.y)
        self.distance += way
        noise = self._random.standard_normal(2) * math.sqrt(way)
        robot = self.config.robot
        slip = 1.0 + (float(robot.distance_noise * noise[0] / way) if way > 1e-9 else 0.0)
        turn = moved.yaw + float(robot.heading_noise * noise[1])
        self.odometry = self.odometry @ Pose2D(slip * moved.x, slip * moved.y, turn)

    def _disc(self, person: Pose2D, robot: Pose2D) -> NDArray[np.float64]:
        """How far each beam goes until it meets a person [m]."""
        local = robot.inverse() @ person
        along = local.x * np.cos(self._angles) + local.y * np.sin(self._angles)
        beside = local.x * np.sin(self._angles) - local.y * np.cos(self._angles)
        half = np.sqrt(np.maximum(RADIUS**2 - beside**2, 0.0))
        meets = (np.abs(beside) < RADIUS) & (along > 0.0)
        return np.where(meets, np.maximum(along - half, 0.05), REACH)


def unknown(kind: str, name: str, known: object) -> UnknownName:
    """The error for a name that nothing has."""
    listed = ", ".join(sorted(known)) or "none"  # type: ignore[call-overload]
    return UnknownName(f"there is no {kind} '{name}': choose among {listed}")
