# SPDX-License-Identifier: Apache-2.0
"""The words that descriptions of missions are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

ROBOT = "robot"
"""A robot that drives is one of the true objects, by this name: its base, on the floor."""


@dataclass(frozen=True, kw_only=True)
class WorldObject:
    """One object, as the simulation knows it or as the scene believes it to be."""

    name: str
    position: Vector
    """[m] of the centre in the world frame, shape (3,)."""
    speed: float = 0.0
    """[m/s]."""
    held: bool = False
    """In the gripper."""
    class_id: str = ""
    """What a detector calls it; several objects may be of one class."""
    size: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """[m] edges of the box around it."""
    rotation: Vector = field(default_factory=lambda: np.eye(3))
    """Its axes in the world frame, shape (3, 3)."""


Objects = Mapping[str, WorldObject]


@dataclass(frozen=True)
class Verdict:
    """Whether the job is done, and why not."""

    success: bool
    reason: str


@dataclass(frozen=True, kw_only=True)
class Disturbance:
    """One intervention, as a person or an accident would do it."""

    kind: Literal["move", "release", "take_away", "push", "fail", "mend"]
    """`move` and `release`, out of the gripper, put the object to `position`; `take_away` out of
    reach and sight. `fail` and `mend`: a part of the cell, such as `pump`, fails or works again."""
    object: str
    """Its name, or that of the part."""
    position: Vector = field(default_factory=lambda: np.zeros(3))
    """[m] of the centre in the world frame, shape (3,)."""
    yaw: float = 0.0
    """[rad] about z."""
    tilt: float = 0.0
    """[rad] about its own x, before the yaw: pi puts it upside down."""
    impulse: Vector = field(default_factory=lambda: np.zeros(3))
    """[N s] in the world frame, for `push`."""
    cause: str
    """Plain words."""


@dataclass(frozen=True, kw_only=True)
class Situation:
    """What a plan of disturbances sees."""

    time: float
    """[s] of simulated time."""
    skill: str
    """Running skill in lower case, empty when none."""
    phase: str
    objects: Objects
    """Ground truth."""


class DisturbancePlan(Protocol):
    """Decides when to disturb a mission. One plan serves one episode."""

    def due(self, situation: Situation) -> Disturbance | None:
        """What to do now, None for nothing; every disturbance is handed out once."""

    def pending(self) -> list[str]:
        """What has not happened yet, in plain words."""


class Undisturbed:
    """The plan of a mission that nobody disturbs."""

    def __init__(self, seed: int) -> None:
        """Whatever the seed."""

    def due(self, situation: Situation) -> Disturbance | None:
        """Nothing."""
        return None

    def pending(self) -> list[str]:
        """Nothing."""
        return []


@dataclass(frozen=True, kw_only=True)
class Part:
    """One of many like things that a mission does, such as to place a bin."""

    kind: str
    """What is told of together."""
    success: bool
    reason: str
    seconds: float
    """Simulated time that it took."""


class Recorder(Protocol):
    """Watches a mission and finds its parts. One recorder serves one episode."""

    def see(self, situation: Situation) -> None:
        """Take in what there is now."""

    def parts(self) -> Sequence[Part]:
        """What was done or failed so far, the world being at rest."""


class NoRecorder:
    """The recorder of a mission that has no parts."""

    def see(self, situation: Situation) -> None:
        """Nothing to see."""

    def parts(self) -> Sequence[Part]:
        """None."""
        return ()


Setting = bool | int | float | str
"""What an option can be."""


@dataclass(frozen=True, kw_only=True)
class JobOption:
    """An option of `behavior demo NAME` and `behavior evaluate NAME` that a job brings along."""

    name: str
    """As in `--name`."""
    default: Setting
    """Says its type, too; False: an option without a value."""
    about: str


@dataclass(frozen=True, kw_only=True)
class Mission:
    """How a mission is set up, judged, disturbed and told."""

    name: str
    world: str
    layout: str
    """Start state of the world."""
    time_limit: float
    """[s] of simulated time for one episode."""
    judge: Callable[[Objects], Verdict]
    """Verdict from the ground truth."""
    summary: Callable[[Objects], str]
    """The state of the job in one line."""
    disturbances: Callable[[int], DisturbancePlan]
    """Plan of disturbances for a seed."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Given to the mission."""
    arrangement: Callable[[int], Sequence[Disturbance]] = lambda seed: ()
    """What is put elsewhere before it begins, for a seed."""
    is_around: Callable[[WorldObject], bool] = lambda item: True
    """Whether an object of the world can be seen by the robot at the start."""
    recorder: Callable[[], Recorder] = NoRecorder
    parts_wanted: int = 0
    """Parts after which an evaluation ends, however many episodes they take; 0: by episodes."""
    options: Sequence[JobOption] = ()
    configure: Callable[[Mapping[str, Setting], bool], Mission] | None = None
    """The mission for values of its options, for an evaluation if the second argument is true.

    Raises:
        ValueError: a value cannot be; the message says what can.
    """
