# SPDX-License-Identifier: Apache-2.0
"""The simulated robot: what its file tells, and how its drives behave (section `simulation`)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

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
from behavior_sim.reading import Vector, WorldError, build

ARM_DRIVER = "follow_joint_trajectory", "action"
"""What the simulated robot speaks, of the drivers that a robot's file may name ..."""
STREAM_DRIVER, GOALS_DRIVER = ("joint_trajectory", "topic"), "replaced_goals"
GRIPPER_DRIVER = "gripper_command", "action"
PUMP_DRIVER = "set_bool", "service"
VACUUM_DRIVER = "vacuum_topic", "topic"
"""... each with the option that is its name."""


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
        """The gap is the sum of the joints' positions, each times its share."""
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
class SimulatedRobot:
    """The robot's file, and the drives of the simulated one: of fingers or a suction cup."""

    description: RobotFile
    arm_action: str
    arm_topic: str | None
    """Of trajectories for the arm, beside the action; None: none."""
    gripper_action: str
    """Of the fingers."""
    hand_link: str
    """Link that held objects move with."""
    arm: SimulatedArm
    gripper: SimulatedGripper | None = None
    suction: SimulatedSuction | None = None

    @property
    def finger_joints(self) -> tuple[str, ...]:
        """Joints of the fingers; of a suction cup: none."""
        return () if self.gripper is None else self.gripper.joints


def parse_robot(data: Any, where: str) -> SimulatedRobot:
    """The simulated robot of what a robot file holds.

    Raises:
        WorldError: names the field that is missing, unknown or of the wrong size.
    """
    if not isinstance(data, Mapping):
        raise WorldError(f"{where}: expected a mapping, got {data!r}")
    try:
        robot = parse_robot_file(data, where)
        arm = robot.arm
        limits = {
            name: spread(f"{where}.arm.{name}", limit, arm.joints)
            for name, limit in (("velocity", arm.velocity), ("acceleration", arm.acceleration))
            if limit is not None
        }
    except ValueError as error:
        raise WorldError(str(error)) from error
    hand, actions, section = robot.gripper, robot.controllers, robot.simulation
    cup = hand.suction if hand is not None else None
    wanted = {
        "arm.joints": arm.joints,
        "arm.velocity": arm.velocity,
        "named.home": robot.named.get("home"),
        "gripper.joints or gripper.suction": hand and (hand.joints or cup),
        "gripper.link": hand and hand.link,
        "controllers.arm": actions is None or actions.arm,
        "controllers.gripper": actions and (cup or actions.gripper),
        "simulation": section,
    }
    missing = [key for key, value in wanted.items() if not value]
    if missing or hand is None or hand.link is None or actions is None or section is None:
        raise WorldError(f"{where}: {', '.join(missing)} missing; a simulated robot needs it")
    here, drive = f"{where}.simulation", "gripper" if cup is None else "suction"
    if unknown := sorted(set(section) - {"arm", drive}):
        raise WorldError(f"{here}: unknown {', '.join(unknown)}; known are arm, {drive}")
    config = SimulatedArm(
        joints=arm.joints,
        home=robot.named["home"],
        velocity=limits["velocity"],
        acceleration=limits["acceleration"],
        **_members(build(ArmDrives, section.get("arm"), f"{here}.arm")),
    )
    for name, value in _members(config).items():
        if isinstance(value, tuple) and len(value) != len(arm.joints):
            raise WorldError(
                f"{here}.arm.{name}: {len(value)} values for {len(arm.joints)} joints; "
                "give one each"
            )
    return SimulatedRobot(
        description=robot,
        arm_action=_spoken(actions.arm, f"{where}.controllers.arm", ARM_DRIVER),
        arm_topic=_arm_topic(actions, where),
        gripper_action=_spoken(actions.gripper, f"{where}.controllers.gripper", GRIPPER_DRIVER),
        hand_link=hand.link,
        arm=config,
        gripper=_fingers(hand, hand.link, section, here) if cup is None else None,
        suction=None if cup is None else _suction(cup, hand.link, section, here),
    )


def _fingers(
    hand: GripperSection, link: str, section: Mapping[str, Any], where: str
) -> SimulatedGripper:
    return SimulatedGripper(
        joints=tuple(hand.joints),
        scale=tuple(hand.joints.values()),
        link=link,
        open=hand.open_width,
        force=hand.grasp_force,
        max_force=hand.max_force,
        **_members(build(GripperDrive, section.get("gripper"), f"{where}.gripper")),
    )


def _suction(
    cup: SuctionSection, link: str, section: Mapping[str, Any], where: str
) -> SimulatedSuction:
    drive = build(SuctionDrive, section.get("suction"), f"{where}.suction")
    for name, value in _members(drive).items():
        if not value > 0.0:
            raise WorldError(f"{where}.suction.{name}: {value}; give a number above 0")
    return SimulatedSuction(
        link=link,
        pump=_spoken(cup.pump, f"{where}.suction.pump", PUMP_DRIVER),
        vacuum=_spoken(cup.vacuum, f"{where}.suction.vacuum", VACUUM_DRIVER),
        **_members(drive),
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


def _members(config: Any) -> dict[str, Any]:
    return {f.name: getattr(config, f.name) for f in fields(config)}
