# SPDX-License-Identifier: Apache-2.0
"""The simulated robot: what its file tells, and how its drives behave (section `simulation`)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from behavior_motion.robot.robot_file import RobotFile, parse_robot_file, spread
from behavior_sim.reading import Vector, WorldError, build


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
class SimulatedRobot:
    """The robot's file, and the drives of the simulated one."""

    description: RobotFile
    arm_action: str
    arm_topic: str | None
    """Of trajectories for the arm, beside the action; None: none."""
    gripper_action: str
    arm: SimulatedArm
    gripper: SimulatedGripper


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
    wanted = {
        "arm.joints": arm.joints,
        "arm.velocity": arm.velocity,
        "named.home": robot.named.get("home"),
        "gripper.joints": hand and hand.joints,
        "gripper.link": hand and hand.link,
        "controllers.gripper": actions and actions.gripper,
        "simulation": section,
    }
    missing = [key for key, value in wanted.items() if not value]
    if missing or hand is None or hand.link is None or actions is None or section is None:
        raise WorldError(f"{where}: {', '.join(missing)} missing; a simulated robot needs it")
    if actions.stream.interface == "positions":
        raise WorldError(
            f"{where}.controllers.stream: the simulated arm takes joint_trajectory or "
            "follow_joint_trajectory, no positions"
        )
    if unknown := sorted(set(section) - {"arm", "gripper"}):
        raise WorldError(f"{where}.simulation: unknown {', '.join(unknown)}")
    here = f"{where}.simulation"
    drives = build(ArmDrives, section.get("arm"), f"{here}.arm")
    drive = build(GripperDrive, section.get("gripper"), f"{here}.gripper")
    config = SimulatedArm(
        joints=arm.joints,
        home=robot.named["home"],
        velocity=limits["velocity"],
        acceleration=limits["acceleration"],
        **_members(drives),
    )
    for name, value in _members(config).items():
        if isinstance(value, tuple) and len(value) != len(arm.joints):
            raise WorldError(
                f"{here}.arm.{name}: {len(value)} values for {len(arm.joints)} joints; "
                "give one each"
            )
    return SimulatedRobot(
        description=robot,
        arm_action=actions.arm,
        arm_topic=actions.stream.topic,
        gripper_action=actions.gripper or "",
        arm=config,
        gripper=SimulatedGripper(
            joints=tuple(hand.joints),
            scale=tuple(hand.joints.values()),
            link=hand.link,
            open=hand.open_width,
            force=hand.grasp_force,
            max_force=hand.max_force,
            **_members(drive),
        ),
    )


def _members(config: Any) -> dict[str, Any]:
    return {f.name: getattr(config, f.name) for f in fields(config)}
