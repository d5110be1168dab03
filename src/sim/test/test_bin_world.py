# SPDX-License-Identifier: Apache-2.0
"""The world of the bin pallet: belt, spawner, bins that nest, and that it keeps up with time."""

import time

import numpy as np
import pytest

from behavior_sim.simulation import DETECTOR, PUMP, VACUUM, Simulation
from behavior_sim.worlds.config import load_world, parse_world
from behavior_sim.worlds.layouts import pose_of
from behavior_sim.worlds.resources import find_world
from behavior_sim.worlds.world import InvalidDisturbance
from behavior_sim.worlds.world_state import WorldState

HALF, PITCH = 0.0735, 0.135
"""[m] half the height of a bin; between bins that are nested in each other."""
DECK = -0.66574
FAR = pose_of([1.4, 1.6, -1.0])
UPSIDE_DOWN = np.diag([1.0, -1.0, -1.0, 1.0])


@pytest.fixture(scope="module")
def config():
    return load_world(find_world("bin_stacking"))


@pytest.fixture(scope="module")
def shared(config):
    return Simulation(config)


@pytest.fixture
def cell(shared):
    shared.reset(0)
    return shared


def run(cell, seconds):
    for _ in range(round(seconds / 0.02)):
        cell.advance(round(0.02 / cell.config.timestep))


def come(cell, count):
    """Have so many bins come, one after the other taken away; their poses as they came."""
    poses = []
    while cell.spawner.count < count:
        cell.advance(10)
        name = f"bin_{cell.spawner.count - 1}"
        poses.append(cell.world.object_pose(name))
        cell.world.take_away(name)
    return np.array(poses)


@pytest.mark.slow
def test_the_belt_carries_a_bin_to_the_stop_at_its_speed(cell):
    run(cell, 1.0)
    before = cell.world.object_pose("bin_0")
    run(cell, 1.0)
    after = cell.world.object_pose("bin_0")
    assert before[1, 3] - after[1, 3] == pytest.approx(0.3, abs=0.01)
    run(cell, 6.0)
    waits = cell.world.object_pose("bin_0")
    assert 0.42 < waits[1, 3] < 0.53
    assert abs(waits[2, 2]) == pytest.approx(1.0, abs=0.001)
    run(cell, 3.0)
    np.testing.assert_allclose(cell.world.object_pose("bin_0")[:3, 3], waits[:3, 3], atol=0.02)
    assert cell.spawner.count == 1, "the next waits for the first to be taken"


@pytest.mark.slow
def test_a_jammed_belt_stands_until_it_runs_again(cell):
    run(cell, 1.0)
    cell.faults.set("conveyor", True)
    run(cell, 1.0)
    before = cell.world.object_pose("bin_0")
    run(cell, 1.0)
    np.testing.assert_allclose(cell.world.object_pose("bin_0"), before, atol=1e-3)
    cell.faults.set("conveyor", False)
    run(cell, 1.0)
    assert cell.world.object_pose("bin_0")[1, 3] < before[1, 3] - 0.2
    cell.faults.set("conveyor", True)
    cell.reset(0)
    assert cell.world.model.geom("conveyor_belt").id in cell.world._belts["conveyor"]
    run(cell, 1.0)
    assert cell.world.visible_velocity("bin_0")[1] == pytest.approx(-0.3, abs=0.03)


def test_faults_have_names(cell):
    assert set(cell.faults.names) == {DETECTOR, "conveyor", PUMP, VACUUM}
    cell.faults.set(DETECTOR, True)
    cell.take_picture()
    cell.advance(100)
    assert not cell.detector.due(cell.time)
    cell.faults.set(DETECTOR, False)
    cell.take_picture()
    cell.advance(100)
    assert cell.detector.due(cell.time)


def test_the_next_bin_comes_when_the_last_one_has_left(cell):
    run(cell, 0.1)
    assert cell.spawner.count == 1
    cell.world.move_object("bin_0", pose_of([0.39, 0.2, 0.5]))
    cell.advance(10)
    assert cell.spawner.count == 1, "still above the belt"
    cell.world.move_object("bin_0", pose_of([0.79, 0.74, 0.5]))
    cell.advance(10)
    assert cell.spawner.count == 2, "on its way to the flip station it is gone from the belt"
    cell.world.move_object("bin_0", pose_of([0.8, -0.2, 0.5]))
    cell.advance(10)
    assert cell.spawner.count == 2, "only the last one counts"


def test_a_bin_waits_while_something_lies_where_it_comes(cell):
    run(cell, 0.1)
    cell.world.take_away("bin_0")
    cell.world.move_object("bin_5", pose_of([0.0, 1.5, -0.3]))
    run(cell, 0.1)
    assert cell.spawner.count == 1
    cell.world.take_away("bin_5")
    run(cell, 0.1)
    assert cell.spawner.count == 2


def test_bins_come_both_ways_up_anywhere_and_in_order(cell):
    poses = come(cell, 42)
    down = poses[:, 2, 2] < 0
    assert 10 < down.sum() < 32
    assert np.abs(poses[:, 0, 3]).max() <= 0.16
    assert np.ptp(poses[:, 0, 3]) > 0.2
    assert np.ptp(np.arctan2(poses[:, 1, 1], poses[:, 0, 1])) > 3.0
    assert cell.spawner.exhausted
    run(cell, 0.5)
    assert cell.spawner.count == 42, "no more come, and nothing fails"


def test_the_same_seed_gives_the_same_bins(config, cell):
    first = come(cell, 5)
    cell.reset(0)
    np.testing.assert_array_equal(come(cell, 5), first)
    cell.reset(7)
    other = come(cell, 5)
    assert np.abs(other - first).max() > 0.01
    np.testing.assert_array_equal(come(Simulation(config, seed=7), 5), other)


@pytest.mark.slow
def test_a_world_that_is_put_into_a_state_goes_on_with_the_next_bin(config, cell):
    """As a world does in which the same bins have come: the copy of a preview."""
    bins = {"bin_0": pose_of([-0.5, 0.6, -0.6]), "bin_1": pose_of([0.0, 0.47, -0.376])}
    copy = Simulation(config)
    copy.restore(WorldState(joints={}, objects=bins), seed=0)
    run(copy, 1.0)
    assert copy.spawner.count == 2, "the next waits for the one on the belt to be taken"
    assert copy.world.object_pose("bin_2")[0, 3] < -1.0
    copy.world.take_away("bin_1")
    copy.advance(10)
    assert copy.spawner.count == 3
    np.testing.assert_allclose(copy.world.object_pose("bin_2"), come(cell, 3)[2], atol=1e-3)


def test_reset_puts_everything_back(cell):
    come(cell, 3)
    cell.world.move_object("bin_9", FAR)
    cell.reset(3)
    assert cell.spawner.count == 0
    for name in cell.world.config.objects:
        x, y = cell.world.object_pose(name)[:2, 3]
        assert x < -1.5, name
        assert y < -3.5, name


@pytest.mark.slow
def test_bins_nest_and_stay(cell):
    cell.spawner, spawner = None, cell.spawner
    try:
        for k in range(4):
            shift = [0.004 * (-1) ** k, 0.004, 0.0005]
            place = np.add([0.84, -0.31, DECK + HALF + PITCH * k], shift)
            cell.world.move_object(f"bin_{k}", pose_of(place) @ UPSIDE_DOWN)
        run(cell, 2.0)
        before = [cell.world.object_pose(f"bin_{k}") for k in range(4)]
        assert np.diff([pose[2, 3] for pose in before]) == pytest.approx([PITCH] * 3, abs=1e-3)
        run(cell, 5.0)
        after = [cell.world.object_pose(f"bin_{k}") for k in range(4)]
        np.testing.assert_array_equal(before, after, "they sleep")
        # A bin that is taken away from below wakes those above.
        cell.world.move_object("bin_0", FAR)
        run(cell, 1.0)
        assert cell.world.object_pose("bin_3")[2, 3] < before[3][2, 3] - 0.1
    finally:
        cell.spawner = spawner


def test_a_bin_that_is_beside_the_one_below_stands_on_its_foot(cell):
    below, above = (
        pose_of([0.84, -0.31, DECK + HALF]),
        pose_of([0.86, -0.31, DECK + 3 * HALF + 0.002]),
    )
    cell.world.move_object("bin_20", below @ UPSIDE_DOWN)
    cell.world.move_object("bin_21", above @ UPSIDE_DOWN)
    run(cell, 1.0)
    low, high = cell.world.object_pose("bin_20"), cell.world.object_pose("bin_21")
    assert high[2, 3] - low[2, 3] > PITCH + 0.002
    assert abs(high[2, 2]) < 0.9995, "it tilts"
    with pytest.raises(InvalidDisturbance, match="bin_20 is in the way"):
        cell.world.move_object("bin_21", pose_of([0.84, -0.31, DECK + HALF + 0.1]) @ UPSIDE_DOWN)


def test_a_bin_lies_on_the_flip_station_and_on_its_side(cell):
    lies = pose_of([0.79, 0.74, 0.068 + HALF + 0.002], 0.4) @ UPSIDE_DOWN
    cell.world.move_object("bin_30", lies)
    side = pose_of([0.0, 0.9, -0.45 + 0.1]) @ np.array(
        [[0, 0, 1.0, 0], [0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1]]
    )
    cell.world.move_object("bin_31", side)
    run(cell, 1.0)
    np.testing.assert_allclose(cell.world.object_pose("bin_30"), lies, atol=0.004)
    assert abs(cell.world.object_pose("bin_31")[2, 2]) < 0.05


@pytest.mark.slow
def test_a_whole_pallet_is_computed_faster_than_it_lives(cell):
    for k in range(36):
        layer, place = divmod(k, 9)
        row, column = divmod(place, 3)
        at = [1.05 - 0.21 * column, -0.62 + 0.31 * row, DECK + HALF + PITCH * layer + 0.0005]
        cell.world.move_object(f"bin_{k + 1}", pose_of(at) @ UPSIDE_DOWN)
    run(cell, 1.0)
    begun = time.process_time()
    run(cell, 2.0)
    assert time.process_time() - begun < 1.0, "seconds of a processor for two of the world"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"spawner": {"objects": "crate"}}, "there are no objects crate_0"),
        ({"spawner": {"upside_down": 2}}, "upside_down: 2; give a probability"),
        ({"spawner": {"region": {"z": [0, 1]}}}, "region: give intervals of x and y"),
        ({"spawner": {"region": {"y": None}}}, "region: .* give for y a list of 2 numbers"),
        ({"objects": {"bin": {"count": 0}}}, r"objects.bin.count: 0; give a whole number"),
        ({"objects": {"bin": {"parts": {"foot": {"size": [1]}}}}}, "foot.size: a box takes 3"),
        ({"robot": {"simulation": {"gripper": {}}}}, "simulation: unknown gripper"),
        ({"robot": {"simulation": {"suction": {"force": 0.0}}}}, "suction.force: 0.0; give"),
    ],
)
def test_what_is_wrong_is_named(config, change, message):
    import yaml

    def merged(old, new):
        if not isinstance(old, dict) or not isinstance(new, dict):
            return new
        return {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}

    with pytest.raises(ValueError, match=message):
        parse_world(merged(yaml.safe_load(config.text), change))
