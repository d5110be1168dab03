# SPDX-License-Identifier: Apache-2.0
"""A world is put where another one is: joints, objects, what is held."""

import json
from pathlib import Path

import numpy as np
import pytest

from behavior_sim.control.gripper_controller import GripperController
from behavior_sim.control.joint_trajectory_controller import TrajectoryPoints
from behavior_sim.simulation import Simulation
from behavior_sim.worlds.config import WorldConfig, load_world
from behavior_sim.worlds.layouts import pose_of
from behavior_sim.worlds.resources import find_world
from behavior_sim.worlds.state_file import StateError
from behavior_sim.worlds.world import UnknownObject, World
from behavior_sim.worlds.world_state import WorldState

EDGE = 0.0515


def state_of(world: World, held: str = "") -> WorldState:
    """What an onlooker would tell of a world."""
    robot = world.config.robot
    parts = [*world.groups.values(), *world.fingers.values()]
    positions = [position for part in parts for position in part.positions]
    joints = dict(zip(robot.joints, positions, strict=True))
    objects = {name: world.object_pose(name) for name in world.config.objects}
    return WorldState(joints=joints, objects=objects, held=held)


@pytest.mark.slow
def test_a_held_block_stays_in_the_hand_and_the_others_where_they_are(
    simulation: Simulation, hand, config: WorldConfig, tmp_path: Path
) -> None:
    hand.pick("yellow_block")
    before = state_of(simulation.world, "yellow_block")
    before.save(tmp_path / "state.json")
    copy = Simulation(config, seed=9)
    shifts = copy.restore(WorldState.load(tmp_path / "state.json"), 3)
    assert max(shifts.values()) < 0.001
    copy.advance(500)
    assert copy.world.held_objects() == ["yellow_block"]
    assert copy.world.arm_positions == pytest.approx(simulation.world.arm_positions, abs=1e-3)
    for name, pose in before.objects.items():
        assert copy.world.object_pose(name) == pytest.approx(pose, abs=2e-3), name
    # The hand works on from there: what it holds can be set down.
    type(hand)(copy).place(0.4, 0.3, EDGE / 2 + 0.001)
    assert copy.world.held_objects() == []
    assert copy.world.object_pose("yellow_block")[:2, 3] == pytest.approx([0.4, 0.3], abs=0.003)


def test_a_tower_that_is_believed_inaccurately_stands(config: WorldConfig) -> None:
    rng = np.random.default_rng(4)
    tower = {
        name: pose_of(np.array([0.25, 0.3, (level + 0.5) * EDGE]) + rng.normal(0.0, 0.001, 3), 0.1)
        for level, name in enumerate(config.objects)
    }
    world = World(config)
    home = dict(zip(config.robot.arm.joints, config.robot.arm.home, strict=True))
    assert max(world.restore(WorldState(joints=home, objects=tower)).values()) < 0.005
    for level, name in enumerate(config.objects):
        pose = world.object_pose(name)
        assert pose[2, 3] == pytest.approx((level + 0.5) * EDGE, abs=5e-4)
        assert pose[:2, 3] == pytest.approx([0.25, 0.3], abs=0.005)
        assert np.linalg.norm(world.visible_velocity(name)) < 0.01


def test_what_is_not_believed_is_outside_and_what_cannot_stay_falls(config: WorldConfig) -> None:
    world = World(config)
    shifts = world.restore(WorldState(joints={}, objects={"red_block": pose_of([0.4, 0.0, 0.3])}))
    assert shifts["red_block"] > 0.2
    assert world.object_pose("red_block")[2, 3] == pytest.approx(EDGE / 2, abs=0.002)
    assert world.object_pose("blue_block")[0, 3] < -1.0
    assert world.arm_positions == pytest.approx(np.array(config.robot.arm.home), abs=1e-3)


def test_an_open_door_is_open(tmp_path: Path) -> None:
    world = World(load_world(find_world("door")))
    world.restore(WorldState(joints={"door_panel": 0.7}))
    assert world.data.qpos[world.model.joint("door_panel").qposadr[0]] == pytest.approx(
        0.7, abs=0.02
    )


def test_what_cannot_be_changes_nothing(config: WorldConfig) -> None:
    simulation = Simulation(config)
    before = simulation.world.data.qpos.copy()
    for wrong, kind, words in (
        (WorldState(joints={"knee": 0.1}), StateError, "no joint 'knee'; there are panda"),
        (WorldState(joints={"red_block": 0.1}), StateError, "no joint 'red_block'"),
        (WorldState(joints={"panda_joint4": 2.0}), StateError, "outside -3.07"),
        (WorldState(joints={}, objects={"ball": pose_of([0, 0, 1])}), UnknownObject, "'ball'"),
    ):
        with pytest.raises(kind, match=words):
            simulation.restore(wrong, 0)
        assert (simulation.world.data.qpos == before).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "holds no state of the world: state: Invalid JSON"),
        ("[]", "state: Input should be an object"),
        ('{"poses": {}}', "poses: Extra inputs are not permitted"),
        ('{"joints": [1]}', "joints: Input should be an object"),
        ('{"joints": {"a": "x"}}', "joints.a: Input should be a valid number"),
        ('{"joints": {"a": NaN}}', "joints.a: Input should be a finite number"),
        ('{"objects": {"a": [0, 0, 0]}}', "objects.a: x y z and a quaternion"),
        ('{"objects": {"a": [0, 0, 0, 0, 0, 0, 0]}}', "objects.a: x y z and a quaternion"),
        ('{"held": "a"}', "held 'a' is none of its objects"),
        ('{"held": ["a"]}', "held: Input should be a valid string"),
        ('{"held": null}', "held: Input should be a valid string"),
    ],
)
def test_a_file_that_holds_no_state_is_refused_in_words(
    tmp_path: Path, text: str, words: str
) -> None:
    file = tmp_path / "state.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(StateError, match=words):
        WorldState.load(file)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="cannot be read"):
        WorldState.load(tmp_path / "none.json")


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    pose = pose_of([0.1, -0.2, 0.3], 2.5)
    state = WorldState(joints={"a": 0.25}, objects={"red": pose}, held="red")
    state.save(tmp_path / "state.json")
    loaded = WorldState.load(tmp_path / "state.json")
    assert (loaded.joints, loaded.held) == ({"a": 0.25}, "red")
    assert loaded.objects["red"] == pytest.approx(pose, abs=1e-12)
    assert set(json.loads((tmp_path / "state.json").read_text())) == {"joints", "objects", "held"}


def test_fingers_that_stand_on_their_way_are_looked_at_at_once() -> None:
    """Whoever closes them goes on when they hold something, which the goal tells later."""
    config = load_world(find_world("block_stacking")).robot.groups[0].gripper
    assert config is not None
    gripper = GripperController(config)
    gripper.start(0.0, 0.0)
    gripper.step(0.01, 0.07, -config.speed)
    assert gripper.remaining(0.01) > 0.05
    gripper.step(0.02, 0.07, 0.0)
    assert gripper.moving
    assert gripper.remaining(0.02) == 0.0


def test_fingers_that_come_open_are_looked_at_at_once() -> None:
    """What they hold is let go on their way; whoever opens them goes on when it is."""
    config = load_world(find_world("block_stacking")).robot.groups[0].gripper
    assert config is not None
    gripper = GripperController(config)
    gripper.reset(0.0)
    gripper.start(0.0, 0.07)
    gripper.step(0.01, 0.0, config.speed)
    assert gripper.remaining(0.01) == 0.0


def test_arms_and_fingers_are_under_way_until_they_may_come_to_rest(
    simulation: Simulation,
) -> None:
    arm, begin = simulation.arm, simulation.time
    home = np.array(simulation.config.robot.arm.home)
    points = TrajectoryPoints(
        joints=simulation.config.robot.arm.joints,
        times=np.array([1.0]),
        positions=home[np.newaxis] + 0.1,
    )
    assert simulation.under_way() == 0.0
    goal = arm.start(begin, points)
    assert simulation.under_way() == pytest.approx(1.0)
    simulation.gripper.start(simulation.time, 0.02)
    soonest = []
    while simulation.gripper.moving:
        soonest.append(simulation.time + simulation.under_way())
        simulation.advance(10)
    assert soonest[0] > begin + 0.05, "fingers need time for their way"
    assert max(soonest) <= simulation.time, "they end no sooner than it was said"
    while goal.outcome is None:
        assert simulation.under_way() == pytest.approx(max(0.0, begin + 1.0 - simulation.time))
        simulation.advance(10)
    assert simulation.under_way() == 0.0
    assert simulation.time >= begin + 1.0
