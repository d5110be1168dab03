# SPDX-License-Identifier: Apache-2.0
"""The tree decider_stack_blocks with its nodes, in a world without physics, at 60 Hz."""

import math

import numpy as np
import pytest
from block_network_world import (
    BLUE,
    DT,
    GREEN,
    HOME,
    ORDER,
    RED,
    TOWER,
    YELLOW,
    BlockWorld,
    H,
    NetworkMission,
    pose,
    turned,
)

from behavior_tree import NodeStatus


def started(world: BlockWorld | None = None, **parameters: str) -> NetworkMission:
    return NetworkMission(world or BlockWorld(), **parameters)


def reaching_for(mission: NetworkMission, name: str) -> bool:
    return mission.on("reach", "which") and mission.board.get("block") == name


def carrying(mission: NetworkMission, name: str, where: str = "onto the tower") -> bool:
    return mission.on(where) and mission.board.get("held") == name


@pytest.mark.slow
def test_builds_the_tower_and_goes_home() -> None:  # T1.1
    mission = started()
    assert mission.finish() is NodeStatus.SUCCESS, mission.run.failure_text()
    assert mission.world.tower() == list(ORDER)
    assert mission.held == [BLUE, "", YELLOW, "", GREEN, "", RED, ""]
    assert np.linalg.norm(mission.world.tool - HOME) < 0.01
    assert mission.world.width == pytest.approx(0.0)
    assert mission.board.get("aligned") == ";".join(ORDER)
    assert not mission.locked()


@pytest.mark.slow
def test_every_exit_has_its_enter_and_one_goal_at_a_time_is_reached_for() -> None:
    mission = started()
    mission.finish()
    for skill in ("Reach", "MoveGripper", "MoveArm"):
        events = [what for what, which in mission.log if which == skill]
        assert events == ["enter", "exit"] * (len(events) // 2)
        assert events


def test_a_target_that_moves_is_followed_in_the_next_tick_without_a_new_goal() -> None:  # T1.2
    mission = started()
    mission.until(lambda: reaching_for(mission, BLUE))
    for _ in range(20):
        mission.tick()
    before, entered = mission.targets[-1][:3, 3], mission.entered()
    x, y, _ = mission.world.position(BLUE)
    mission.world.put(BLUE, x + 0.1, y + 0.1)
    mission.tick()
    assert mission.targets[-1][:3, 3] - before == pytest.approx([0.1, 0.1, 0.0], abs=1e-4)
    assert mission.entered() == entered
    assert mission.log[-1] == ("enter", "Reach")
    mission.until(lambda: mission.board.get("held", "") == BLUE)
    assert mission.world.grasped == BLUE


@pytest.mark.slow
@pytest.mark.parametrize("place", [(0.15, -0.15), (0.75, -0.4)])
def test_out_of_reach_means_home_and_back_again(place: tuple[float, float]) -> None:  # T1.3
    mission = started()
    mission.until(lambda: reaching_for(mission, BLUE))
    x, y, _ = mission.world.position(BLUE)
    mission.world.put(BLUE, *place)
    mission.tick()
    assert mission.on("refuse", "home") or mission.on("refuse", "wait")
    assert ("enter", "MoveArm") in mission.log
    for _ in range(200):
        mission.tick()
    assert mission.status is NodeStatus.RUNNING
    mission.world.put(BLUE, x, y)
    mission.tick()
    assert reaching_for(mission, BLUE)
    assert mission.finish() is NodeStatus.SUCCESS


@pytest.mark.slow
def test_what_stays_out_of_reach_fails_the_mission_with_the_reason() -> None:
    world = BlockWorld()
    world.put(BLUE, 0.9, 0.0)
    mission = started(world, patience="20")
    assert mission.finish(limit=30.0) is NodeStatus.FAILURE
    assert "blue_block is out of reach: 0.90 m from the base" in mission.run.failure_text()
    assert world.now > 29.0


@pytest.mark.slow
def test_a_stolen_block_is_noticed_in_one_tick() -> None:  # T1.4
    mission = started()
    mission.until(lambda: carrying(mission, BLUE))
    x, y, z = mission.world.position(BLUE)
    mission.world.put(BLUE, x, y - 0.2, z)
    mission.world.width = H  # the fingers have not moved yet
    mission.tick()
    assert mission.held[-1] == ""
    assert mission.on("pick")
    assert not mission.on("place")
    mission.world.put(BLUE, x, y - 0.2)
    assert mission.finish() is NodeStatus.SUCCESS
    assert mission.picked() == [BLUE, BLUE, YELLOW, GREEN, RED]


@pytest.mark.slow
def test_a_block_that_slips_a_little_is_still_held() -> None:  # T1.4
    mission = started()
    mission.until(lambda: carrying(mission, BLUE))
    world = mission.world
    world.tool_T_block[2, 3] += 0.08
    for _ in range(20):
        mission.tick()
    assert mission.held == [BLUE]
    assert mission.on("place")


@pytest.mark.slow
def test_fingers_that_shut_hold_nothing() -> None:
    mission = started()
    mission.until(lambda: carrying(mission, BLUE))
    mission.world.put(BLUE, 0.5, 0.1)
    mission.world.width = 0.0
    mission.tick()
    assert mission.held[-1] == ""
    assert mission.finish() is NodeStatus.SUCCESS


@pytest.mark.slow
def test_a_block_stolen_during_the_lift_changes_nothing_until_the_lock_is_released() -> None:
    mission = started()  # T1.5
    mission.until(lambda: mission.on("lift it"))
    x, y, _ = mission.world.position(BLUE)
    mission.world.put(BLUE, x - 0.1, y + 0.25)
    mission.tick()
    assert mission.held == [BLUE, ""]
    ticks = 0
    while mission.locked():
        assert mission.on("lift it")
        mission.tick()
        ticks += 1
    assert ticks > 2
    mission.tick()
    assert mission.on("pick")
    assert not mission.locked()
    assert mission.finish() is NodeStatus.SUCCESS
    assert mission.picked() == [BLUE, BLUE, YELLOW, GREEN, RED]


@pytest.mark.slow
def test_the_top_that_was_knocked_off_is_put_back() -> None:  # T1.6
    mission = started()
    mission.until(lambda: reaching_for(mission, RED))
    assert mission.board.get("stack") == ";".join(ORDER[:3])
    assert mission.board.get("aligned") == ";".join(ORDER[:3])
    mission.world.put(GREEN, TOWER[0] + 0.1, TOWER[1])
    mission.tick()
    assert mission.board.get("stack") == ";".join(ORDER[:2])
    assert mission.board.get("aligned") == ";".join(ORDER[:2])
    assert mission.board.get("block") == GREEN
    assert mission.finish() is NodeStatus.SUCCESS
    assert mission.picked() == [BLUE, YELLOW, GREEN, GREEN, RED]


@pytest.mark.slow
def test_a_block_that_somebody_puts_onto_the_tower_is_not_aligned() -> None:
    mission = started()
    mission.until(lambda: reaching_for(mission, YELLOW))
    mission.world.put(YELLOW, *TOWER, 1.5 * H)
    mission.tick()
    assert mission.board.get("stack") == ";".join(ORDER[:2])
    assert mission.board.get("aligned") == BLUE


@pytest.mark.slow
def test_a_tower_that_shrinks_sends_the_held_block_to_the_table_at_once() -> None:  # T1.6
    mission = started()
    mission.until(lambda: carrying(mission, GREEN))
    mission.world.put(YELLOW, 0.55, -0.1)
    mission.tick()
    assert carrying(mission, GREEN, "onto the table")
    target = mission.targets[-1][:3, 3]
    assert math.dist(target[:2], TOWER) > 0.149
    assert mission.finish() is NodeStatus.SUCCESS
    assert mission.picked() == [BLUE, YELLOW, GREEN, YELLOW, GREEN, RED]


@pytest.mark.slow
def test_a_wrong_tower_is_taken_down_from_the_top() -> None:  # T1.7
    world = BlockWorld()
    world.stack(GREEN, BLUE)
    mission = started(world)
    spots = []
    while mission.tick() is NodeStatus.RUNNING:
        assert world.now < 200.0, mission.path()
        if mission.on("onto the table") and not mission.locked():
            others = [at[:2, 3] for name, at in world.blocks.items() if name != world.grasped]
            spots.append((mission.targets[-1][:2, 3], others))
    assert mission.status is NodeStatus.SUCCESS, mission.run.failure_text()
    assert mission.picked() == [BLUE, GREEN, BLUE, YELLOW, GREEN, RED]
    for spot, others in spots:
        assert 0.3 <= spot[0] <= 0.7
        assert 0.0 <= spot[1] <= 0.3
        assert math.hypot(*spot) > 0.349
        assert min(math.dist(spot, other) for other in (*others, TOWER)) > 0.129
    assert len({tuple(spot.round(3)) for spot, _ in spots}) == 2


@pytest.mark.slow
def test_the_right_beginning_of_a_wrong_tower_stays() -> None:
    world = BlockWorld()
    world.stack(BLUE, GREEN, YELLOW)
    mission = started(world)
    assert mission.finish() is NodeStatus.SUCCESS
    assert mission.picked() == [YELLOW, GREEN, YELLOW, GREEN, RED]


@pytest.mark.slow
def test_a_block_that_is_taken_off_the_finished_tower_is_fetched() -> None:  # T1.8
    world = BlockWorld()
    world.stack(*ORDER)
    mission = started(world)
    mission.until(lambda: mission.on("go home"))
    world.put(RED, 0.5, -0.3)
    mission.tick()
    assert reaching_for(mission, RED)
    assert mission.finish() is NodeStatus.SUCCESS
    assert mission.picked() == [RED]


@pytest.mark.slow
def test_a_block_that_is_taken_when_the_arm_is_home_already_is_fetched_too() -> None:
    world = BlockWorld()
    world.stack(*ORDER)
    mission = started(world)
    mission.until(lambda: mission.on("look on for a while"))
    world.put(RED, 0.5, -0.3)
    assert mission.finish() is NodeStatus.SUCCESS
    assert mission.picked() == [RED]
    assert world.tower() == list(ORDER)


@pytest.mark.slow
def test_it_may_watch_over_the_finished_tower() -> None:  # T1.8
    world = BlockWorld()
    world.stack(*ORDER)
    mission = started(world, afterwards="idle")
    mission.until(lambda: world.width == pytest.approx(0.0), limit=10.0)
    for _ in range(60):
        assert mission.tick() is NodeStatus.RUNNING
    world.put(RED, 0.5, -0.3)
    mission.until(lambda: mission.board.get("held") == RED)
    mission.until(lambda: world.tower() == list(ORDER) and world.width == pytest.approx(0.0))
    assert mission.status is NodeStatus.RUNNING


@pytest.mark.slow
def test_a_shut_hand_opens_once_near_the_block() -> None:  # quirk q1
    world = BlockWorld()
    world.width = 0.0
    mission = started(world)
    mission.until(lambda: mission.board.get("held", "") == BLUE)
    assert mission.log[:6] == [
        ("enter", "Reach"),
        ("exit", "Reach"),
        ("enter", "MoveGripper"),
        ("exit", "MoveGripper"),
        ("enter", "Reach"),
        ("exit", "Reach"),
    ]


@pytest.mark.slow
def test_a_missed_block_is_never_believed_held() -> None:  # quirk q2
    mission = started()
    mission.until(lambda: mission.on("close"))
    mission.world.put(BLUE, 0.5, -0.1)
    mission.until(lambda: mission.on("come away"))
    assert mission.held == []
    assert mission.finish() is NodeStatus.SUCCESS
    assert mission.picked() == list(ORDER)


@pytest.mark.slow
def test_a_block_that_leans_is_waited_for_and_nothing_stalls() -> None:  # quirk q3
    world = BlockWorld()
    world.blocks[BLUE] = pose(0.5, -0.1, 0.04, turned("x", 0.75) @ turned("y", 0.6))
    mission = started(world)
    mission.until(lambda: mission.on("refuse"))
    assert "leans" in mission.board.get("refusal")
    world.put(BLUE, 0.5, -0.1)
    assert mission.finish() is NodeStatus.SUCCESS


@pytest.mark.slow
def test_a_failed_reach_is_repeated_and_too_many_fail_the_mission() -> None:
    mission = started(max_failures="3")
    mission.fail_next += ["stuck"] * 2
    mission.until(lambda: mission.board.get("held", "") == BLUE)
    mission.fail_next += ["stuck for good"] * 9
    assert mission.finish() is NodeStatus.FAILURE
    assert "stuck for good" in mission.run.failure_text()
    assert not mission.locked()


@pytest.mark.slow
def test_no_placement_while_nothing_is_held_and_none_where_no_room_is() -> None:  # quirk q4
    world = BlockWorld()
    world.stack(GREEN)
    mission = started(world, table_area="0.30;0.31;-0.34;-0.33")  # red stands there
    assert mission.finish() is NodeStatus.FAILURE
    assert "no room on the table for green_block" in mission.run.failure_text()


@pytest.mark.slow
def test_a_block_beside_the_axis_is_cleared_before_anything_is_built() -> None:  # quirk q5
    world = BlockWorld()
    world.stack(BLUE)
    world.put(RED, TOWER[0] + 0.06, TOWER[1])
    mission = started(world)
    assert mission.finish() is NodeStatus.SUCCESS
    assert mission.picked() == [RED, YELLOW, GREEN, RED]
    assert world.tower() == list(ORDER)


@pytest.mark.slow
def test_a_block_that_lies_across_the_hands_way_beside_a_tall_tower_goes_first() -> None:
    world = BlockWorld()  # where the reference goes home for ever
    world.stack(BLUE, YELLOW)
    world.blocks[GREEN] = pose(TOWER[0] + 0.08, TOWER[1] - 0.03, H / 2, turned("z", 0.8))
    mission = started(world)
    assert mission.finish() is NodeStatus.SUCCESS, mission.run.failure_text()
    assert world.tower() == list(ORDER)


@pytest.mark.slow
def test_collisions_are_suppressed_where_the_hand_works_and_nowhere_else() -> None:
    mission = started()
    assert mission.finish() is NodeStatus.SUCCESS
    assert mission.touched[0] == []
    changes = [mission.touched[0]]
    for names in mission.touched:
        if names != changes[-1]:
            changes.append(names)
    # At the block, with it on the way, and at what it is put onto; neighbours when right above.
    assert [] in changes[1:]
    assert [BLUE] in changes
    assert [BLUE, YELLOW] in changes
    assert len(changes) < 40


@pytest.mark.slow
def test_a_world_that_is_not_seen_ends_the_mission_with_a_sentence() -> None:
    world = BlockWorld()
    world.blind = True
    mission = started(world)
    assert mission.tick() is NodeStatus.RUNNING
    assert mission.on("look")
    assert mission.finish(limit=6.0) is NodeStatus.FAILURE
    assert "nothing was heard of the scene for 5" in mission.run.failure_text()
    assert world.now - 10.0 == pytest.approx(5.0, abs=5 * DT)


@pytest.mark.slow
def test_a_halt_while_it_is_locked_leaves_no_lock() -> None:
    mission = started()
    mission.until(mission.locked)
    mission.tree.halt_tree()
    assert not mission.locked()
    assert mission.log[-1][0] == "exit"
