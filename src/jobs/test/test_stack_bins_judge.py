# SPDX-License-Identifier: Apache-2.0
"""What counts as a stack of bins, which bins were placed well, and the misaligned layer."""

import math

import numpy as np
import pytest

from behavior_jobs.judges import stack_bins
from behavior_jobs.judges.stack_bins import (
    APART,
    MISSION,
    PLACES,
    BinRecorder,
    Judge,
    misaligned_layer,
)
from behavior_sim.judging import Situation, WorldObject

UP, DOWN = np.eye(3), np.diag([1.0, -1.0, -1.0])
CENTRE = -0.0735


def a_bin(
    name: str, position: np.ndarray, rotation: np.ndarray = DOWN, *, held: bool = False
) -> tuple[str, WorldObject]:
    return name, WorldObject(
        name=name, position=np.array(position), rotation=rotation, held=held, class_id="bin"
    )


def placed(number: int, place: int, x: float = 0.0, z: float = 0.0) -> tuple[str, WorldObject]:
    return a_bin(f"bin_{number}", PLACES[place] + [x, 0.0, CENTRE + z])


def waiting(number: int) -> tuple[str, WorldObject]:
    return a_bin(f"bin_{number}", np.array([-6.0, -6.0, -1.1]), UP)


def test_a_good_stack() -> None:
    objects = dict([placed(0, 0), placed(1, 1), placed(2, 9, 0.009), waiting(3)])
    assert Judge(3)(objects).success
    assert stack_bins.summary(objects) == "3 bins stacked"


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (placed(2, 9, 0.0, 0.012), "bin_2 stands 12 mm too high"),
        (placed(2, 9, 0.012), "bin_2 is 12 mm off"),
        (placed(2, 9, 0.0, -0.012), "bin_2 stands 12 mm too low"),
        (placed(2, 2, 0.04), "bin_2 is 40 mm off"),
        (a_bin("bin_2", PLACES[2] + [0.0, 0.0, CENTRE], UP), "does not stand upside down"),
        (a_bin("bin_2", PLACES[2] + [0.0, 0.0, 0.2], held=True), "bin_2 is still on the tool"),
        (a_bin("bin_2", [0.0, 0.45, -0.37]), "2 of 3 bins are stacked"),
        (waiting(2), "2 of 3 bins are stacked"),
    ],
)
def test_what_is_wrong_with_a_stack(bad: tuple[str, WorldObject], why: str) -> None:
    verdict = Judge(3)(dict([placed(0, 0), placed(1, 1), bad]))
    assert not verdict.success
    assert why in verdict.reason


def test_placed_bins_are_told_by_how_they_came_with_their_times() -> None:
    recorder = BinRecorder()

    def see(time: float, *objects: tuple[str, WorldObject]) -> None:
        recorder.see(Situation(time=time, skill="", phase="", objects=dict(objects)))

    belt = np.array([0.0, 0.45, -0.37])
    see(10.0, a_bin("bin_0", belt, UP))
    see(14.0, a_bin("bin_0", belt, UP, held=True))
    see(17.0, a_bin("bin_0", [0.79, 0.74, 0.14], DOWN))  # on the flip station
    see(20.0, a_bin("bin_0", [0.79, 0.74, 0.3], DOWN, held=True))
    see(24.0, a_bin("bin_0", PLACES[0] + [0, 0, CENTRE], DOWN, held=True))
    see(25.0, placed(0, 0), a_bin("bin_1", belt, DOWN))
    see(27.0, placed(0, 0), a_bin("bin_1", belt, DOWN, held=True))
    see(33.0, placed(0, 0), a_bin("bin_1", PLACES[9] + [0.01, 0, 0], DOWN, held=True))
    see(34.0, placed(0, 0), placed(1, 9, 0.01, 0.012))
    see(36.0, placed(0, 0), placed(1, 9, 0.01, 0.012), a_bin("bin_2", belt))
    see(39.0, placed(0, 0), a_bin("bin_2", PLACES[1] + [0, 0, 0.1], held=True))
    parts = recorder.parts()
    assert [(p.kind, p.success, p.seconds) for p in parts] == [
        ("right side up", True, 15.0),
        ("upside down", False, 9.0),
        ("upside down", False, 0.0),
    ]
    assert parts[1].reason == "bin_1 stands 12 mm too high"
    assert parts[2].reason == "bin_2 was not placed"


def test_the_misaligned_layer() -> None:
    layer = misaligned_layer(7)
    assert [change.object for change in layer] == [f"bin_{n}" for n in (41, 40, 39, 38)]
    assert all(change.tilt == math.pi for change in layer)
    for change, again in zip(layer, misaligned_layer(7), strict=True):
        assert change.position == pytest.approx(again.position, abs=0.0)
    offs = np.array(
        [
            change.position[:2] - place[:2]
            for seed in range(300)
            for change, place in zip(misaligned_layer(seed), APART, strict=False)
        ]
    )
    near = np.abs(offs).max(axis=1) < 0.008
    assert near.mean() == pytest.approx(0.85, abs=0.02)
    assert np.linalg.norm(offs, axis=1).max() <= 0.018


def test_evaluations_count_bins_and_demonstrations_place_so_many() -> None:
    assert MISSION.configure is not None
    values = {"bins": 100, "misaligned": True, "no-adjust": False}
    mission = MISSION.configure(values, True)
    assert mission.parts_wanted == 100
    assert mission.parameters["bins"] == "8"
    assert mission.parameters["columns"] == "1.05;0.63"
    assert len(mission.arrangement(1)) == 4
    mission = MISSION.configure({**values, "bins": 36, "misaligned": False}, False)
    assert mission.parameters["bins"] == "36"
    assert mission.arrangement(1) == ()
    with pytest.raises(ValueError, match="give 1 to 12"):
        MISSION.configure({**values, "bins": 13}, False)
