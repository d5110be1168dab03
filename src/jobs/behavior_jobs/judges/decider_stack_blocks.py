# SPDX-License-Identifier: Apache-2.0
"""The mission `decider_stack_blocks`: the tower of `stack_blocks`, built by a decider network.

Every disturbed episode has four disturbances, one of each kind.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from behavior_jobs.judges import stack_blocks
from behavior_jobs.judges.stack_blocks import EDGE, colour, free_place, next_block, tower
from behavior_sim.judging import Disturbance, Situation, WorldObject
from behavior_sim.moments import Moment, put

KNOCK = (0.015, 0.04)
"""[N s] of the impulse that knocks the tower's top: 0.2 to 0.6 m/s."""
HEIGHT = 4
"""Blocks of the whole tower."""
LATEST = 1.5
"""[s] after which nobody touches the whole tower any more: the hand retreats, the job looks on for
1 s, and is over some 2 s after the last block stands."""


class FourDisturbances:
    """Moves the target while the arm reaches for it, steals a block from the hand, knocks the
    tower, and takes its top away.

    Which reach, carried block or height of the tower, how long after it begins, and what happens to
    the block are drawn from the seed.
    """

    def __init__(self, seed: int) -> None:
        """Draw the moments."""
        self._random = np.random.default_rng([seed, 4])
        self._move = self._moment(1, 4, 0.2, 1.5)
        self._steal = self._moment(1, 4, 0.1, 1.2)
        self._knock = self._moment(2, HEIGHT, 0.0, 2.0, of_tower=True)
        self._take = self._moment(1, HEIGHT, 0.0, 2.0, of_tower=True)

    def _moment(
        self, first: int, last: int, earliest: float, latest: float, *, of_tower: bool = False
    ) -> Moment:
        nth = int(self._random.integers(first, last + 1))
        delay = float(self._random.uniform(earliest, latest))
        whole = of_tower and nth == HEIGHT
        return Moment(nth=nth, delay=min(delay, LATEST) if whole else delay)

    def due(self, situation: Situation) -> Disturbance | None:
        """See `DisturbancePlan`."""
        kinds = (self._due_move, self._due_steal, self._due_knock, self._due_take)
        return next((found for kind in kinds if (found := kind(situation)) is not None), None)

    def pending(self) -> list[str]:
        """See `DisturbancePlan`."""
        moments = {
            "move the target": self._move,
            "steal from the hand": self._steal,
            "knock the tower": self._knock,
            "take the top away": self._take,
        }
        return [what for what, moment in moments.items() if not moment.done]

    def _due_move(self, situation: Situation) -> Disturbance | None:
        held = any(item.held for item in situation.objects.values())
        reaching = situation.skill == "reach" and not held
        target = next_block(situation.objects)
        if not self._move.reached(reaching and target is not None, situation.time):
            return None
        assert target is not None
        return self._put(situation.objects[target], situation, "moved {} while the arm reached")

    def _due_steal(self, situation: Situation) -> Disturbance | None:
        objects = situation.objects.values()
        carried = [item for item in objects if item.held and item.position[2] > 1.5 * EDGE]
        if not self._steal.reached(bool(carried), situation.time):
            return None
        return self._put(carried[0], situation, "stole {} from the hand")

    def _due_knock(self, situation: Situation) -> Disturbance | None:
        stacked = tower(situation.objects)
        if not self._knock.reached(len(stacked) >= self._knock.nth, situation.time, at_once=True):
            return None
        angle, strength = self._random.uniform(-np.pi, np.pi), self._random.uniform(*KNOCK)
        return Disturbance(
            kind="push",
            object=stacked[-1],
            impulse=strength * np.array([np.cos(angle), np.sin(angle), 0.0]),
            cause=f"knocked {colour(stacked[-1])} on the tower with {1e3 * strength:.0f} mNs",
        )

    def _due_take(self, situation: Situation) -> Disturbance | None:
        stacked = tower(situation.objects)
        if not self._take.reached(len(stacked) >= self._take.nth, situation.time, at_once=True):
            return None
        return self._put(situation.objects[stacked[-1]], situation, "took {} off the tower")

    def _put(self, item: WorldObject, situation: Situation, cause: str) -> Disturbance:
        place = free_place(situation.objects, self._random)
        return put(item.name, place, self._random, cause.format(colour(item.name)), held=item.held)


MISSION = replace(
    stack_blocks.MISSION,
    name="decider_stack_blocks",
    disturbances=FourDisturbances,
)
