# SPDX-License-Identifier: Apache-2.0
"""A robot that drives, with a torso, a head and two arms, before a door; moved step by step."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from behavior_sim.control.base_controller import COMMAND_LIFETIME, COMMAND_PERIOD, BaseController
from behavior_sim.control.joint_trajectory_controller import TrajectoryPoints
from behavior_sim.goals import Ending, Goal
from behavior_sim.judging import ROBOT
from behavior_sim.node.lead import Lead
from behavior_sim.node.messages import JointStateMessage, ObjectsMessage, OdometryMessage
from behavior_sim.node.simulation_node import DRIVE_LEAD, SimulationNode
from behavior_sim.simulation import Simulation
from behavior_sim.worlds.config import WorldConfig, load_world, parse_world
from behavior_sim.worlds.reading import WorldError
from behavior_sim.worlds.resources import find_world
from behavior_sim.worlds.world_state import WorldState

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def config() -> WorldConfig:
    """The world of the door, with the robot in the middle of the room."""
    config = load_world(find_world("mobile_door"))
    return dataclasses.replace(config, start=None)


@pytest.fixture(scope="module")
def made(config: WorldConfig) -> Simulation:
    """One simulation for all: building it takes longest."""
    return Simulation(config)


@pytest.fixture
def simulation(made: Simulation) -> Simulation:
    made.reset(0)
    made.advance(250)
    return made


def drive(simulation: Simulation, twist: tuple[float, ...], seconds: float) -> None:
    for _ in range(round(seconds / 0.1)):
        simulation.base.command(simulation.time, np.array(twist))
        simulation.advance(50)


def start(simulation: Simulation, group: str, target: str, duration: float) -> Goal:
    part = simulation.parts[group]
    points = TrajectoryPoints(
        joints=part.config.arm.joints,
        times=np.array([duration]),
        positions=np.array([NAMED[group][target]]),
    )
    return part.arm.start(simulation.time, points)


NAMED = {
    "torso": {"high": [0.16]},
    "head": {"down": [0.3, -0.4]},
    "left_arm": {"up": [0.85, -1.7, -2.3, -2.0, 0.29, -1.0, 0.22]},
    "right_arm": {"up": [-0.85, -1.7, 2.3, -2.0, -0.29, -1.0, -0.22]},
}


def test_everything_stands_where_it_was_put(simulation: Simulation) -> None:
    simulation.advance(500)
    for part in simulation.parts.values():
        assert part.joints.positions == pytest.approx(np.array(part.config.arm.home), abs=1e-3)
    assert simulation.world.base.positions == pytest.approx(np.zeros(3), abs=1e-4)


def test_base_follows_velocities_in_its_own_frame(simulation: Simulation) -> None:
    """The pose is the integral of the bounded twist, in closed form: an arc."""
    drive(simulation, (0.2, 0.1, 0.4), 3.0)
    simulation.advance(round((COMMAND_LIFETIME + 1.0) / 0.002))
    x, y, yaw = simulation.world.base.positions
    assert not simulation.base.moving, "the commands have ceased"
    # All three speeds grow and shrink with the same share of time only roughly: 3 cm and 0.05 rad.
    turned = 0.4 * (3.0 + COMMAND_LIFETIME - 0.1)
    radius = np.array([[np.sin(turned), np.cos(turned) - 1], [1 - np.cos(turned), np.sin(turned)]])
    expected = radius @ np.array([0.2, 0.1]) / 0.4
    assert yaw == pytest.approx(turned, abs=0.05)
    assert [x, y] == pytest.approx(expected, abs=0.05)


def test_a_base_that_is_held_up_does_not_wind_up(simulation: Simulation) -> None:
    """It drives into the shut door, stops there, and comes back as soon as it is told to."""
    drive(simulation, (0.6, 0.0, 0.0), 4.0)
    before = simulation.world.base.positions.copy()
    drive(simulation, (0.6, 0.0, 0.0), 1.0)
    assert simulation.world.base.positions[0] - before[0] < 0.05, "the door is shut"
    efforts = simulation.world.data.actuator_force[simulation.world.base.places.drives]
    assert np.abs(efforts).max() <= 300.0 + 1e-9
    door = simulation.world.model.joint("door_panel").qposadr[0]
    assert simulation.world.data.qpos[door] < 0.02
    held = simulation.world.base.positions[0]
    drive(simulation, (-0.4, 0.0, 0.0), 2.0)
    assert simulation.world.base.positions[0] < held - 0.3


def test_all_parts_move_at_once(simulation: Simulation) -> None:
    before = simulation.time
    goals = [
        start(simulation, "torso", "high", 3.0),
        start(simulation, "head", "down", 1.0),
        start(simulation, "left_arm", "up", 2.0),
        start(simulation, "right_arm", "up", 2.5),
        simulation.parts["left_arm"].gripper.start(simulation.time, 0.02),
    ]
    ended = {}
    while simulation.time < before + 4.0:
        simulation.base.command(simulation.time, np.array([0.1, 0.0, 0.0]))
        simulation.advance(10)
        for i, goal in enumerate(goals):
            if goal.outcome is not None:
                ended.setdefault(i, simulation.time - before)
    assert all(goal.outcome.ending is Ending.SUCCEEDED for goal in goals), goals
    assert ended[0] == pytest.approx(3.0, abs=0.4), "the longest takes no longer for the others"
    assert ended[1] == pytest.approx(1.0, abs=0.4)
    assert simulation.world.base.positions[0] > 0.3
    assert simulation.parts["right_arm"].fingers.gap == pytest.approx(0.079, abs=1e-3)


def test_turning_fingers_stop_at_the_gap(simulation: Simulation) -> None:
    fingers = simulation.parts["right_arm"].fingers
    goal = simulation.parts["right_arm"].gripper.start(simulation.time, 0.03)
    simulation.advance(1000)
    assert goal.outcome.ending is Ending.SUCCEEDED
    assert fingers.gap == pytest.approx(0.03, abs=1e-3)
    left, right = (
        simulation.world.body_pose(f"gripper_right_fingertip_{side}_link")
        for side in ("left", "right")
    )
    assert np.linalg.norm(left[:3, 3] - right[:3, 3]) == pytest.approx(0.055, abs=0.005)
    assert left[:3, 1] == pytest.approx(right[:3, 1], abs=0.02), "the tips stay parallel"
    assert simulation.parts["left_arm"].fingers.gap == pytest.approx(0.079, abs=1e-3)


def test_fingers_that_slip_come_open_and_close_again(simulation: Simulation) -> None:
    hand = simulation.parts["left_arm"]
    hand.gripper.start(simulation.time, 0.0)
    simulation.advance(1000)
    assert hand.fingers.gap < 0.02
    simulation.faults.set("left_arm_grip", True)
    simulation.advance(500)
    assert hand.fingers.gap == pytest.approx(0.079, abs=2e-3)
    hand.gripper.start(simulation.time, 0.0)
    simulation.advance(500)
    assert hand.fingers.gap == pytest.approx(0.079, abs=2e-3), "told to close, it does not"
    simulation.faults.set("left_arm_grip", False)
    simulation.advance(1000)
    assert hand.fingers.gap < 0.02


def test_a_lever_that_is_unhooked_leaves_the_bolt_where_it_is(simulation: Simulation) -> None:
    def open_it(unhooked: bool) -> float:
        simulation.reset(0)
        simulation.faults.set("door_latch", unhooked)
        world = simulation.world
        lever, panel = (world.model.joint(f"door_{part}") for part in ("lever", "panel"))
        world.data.qfrc_applied[lever.dofadr[0]] = 2.0
        simulation.advance(250)
        assert world.data.qpos[lever.qposadr[0]] > 0.6
        world.data.qfrc_applied[panel.dofadr[0]] = 8.0
        simulation.advance(500)
        world.data.qfrc_applied[:] = 0.0
        return float(world.data.qpos[panel.qposadr[0]])

    assert open_it(unhooked=True) < 0.01
    assert open_it(unhooked=False) > 0.3


def test_a_robot_that_is_shoved_stays_where_it_came_to(simulation: Simulation) -> None:
    """Its wheels brake with 300 N: the way is the kinetic energy by that."""
    world, before = simulation.world, simulation.world.base.positions.copy()
    mass = world.model.body_subtreemass[world.model.body("base_footprint").id]
    world.push(ROBOT, np.array([0.0, 60.0, 0.0]))
    for _ in range(100):
        simulation.advance(10)
    way = 60.0**2 / (2.0 * 300.0 * mass)
    assert world.base.positions - before == pytest.approx([0.0, way, 0.0], abs=0.02)


def test_messages_tell_of_all_parts(simulation: Simulation) -> None:
    message = JointStateMessage(simulation.world).fill(simulation, 0)
    told = dict(zip(message.name, message.position, strict=True))
    assert len(told) == 7 + 7 + 1 + 2 + 6 + 6
    assert told["torso_lift_joint"] == pytest.approx(0.1, abs=1e-3)
    assert told["gripper_left_fingertip_left_joint"] == pytest.approx(0.0, abs=0.02)
    drive(simulation, (0.2, 0.1, 0.0), 1.0)
    odometry = OdometryMessage("base_footprint")
    twist = odometry.fill(simulation, 0).twist.twist
    assert [twist.linear.x, twist.linear.y] == pytest.approx([0.2, 0.1], abs=0.01)
    place = odometry.transform.transform.translation
    assert [place.x, place.y] == pytest.approx(simulation.world.base.positions[:2])
    world = simulation.world
    objects = ObjectsMessage(world.visible_objects, {}, drives=True).fill(simulation, 0).objects
    robot = {item.name: item for item in objects}[ROBOT]
    assert [robot.pose.position.x, robot.pose.position.y] == [place.x, place.y]
    assert "door_panel" in {item.name for item in objects}


def test_a_state_has_the_base_too(simulation: Simulation) -> None:
    state = WorldState(joints={"base_x": 0.4, "base_y": -0.2, "base_yaw": 0.3, "head_1_joint": 0.2})
    simulation.restore(state, 0)
    simulation.advance(100)
    assert simulation.world.base.positions == pytest.approx([0.4, -0.2, 0.3], abs=1e-3)
    drive(simulation, (0.1, 0.0, 0.0), 0.5)
    assert simulation.world.base.positions[0] == pytest.approx(0.4, abs=0.1)


@pytest.mark.parametrize("name", ["mobile_door", "mobile_door_pull"])
def test_the_world_with_hinges_on_the_left_is_the_other_one_in_a_mirror(name: str) -> None:
    """About the plane through the robot's start, along its way."""
    right, left = (load_world(find_world(world)) for world in (name, f"{name}_left"))
    door = right.doors["door"]
    x, y, z = door.position
    mirrored = dataclasses.replace(door, position=(x, -y, z), yaw=-door.yaw, opens=-door.opens)
    assert left.doors == {"door": mirrored}
    same = {"name": name, "doors": right.doors, "text": right.text}
    assert dataclasses.replace(left, **same) == right


def test_starts_are_drawn(config: WorldConfig, made: Simulation) -> None:
    written = load_world(find_world("mobile_door"))
    made.world.config = written
    try:
        poses = []
        for seed in (1, 2, 1):
            made.reset(seed)
            poses.append(made.world.base.positions.copy())
    finally:
        made.world.config = config
    assert poses[0] == pytest.approx(poses[2])
    assert not np.allclose(poses[0], poses[1])
    assert all((np.abs(pose) <= [0.08, 0.08, 0.1]).all() for pose in poses)


def test_commands_that_are_no_numbers_stop_the_base(config: WorldConfig) -> None:
    base = BaseController(config.robot.base)
    base.command(0.0, np.array([9.0, 0.0, 0.0]))
    for step in range(1, 100):
        base.step(0.004 * step, np.zeros(3))
    assert base.twist[0] == pytest.approx(0.4, abs=0.01), "as far as its acceleration has it"
    assert base.driven
    base.command(0.4, np.array([np.nan, 0.0, 0.0]))
    assert base.moving, "it brakes"
    assert not base.driven
    for step in range(100, 300):
        base.step(0.004 * step, np.zeros(3))
    assert not base.moving


def test_a_base_is_under_way_until_its_next_velocity_is_due(simulation: Simulation) -> None:
    assert simulation.base is not None
    begin = simulation.time
    assert simulation.under_way() == 0.0
    simulation.base.command(begin, np.array([0.2, 0.0, 0.0]))
    assert simulation.driven
    assert simulation.under_way() == pytest.approx(COMMAND_PERIOD)
    simulation.advance(20)
    assert simulation.under_way() == pytest.approx(begin + COMMAND_PERIOD - simulation.time)
    simulation.advance(20)
    assert simulation.under_way() == 0.0, "the next one is due"
    simulation.base.command(simulation.time, np.zeros(3))
    assert simulation.moving
    assert not simulation.driven
    assert simulation.under_way() == 0.0, "it comes to rest"


def test_who_steers_the_base_is_waited_for(config: WorldConfig) -> None:
    base = BaseController(config.robot.base)
    node = SimpleNamespace(
        _simulation=SimpleNamespace(driven=True, time=3.0, config=config),
        _drive_lead=Lead(DRIVE_LEAD, wall=lambda: 0.0),
        _chunk=10,
        _newest_step=10 * config.timestep,
    )
    SimulationNode._command_base(node, base, np.array([0.2, 0.0, 0.0]))
    assert SimulationNode._wait_for_drive(node, 3.0 + 0.9 * DRIVE_LEAD) == 0.0
    assert SimulationNode._wait_for_drive(node, 3.0 + 2.0 * DRIVE_LEAD) > 0.0
    node._newest_step = COMMAND_PERIOD  # the next velocity is due at its end
    assert SimulationNode._wait_for_drive(node, 3.0 + COMMAND_PERIOD) > 0.0
    node._simulation.driven = False
    assert SimulationNode._wait_for_drive(node, 3.0 + 2.0 * DRIVE_LEAD) == 0.0, "it is to stand"


def test_a_base_with_two_wheels_does_not_drive_sideways(config: WorldConfig) -> None:
    base = BaseController(dataclasses.replace(config.robot.base, omnidirectional=False))
    base.command(0.0, np.array([0.1, 0.5, 0.0]))
    for step in range(1, 100):
        base.step(0.004 * step, np.zeros(3))
    assert base.twist == pytest.approx([0.1, 0.0, 0.0])


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("robot", "base", "frame"), "wheels", "base.frame: the robot has no link 'wheels'"),
        (
            ("robot", "simulation", "base", "force"),
            [1.0, 1.0],
            r"robot.simulation.base.force: \(1.0, 1.0\); give three numbers above 0",
        ),
        (
            ("robot", "groups", "torso", "simulation", "arm", "torque"),
            [1.0, 1.0],
            "robot.groups.torso.simulation.arm.torque: 2 values for 1 joints",
        ),
        (("robot", "groups", "head", "named"), {}, "groups.head: named.home missing"),
        (("start",), {"position": [1.0]}, r"start.position: \[1.0\]; give a list of 2 numbers"),
        (("start",), {"yaw": 1.0}, "start.position: give x and y"),
        (("doors", "door", "opens"), 0, "doors.door.opens: 0; give 1 or -1"),
    ],
)
def test_what_is_wrong_is_said(
    config: WorldConfig, place: tuple[str, ...], value: object, message: str
) -> None:
    data = yaml.safe_load(config.text)
    inner = data
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises(WorldError, match=message):
        Simulation(parse_world(data))


def test_a_start_is_of_a_robot_that_drives() -> None:
    data = yaml.safe_load(load_world(find_world("door")).text)
    with pytest.raises(WorldError, match="start: the robot does not drive"):
        parse_world(data | {"start": {"position": [0.0, 0.0]}})
