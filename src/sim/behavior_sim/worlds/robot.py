# SPDX-License-Identifier: Apache-2.0
"""The simulated robot: what its file tells, and how its drives behave (section `simulation`)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

import numpy as np

from behavior_motion.robot.groups import group_names
from behavior_motion.robot.robot_file import (
    ControllersSection,
    DriverSection,
    GripperSection,
    RobotFile,
    SuctionSection,
    parse_robot_file,
    spread,
    stream_of,
)
from behavior_sim.worlds.reading import Vector, WorldError, build

ARM_DRIVER = "follow_joint_trajectory", "action"
"""What the simulated robot speaks, of the drivers that a robot's file may name ..."""
STREAM_DRIVER, GOALS_DRIVER = ("joint_trajectory", "topic"), "replaced_goals"
GRIPPER_DRIVER = "gripper_command", "action"
PUMP_DRIVER = "set_bool", "service"
VACUUM_DRIVER = "vacuum_topic", "topic"
BASE_DRIVER = "cmd_vel", "topic"
"""... each with the option that is its name."""
PLANE = ("base_x", "base_y", "base_yaw")
"""Joints of a base that drives, in the world's frame."""


@dataclass(frozen=True, kw_only=True)
class ArmDrives:
    """Section `simulation.arm`: the servos of the arm's joints, one value per joint."""

    stiffness: Vector
    """[Nm/rad]"""
    damping: Vector
    """[Nms/rad]"""
    torque: Vector
    """Limit [Nm]."""
    armature: float
    """What the drives add to each joint's inertia [kgm^2]."""


@dataclass(frozen=True, kw_only=True)
class SimulatedArm(ArmDrives):
    """The arm's joints and the servos that drive them; one value per joint."""

    joints: tuple[str, ...]
    home: Vector
    """[rad]"""
    velocity: Vector
    """Limit [rad/s]; trajectories beyond 1.1 times it are refused."""
    acceleration: Vector
    """Limit [rad/s^2], for stops."""


@dataclass(frozen=True, kw_only=True)
class GripperDrive:
    """Section `simulation.gripper`: fingers that move together, and their drive."""

    fingers: tuple[str, ...]
    """Links whose contact with an object, all at once, is a grasp."""
    speed: float
    """Of the gap [m/s]."""
    stiffness: float
    """[N/m]"""
    damping: float
    """[Ns/m]"""
    armature: float
    """[kg] added to each finger by the drive."""
    friction: float
    """Coefficient of the fingers' surface."""


@dataclass(frozen=True, kw_only=True)
class SimulatedGripper(GripperDrive):
    """The fingers' joints, their drive, and the gap between them."""

    joints: tuple[str, ...]
    scale: Vector
    """Position of each joint per metre of the gap."""
    zero: Vector
    """Position of each joint at no gap."""
    name: str = "gripper"
    """Of the drive in the model."""
    link: str
    """Link that the fingers are on."""
    open: float
    """Widest gap [m]."""
    force: float
    """Grasp force where a command names none [N]."""
    max_force: float
    """[N]"""

    @property
    def share(self) -> Vector:
        """The gap is the sum of the joints' ways from `zero`, each times its share."""
        return tuple(1.0 / (len(self.scale) * scale) for scale in self.scale)


@dataclass(frozen=True, kw_only=True)
class SuctionDrive:
    """Section `simulation.suction`: a cup with a pump."""

    radius: float
    """Of the lip [m]."""
    force: float
    """With which the vacuum presses the cup on [N]."""
    friction: float
    """Coefficient of the lip."""
    stroke: float
    """Gap that the bellows close when the pump runs [m]."""
    delay: float
    """From a lip that is tight all around to a vacuum [s]."""


@dataclass(frozen=True, kw_only=True)
class SimulatedSuction(SuctionDrive):
    """The cup, and what it listens to and tells."""

    link: str
    """Link of which the origin is the middle of the lip; z points out of the cup."""
    pump: str
    """Service that switches it."""
    vacuum: str
    """Topic that tells whether it holds something."""


@dataclass(frozen=True, kw_only=True)
class BaseDrive:
    """Section `simulation.base`: what holds the speeds of the wheels; each of x, y and turning."""

    stiffness: Vector
    """[N/m, N/m, Nm/rad]"""
    damping: Vector
    """[Ns/m, Ns/m, Nms/rad]"""
    force: Vector
    """That the wheels have on the floor [N, N, Nm]."""
    velocity: Vector
    """Limit, ahead, sideways and turning [m/s, m/s, rad/s]."""
    acceleration: Vector
    """Limit [m/s^2, m/s^2, rad/s^2]."""


@dataclass(frozen=True, kw_only=True)
class SimulatedBase(BaseDrive):
    """A base that drives on the floor, and what it listens to."""

    frame: str
    """On the floor, x ahead."""
    omnidirectional: bool
    """It drives sideways too."""
    topic: str
    """Of velocities, geometry_msgs/Twist."""


@dataclass(frozen=True, kw_only=True)
class SimulatedGroup:
    """Joints that one controller moves, and the fingers at their end."""

    name: str
    """Empty: the only one."""
    arm: SimulatedArm
    arm_action: str
    arm_topic: str | None
    """Of trajectories for the arm, beside the action; None: none."""
    hand_link: str = ""
    """Link that held objects move with; empty: it holds nothing."""
    gripper: SimulatedGripper | None = None
    gripper_action: str = ""
    """Of the fingers."""


@dataclass(frozen=True, kw_only=True)
class SimulatedRobot:
    """The robot's file, and the drives of the simulated one: of fingers or a suction cup."""

    description: RobotFile
    groups: tuple[SimulatedGroup, ...]
    suction: SimulatedSuction | None = None
    base: SimulatedBase | None = None

    @property
    def arm(self) -> SimulatedArm:
        """Of the only group, or the first."""
        return self.groups[0].arm

    @property
    def gripper(self) -> SimulatedGripper | None:
        """Of the only group, or the first."""
        return self.groups[0].gripper

    @property
    def grippers(self) -> tuple[SimulatedGripper, ...]:
        """Of all groups."""
        return tuple(group.gripper for group in self.groups if group.gripper is not None)

    @property
    def joints(self) -> tuple[str, ...]:
        """Of all groups: the arms', then the fingers'; those of the base are not among them."""
        arms = [joint for group in self.groups for joint in group.arm.joints]
        return (*arms, *(joint for gripper in self.grippers for joint in gripper.joints))


def parse_robot(data: Any, where: str) -> SimulatedRobot:
    """The simulated robot of what a robot file holds.

    Raises:
        WorldError: names the field that is missing, unknown or of the wrong size.
    """
    if not isinstance(data, Mapping):
        raise WorldError(f"{where}: expected a mapping, got {data!r}")
    try:
        robot = parse_robot_file(data, where)
        names = group_names(data)
        parts = {name: parse_robot_file(data, where, group=name) for name in names}
    except ValueError as error:
        raise WorldError(str(error)) from error
    base = _base(robot, where)
    if not parts:
        group, suction = _only_group(robot, where)
        return SimulatedRobot(description=robot, groups=(group,), suction=suction, base=base)
    groups = tuple(_group(part, name, f"{where}.groups.{name}") for name, part in parts.items())
    return SimulatedRobot(description=robot, groups=groups, base=base)


def _only_group(robot: RobotFile, where: str) -> tuple[SimulatedGroup, SimulatedSuction | None]:
    """The arm of a robot of one, with its fingers or its cup."""
    hand, actions = robot.gripper, robot.controllers
    cup = hand.suction if hand is not None else None
    drive = "gripper" if cup is None else "suction"
    wanted = {
        "gripper.joints or gripper.suction": hand and (hand.joints or cup),
        "gripper.link": hand and hand.link,
        "controllers.gripper": actions and (cup or actions.gripper),
    }
    group = _group(robot, "", where, wanted, drive)
    if cup is None or robot.simulation is None:
        return group, None
    return group, _suction(cup, group.hand_link, robot.simulation, f"{where}.simulation")


def _group(
    robot: RobotFile,
    name: str,
    where: str,
    wanted: Mapping[str, Any] = MappingProxyType({}),
    drive: str = "gripper",
) -> SimulatedGroup:
    """One group of joints; `wanted` are further keys that must hold something."""
    arm, hand, actions, section = robot.arm, robot.gripper, robot.controllers, robot.simulation
    needed = {
        "arm.joints": arm.joints,
        "arm.velocity": arm.velocity,
        "named.home": robot.named.get("home"),
        **wanted,
        "controllers.arm": actions.arm if actions else "controllers.gripper" in wanted,
        "simulation": section,
    }
    missing = [key for key, value in needed.items() if not value]
    if missing or actions is None or section is None:
        raise WorldError(f"{where}: {', '.join(missing)} missing; a simulated robot needs it")
    here, known = f"{where}.simulation", {"arm", drive, "base"}
    if unknown := sorted(set(section) - known):
        raise WorldError(f"{here}: unknown {', '.join(unknown)}; known are arm, {drive}")
    try:
        limits = {
            key: spread(f"{where}.arm.{key}", limit, arm.joints)
            for key, limit in (("velocity", arm.velocity), ("acceleration", arm.acceleration))
            if limit is not None
        }
    except ValueError as error:
        raise WorldError(str(error)) from error
    config = SimulatedArm(
        joints=arm.joints,
        home=robot.named["home"],
        velocity=limits["velocity"],
        acceleration=limits["acceleration"],
        **_drive(ArmDrives, section, "arm", here),
    )
    places = {"home": "named.home"} | {key: f"arm.{key}" for key in limits}
    for key, value in _members(config).items():
        if isinstance(value, tuple) and len(value) != len(arm.joints):
            place = f"{where}.{places.get(key, f'simulation.arm.{key}')}"
            raise WorldError(
                f"{place}: {len(value)} values for {len(arm.joints)} joints; give one each"
            )
    fingers = hand is not None and hand.suction is None
    return SimulatedGroup(
        name=name,
        arm=config,
        arm_action=_spoken(actions.arm, f"{where}.controllers.arm", ARM_DRIVER),
        arm_topic=_arm_topic(actions, where),
        hand_link="" if hand is None else hand.link or "",
        gripper=_fingers(hand, name, section, here) if hand is not None and fingers else None,
        gripper_action=_spoken(actions.gripper, f"{where}.controllers.gripper", GRIPPER_DRIVER),
    )


def _base(robot: RobotFile, where: str) -> SimulatedBase | None:
    """The base that drives; None: the robot stands where it is bolted to."""
    base, section = robot.base, robot.simulation or {}
    if base is None:
        return None
    drive = _drive(BaseDrive, section, "base", f"{where}.simulation")
    for name, value in drive.items():
        if len(value) != len(PLANE) or not min(value) > 0.0:
            raise WorldError(f"{where}.simulation.base.{name}: {value}; give three numbers above 0")
    driver = robot.controllers.base if robot.controllers else None
    topic = _spoken(driver, f"{where}.controllers.base", BASE_DRIVER)
    return SimulatedBase(
        frame=base.frame,
        omnidirectional=base.omnidirectional,
        topic=topic or "cmd_vel",
        **drive,
    )


def _fingers(
    hand: GripperSection, group: str, section: Mapping[str, Any], where: str
) -> SimulatedGripper:
    drive = _drive(GripperDrive, section, "gripper", where)
    if not drive["fingers"]:
        raise WorldError(f"{where}.gripper.fingers: name the links whose contact is a grasp")
    return SimulatedGripper(
        joints=tuple(hand.joints),
        scale=tuple(hand.joints.values()),
        zero=tuple(hand.zero.get(joint, 0.0) for joint in hand.joints),
        name=f"{group}_gripper" if group else "gripper",
        link=hand.link or "",
        open=hand.open_width,
        force=hand.grasp_force,
        max_force=hand.max_force,
        **drive,
    )


def _suction(
    cup: SuctionSection, link: str, section: Mapping[str, Any], where: str
) -> SimulatedSuction:
    drive = _drive(SuctionDrive, section, "suction", where)
    for name, value in drive.items():
        if not value > 0.0:
            raise WorldError(f"{where}.suction.{name}: {value}; give a number above 0")
    return SimulatedSuction(
        link=link,
        pump=_spoken(cup.pump, f"{where}.suction.pump", PUMP_DRIVER),
        vacuum=_spoken(cup.vacuum, f"{where}.suction.vacuum", VACUUM_DRIVER),
        **drive,
    )


def _arm_topic(actions: ControllersSection, where: str) -> str | None:
    """Of trajectories for the arm; None: goals of its action replace each other."""
    stream = stream_of(actions)
    if stream.driver == GOALS_DRIVER:
        return None
    return _spoken(stream, f"{where}.controllers.stream", STREAM_DRIVER)


def _spoken(section: DriverSection | None, where: str, spoken: tuple[str, str]) -> str:
    """The name that the simulation offers, where the file asks for the driver that it speaks."""
    if section is None:
        return ""
    driver, key = spoken
    if section.driver != driver or not isinstance(section.options.get(key), str):
        raise WorldError(
            f"{where}: the simulated robot takes the driver {driver} with its {key}, not "
            f"{section.driver}; give a simulated robot a file of its own"
        )
    return str(section.options[key])


def _drive(cls: type[Any], section: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    """What a key of the section `simulation` tells of drives: no number is below 0, or infinite.

    Raises:
        WorldError: names what is missing, unknown or out of bounds.
    """
    drive = _members(build(cls, section.get(key), f"{where}.{key}"))
    for name, value in drive.items():
        numbers = [each for each in np.ravel(value).tolist() if not isinstance(each, str)]
        if not all(0.0 <= each < math.inf for each in numbers):
            raise WorldError(f"{where}.{key}.{name}: {value}; give finite numbers of 0 or more")
    return drive


def _members(config: Any) -> dict[str, Any]:
    return {f.name: getattr(config, f.name) for f in fields(config)}
