# SPDX-License-Identifier: Apache-2.0
"""The network stack_bins in a world without physics: every acceptance test of its decisions."""

import math
import statistics
import time

import numpy as np
import pytest
from bins_world import DOWN, DT, UP, Mission, World, bin_pose

from behavior_executor.missions.mission import MissionError
from behavior_jobs.bins import pallet_places
from behavior_tree import NodeStatus
from behavior_tree.decider import holders

SIDEWAYS = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
PLACES = pallet_places()
COLUMN = {"columns": "1.05", "rows": "-0.62"}
"""A pallet of one bin in each layer."""


def world_of(*bins: np.ndarray, **given: object) -> World:
    """A world in which the first bin has arrived."""
    world = World(coming=list(bins), **given)
    world.step()
    for pose in world.bins.values():
        pose[1, 3] = 0.45
    return world


def carrying(world: World, mission: Mission, name: str) -> None:
    """Until a bin is on its way to the pallet."""
    mission.until(lambda: mission.step == "place" and world.held == name)


def at_place(world: World, name: str, number: int, tolerance: float = 0.002) -> bool:
    pose, place = world.bins[name], PLACES[number]
    return math.dist(pose[:2, 3], place[:2]) < tolerance and pose[2, 2] < -0.99


# ------------------------------------------------------------------------------- T2.1


@pytest.mark.slow
def test_open_bins_are_flipped_and_turned_ones_are_not() -> None:
    world = world_of(UP, DOWN)
    mission = Mission(world, bins="2")
    assert mission.finish() is NodeStatus.SUCCESS, mission.run.failure_text()
    steps = [step for step in mission.steps if step != "home"]
    assert steps == ["pick", "flip", "pick", "place", "pick", "place"]
    assert mission.steps[-1] == "home"
    assert at_place(world, "bin_0", 0)
    assert at_place(world, "bin_1", 1)
    assert mission.entry("mission_progress") == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["isaac_6", "legacy_2022"])
def test_layer_upon_layer(preset: str) -> None:
    world = world_of(DOWN, DOWN, noise=0.001)
    mission = Mission(world, bins="2", **COLUMN, preset=preset)
    assert mission.finish() is NodeStatus.SUCCESS, mission.run.failure_text()
    assert world.bins["bin_1"][2, 3] - world.bins["bin_0"][2, 3] == pytest.approx(0.135)
    assert math.dist(world.bins["bin_1"][:2, 3], PLACES[0][:2]) < 0.008


@pytest.mark.slow
def test_what_stands_on_the_pallet_at_the_start_is_stacked() -> None:
    world = world_of(DOWN)
    world.bins["bin_7"] = bin_pose(1.055, -0.615, -0.59224, DOWN)
    mission = Mission(world, bins="2")
    assert mission.finish() is NodeStatus.SUCCESS, mission.run.failure_text()
    assert at_place(world, "bin_0", 1)


# ------------------------------------------------------------------------------- T2.3, T2.4


@pytest.mark.slow
def test_bin_that_falls_while_it_is_carried_is_given_up_for_the_next() -> None:
    world = world_of(DOWN, DOWN)
    mission = Mission(world, bins="1")
    carrying(world, mission, "bin_0")
    mission.until(lambda: bool(mission.entry("obstacles")))
    world.held = ""
    world.bins["bin_0"] = bin_pose(0.5, 0.3, -1.01, DOWN)
    mission.tick()
    assert mission.entry("active") == ""
    assert mission.step == "home"
    assert mission.entry("obstacles") in ([], ["navigation_*"])
    assert world.log[-2:] == [("halt", "come down"), ("reach", "home")]
    assert mission.finish() is NodeStatus.SUCCESS, mission.run.failure_text()
    assert at_place(world, "bin_1", 0)
    assert mission.entry("obstacles") == []


def test_bin_that_left_the_tool_is_picked_anew() -> None:
    world = world_of(DOWN)
    mission = Mission(world, bins="1")
    carrying(world, mission, "bin_0")
    # It has come off by so much, though the vacuum says that it has not.
    world._grip[0, 3] += 0.11
    mission.until(lambda: not mission.entry("attached"), limit=0.6)
    assert mission.step == "pick"


@pytest.mark.slow
def test_bin_lost_from_the_tool_onto_the_belt_is_picked_anew() -> None:
    world = world_of(DOWN)
    mission = Mission(world, bins="1")
    carrying(world, mission, "bin_0")
    world.held, before = "", len(world.log)
    world.bins["bin_0"] = bin_pose(0.05, 0.45, -0.3765, DOWN)
    assert mission.finish() is NodeStatus.SUCCESS, mission.run.failure_text()
    assert mission.steps == ["pick", "place", "pick", "place", "home"]
    # The pump is off on the way there: it would take the bin before the skill does.
    assert world.log[before:].index(("OPEN", "")) < world.log[before:].index(("reach", "reach"))


# ------------------------------------------------------------------------------- T2.5, T2.6


@pytest.mark.slow
@pytest.mark.parametrize("off", [0.003, 0.008, 0.014])
def test_aim_follows_the_bin_below(off: float) -> None:
    world = world_of(DOWN, DOWN)

    world.on_placed = lambda name: _displace(world, name, "bin_0", off)
    mission = Mission(world, bins="2", **COLUMN)
    assert mission.finish() is NodeStatus.SUCCESS, mission.run.failure_text()
    upper, lower = world.bins["bin_1"], world.bins["bin_0"]
    assert upper[2, 3] - lower[2, 3] == pytest.approx(0.135)  # nested, not on the rim
    assert abs(upper[0, 3] - lower[0, 3]) < 0.5 * off + 0.001


@pytest.mark.slow
@pytest.mark.parametrize("slip", [0.005, 0.02])
def test_a_bin_that_hangs_beside_the_tool_stands_in_its_place_on_the_pallet(slip: float) -> None:
    world = world_of(DOWN)
    mission = Mission(world, bins="1")
    carrying(world, mission, "bin_0")
    world._grip[1, 3] += slip
    assert mission.finish() is NodeStatus.SUCCESS, mission.run.failure_text()
    assert at_place(world, "bin_0", 0, 0.006), "so little may be noise"


@pytest.mark.slow
def test_without_the_adjustment_it_lands_on_the_rim() -> None:
    world = world_of(DOWN, DOWN)
    world.on_placed = lambda name: _displace(world, name, "bin_0", 0.014)
    mission = Mission(world, bins="2", **COLUMN, adjust="false", max_failures="2")
    assert mission.finish() is NodeStatus.FAILURE
    assert "mm from where it was sent" in mission.run.failure_text()
    assert world.held == "bin_1"
    assert holders(mission.tree) == []


@pytest.mark.slow
def test_bin_below_that_is_out_of_place_is_reported_after_the_retries() -> None:
    world = world_of(DOWN, DOWN)
    world.on_placed = lambda name: _displace(world, name, "bin_0", 0.025)
    mission = Mission(world, bins="2", **COLUMN, max_failures="3")
    assert mission.finish() is NodeStatus.FAILURE
    reason = mission.run.failure_text()
    assert "bin_0 below is 25;0 mm off its place: straighten the stack" in reason
    assert world.events("reach").count("come down") == 1 + 3


def _displace(world: World, placed: str, name: str, x: float) -> None:
    if placed == name:
        world.bins[name][0, 3] += x


@pytest.mark.slow
def test_bin_that_is_pushed_aside_comes_in_again() -> None:
    world = world_of(DOWN)
    mission = Mission(world, bins="1", place_std_dev="0.005")
    carrying(world, mission, "bin_0")
    goal, world.speed = PLACES[0], 0.3
    mission.until(lambda: math.dist(world.tool[:3, 3], goal) < 0.03)
    world.tool[0, 3] += 0.010
    mission.until(lambda: world.tool[2, 3] > goal[2] + 0.1, limit=2.0)
    assert mission.finish() is NodeStatus.SUCCESS, mission.run.failure_text()
    assert world.events("reach").count("come down") == 1  # it was one reach all the way
    assert at_place(world, "bin_0", 0, 0.006)


# ------------------------------------------------------------------------------- T2.7, T2.8


@pytest.mark.slow
def test_the_bin_that_has_come_furthest_is_first() -> None:
    world = World(jammed=True)
    world.bins = {
        "bin_0": bin_pose(0.0, 0.69, -0.3765, DOWN),
        "bin_1": bin_pose(0.0, 0.45, -0.3765, DOWN),
    }
    mission = Mission(world, bins="2")
    mission.tick()
    assert mission.entry("active") == "bin_1"
    assert mission.finish() is NodeStatus.SUCCESS, mission.run.failure_text()
    assert at_place(world, "bin_1", 0)


@pytest.mark.slow
def test_navigation_obstacles_are_on_while_the_way_leads_past_the_middle() -> None:
    world = world_of(DOWN)
    mission = Mission(world, bins="1")
    on = set()
    while mission.status is NodeStatus.RUNNING:
        x, y = world.tool[:2, 3]
        beyond = bool(x * 0.37 - y * 0.6 > 0.0)
        mission.tick()
        if mission.step == "place" and world.events("reach")[-1] == "come down":
            on.add((beyond, "navigation_*" in (mission.entry("obstacles") or ())))
    assert on == {(False, True), (True, False)}
    assert mission.entry("obstacles") == []


# ------------------------------------------------------------------------------- T2.9


@pytest.mark.slow
def test_a_bin_that_moved_while_nobody_saw_it_is_reached_for_anew() -> None:
    world = world_of(DOWN)
    mission = Mission(world, bins="1")
    (still_there,) = (node for node in mission.tree.nodes() if node.name == "still there")
    mission.until(lambda: mission.step == "pick")
    world.unseen.add("bin_0")
    world.bins["bin_0"][0, 3] += 0.04
    mission.until(lambda: still_there.status is NodeStatus.RUNNING)
    began = world.time
    mission.until(lambda: world.time > began + 0.5)
    assert still_there.status is NodeStatus.RUNNING, "it waits for a look"
    world.unseen.clear()
    mission.until(lambda: still_there.failure_reason())
    assert "bin_0 is 40 mm beside the tool: it has moved" in still_there.failure_reason()
    assert not world.pump
    assert mission.finish() is NodeStatus.SUCCESS, mission.run.failure_text()
    assert at_place(world, "bin_0", 0)


@pytest.mark.slow
def test_sucking_and_lifting_is_not_interrupted() -> None:
    world = world_of(DOWN, no_suction=True)
    mission = Mission(world, bins="1")
    mission.until(lambda: ("CLOSE", "") in world.log)
    assert len(holders(mission.tree)) == 1
    # Nobody decides meanwhile, though there is nothing to pick any more.
    gone = world.bins.pop("bin_0")
    for _ in range(5):
        mission.tick()
        assert mission.entry("active") == ""
        assert mission.step == "pick"
    mission.tree.halt_tree()
    assert holders(mission.tree) == []
    world.bins["bin_0"] = gone
    world.no_suction = False
    assert mission.finish() is NodeStatus.SUCCESS, mission.run.failure_text()


@pytest.mark.slow
@pytest.mark.parametrize("ticks", [5, 40, 70, 130, 170, 260])
def test_halted_at_any_moment_nothing_is_left_and_it_goes_on(ticks: int) -> None:
    world = world_of(UP, DOWN)
    mission = Mission(world, bins="2")
    for _ in range(ticks):
        mission.tick()
    mission.tree.halt_tree()
    assert holders(mission.tree) == []
    assert mission.entry("obstacles") in (None, [])


# ------------------------------------------------------------------------------- faults


@pytest.mark.slow
def test_pump_that_does_not_suck_is_given_time_and_then_told() -> None:
    world = world_of(DOWN, no_suction=True)
    mission = Mission(world, bins="1", max_failures="2")
    assert mission.finish() is NodeStatus.FAILURE
    reason = mission.run.failure_text()
    assert "'pick' failed 2 times in a row" in reason
    assert "see whether the pump runs" in reason
    assert holders(mission.tree) == []
    assert not world.pump


@pytest.mark.slow
def test_pump_that_sucks_again_is_enough() -> None:
    world = world_of(DOWN, no_suction=True)
    mission = Mission(world, bins="1")
    mission.until(lambda: world.events("CLOSE") == ["", ""])
    world.no_suction = False
    assert mission.finish() is NodeStatus.SUCCESS, mission.run.failure_text()


@pytest.mark.slow
def test_bin_after_bin_lost_in_mid_air_ends_the_mission() -> None:
    world = world_of(*[DOWN] * 6)
    mission = Mission(world, bins="1", max_failures="3")
    for number in range(3):
        carrying(world, mission, f"bin_{number}")
        world.held = ""
        world.bins[f"bin_{number}"] = bin_pose(0.6, 0.3, -1.1, DOWN)
    assert mission.finish(2.0) is NodeStatus.FAILURE
    assert "3 bins in a row were lost on the way" in mission.run.failure_text()
    assert "pump" in mission.run.failure_text()


@pytest.mark.slow
def test_jammed_conveyor_is_waited_for_and_then_told() -> None:
    world = World(coming=[DOWN], jammed=True)
    mission = Mission(world, bins="1", patience="20")
    mission.until(lambda: world.time > 25.0)
    world.jammed = False
    assert mission.finish() is NodeStatus.SUCCESS, mission.run.failure_text()
    world = World(coming=[DOWN], jammed=True)
    mission = Mission(world, bins="1", patience="20")
    assert mission.finish(40.0) is NodeStatus.FAILURE
    assert "no bin to take for 20 s" in mission.run.failure_text()
    assert "conveyor" in mission.run.failure_text()


@pytest.mark.slow
def test_silent_camera_is_waited_for_and_then_told() -> None:
    world = world_of(DOWN, speed=0.1)
    mission = Mission(world, bins="1", patience="10")
    mission.until(lambda: mission.step == "pick")
    world.unseen.add("bin_0")
    mission.until(lambda: mission.step == "home", limit=4.0)
    world.unseen.clear()
    mission.until(lambda: mission.step == "pick")
    world.unseen.add("bin_0")
    assert mission.finish() is NodeStatus.FAILURE
    assert "bin_0 not seen any more: see whether the camera" in mission.run.failure_text()


@pytest.mark.slow
@pytest.mark.parametrize(("what", "why"), [("blind", "no fresh scene"), ("silent", "vacuum")])
def test_silence_is_told_after_a_while(what: str, why: str) -> None:
    world = world_of(DOWN)
    mission = Mission(world, bins="1")
    carrying(world, mission, "bin_0")
    world.speed = 0.05
    setattr(world, what, True)
    for _ in range(10):
        assert mission.tick() is NodeStatus.RUNNING
    setattr(world, what, False)
    mission.tick()
    setattr(world, what, True)
    assert mission.finish(10.0) is NodeStatus.FAILURE
    assert why in mission.run.failure_text()
    assert holders(mission.tree) == []


@pytest.mark.slow
def test_bin_on_its_side_is_left_for_another_and_told_if_there_is_none() -> None:
    world = World()
    world.bins = {
        "bin_0": bin_pose(0.2, 0.3, -0.35, SIDEWAYS),
        "bin_1": bin_pose(0.0, 0.6, -0.3765, DOWN),
    }
    assert Mission(world, bins="1").finish() is NodeStatus.SUCCESS
    mission = Mission(world, bins="2", patience="5")
    world.bins.pop("bin_1")
    assert mission.finish(30.0) is NodeStatus.FAILURE
    assert "bin_0 on its side: set it upright" in mission.run.failure_text()


@pytest.mark.slow
@pytest.mark.parametrize("step", ["reach", "lift and turn", "to the flip station", "come down"])
def test_stuck_arm_backs_off_and_tries_again(step: str) -> None:
    world = world_of(UP)
    stuck = "Stuck: the arm is near a singularity; a planned path did not help. Clear the way."
    world.fail_next[step] = [stuck] * 2
    assert Mission(world, bins="1").finish() is NodeStatus.SUCCESS
    assert world.fail_next[step] == []
    world = world_of(UP)
    world.fail_next[step] = [stuck] * 9
    mission = Mission(world, bins="1")
    assert mission.finish() is NodeStatus.FAILURE
    assert "near a singularity" in mission.run.failure_text()
    assert "Clear the way" in mission.run.failure_text()
    assert holders(mission.tree) == []


# ------------------------------------------------------------------------------- bad input, cost


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"bins": "37"}, "'bins': 37 is more than 36"),
        ({"bins": "0"}, "'bins': 0 is less than 1"),
    ],
)
def test_a_number_of_bins_that_do_not_fit_is_refused_in_a_sentence(given: dict, why: str) -> None:
    with pytest.raises(MissionError, match=why):
        Mission(World(), **given)


def test_an_unknown_preset_is_told_in_a_sentence() -> None:
    mission = Mission(World(), preset="latest")
    with pytest.raises(RuntimeError, match="choose isaac_6 or legacy_2022"):
        mission.finish()


@pytest.mark.slow
def test_a_tick_is_cheap() -> None:
    """By the time that the thread itself worked: other processes' share is not the tree's."""
    world = world_of(*[UP, DOWN] * 2)
    mission = Mission(world, bins="4")
    durations = []
    status = NodeStatus.RUNNING
    while status is NodeStatus.RUNNING:
        world.step(DT)
        start = time.thread_time()
        status = mission.run.tick()
        durations.append(time.thread_time() - start)
    median = statistics.median(durations)
    print(f"tick of stack_bins: median {1e3 * median:.3f} ms")
    assert median < 6e-3
