# SPDX-License-Identifier: Apache-2.0
"""The suction cup: what it takes, what it bears, how it fails."""

import numpy as np
import pytest

from behavior_sim.simulation import PUMP, Simulation
from behavior_sim.worlds.config import load_world
from behavior_sim.worlds.layouts import pose_of
from behavior_sim.worlds.resources import find_world
from behavior_sim.worlds.world_state import WorldState

HALF = 0.0735
"""[m] half the height of a bin."""
LEVER = 0.0415
"""[m] from the lip to the bin's centre of mass."""
FORCE = 120.0
WEIGHT = 0.6 * 9.81


@pytest.fixture(scope="module")
def cell() -> Simulation:
    simulation = Simulation(load_world(find_world("bin_stacking")))
    simulation.spawner = None
    return simulation


class Bench:
    """A cup that points down, and a bin that something holds below it until the cup does."""

    def __init__(self, cell: Simulation, gap: float = 0.003, tilt: float = 0.0, aside: float = 0.0):
        self.cell, self.world, self.cup = cell, cell.world, cell.world.cup
        cell.reset(0)
        lip = self.world.body_pose("gripper")
        turn = np.eye(4)
        turn[:3, :3] = [
            [np.cos(tilt), 0, np.sin(tilt)],
            [0, 1, 0],
            [-np.sin(tilt), 0, np.cos(tilt)],
        ]
        base = lip @ pose_of([aside, 0.0, gap])
        # Upside down below a cup that points down: its base to the lip.
        self.world.move_object("bin_0", base @ turn @ pose_of([0.0, 0.0, HALF]))
        self.body = self.world.model.body("bin_0").id
        self.push([0, 0, WEIGHT])

    def push(self, force, torque=(0, 0, 0)) -> None:
        self.world.data.xfrc_applied[self.body] = [*force, *torque]

    def run(self, seconds: float) -> None:
        self.cell.advance(round(seconds / self.world.timestep))

    def take(self) -> "Bench":
        self.cup.pump = True
        self.run(0.3)
        self.push([0, 0, 0])
        self.run(0.2)
        return self

    @property
    def below(self) -> float:
        """Gap between lip and base [m]."""
        in_cup = np.linalg.inv(self.world.body_pose("gripper")) @ self.world.object_pose("bin_0")
        return float(in_cup[2, 3] - HALF)


def test_the_pump_takes_what_the_lip_lies_on_after_a_while(cell):
    bench = Bench(cell)
    bench.run(0.3)
    assert not bench.cup.held, "the pump is off"
    bench.cup.pump = True
    bench.run(0.1)
    assert not bench.cup.held, "air takes its time"
    bench.run(0.1)
    assert bench.cup.held == "bin_0"
    assert bench.world.held_objects() == ["bin_0"]
    bench.push([0, 0, 0])
    bench.run(1.0)
    assert bench.cup.held == "bin_0"
    assert bench.below == pytest.approx(0.0, abs=0.001), "the bellows closed the gap"
    bench.cup.pump = False
    bench.run(0.1)
    assert not bench.cup.held
    bench.run(0.2)
    assert bench.below > 0.05, "it falls"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gap", "tilt", "aside"),
    [(0.009, 0.0, 0.0), (0.003, 0.15, 0.0), (0.003, 0.0, 0.08)],
    ids=["too far", "askew", "over the edge"],
)
def test_a_lip_that_is_not_tight_takes_nothing(cell, gap, tilt, aside):
    bench = Bench(cell, gap, tilt, aside)
    bench.cup.pump = True
    for _ in range(20):
        bench.run(0.01)
        bench.world.move_object("bin_0", bench.world.object_pose("bin_0"))
    assert not bench.cup.held


@pytest.mark.slow
@pytest.mark.parametrize(
    ("force", "torque", "limit"),
    [
        ((0, 0, -1), (0, 0, 0), FORCE - WEIGHT),
        # At the bin's centre of mass: bends at the lip besides.
        ((1, 0, 0), (0, 0, 0), (FORCE - WEIGHT) * 0.03 / LEVER),
        ((0, 0, 0), (0, 1, 0), (FORCE - WEIGHT) * 0.03),
        ((0, 0, 0), (0, 0, 1), 0.8 * (FORCE - WEIGHT) * 0.03),
    ],
    ids=["pull", "shear", "bend", "twist"],
)
def test_it_comes_off_at_the_limit_of_what_the_vacuum_bears(cell, force, torque, limit):
    bench = Bench(cell).take()
    for share, holds in ((0.8, True), (1.2, False)):
        bench.push(share * limit * np.array(force), share * limit * np.array(torque))
        bench.run(0.15)
        assert bool(bench.cup.held) is holds
    assert bench.cup.lost.startswith("bin_0 came off the cup: a pull of ")
    bench.push([0, 0, 0])


def test_a_jolt_does_not_let_the_air_in(cell):
    bench = Bench(cell).take()
    bench.push([0, 0, -2 * FORCE])
    bench.run(0.008)
    bench.push([0, 0, 0])
    bench.run(0.3)
    assert bench.cup.held == "bin_0"


@pytest.mark.slow
def test_a_broken_pump_takes_nothing_and_lets_go_of_what_it_has(cell):
    bench = Bench(cell)
    cell.faults.set(PUMP, True)
    bench.cup.pump = True
    bench.run(0.4)
    assert not bench.cup.held
    cell.faults.set(PUMP, False)
    bench = Bench(cell).take()
    assert bench.cup.held
    cell.faults.set(PUMP, True)
    bench.run(0.01)
    assert not bench.cup.held
    assert cell.faults.present == (PUMP,)
    cell.reset(0)
    assert not cell.faults.present
    assert not bench.cup.pump


@pytest.mark.slow
@pytest.mark.parametrize("way", ["release", "move_object"])
def test_what_is_taken_out_of_the_cup_is_held_no_more(cell, way):
    bench = Bench(cell).take()
    getattr(bench.world, way)("bin_0", pose_of([0.9, -0.9, -0.2]))
    assert not bench.cup.held
    bench.run(0.1)
    assert not bench.cup.held


def test_a_world_can_be_put_into_a_state_in_which_the_cup_holds_something(cell):
    """Some millimetres off, as a scene believes it: it is held as it is."""
    pose = cell.world.body_pose("gripper") @ pose_of([0.01, 0.0, HALF + 0.004])
    shifts = cell.restore(WorldState(joints={}, objects={"bin_0": pose}, held="bin_0"), seed=0)
    assert cell.world.cup.held == "bin_0"
    assert shifts["bin_0"] < 0.003
    cell.advance(500)
    assert cell.world.held_objects() == ["bin_0"]
    np.testing.assert_allclose(cell.world.object_pose("bin_0"), pose, atol=0.005)
    cell.world.cup.pump = False
    cell.advance(100)
    assert cell.world.object_pose("bin_0")[2, 3] < pose[2, 3] - 0.05
