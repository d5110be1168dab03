# SPDX-License-Identifier: Apache-2.0
"""The tour: five goals on two tiles, and what happens on the way.

Each cue waits for its occasion, one after the other, and then intervenes. What it waits for is the
truth of the simulation and the state of the mission.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from behavior_motion.planar_pose import Pose2D
from behavior_sim.navigation.recording import FrameMoved, Moment, Obstacle

Kind = Literal[
    "pause",
    "resume",
    "block",
    "unblock",
    "lose_localization",
    "move_frame",
    "add_person",
]


@dataclass(frozen=True, kw_only=True)
class Action:
    """One intervention."""

    kind: Kind
    name: str = ""
    """Of the obstacle, frame or person."""
    pose: Pose2D = field(default_factory=Pose2D)
    """[m, rad] in the map."""
    size: tuple[float, float] = (0.0, 0.0)
    """[m] of an obstacle."""
    duration: float = 0.0
    """[s]"""
    speed: float = 0.0
    """[m/s] of a person."""
    text: str
    """What happened, in a few words."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What a cue sees."""

    now: Moment
    state: str
    """Of the mission."""
    since: float
    """[s] since the cue before, or since the beginning."""


@dataclass(frozen=True)
class Cue:
    """An intervention and its occasion."""

    name: str
    when: Callable[[Situation], bool]
    actions: tuple[Action, ...]


def near(x: float, y: float, within: float = 0.6) -> Callable[[Situation], bool]:
    """Whether the robot is close to a point [m]."""
    return lambda seen: seen.now.robot.distance_to(x, y) < within


def beyond(
    *, x: float = -math.inf, y: float = -math.inf, y_below: float = math.inf
) -> Callable[[Situation], bool]:
    """Whether the robot has passed lines along the axes [m]."""

    def passed(seen: Situation) -> bool:
        robot = seen.now.robot
        return robot.x > x and y < robot.y < y_below

    return passed


CRATE = Action(
    kind="block",
    name="crate",
    pose=Pose2D(15.0, 6.7),
    size=(4.0, 0.6),
    text="a crate is put across the aisle",
)
CART = Pose2D(25.5, 3.2, -math.pi / 2)
"""Where the cart is moved to."""

CUES: tuple[Cue, ...] = (
    Cue(
        "pause",
        lambda seen: seen.state == "running" and beyond(y=4.5)(seen),
        (Action(kind="pause", text="the operator pauses the mission"),),
    ),
    Cue(
        "resume",
        lambda seen: seen.state == "paused" and seen.since > 4.0,
        (Action(kind="resume", text="the operator has it go on"),),
    ),
    Cue("block", near(8.5, 10.5), (CRATE,)),
    Cue(
        "courier",
        lambda seen: seen.now.robot.x < 6.0,
        (
            Action(
                kind="add_person",
                name="courier",
                pose=Pose2D(2.7, 1.0, math.pi / 2),
                speed=0.7,
                text="a courier comes along the aisle",
            ),
        ),
    ),
    Cue(
        "unblock",
        near(10.0, 1.5),
        (Action(kind="unblock", name="crate", text="the crate is taken away"),),
    ),
    Cue(
        "lose",
        beyond(x=12.8, y_below=3.0),
        (Action(kind="lose_localization", duration=3.0, text="the localizer loses the robot"),),
    ),
    Cue(
        "cart",
        beyond(x=21.0),
        (
            Action(
                kind="move_frame",
                name="cart",
                pose=CART,
                text="the cart, and the goal at it, is moved",
            ),
        ),
    ),
)


def marks_of(action: Action, time: float, before: Pose2D) -> Obstacle | FrameMoved | None:
    """What an intervention leaves on the map.

    Args:
        action: the intervention.
        time: of it [s].
        before: where the frame was that is moved.
    """
    if action.kind == "block":
        (x, y), (width, height) = action.pose.position, action.size
        box = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
        return Obstacle(time, tuple(map(float, box)))  # type: ignore[arg-type]
    if action.kind == "move_frame":
        return FrameMoved(time, action.name, before, action.pose)
    return None


class Director:
    """Hands out the interventions in their order, each when its occasion has come."""

    def __init__(self, cues: Sequence[Cue]) -> None:
        self._cues = list(cues)
        self._last = math.nan

    def due(self, now: Moment, state: str) -> Cue | None:
        """The next cue, if it is time."""
        if not self._cues:
            return None
        if math.isnan(self._last):
            self._last = now.time
        since = now.time - self._last
        if not self._cues[0].when(Situation(now, state, since)):
            return None
        self._last = now.time
        return self._cues.pop(0)

    @property
    def waiting(self) -> list[str]:
        """Names of the cues that found no occasion yet."""
        return [cue.name for cue in self._cues]
