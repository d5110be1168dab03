# SPDX-License-Identifier: Apache-2.0
"""The mission `sort_balls`: six balls go into the trays of their colours."""

from __future__ import annotations

import numpy as np

from behavior_executor.scene_view import SceneSnapshot, SeenObject
from behavior_jobs.sorting import SortObserver
from behavior_sim.judging import (
    Disturbance,
    Mission,
    Objects,
    Situation,
    Verdict,
    WorldObject,
)
from behavior_sim.moments import Moment, free_spot

TRAYS = {"red_ball": "red_tray", "blue_ball": "blue_tray"}
"""By class."""
AT_REST = 0.03
"""[m/s]"""
_FREE_X, _FREE_Y, _CLEARANCE = (0.34, 0.6), (-0.16, 0.16), 0.1
"""[m] where a ball that was taken away appears again."""
_OUT_OF_REACH = 1.0
"""[m] from the base."""
_AGAIN = 0.5
"""[s] between two attempts to put a ball back."""


def balls(objects: Objects) -> list[WorldObject]:
    """All balls."""
    return [item for item in objects.values() if item.class_id in TRAYS]


def in_reach(ball: WorldObject) -> bool:
    """Whether a ball is where the robot works."""
    return float(np.linalg.norm(ball.position[:2])) < _OUT_OF_REACH


def inside(ball: WorldObject, objects: Objects) -> bool:
    """Whether a ball is in the tray of its colour."""
    tray = objects.get(TRAYS[ball.class_id])
    if tray is None or ball.held:
        return False
    x, y, z = np.abs(ball.position - tray.position) - 0.5 * np.array(tray.size)
    return bool(x < 0 and y < 0 and z < 0.5 * ball.size[2])


def summary(objects: Objects) -> str:
    """How far it is, e.g. `4 of 6 sorted | red_ball in the gripper`."""
    every = balls(objects)
    done = sum(inside(ball, objects) for ball in every)
    held = [f"{ball.class_id} in the gripper" for ball in every if ball.held]
    return " | ".join([f"{done} of {len(every)} sorted", *held])


def judge(objects: Objects) -> Verdict:
    """Whether every ball rests in the tray of its colour."""
    every = balls(objects)
    if not every:
        return Verdict(False, "there are no balls in the world")
    for ball in every:
        if ball.held:
            return Verdict(False, f"{ball.name} is still in the gripper")
        if not inside(ball, objects):
            x, y, z = ball.position
            return Verdict(False, f"{ball.name} is at {x:.2f} {y:.2f} {z:.2f} m, not in its tray")
        if ball.speed > AT_REST:
            return Verdict(False, f"{ball.name} still moves")
    return Verdict(True, f"all {len(every)} balls are sorted")


class SortBallsDisturbances:
    """Takes a ball away just before it is grasped; it comes back later.

    Which pick, and how long the ball stays away, is drawn from the seed.
    """

    def __init__(self, seed: int) -> None:
        """Draw the moments."""
        self._random = np.random.default_rng([seed, 1])
        self._take = Moment(nth=int(self._random.integers(1, 7)), delay=0.0)
        self._away = float(self._random.uniform(2.0, 8.0))
        self._back_at = 0.0
        self._taken = ""
        self._tried = False
        self._returned = False

    def due(self, situation: Situation) -> Disturbance | None:
        """See `DisturbancePlan`."""
        approaching = situation.skill == "pick" and situation.phase == "approach"
        target = next_ball(situation.objects)
        if target is not None and self._take.reached(approaching, situation.time):
            self._taken, self._back_at = target, situation.time + self._away
            cause = f"took {target} away just before the grasp"
            return Disturbance(kind="take_away", object=target, cause=cause)
        return self._put_back(situation) if self._taken and not self._returned else None

    def _put_back(self, situation: Situation) -> Disturbance | None:
        """Try until the ball is there: the simulation refuses a place where the arm is."""
        if situation.time < self._back_at:
            return None
        self._back_at = situation.time + _AGAIN
        if in_reach(situation.objects[self._taken]) and self._tried:
            self._returned = True
            return None
        self._tried = True
        taken = [item.position[:2] for item in balls(situation.objects)]
        spot = free_spot(_FREE_X, _FREE_Y, taken, self._random, clearance=_CLEARANCE)
        position = np.array([spot[0], spot[1], 0.026])
        cause = f"put {self._taken} back elsewhere"
        return Disturbance(kind="move", object=self._taken, position=position, cause=cause)

    def pending(self) -> list[str]:
        """See `DisturbancePlan`."""
        waits = {"take a ball away": not self._take.done, "bring it back": not self._returned}
        return [what for what, pending in waits.items() if pending]


def next_ball(objects: Objects) -> str | None:
    """The ball that the robot fetches next, by the mission's own rule."""
    seen = {}
    for name, item in objects.items():
        x, y, z = item.position.tolist()
        if in_reach(item):
            seen[name] = SeenObject(name, x, y, z, size=item.size, class_id=item.class_id)
    waiting = SortObserver(TRAYS).update(SceneSnapshot(objects=seen), 0.0).waiting
    return waiting[0] if waiting else None


MISSION = Mission(
    name="sort_balls",
    world="sorting",
    layout="default",
    time_limit=240.0,
    judge=judge,
    summary=summary,
    disturbances=SortBallsDisturbances,
)
