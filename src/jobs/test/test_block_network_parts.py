# SPDX-License-Identifier: Apache-2.0
"""What the block network's monitors compute: beliefs, grasps, suppression, moves."""

import math
import random

import numpy as np
import pytest
from block_network_world import BLUE, GREEN, ORDER, RED, TOWER, YELLOW, H, pose, turned

from behavior_jobs.block_network.belief import BeliefKeeper, Measurement, SyncRules, between_fingers
from behavior_jobs.block_network.grasps import (
    Hand,
    best_grasp,
    cube_grasps,
    nearest_cube_rotation,
    neighbour_penalty,
    reach_score,
    untwisted,
    upright,
)
from behavior_jobs.block_network.moves import Picker, Placer, alignment, snapshot_of
from behavior_jobs.block_network.suppression import command_ahead, may_touch, touchable
from behavior_jobs.free_spot import TableArea
from behavior_jobs.poses import is_near
from behavior_jobs.tower import TowerObserver, TowerPlan

HAND = Hand()
PLAN = TowerPlan(ORDER, *TOWER)
AWAY = pose(0.3, 0.0, 0.5)
"""A tool that is at no block."""


def measured(at, stamp=0.0):
    return {BLUE: Measurement(at, stamp)}


# -- monitor 1: beliefs --------------------------------------------------------------------------


def test_small_changes_are_taken_over_now_and_then_and_large_ones_at_once() -> None:
    keeper = BeliefKeeper(SyncRules())
    first = keeper.update(measured(pose(0.5, 0.0, 0.03)), AWAY, "", 0.0)[BLUE]
    near = measured(pose(0.505, 0.0, 0.03), 0.1)
    assert keeper.update(near, AWAY, "", 0.1)[BLUE] is first
    assert keeper.update(near, AWAY, "", 0.25)[BLUE] is near[BLUE].pose
    noise = measured(pose(0.506, 0.0, 0.03), 0.9)
    assert keeper.update(noise, AWAY, "", 0.9)[BLUE] is near[BLUE].pose
    far = measured(pose(0.605, 0.1, 0.03), 0.91)
    assert keeper.update(far, AWAY, "", 0.91)[BLUE] is far[BLUE].pose


def test_a_clock_that_is_set_back_makes_no_change_wait_until_then() -> None:
    keeper = BeliefKeeper(SyncRules())
    keeper.update(measured(pose(0.5, 0.0, 0.03), 300.0), AWAY, "", 300.0)
    near = measured(pose(0.505, 0.0, 0.03), 1.0)
    keeper.update(near, AWAY, "", 1.0)
    assert keeper.update(near, AWAY, "", 1.3)[BLUE] is near[BLUE].pose
    # What moves with the hand was where it is now, not where it was when the clock said 300 s.
    tool = pose(0.505, 0.0, 0.03, turned("x", math.pi))
    keeper.update({}, tool, BLUE, 300.0)
    raised = pose(0.5, 0.2, 0.3, turned("x", math.pi))
    keeper.update({}, raised, BLUE, 1.4)
    stolen = measured(pose(0.505, 0.0, 0.03), 1.4)
    assert keeper.update(stolen, raised, BLUE, 1.4)[BLUE] is stolen[BLUE].pose


def test_an_old_measurement_is_none() -> None:
    keeper = BeliefKeeper(SyncRules())
    believed = keeper.update(measured(pose(0.5, 0.0, 0.03)), AWAY, "", 0.0)[BLUE]
    moved = measured(pose(0.7, 0.0, 0.03), 1.0)
    assert keeper.update(moved, AWAY, "", 2.01)[BLUE] is believed
    assert keeper.update(moved, AWAY, "", 1.99)[BLUE] is moved[BLUE].pose


def test_a_block_at_the_hand_is_believed_where_it_was_unless_it_jumps_or_stays_away() -> None:
    keeper = BeliefKeeper(SyncRules())
    tool = pose(0.5, 0.0, 0.06)
    believed = keeper.update(measured(pose(0.5, 0.0, 0.03)), tool, "", 0.0)[BLUE]
    off = pose(0.6, 0.0, 0.03)
    assert keeper.update(measured(off, 0.1), tool, "", 0.1)[BLUE] is believed
    assert keeper.update(measured(off, 0.5), tool, "", 0.5)[BLUE] is believed
    assert keeper.update(measured(off, 0.7), tool, "", 0.7)[BLUE] is off
    tool = pose(0.6, 0.0, 0.06)
    far = pose(0.6, 0.16, 0.03)
    assert keeper.update(measured(far, 0.8), tool, "", 0.8)[BLUE] is far


def test_a_held_block_moves_with_the_tool_until_it_is_measured_far_away() -> None:
    keeper = BeliefKeeper(SyncRules())
    block, tool = pose(0.5, 0.0, 0.03), pose(0.5, 0.004, 0.03, turned("x", math.pi))
    keeper.update(measured(block), tool, "", 0.0)
    keeper.update({}, tool, BLUE, 0.0)
    assert keeper.in_hand is not None
    raised = pose(0.5, 0.2, 0.3, turned("x", math.pi))
    carried = keeper.update(measured(block, 0.0), raised, BLUE, 0.1)[BLUE]
    # The fingers have centred it.
    assert carried[:3, 3] == pytest.approx([0.5, 0.2, 0.3])
    slipped = pose(0.5, 0.2, 0.22)
    keeper.update(measured(slipped, 0.2), raised, BLUE, 0.2)
    assert keeper.in_hand is not None
    stolen = pose(0.5, 0.4, 0.3)
    assert keeper.update(measured(stolen, 0.7), raised, BLUE, 0.7)[BLUE] is stolen
    assert keeper.in_hand is None


def test_what_is_seen_late_of_a_moving_block_is_no_loss() -> None:
    keeper = BeliefKeeper(SyncRules())
    keeper.update(measured(pose(0.5, 0.0, 0.1)), pose(0.5, 0.0, 0.1), "", 0.0)
    for step in range(1, 101):
        now = 0.02 * step
        tool = pose(0.5, 0.6 * now, 0.1)
        seen = pose(0.5, max(0.0, 0.6 * (now - 0.3)), 0.1)  # 0.18 m behind
        keeper.update(measured(seen, now - 0.1), tool, BLUE, now)
        assert keeper.in_hand is not None


def test_fingers_centre_and_align_what_they_hold() -> None:
    held = pose(0.003, 0.01, -0.004, turned("x", math.pi) @ turned("z", 0.1))
    found = between_fingers(held)
    assert found[:3, 3] == pytest.approx([0.003, 0.0, -0.004])
    assert np.abs(found[:3, :3]).max(axis=0) == pytest.approx([1.0, 1.0, 1.0])


# -- grasps --------------------------------------------------------------------------------------


def test_there_are_24_grasps_and_those_from_above_count() -> None:  # T1.10
    grasps = cube_grasps(0.02)
    rotations = grasps[:, :3, :3]
    assert len({tuple(rotation.ravel().round(6)) for rotation in rotations}) == 24
    assert np.linalg.det(rotations) == pytest.approx(np.ones(24))
    assert np.linalg.norm(grasps[:, :3, 3], axis=1) == pytest.approx(np.full(24, 0.02))
    for angle, count in ((0.0, 4), (20.0, 4), (30.0, 0)):
        tilted = pose(0.5, 0.0, 0.03, turned("x", math.radians(angle)))
        assert upright(tilted @ grasps).sum() == count


def test_fingers_go_where_no_neighbour_is() -> None:  # T1.11
    block, other = pose(0.5, 0.0, 0.026), pose(0.5, 0.06, 0.026)
    across = best_grasp(block, cube_grasps(), (1, 0, 0), {}, hand=HAND, edge=H)
    # As the base's direction prefers it, the fingers close along y.
    assert abs(across.pose[:3, 1] @ [0, 1, 0]) == pytest.approx(1.0)
    beside = best_grasp(block, cube_grasps(), (1, 0, 0), {"o": other}, hand=HAND, edge=H)
    assert abs(beside.pose[:3, 1] @ [1, 0, 0]) == pytest.approx(1.0)
    assert beside.hindered_by == ()
    penalty = neighbour_penalty(np.array([across.pose]), block[:3, 3], [other[:3, 3]])
    assert penalty[0] == pytest.approx(-10.0 * math.exp(-0.08), abs=1e-9)


def test_a_neighbour_far_away_counts_for_nothing() -> None:
    grasps = pose(0.5, 0.0, 0.026) @ cube_grasps()
    assert neighbour_penalty(grasps, grasps[0, :3, 3], [np.array([0.5, 0.25, 0.026])]).any() == 0


def test_the_tool_looks_away_from_the_base() -> None:
    found = best_grasp(pose(0.3, -0.3, 0.026), cube_grasps(), (0.3, -0.3, 0), {}, hand=HAND, edge=H)
    assert reach_score(np.array([found.pose]), (0.3, -0.3, 0))[0] == pytest.approx(math.sqrt(0.5))


def test_a_choice_is_kept_while_it_is_about_as_good() -> None:
    local = cube_grasps()
    block = pose(0.5, 0.0, 0.026, turned("z", math.pi / 4 - 0.02))
    first = best_grasp(block, local, (1, 0, 0), {}, hand=HAND, edge=H)
    block = pose(0.5, 0.0, 0.026, turned("z", math.pi / 4 + 0.02))
    other = best_grasp(block, local, (1, 0, 0), {}, hand=HAND, edge=H)
    assert other.index != first.index
    kept = best_grasp(block, local, (1, 0, 0), {}, hand=HAND, edge=H, before=first.index)
    assert kept.index == first.index


def test_a_block_that_leans_is_grasped_along_its_own_axis_if_at_all() -> None:
    local = cube_grasps()
    for angle, found in ((20.0, True), (40.0, True)):
        block = pose(0.5, 0.0, 0.03, turned("x", math.radians(angle)))
        grasp = best_grasp(block, local, (1, 0, 0), {}, hand=HAND, edge=H)
        assert (grasp is not None) is found
        assert abs(grasp.pose[2, 1]) < 0.35
    on_its_corner = pose(0.5, 0.0, 0.04, turned("x", 0.75) @ turned("y", 0.6))
    assert best_grasp(on_its_corner, local, (1, 0, 0), {}, hand=HAND, edge=H) is None


def test_the_hand_hits_what_is_tall_beside_it_and_the_fingers_what_is_low() -> None:
    grasp = pose(0.5, 0.0, 0.026, np.diag([1.0, -1.0, -1.0]))  # fingers along y

    def hit(x: float, y: float, z: float) -> bool:
        return HAND.hits(grasp, pose(0.5 + x, y, z), H, 0.006)

    assert hit(0.0, 0.06, 0.026)  # under a finger
    assert not hit(0.06, 0.0, 0.026)  # beside them
    assert hit(0.06, 0.0, 0.129)  # as high as the hand
    assert not hit(0.08, 0.0, 0.129)
    assert hit(0.0, 0.12, 0.129)
    assert not hit(0.0, 0.12, 0.026)


def test_poses_are_close_by_distance_and_angle() -> None:
    here = pose(0.5, 0.0, 0.1)
    assert is_near(here, pose(0.504, 0.0, 0.1), 0.005, 0.005)
    assert not is_near(here, pose(0.506, 0.0, 0.1), 0.005, 0.005)
    for degrees, there in ((0.6, True), (0.62, False)):
        other = pose(0.5, 0.0, 0.1, turned("y", math.radians(degrees)))
        assert is_near(here, other, 0.005, 0.005) is there
    assert is_near(here, pose(0.5, 0.0, 0.1, turned("z", math.pi)), 0.005, 1.0)


def test_a_tool_is_turned_the_way_round_that_leads_over_away_from_the_base() -> None:
    def tool(degrees: float, x: float = 0.5):
        return pose(x, 0.0, 0.1, turned("z", math.radians(degrees)) @ np.diag([1.0, -1.0, -1.0]))

    target = tool(-70.0)
    assert untwisted(target, tool(45.0, 0.3)) is target
    between = untwisted(target, tool(55.0, 0.3))
    assert between == pytest.approx(tool(0.0))
    # From there, and from anywhere on the way, the rest is less than a third of a turn.
    assert untwisted(target, between) is target
    # Away from the base would not help.
    target = tool(130.0)
    assert untwisted(target, tool(-30.0)) is target


def test_a_cubes_rotation_is_the_nearest_of_24() -> None:
    turn = turned("x", math.pi / 2) @ turned("z", math.pi)
    assert nearest_cube_rotation(turn @ turned("y", 0.2)) == pytest.approx(turn)


# -- monitor 6: collisions -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("distance", "beside", "above", "touch"),
    [
        (0.09, 0.01, 0.0, True),
        (0.09, 0.05, 0.06, True),
        (0.09, 0.05, 0.04, False),
        (0.12, 0.10, 0.06, True),
        (0.12, 0.10, 0.04, False),
        (0.16, 0.01, 0.06, False),
        (0.16, 0.10, 0.20, False),
        (0.06, 0.03, 0.04, False),
    ],
)
def test_a_block_may_be_touched(
    distance: float, beside: float, above: float, touch: bool
) -> None:  # T1.9
    block = np.array([0.5, 0.0, 0.026])
    target = block + np.array([beside, 0.0, math.sqrt(distance**2 - beside**2)])
    assert may_touch(block, target, block[2] + above) == touch


def test_what_is_held_may_always_be_touched() -> None:
    blocks = {BLUE: pose(0.5, 0.0, 0.026), RED: pose(0.3, 0.3, 0.5)}
    target = np.array([0.5, 0.0, 0.05])
    assert touchable(blocks, RED, target, 0.3) == (BLUE, RED)
    assert touchable(blocks, "", target, 0.3) == (BLUE,)


def test_the_tool_is_sent_a_little_ahead() -> None:
    tool, aim = np.zeros(3), np.array([0.0, 0.0, 1.0])
    assert command_ahead(tool, aim) == pytest.approx([0.0, 0.0, 0.05])
    assert command_ahead(tool, 0.01 * aim) == pytest.approx([0.0, 0.0, 0.01])


# -- tower, moves, placements --------------------------------------------------------------------


def test_alignment_is_lost_from_the_first_difference_on() -> None:
    known = alignment({BLUE: True, YELLOW: True, GREEN: True}, ORDER[:3], (BLUE, RED, GREEN))
    assert known == {BLUE: True, RED: False, GREEN: False}
    assert alignment(known, (BLUE, RED, GREEN), (BLUE,)) == {BLUE: True}
    assert alignment({}, (), (BLUE,)) == {BLUE: False}


XS = (0.3, 0.43, 0.56, 0.7)


def scene(**at):
    spawn = {name: pose(x, -0.34, H / 2) for name, x in zip(ORDER, XS, strict=True)}
    return spawn | {f"{name}_block": place for name, place in at.items()}


def level(k: int):
    return pose(*TOWER, (k + 0.5) * H)


def seen(poses, held=""):
    beliefs = snapshot_of(poses, held, frame="world", edge=H, now=1.0)
    return beliefs, TowerObserver(PLAN, settle_time=0.0).update(beliefs, 1.0)


def test_what_hinders_a_grasp_goes_first() -> None:
    row = {"blue": pose(0.5, 0.0, H / 2), "red": pose(0.5, 0.053, H / 2)}
    poses = scene(**row, green=pose(0.553, 0.0, H / 2))
    move = Picker().choose(seen(poses)[1], poses)
    assert move.block in (RED, GREEN)
    assert move.purpose == "clear"


def test_beside_a_tall_tower_the_top_goes_first() -> None:
    beside = pose(TOWER[0] + 0.078, TOWER[1], H / 2, turned("z", math.pi / 4))
    poses = scene(blue=level(0), yellow=level(1), green=beside)
    picker = Picker()
    tower = picker.crowded(seen(poses)[1], poses)
    assert tower.obstructions == (GREEN,)
    move = picker.choose(tower, poses)
    assert (move.block, move.purpose) == (YELLOW, "clear")


def test_what_is_unknown_or_out_of_reach_is_refused_with_the_reason() -> None:
    poses = scene()
    del poses[BLUE]
    assert Picker().choose(seen(poses)[1], poses).why == "blue_block has not been seen"
    poses = scene(blue=pose(0.7, 0.45, H / 2))
    why = Picker().choose(seen(poses)[1], poses).why
    assert why == "blue_block is out of reach: 0.83 m from the base, not 0.25..0.81 m"


def test_a_placement_has_the_block_right_above_its_place() -> None:
    poses = scene(blue=level(0), yellow=pose(0.4, 0.0, 0.3))
    beliefs, tower = seen(poses, YELLOW)
    in_hand = pose(0.004, 0.0, -0.003)
    placer = Placer(TableArea(0.3, 0.7, 0.0, 0.3))
    placement = placer.choose(tower, beliefs, in_hand, random.Random(1))
    block = placement.pose @ in_hand
    assert placement.destination == "tower"
    assert block[:3, 3] == pytest.approx([*TOWER, 0.0785375 - 0.0000], abs=2e-3)
    assert placement.pose[2, 2] == pytest.approx(-1.0)


def test_a_spot_on_the_table_is_kept_until_something_stands_there() -> None:
    poses = scene(green=level(0), red=pose(0.4, 0.0, 0.3))
    placer, rng = Placer(TableArea(0.3, 0.7, 0.0, 0.3)), random.Random(1)

    def spot(poses):
        beliefs, tower = seen(poses, RED)
        placement = placer.choose(tower, beliefs, np.eye(4), rng)
        assert placement.destination == "table"
        return placement.pose[:2, 3]

    first = spot(poses)
    assert np.array_equal(first, spot(poses))
    moved = poses | {BLUE: pose(*first, H / 2)}
    assert math.dist(first, spot(moved)) > 0.1


def test_without_a_free_spot_the_least_crowded_one_is_taken() -> None:
    places = [(x, y) for x in (0.33, 0.47, 0.61) for y in (0.01, 0.15, 0.29)]
    grid = {f"b{k}_block": pose(x, y, H / 2) for k, (x, y) in enumerate(places)}
    poses = scene(green=level(0), red=pose(0.4, 0.0, 0.3)) | grid
    beliefs, tower = seen(poses, RED)
    placer = Placer(TableArea(0.3, 0.7, 0.0, 0.3))
    placement = placer.choose(tower, beliefs, np.eye(4), random.Random(1))
    spot = placement.pose[:2, 3]
    assert 0.08 < min(math.dist(spot, place) for place in places) < 0.15
