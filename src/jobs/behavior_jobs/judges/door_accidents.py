# SPDX-License-Identifier: Apache-2.0
"""What goes wrong at a door that a robot goes through: the hand slips off the lever, the lever does
not draw the latch, somebody pushes the door back, somebody shoves the robot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from behavior_sim.judging import (
    ROBOT,
    Disturbance,
    JobOption,
    Objects,
    Setting,
    Situation,
    Vector,
)
from behavior_sim.moments import Moment


@dataclass(frozen=True)
class Door:
    """Names of a door's objects."""

    name: str = "door"
    """Of the door in its world."""

    @property
    def panel(self) -> str:
        """Its leaf."""
        return f"{self.name}_panel"

    @property
    def lever(self) -> str:
        """Its lever."""
        return f"{self.name}_lever"

    @property
    def post(self) -> str:
        """The post that bears its hinges."""
        return f"{self.name}_hinge_post"

    @property
    def latch(self) -> str:
        """The part that fails when the lever does not draw the bolt."""
        return f"{self.name}_latch"


DOOR = Door()
PANEL, LEVER, POST, LATCH = DOOR.panel, DOOR.lever, DOOR.post, DOOR.latch
SLIP, LATCHED, PUSHED, SHOVED = ACCIDENTS = ("slip", "latch", "push", "shove")
"""Names of the accidents."""
NEAR = 0.9
"""[m] of the robot's middle from the door's plane: it is at the door."""
ACCIDENT = JobOption(
    name="accident",
    default="",
    about=f"that every --disturb brings: {', '.join(ACCIDENTS)} (drawn from the seed)",
)
"""Which of them an episode gets."""


def accident_of(values: Mapping[str, Setting]) -> str:
    """The accident among the values of a mission's options; empty: it is drawn.

    Raises:
        ValueError: there is none of that name.
    """
    accident = str(values[ACCIDENT.name])
    if accident not in ("", *ACCIDENTS):
        raise ValueError(f"--accident is {accident}: give one of {', '.join(ACCIDENTS)}")
    return accident


def angle(objects: Objects, door: Door = DOOR) -> float:
    """How far the door is open, whichever way it opens [rad]."""
    turn = objects[door.post].rotation.T @ objects[door.panel].rotation
    return abs(math.atan2(float(turn[1, 0]), float(turn[0, 0])))


def aside(objects: Objects, place: Vector, door: Door = DOOR) -> float:
    """How far a place is from the plane of the shut door, along the hinge post's y axis [m]."""
    post = objects[door.post]
    return float(post.rotation[:2, 1] @ (place - post.position)[:2])


def lever_angle(objects: Objects, door: Door = DOOR) -> float:
    """How far the lever is turned, whichever way [rad]."""
    turn = objects[door.panel].rotation.T @ objects[door.lever].rotation
    return math.acos(min(1.0, max(-1.0, 0.5 * (float(np.trace(turn)) - 1.0))))


def _shutting(objects: Objects, door: Door) -> Vector:
    """Direction in which the middle of the leaf goes when the door is shut, in the world."""
    ajar = aside(objects, objects[door.panel].position, door)
    return -math.copysign(1.0, ajar) * objects[door.panel].rotation[:, 1]


def _hand(objects: Objects, door: Door) -> str:
    """Group that turns the lever: the left arm where the hinges are on the robot's right."""
    return "left_arm" if aside(objects, objects[ROBOT].position, door) >= 0.0 else "right_arm"


class DoorAccidents:
    """One accident in an episode, at a moment and of a size that are drawn from the seed.

    What fails works again after a while: fingers after 1 to 3 s, the latch once the lever has been
    turned in vain.
    """

    def __init__(self, seed: int, accident: str = "", doors: Sequence[Door] = (DOOR,)) -> None:
        """Draw them.

        Args:
            seed: of the episode.
            accident: one of `ACCIDENTS`; empty: which, is drawn too.
            doors: one of these is the one where it happens.
        """
        draw = np.random.default_rng([seed, 6])
        self.accident = accident or ACCIDENTS[int(draw.integers(len(ACCIDENTS)))]
        self._mends = Moment(nth=1, delay=float(draw.uniform(1.0, 3.0)))
        self._direction = float(draw.uniform(-math.pi, math.pi))
        self._strength = float(draw.uniform(0.0, 1.0))
        self.door = doors[0]
        """Where it happens."""
        occasions: dict[str, list[tuple[Callable[[Objects, Door], bool], float]]] = {
            SLIP: [(_turning, 0.4)],
            LATCHED: [(lambda objects, door: True, 0.0)],
            PUSHED: [(_let_go, 5.0)],
            SHOVED: [(_near, 1.5), (_turning, 0.5), (_let_go, 5.0)],
        }
        choices = occasions[self.accident]
        self._occasion, longest = choices[int(draw.integers(len(choices)))]
        self._moment = Moment(nth=1, delay=float(draw.uniform(0.0, longest)))
        if len(doors) > 1:
            self.door = doors[int(draw.integers(len(doors)))]
        self._failed, self._tried = "", False

    def due(self, situation: Situation) -> Disturbance | None:
        """See `DisturbancePlan`."""
        objects = situation.objects
        if self._failed:
            return self._mended(objects, situation.time)
        if not self._moment.reached(self._occasion(objects, self.door), situation.time):
            return None
        if self.accident == PUSHED:
            impulse = (12.0 + 8.0 * self._strength) * _shutting(objects, self.door)
            opened = math.degrees(angle(objects, self.door))
            cause = f"pushed the door back from {opened:.0f} degrees"
            return Disturbance(kind="push", object=self.door.panel, impulse=impulse, cause=cause)
        if self.accident == SHOVED:
            way = np.array([math.cos(self._direction), math.sin(self._direction), 0.0])
            strength = 40.0 + 30.0 * self._strength
            cause = f"shoved the robot by {strength:.0f} N s"
            return Disturbance(kind="push", object=ROBOT, impulse=strength * way, cause=cause)
        slip = self.accident == SLIP
        self._failed = f"{_hand(objects, self.door)}_grip" if slip else self.door.latch
        cause = "the lever slipped out of the hand" if slip else "the lever does not draw the latch"
        return Disturbance(kind="fail", object=self._failed, cause=cause)

    def _mended(self, objects: Objects, now: float) -> Disturbance | None:
        turned = lever_angle(objects, self.door)
        self._tried = self._tried or self.accident == SLIP or turned > 0.4
        over = self._tried and (self.accident == SLIP or turned < 0.1)
        if not self._mends.reached(over, now):
            return None
        return Disturbance(kind="mend", object=self._failed, cause=f"{self._failed} works again")

    def pending(self) -> list[str]:
        """See `DisturbancePlan`."""
        return [] if self._moment.done else [self.accident]


def _turning(objects: Objects, door: Door) -> bool:
    return lever_angle(objects, door) > 0.15 and angle(objects, door) < 0.2


def _let_go(objects: Objects, door: Door) -> bool:
    return angle(objects, door) > 0.2 and lever_angle(objects, door) < 0.1


def _near(objects: Objects, door: Door) -> bool:
    return abs(aside(objects, objects[ROBOT].position, door)) < NEAR
