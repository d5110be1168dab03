# SPDX-License-Identifier: Apache-2.0
"""The world: start states, time, determinism, disturbances."""

import dataclasses

import mujoco
import numpy as np
import pytest

from behavior_sim.simulation import Simulation
from behavior_sim.worlds.config import WorldConfig
from behavior_sim.worlds.layouts import UnknownLayout, draw_layout, pose_of
from behavior_sim.worlds.world import InvalidDisturbance, UnknownObject, World

EDGE = 0.0515


def test_model_is_the_robot_and_its_objects(config: WorldConfig) -> None:
    world = World(config)
    model = world.model
    assert model.nq == 9 + 7 * len(config.objects)
    assert model.opt.integrator == mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    assert model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC
    for joint, torque in zip(config.robot.arm.joints, config.robot.arm.torque, strict=True):
        assert model.actuator(joint).forcerange[1] == torque
    for name, placed in config.objects.items():
        assert model.body(name).mass[0] == pytest.approx(placed.mass)
    # A body that is physical: no principal inertia exceeds the sum of the others.
    for inertia in model.body_inertia:
        assert 2 * inertia.max() <= inertia.sum() + 1e-4 * inertia.max()
    world.step(500)
    assert not world.unstable


def test_nothing_moves_that_is_not_moved(config: WorldConfig) -> None:
    world = World(config)
    before, arm = world.visible_poses(), world.arm_positions
    world.step(1000)
    assert world.arm_positions == pytest.approx(arm, abs=1e-4)
    for name, pose in world.visible_poses().items():
        assert pose == pytest.approx(before[name], abs=3e-4)
    assert world.time == pytest.approx(2.0)
    assert world.gap == pytest.approx(0.08, abs=1e-4)


def test_default_layout(config: WorldConfig) -> None:
    poses = draw_layout(config, "", np.random.default_rng(0))
    xs = [poses[f"{color}_block"][0, 3] for color in ("red", "blue", "yellow", "green")]
    assert xs == pytest.approx([0.3, 0.4333, 0.5667, 0.7])
    for pose in poses.values():
        assert pose[1, 3] == pytest.approx(-0.34, abs=0.02)
        assert np.linalg.norm(pose[:2, 3]) < 0.79, "out of reach"
        assert pose[2, 3] == pytest.approx(EDGE / 2)


def test_wrong_tower_stands(config: WorldConfig) -> None:
    world = World(config)
    world.reset(4, "wrong_tower")
    world.step(1000)
    low, high = world.object_pose("green_block"), world.object_pose("blue_block")
    assert low[:3, 3] == pytest.approx([0.25, 0.30, EDGE / 2], abs=5e-4)
    assert high[:3, 3] == pytest.approx([0.25, 0.30, 1.5 * EDGE], abs=5e-4)


@pytest.mark.parametrize("seed", range(20))
def test_random_layout_keeps_clearance(config: WorldConfig, seed: int) -> None:
    places = [
        pose[:2, 3]
        for pose in draw_layout(config, "random", np.random.default_rng([seed, 0])).values()
    ]
    for index, place in enumerate(places):
        for other in places[:index]:
            assert np.linalg.norm(place - other) >= 0.12


def test_unknown_layout_changes_nothing(config: WorldConfig) -> None:
    world = World(config)
    before = world.data.qpos.copy()
    with pytest.raises(UnknownLayout, match="default, wrong_tower, random"):
        world.reset(9, "tower_of_babel")
    assert (world.data.qpos == before).all()


@pytest.mark.slow
def test_same_seed_same_states(config: WorldConfig) -> None:
    def run(simulation: Simulation, seed: int) -> np.ndarray:
        simulation.reset(seed)
        simulation.gripper.start(simulation.time, 0.02)
        simulation.advance(200)
        return simulation.world.data.qpos.copy()

    used = Simulation(config, seed=5)
    used.world.push("red_block", np.array([0.05, 0.0, 0.0]))
    used.advance(333)
    fresh = Simulation(config, seed=1)
    assert (run(used, 7) == run(fresh, 7)).all()
    assert (run(used, 7) == run(used, 7)).all()
    assert np.abs(run(used, 8) - run(fresh, 7)).max() > 0.001


def test_time_never_goes_back(simulation: Simulation) -> None:
    simulation.advance(100)
    simulation.reset(3)
    assert simulation.time == pytest.approx(0.2)
    simulation.advance(1)
    assert simulation.time == pytest.approx(0.202)


def test_moved_object_lies_where_it_was_put(config: WorldConfig) -> None:
    world = World(config)
    world.push("blue_block", np.array([0.02, 0.0, 0.0]))
    world.move_object("blue_block", pose_of([0.4, 0.2, -1.0], 0.3))
    world.step(500)
    assert world.object_pose("blue_block") == pytest.approx(
        pose_of([0.4, 0.2, EDGE / 2], 0.3), abs=5e-4
    )


def test_object_is_not_put_into_another(config: WorldConfig) -> None:
    world = World(config)
    before = world.data.qpos.copy()
    place = world.object_pose("red_block")
    place[0, 3] += 0.02
    with pytest.raises(InvalidDisturbance, match="red_block is in the way"):
        world.move_object("blue_block", place)
    with pytest.raises(InvalidDisturbance, match="panda_link"):
        world.move_object("blue_block", pose_of([0.0, 0.0, 0.1]))
    assert (world.data.qpos == before).all()
    # Upon another is fine.
    place = world.object_pose("red_block")
    place[2, 3] += EDGE
    world.move_object("blue_block", place)
    world.step(500)
    assert world.object_pose("blue_block")[2, 3] == pytest.approx(1.5 * EDGE, abs=1e-3)


def test_dropped_object_falls(config: WorldConfig) -> None:
    world = World(config)
    world.move_object("green_block", pose_of([0.4, 0.2, 0.4]))
    world.step(50)
    fallen = 0.4 - 0.5 * 9.81 * world.time**2
    assert world.object_pose("green_block")[2, 3] == pytest.approx(fallen, abs=2e-3)


def test_push_gives_momentum(config: WorldConfig) -> None:
    world = World(config)
    world.push("red_block", np.array([0.0, -0.035, 0.0]))
    assert world.visible_velocity("red_block")[:3] == pytest.approx([0.0, -0.5, 0.0])
    before = world.object_pose("red_block")[1, 3]
    world.step(500)
    slid = before - world.object_pose("red_block")[1, 3]
    # Friction 1 stops it after v^2 / 2g.
    assert slid == pytest.approx(0.25 / (2 * 9.81), abs=0.004)


def test_objects_taken_away_are_out_of_sight(config: WorldConfig) -> None:
    simulation = Simulation(config)
    for name in config.objects:
        simulation.world.take_away(name)
    simulation.world.take_away("red_block")
    simulation.world.step(100)
    for pose in simulation.world.visible_poses().values():
        assert not simulation.detector.sees(pose[:3, 3])


def test_unknown_object(config: WorldConfig) -> None:
    world = World(config)
    for disturb in (
        lambda: world.move_object("cat", np.eye(4)),
        lambda: world.take_away("cat"),
        lambda: world.push("cat", np.zeros(3)),
        lambda: world.release("cat", np.eye(4)),
        lambda: world.object_pose("cat"),
    ):
        with pytest.raises(UnknownObject, match=r"no object 'cat'; there are blue_block"):
            disturb()


@pytest.mark.slow
def test_stack_of_towers_does_not_sink(config: WorldConfig) -> None:
    world = World(dataclasses.replace(config))
    for level, name in enumerate(config.objects):
        world.move_object(name, pose_of([0.25, 0.30, (level + 0.5) * EDGE]))
    world.step(2000)
    for level, name in enumerate(config.objects):
        position = world.object_pose(name)[:3, 3]
        assert position == pytest.approx([0.25, 0.30, (level + 0.5) * EDGE], abs=1e-3)
