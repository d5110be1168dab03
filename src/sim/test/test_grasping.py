# SPDX-License-Identifier: Apache-2.0
"""Real contacts: blocks are gripped, lifted, shaken, stacked, lost and stolen."""

import numpy as np
import pytest

from behavior_sim.control.joint_trajectory_controller import TrajectoryPoints
from behavior_sim.goals import Ending
from behavior_sim.simulation import Simulation
from behavior_sim.worlds.layouts import pose_of
from behavior_sim.worlds.world import InvalidDisturbance

EDGE = 0.0515
TOWER = (0.25, 0.30)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_blocks_are_picked_and_stacked(simulation: Simulation, hand, seed: int) -> None:
    simulation.reset(seed)
    order = ["blue_block", "yellow_block", "green_block", "red_block"]
    for level, block in enumerate(order):
        hand.pick(block)
        assert simulation.world.held_objects() == [block]
        assert simulation.world.gap == pytest.approx(EDGE, abs=0.001)
        hand.place(*TOWER, (level + 0.5) * EDGE + 0.005 + 0.001)
        assert simulation.world.held_objects() == []
    simulation.advance(500)
    for level, block in enumerate(order):
        position = simulation.world.object_pose(block)[:3, 3]
        assert position[:2] == pytest.approx(TOWER, abs=0.005)
        assert position[2] == pytest.approx((level + 0.5) * EDGE, abs=0.001)


@pytest.mark.slow
def test_shaking_does_not_loosen_the_grasp(simulation: Simulation, hand) -> None:
    hand.pick("yellow_block")
    world = simulation.world

    def held() -> np.ndarray:
        return np.linalg.inv(world.body_pose("tool")) @ world.object_pose("yellow_block")

    before = held()
    home = world.arm_positions
    # To and fro four times in 3 s, swelling and fading so that the ends are at rest.
    amplitude = np.array([0.08, 0.0, 0.04, 0.0, 0.08, 0.0, 0.15])
    times = np.arange(0.05, 3.001, 0.05)
    swell = np.sin(np.pi * times / 3.0)
    wave = (swell * np.sin(2 * np.pi * times / 0.75))[:, None] * amplitude
    points = TrajectoryPoints(joints=hand.joints, times=times, positions=home + wave)
    goal = simulation.arm.start(simulation.time, points)
    fastest = 0.0
    velocity = np.zeros(3)
    while goal.outcome is None:
        simulation.advance(10)
        now = world.visible_velocity("yellow_block")[:3]
        fastest, velocity = max(fastest, float(np.linalg.norm(now - velocity)) / 0.02), now
    assert goal.outcome.ending is Ending.SUCCEEDED
    assert fastest > 4.0, "the shaking was too gentle to say anything"
    assert np.linalg.norm(held()[:3, 3] - before[:3, 3]) < 0.001
    assert world.held_objects() == ["yellow_block"]


@pytest.mark.slow
def test_opened_gripper_drops_the_block(simulation: Simulation, hand) -> None:
    hand.pick("blue_block")
    hand.grip(0.08)
    simulation.advance(500)
    assert simulation.world.held_objects() == []
    assert simulation.world.object_pose("blue_block")[2, 3] == pytest.approx(EDGE / 2, abs=0.001)


@pytest.mark.slow
def test_stolen_block_leaves_an_empty_gripper(simulation: Simulation, hand) -> None:
    hand.pick("blue_block")
    simulation.world.release("blue_block", pose_of([0.5, 0.2, 0.0]))
    simulation.advance(500)
    world = simulation.world
    assert world.object_pose("blue_block")[:3, 3] == pytest.approx([0.5, 0.2, EDGE / 2], abs=0.001)
    assert world.held_objects() == []
    assert world.gap < 0.001, "the fingers go on closing on nothing"


def test_only_what_is_held_can_be_released(simulation: Simulation) -> None:
    with pytest.raises(InvalidDisturbance, match="does not hold red_block but nothing"):
        simulation.world.release("red_block", pose_of([0.5, 0.2, 0.0]))


@pytest.mark.slow
def test_gripper_stalls_on_a_block_and_closes_on_nothing(simulation: Simulation, hand) -> None:
    goal = simulation.gripper.start(simulation.time, 0.0)
    simulation.advance(1000)
    assert goal.outcome is not None
    assert not goal.outcome.stalled
    assert simulation.world.gap == pytest.approx(0.0, abs=0.001)
    hand.grip(0.08)
    hand.move(hand.above("green_block", 0.1))
    hand.move(hand.above("green_block", 0.005))
    goal = simulation.gripper.start(simulation.time, 0.0, 30.0)
    simulation.advance(1000)
    assert goal.outcome is not None
    assert goal.outcome.stalled
    assert simulation.world.gap == pytest.approx(EDGE, abs=0.001)
    assert simulation.world.fingers[""].force == pytest.approx(-30.0, abs=0.5)


@pytest.mark.slow
def test_what_blocks_the_arm_is_noticed(simulation: Simulation, hand) -> None:
    assert hand.move(hand.down(0.5, 0.0, 0.2)) is Ending.SUCCEEDED
    assert hand.move(hand.down(0.5, 0.0, -0.2)) is Ending.PATH_TOLERANCE
    assert simulation.arm.goal is None
    simulation.advance(250)
    assert np.abs(simulation.world.groups[""].velocities).max() < 0.01
