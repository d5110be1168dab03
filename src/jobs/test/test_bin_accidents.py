# SPDX-License-Identifier: Apache-2.0
"""Accidents of the bin stacking cell: each at its moment, each mended, all told."""

import numpy as np
import pytest

from behavior_jobs.judges.bin_accidents import LYING, BinAccidents
from behavior_sim.judging import Disturbance, Situation, WorldObject

SIDEWAYS = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


class Cell:
    """A bin, the accidents and a clock."""

    def __init__(self) -> None:
        self.plan, self.time = BinAccidents(3), 0.0
        self.done: list[Disturbance] = []

    def run(self, seconds: float, y: float, z: float = -0.3765, **given: object) -> list[str]:
        """What happens meanwhile, the bin being there."""
        causes = []
        for _ in range(round(seconds / 0.1)):
            self.time += 0.1
            place = np.array([0.0, y, z])
            item = WorldObject(name="bin_0", position=place, class_id="bin", **given)
            due = self.plan.due(
                Situation(time=self.time, skill="", phase="", objects={"bin_0": item})
            )
            if due is not None:
                self.done.append(due)
                causes.append(due.cause)
        return causes


def test_one_accident_after_the_other_each_mended() -> None:
    cell = Cell()
    assert len(cell.plan.pending()) == 5
    assert cell.run(1.0, y=1.4) == ["the conveyor jams"]
    assert cell.run(8.0, y=1.3) == ["the conveyor works again"]
    assert cell.run(1.0, y=0.8) == ["bin_0 is knocked over"]
    lies = cell.done[-1]
    assert lies.position == pytest.approx([0.0, 0.8, LYING])
    assert cell.run(6.0, y=0.5, rotation=SIDEWAYS) == ["bin_0 is set upright"]
    assert cell.run(10.0, y=0.45) == ["the camera goes blind", "the detector works again"]
    assert cell.run(0.4, y=0.45, z=-0.3) == []
    assert cell.run(6.0, y=0.45, z=-0.3, held=True)[:1] == ["the vacuum sensor is silent"]
    cell.run(2.0, y=0.4, z=0.1, held=True)
    assert cell.plan.pending() == []
    cell.run(5.0, y=0.4, z=-0.37)
    assert [(d.kind, d.object) for d in cell.done if d.kind in ("fail", "mend")] == [
        (kind, part)
        for part in ("conveyor", "detector", "vacuum", "pump")
        for kind in ("fail", "mend")
    ]


def test_what_no_robot_can_tidy_up_somebody_does() -> None:
    cell = Cell()
    assert cell.run(4.0, y=0.4, z=-1.12) == []
    assert cell.run(2.0, y=0.4, z=-1.12) == ["bin_0 is taken off the floor"]
    assert cell.done[-1].kind == "take_away"
