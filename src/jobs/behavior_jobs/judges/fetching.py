# SPDX-License-Identifier: Apache-2.0
"""Disturbances of missions that fetch one object and bring it somewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from behavior_sim.judging import Disturbance, Situation, Vector
from behavior_sim.moments import Moment, free_spot, put


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """What is fetched, and where it may be put when it is disturbed."""

    name: str
    x: tuple[float, float]
    """[m] of its centre."""
    y: tuple[float, float]
    z: float
    """[m] of its centre at rest."""
    carried_above: float
    """[m] height of its centre above which it can be taken from the gripper."""
    clearance: float = 0.0
    """[m] between its centre and those of other things."""


class FetchDisturbances:
    """Moves the object while the robot reaches for it, or takes it from the gripper on its way.

    Which of both, or both, and when, is drawn from the seed.
    """

    def __init__(self, seed: int, fetched: Fetched) -> None:
        """Draw the moments."""
        self._fetched = fetched
        self._random = np.random.default_rng([seed, 1])
        self._move = Moment(nth=1, delay=float(self._random.uniform(0.0, 0.8)))
        self._take = Moment(nth=1, delay=float(self._random.uniform(0.1, 1.2)))
        what = int(self._random.integers(0, 3))
        self._move.done, self._take.done = what == 1, what == 0

    def due(self, situation: Situation) -> Disturbance | None:
        """See `DisturbancePlan`."""
        name = self._fetched.name
        reaching = situation.skill == "pick" and situation.phase in ("reach", "approach")
        if self._move.reached(reaching, situation.time):
            cause = f"moved {name} while the arm reached for it"
            return self._put(situation, cause, held=False)
        item = situation.objects.get(name)
        carried = item is not None and item.held
        high = item is not None and bool(item.position[2] > self._fetched.carried_above)
        if self._take.reached(carried and high, situation.time):
            return self._put(situation, f"took {name} from the gripper", held=True)
        return None

    def pending(self) -> list[str]:
        """See `DisturbancePlan`."""
        moments = {"move while reaching": self._move, "take from the gripper": self._take}
        return [what for what, moment in moments.items() if not moment.done]

    def _put(self, situation: Situation, cause: str, *, held: bool) -> Disturbance:
        of = self._fetched
        others = [o.position[:2] for o in situation.objects.values() if o.name != of.name]
        taken = others if of.clearance > 0.0 else []
        spot = free_spot(of.x, of.y, taken, self._random, clearance=of.clearance)
        place: Vector = np.array([spot[0], spot[1], of.z])
        return put(of.name, place, self._random, cause, held=held)
