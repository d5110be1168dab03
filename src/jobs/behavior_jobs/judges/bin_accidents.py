# SPDX-License-Identifier: Apache-2.0
"""What happens to the bin stacking cell with `--disturb`: one accident after the other, and
somebody who tidies up what no robot can.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from behavior_sim.judging import Disturbance, Situation, WorldObject

BELT = -0.45
"""[m] height of the belt's top."""
LYING, STANDING = BELT + 0.152, BELT + 0.0755
"""[m] height of a bin's centre on the belt, on its side and level."""
TIDIED = 5.0
"""[s] for which a bin lies on its side, or on the floor below the belt, until it is seen to."""
BETWEEN = 1.0
"""[s] from the end of an accident to the next."""


@dataclass(frozen=True)
class Accident:
    """A part of the cell fails for a while, or a bin is knocked over."""

    what: str
    """In plain words."""
    part: str
    """That fails; empty: a bin is knocked over."""
    when: Callable[[Situation], WorldObject | None]
    """The bin that gives occasion."""
    after: float
    """[s] of occasion until it happens."""
    lasts: float
    """[s]"""


class BinAccidents:
    """The belt jams, a bin is knocked over, the camera goes blind, the vacuum's sensor falls
    silent, the pump stops while a bin is carried: each when there is occasion, and the one before
    is over.
    """

    def __init__(self, seed: int) -> None:
        """Draw the moments."""
        draw = np.random.default_rng([seed, 5]).uniform
        self._ahead = [
            Accident("the conveyor jams", "conveyor", _comes, 0.0, draw(3.0, 6.0)),
            Accident("a bin is knocked over", "", _arrives, 0.0, 0.0),
            Accident("the camera goes blind", "detector", _waits, draw(0.0, 1.0), draw(3.0, 5.0)),
            Accident(
                "the vacuum sensor is silent", "vacuum", _held, draw(0.0, 0.5), draw(1.0, 3.0)
            ),
            Accident("the pump stops", "pump", _carried, draw(0.0, 0.3), draw(1.0, 3.0)),
        ]
        self._since: dict[str, float] = {}
        """[s] since when there is occasion for an accident."""
        self._mends: tuple[float, str] | None = None
        """[s] when what failed works again, and what that is."""
        self._calm_until = -math.inf
        self._untidy: dict[str, float] = {}

    def due(self, situation: Situation) -> Disturbance | None:
        """See `DisturbancePlan`."""
        return self._mended(situation.time) or self._tidied(situation) or self._accident(situation)

    def pending(self) -> list[str]:
        """See `DisturbancePlan`."""
        return [accident.what for accident in self._ahead]

    def _mended(self, now: float) -> Disturbance | None:
        if self._mends is None or now < self._mends[0]:
            return None
        part, self._mends, self._calm_until = self._mends[1], None, now + BETWEEN
        return Disturbance(kind="mend", object=part, cause=f"the {part} works again")

    def _accident(self, situation: Situation) -> Disturbance | None:
        if self._mends is not None or situation.time < self._calm_until:
            self._since.clear()
            return None
        for accident in self._ahead:
            item = accident.when(situation)
            if item is None:
                self._since.pop(accident.what, None)
                continue
            since = self._since.setdefault(accident.what, situation.time)
            if situation.time - since >= accident.after:
                return self._happens(accident, item, situation.time)
        return None

    def _happens(self, accident: Accident, item: WorldObject, now: float) -> Disturbance:
        self._ahead.remove(accident)
        if accident.part:
            self._mends = now + accident.lasts, accident.part
            return Disturbance(kind="fail", object=accident.part, cause=accident.what)
        self._calm_until = now + TIDIED + BETWEEN
        return Disturbance(
            kind="move",
            object=item.name,
            position=np.array([*item.position[:2], LYING]),
            tilt=math.pi / 2,
            cause=f"{item.name} is knocked over",
        )

    def _tidied(self, situation: Situation) -> Disturbance | None:
        """Bins that lie on their sides on the belt are set upright, those below it taken away."""
        lying = {n: item for n, item in situation.objects.items() if _is_untidy(item)}
        self._untidy = {name: self._untidy.get(name, situation.time) for name in lying}
        for name, item in lying.items():
            if situation.time - self._untidy[name] < TIDIED:
                continue
            del self._untidy[name]
            if item.position[2] < BELT:
                return Disturbance(
                    kind="take_away", object=name, cause=f"{name} is taken off the floor"
                )
            # Where nothing is in its way, however it is turned.
            x, y = np.clip(item.position[:2], [-0.18, 0.65], [0.18, 1.3])
            return Disturbance(
                kind="move",
                object=name,
                position=np.array([x, y, STANDING]),
                tilt=math.pi,
                cause=f"{name} is set upright",
            )
        return None


def _on_belt(item: WorldObject) -> bool:
    x, y = float(item.position[0]), float(item.position[1])
    return item.class_id == "bin" and not item.held and abs(x) < 0.4 and 0.0 < y < 2.0


def _is_untidy(item: WorldObject) -> bool:
    sideways = abs(float(item.rotation[2, 2])) < 0.8
    return _on_belt(item) and (sideways or float(item.position[2]) < BELT - 0.1)


def _first(situation: Situation, fits: Callable[[WorldObject], bool]) -> WorldObject | None:
    return next((item for item in situation.objects.values() if fits(item)), None)


def _comes(situation: Situation) -> WorldObject | None:
    return _first(situation, lambda item: _on_belt(item) and item.position[1] > 0.95)


def _arrives(situation: Situation) -> WorldObject | None:
    return _first(situation, lambda item: _on_belt(item) and 0.55 < item.position[1] < 1.0)


def _waits(situation: Situation) -> WorldObject | None:
    return _first(
        situation,
        lambda item: _on_belt(item) and item.position[1] < 0.55 and not _is_untidy(item),
    )


def _held(situation: Situation) -> WorldObject | None:
    return _first(situation, lambda item: item.held)


def _carried(situation: Situation) -> WorldObject | None:
    """High over the belt, so that it falls."""
    return _first(situation, lambda item: item.held and float(item.position[2]) > BELT + 0.3)
