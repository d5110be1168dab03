# SPDX-License-Identifier: Apache-2.0
"""The mission `open_door`: a door with a lever is opened and stays open."""

from __future__ import annotations

import math

import numpy as np

from behavior_sim.judging import (
    Disturbance,
    Mission,
    Objects,
    Situation,
    Verdict,
)
from behavior_sim.moments import Moment

PANEL, POST = "door_panel", "door_hinge_post"
HINGE = "door_hinge"
"""The knuckle, which the shut leaf hides: it stands out where the leaf opens to."""
OPEN = 0.7
"""[rad] from which on the door counts as open; the mission itself wants a little more."""
AT_REST = 0.02
"""[m/s] of the panel's middle."""
SHUT = np.array([-10.0, 0.0, 0.0])
"""[N s] that shut the door from any angle: it opens away from the robot."""


def angle(objects: Objects) -> float:
    """How far the door is open [rad]."""
    panel, post = objects[PANEL], objects[POST]
    # The shut panel runs along -y from the hinge, which lies between post and panel.
    hinge = post.position[:2] - [0.0, 0.5 * post.size[0] + 0.004]
    x, y = panel.position[:2] - hinge
    return math.atan2(float(x), float(-y))


def summary(objects: Objects) -> str:
    """The door in one line, e.g. `door 32 degrees open`."""
    if PANEL not in objects or POST not in objects:
        return "no door"
    return f"door {math.degrees(angle(objects)):.0f} degrees open"


def judge(objects: Objects) -> Verdict:
    """Whether the door is open, and stays so."""
    missing = [name for name in (PANEL, POST) if name not in objects]
    if missing:
        return Verdict(False, f"{missing[0]} is not in the world")
    opened = angle(objects)
    words = f"the door is {math.degrees(opened):.0f} degrees open"
    if opened < OPEN:
        return Verdict(False, f"{words}, not {math.degrees(OPEN):.0f}")
    if objects[PANEL].speed > AT_REST:
        return Verdict(False, "the door still moves")
    return Verdict(True, words)


class OpenDoorDisturbances:
    """Pushes the door shut once, when the hand has let go of it or is about to.

    When exactly is drawn from the seed; so is whether it is shoved before that, while it is held.
    """

    def __init__(self, seed: int) -> None:
        """Draw the moments."""
        random = np.random.default_rng([seed, 1])
        self._shut = Moment(nth=1, delay=float(random.uniform(0.1, 2.2)))
        self._released = False
        self._shove = Moment(nth=1, delay=float(random.uniform(0.0, 0.8)))
        self._shove.done = bool(random.random() < 0.5)

    def due(self, situation: Situation) -> Disturbance | None:
        """See `DisturbancePlan`."""
        opened = angle(situation.objects)
        moving = situation.skill == "screw" and opened > 0.15
        if self._shove.reached(moving and not self._shut.done, situation.time):
            cause = f"shoved the door at {math.degrees(opened):.0f} degrees while it was held"
            return Disturbance(kind="push", object=PANEL, impulse=SHUT / 3, cause=cause)
        # From the moment on in which the gripper opens.
        opens = self._released or situation.skill == "movegripper"
        self._released = opens and opened > OPEN
        if self._shut.reached(self._released, situation.time):
            cause = f"pushed the door shut from {math.degrees(opened):.0f} degrees"
            return Disturbance(kind="push", object=PANEL, impulse=SHUT, cause=cause)
        return None

    def pending(self) -> list[str]:
        """See `DisturbancePlan`."""
        moments = {"shove while held": self._shove, "push shut": self._shut}
        return [what for what, moment in moments.items() if not moment.done]


MISSION = Mission(
    name="open_door",
    world="door",
    layout="default",
    time_limit=240.0,
    judge=judge,
    summary=summary,
    disturbances=OpenDoorDisturbances,
    is_around=lambda item: item.name != HINGE,
)
