# SPDX-License-Identifier: Apache-2.0
"""The robot file: one YAML file that tells everything that the suite knows of a robot.

Models, frames, limits and gripper are for planning; controllers, workspace and grasp force for the
skills; the section `simulation` for whoever simulates the robot. See ``config/robots/``.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from behavior_motion.errors import known
from behavior_motion.robot.groups import (
    combined_groups,
    group_data,
    group_names,
    resources,
    whole_data,
)
from behavior_motion.robot.yaml_lines import with_lines
from behavior_packages.bounded_yaml import read_yaml
from behavior_packages.validation import faults

_Model = TypeVar("_Model", bound=BaseModel)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class FrameSection(_Strict):
    """A frame added to the model where the URDF lacks it."""

    parent: str
    xyz: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)


def _limits(value: Any) -> Any:
    """Limits as a file gives them, in one sentence: pydantic tells of each form."""
    names, numbers = [], [value]
    if isinstance(value, dict):
        names, numbers = list(value), list(value.values())
    elif isinstance(value, list | tuple):
        numbers = list(value)
    strange = [each for each in numbers if not _is_finite(each)]
    strange += [each for each in names if not isinstance(each, str)]
    if strange:
        raise ValueError(
            "a finite number, a list of them in the order of the joints, or a mapping from joint "
            f"to number wanted, got {reprlib.repr(strange[0])}"
        )
    return value


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


Limits = float | tuple[float, ...] | dict[str, float]
_Limits = Annotated[Limits, BeforeValidator(_limits)]


class ArmSection(_Strict):
    """The planned joints, in the order of every joint vector, and their limits.

    Limits are one number for all joints, a list in their order, or a mapping from joint to number.
    """

    joints: tuple[str, ...] = ()
    group: str | None = None
    velocity: _Limits | None = None
    acceleration: _Limits
    jerk: _Limits
    lower: _Limits | None = None
    upper: _Limits | None = None

    @model_validator(mode="after")
    def _one_choice_of_joints(self) -> Self:
        if bool(self.joints) == bool(self.group):
            raise ValueError("give either joints or the SRDF's group")
        if double := sorted({name for name in self.joints if self.joints.count(name) > 1}):
            raise ValueError(f"joints: {', '.join(double)} stand there twice")
        return self


class ScalingSection(_Strict):
    """Fractions of the limits used where a request gives none."""

    velocity: float = Field(default=1.0, gt=0.0, le=1.0)
    acceleration: float = Field(default=1.0, gt=0.0, le=1.0)


class DriverSection(BaseModel):
    """A driver by its name, and what it is to know; drivers are offers of packages."""

    model_config = ConfigDict(extra="allow")
    driver: str

    @property
    def options(self) -> dict[str, Any]:
        """What the file gives beside the name."""
        return dict(self.model_extra or {})


def _driver(usual: str, key: str) -> BeforeValidator:
    """A driver may be left out for the usual one, and that one be written as the value of `key`."""

    def read(value: Any) -> Any:
        if isinstance(value, str):
            return {"driver": usual, key: value}
        return {"driver": usual} | value if isinstance(value, dict) else value

    return BeforeValidator(read)


class SuctionSection(_Strict):
    """What a suction cup listens to and tells."""

    pump: Annotated[DriverSection, _driver("set_bool", "service")]
    """Switches the pump; a name alone is a service of std_srvs/SetBool."""
    vacuum: Annotated[DriverSection, _driver("vacuum_topic", "topic")]
    """Tells at 20 Hz or more whether the cup holds something; a name alone is a topic of
    std_msgs/Bool."""


class GripperSection(_Strict):
    """Joints and widths of a gripper's fingers, or a suction cup."""

    joints: dict[str, float] = {}
    """Joint position per metre of opening width."""
    zero: dict[str, float] = {}
    """Joint position that an opening of no width would have, where it is not 0."""
    open_width: float = Field(default=0.0, ge=0.0)
    closed_width: float = Field(default=0.0, ge=0.0)
    max_speed: float = Field(default=0.1, gt=0.0)
    max_force: float = Field(default=40.0, gt=0.0)
    grasp_force: float = Field(default=40.0, gt=0.0)
    """[N] of the closing fingers where nobody asks for another."""
    still_time: float = Field(default=0.06, gt=0.0)
    """[s] fingers that have not moved for so long rest: of drivers that seldom tell of them, three
    periods of their joint states."""
    link: str | None = None
    """Link that held objects move with; by default the one of the tool frame."""
    touch_links: tuple[str, ...] = ()
    grips: dict[str, float] = {}
    suction: SuctionSection | None = None

    @model_validator(mode="after")
    def _fingers_or_cup(self) -> Self:
        if self.suction is not None and (self.joints or self.grips or self.open_width):
            raise ValueError("suction has no fingers: leave joints, grips and open_width out")
        if self.suction is None and not {"joints", "open_width"} <= self.model_fields_set:
            raise ValueError("give joints and open_width of the fingers, or suction")
        if still := sorted(joint for joint, scale in self.joints.items() if scale == 0.0):
            raise ValueError(f"joints: {', '.join(still)} would not move; give a number but 0")
        if self.closed_width > self.open_width and self.joints:
            raise ValueError("closed_width is more than open_width")
        if unknown := sorted(self.zero.keys() - self.joints.keys()):
            raise ValueError(f"zero names {', '.join(unknown)}, which joints does not")
        return self


class MountedPart(_Strict):
    """A part of another URDF, such as a hand, fixed to the robot."""

    urdf: str
    srdf: str | None = None
    """Which of its links need not be checked against each other."""
    link: str
    """The part: this link and all that hangs on it."""
    parent: str
    """Link of the robot that it is fixed to."""
    xyz: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)


def _stream(value: Any) -> Any:
    """A driver, by the key `interface` that files had for it before."""
    if isinstance(value, dict) and "interface" in value:
        value = {"driver" if key == "interface" else key: v for key, v in value.items()}
        return None if value == {"driver": "follow_joint_trajectory"} else value
    return value


class ControllersSection(_Strict):
    """The robot's drivers; a name alone is that of the usual driver's action or topic."""

    arm: Annotated[DriverSection, _driver("follow_joint_trajectory", "action")] | None = None
    gripper: Annotated[DriverSection, _driver("gripper_command", "action")] | None = None
    base: Annotated[DriverSection, _driver("cmd_vel", "topic")] | None = None
    """Takes velocities."""
    navigation: Annotated[DriverSection, _driver("nav2", "navigate_to_pose")] | None = None
    """Drives the base to poses."""
    stream: Annotated[DriverSection | None, BeforeValidator(_stream)] = None
    """For motions of the arm that react; None: goals of the arm's action replace each other."""
    states: tuple[DriverSection, ...] = ()
    """Who tells whether the robot can be moved: stops, errors, controllers that are not active."""

    @property
    def drivers(self) -> dict[str, DriverSection]:
        """All that are named, by their keys."""
        fields = ((key, getattr(self, key)) for key in type(self).model_fields)
        found = {key: section for key, section in fields if isinstance(section, DriverSection)}
        return found | {f"states.{i}": section for i, section in enumerate(self.states)}


def stream_of(controllers: ControllersSection) -> DriverSection:
    """The driver that tells the arm its motion many times a second; raises `ValueError`."""
    if controllers.stream is not None:
        return controllers.stream
    arm = controllers.arm
    if arm is None or "action" not in arm.options:
        raise ValueError("controllers.stream is missing, and controllers.arm has no action for it")
    goals = {"driver": "replaced_goals", "action": arm.options["action"]}
    return DriverSection.model_validate(goals)


class WorkspaceSection(_Strict):
    """Where objects may be taken and put, around the base [m]."""

    inner: float = Field(default=0.0, ge=0.0)
    """Distance from the base, seen from above."""
    outer: float = Field(gt=0.0)
    low: float = -0.05
    """Height above the base."""
    high: float = 0.9

    @model_validator(mode="after")
    def _has_room(self) -> Self:
        if self.inner >= self.outer:
            raise ValueError(f"inner, {self.inner:g}, is not below outer, {self.outer:g}")
        if self.low >= self.high:
            raise ValueError(f"low, {self.low:g}, is not below high, {self.high:g}")
        return self


class BaseSection(_Strict):
    """A base that drives."""

    frame: str
    """Its frame on the floor; x ahead."""
    omnidirectional: bool = False
    """It drives sideways too."""


class MoveItSection(_Strict):
    """What the MoveIt backend needs to know; see ``behavior_motion.moveit``."""

    robot_name: str
    config_package: str
    """Package with the robot's MoveIt configuration."""
    group: str
    """Planning group of the arm in its SRDF."""


class RobotFile(_Strict):
    """The whole robot file; see ``config/robots``."""

    name: str
    urdf: str
    srdf: str | None = None
    disabled_collisions: tuple[tuple[str, str], ...] = ()
    package_dirs: tuple[str, ...] = ()
    mounted: tuple[MountedPart, ...] = ()
    base_frame: str
    tool_frame: str
    frames: dict[str, FrameSection] = {}
    arm: ArmSection
    default_scaling: ScalingSection = ScalingSection()
    gripper: GripperSection | None = None
    named: dict[str, tuple[float, ...]] = {}
    controllers: ControllersSection | None = None
    workspace: WorkspaceSection | None = None
    simulation: dict[str, Any] | None = None
    """For the simulation, which knows what it may hold."""
    moveit: MoveItSection | None = None
    base: BaseSection | None = None
    combined: dict[str, tuple[str, ...]] = {}
    """Groups, and `base`, that are commanded together, by the name that they have then."""
    group: str = ""
    """Set by whoever reads the file: the group that this is, of a file with `groups`."""
    other_joints: tuple[str, ...] = ()
    """The same: joints of the robot's other groups."""
    planned: bool = True
    """The same: False of all groups together."""

    @property
    def srdfs(self) -> list[str]:
        """Addresses of the SRDFs of robot and mounted parts."""
        return [a for a in (self.srdf, *(part.srdf for part in self.mounted)) if a is not None]


def spread(name: str, limits: Limits, joints: Sequence[str]) -> tuple[float, ...]:
    """One number per joint.

    Args:
        name: of the key, for errors.
        limits: as the file gives them.
        joints: in their order.

    Raises:
        ValueError: a joint has no number, or an unknown one has.
    """
    if isinstance(limits, dict):
        for joint in limits:
            known(name, joint, joints)
        missing = [joint for joint in joints if joint not in limits]
        if missing:
            raise ValueError(f"{name}: no value for {', '.join(missing)}; add them")
        return tuple(limits[joint] for joint in joints)
    return (limits,) * len(joints) if isinstance(limits, float) else limits


def read_robot_file(path: str | Path) -> dict[str, Any]:
    """What a robot file holds, with plain paths made absolute, so that it can be kept elsewhere.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no YAML, or no mapping.
    """
    file = Path(path).expanduser().resolve()
    if not file.is_file():
        raise FileNotFoundError(f"{file}: no such robot file")
    try:
        data = read_yaml(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"{file}: not valid YAML: {error}") from error
    if not isinstance(data, dict):
        raise ValueError(f"{file}: write a mapping of keys and values")
    absolute = {key: _absolute(value, file.parent) for key, value in data.items() if key in _PATHS}
    parts = data.get("mounted")
    if isinstance(parts, list):
        absolute["mounted"] = [
            {k: _absolute(v, file.parent) if k in _PATHS else v for k, v in part.items()}
            if isinstance(part, dict)
            else part
            for part in parts
        ]
    return data | absolute


_RESERVED = frozenset({"group", "other_joints", "planned"})
_PATHS = ("urdf", "srdf", "package_dirs")


def _absolute(value: Any, folder: Path) -> Any:
    if isinstance(value, list):
        return [_absolute(item, folder) for item in value]
    if isinstance(value, str) and "://" not in value:
        return str(folder / Path(value).expanduser())
    return value


def parse_robot_file(data: Mapping[str, Any], where: str, *, group: str = "") -> RobotFile:
    """A robot of what its file holds.

    Args:
        data: the file.
        where: it is, for errors.
        group: which of its groups; empty: all of the robot.

    Raises:
        ValueError: it does not fit the form, the message lists every wrong key; or it has no such
            group.
    """
    try:
        if reserved := sorted(_RESERVED & data.keys()):
            raise ValueError(f"unknown {', '.join(reserved)}; groups are written below `groups`")
        names = group_names(data)
        combined_groups(data)
        if group and not names:
            raise ValueError(f"has no groups, so none called {group!r}")
        whole = _validated(RobotFile, whole_data(data) if names else data)
        parts = {
            name: _validated(RobotFile, group_data(data, name), "groups", name) for name in names
        }
        return parts[known("group", group, names)] if group else whole
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def _validated(model: type[_Model], data: Any, *place: str) -> _Model:
    """A model of its keys, which stand below `place`; raises `ValueError`."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ValueError("; ".join(faults(error, "file", *place))) from error


@contextmanager
def _faults_in(path: str | Path) -> Iterator[None]:
    """Has what is wrong with the content of a file told with the file and its line."""
    try:
        yield
    except ValueError as error:
        raise ValueError(with_lines(f"{path}: {error}", path)) from error


def load_drive(path: str | Path) -> tuple[ControllersSection, BaseSection | None]:
    """Sections `controllers` and `base` of a file that need hold no more: a base's has neither arm
    nor URDF. None: it has no section `base`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it has no section `controllers`, or one of both does not fit the form.
    """
    data = read_robot_file(path)
    controllers, base = data.get("controllers"), data.get("base")
    if controllers is None:
        raise ValueError(f"{path}: lacks the section `controllers`")
    with _faults_in(path):
        return (
            _validated(ControllersSection, controllers, "controllers"),
            None if base is None else _validated(BaseSection, base, "base"),
        )


def load_robot_file(path: str | Path, *, group: str = "") -> RobotFile:
    """A robot's file, read and checked; raises as `read_robot_file` and `parse_robot_file` do."""
    return _parsed(read_robot_file(path), path, group)


def load_part(path: str | Path, group: str) -> RobotFile:
    """A robot's file for one of its groups; where it has none, for a group of its SRDF in place of
    its joints. Raises as `load_robot_file` does.
    """
    data = read_robot_file(path)
    if "groups" in data:
        return _parsed(data, path, group)
    config = _parsed(data, path, "")
    arm = config.arm.model_copy(update={"joints": (), "group": group})
    return config.model_copy(update={"arm": arm, "named": {}})


def _parsed(data: Mapping[str, Any], path: str | Path, group: str) -> RobotFile:
    """What was read from a file; its lines are told with what is wrong."""
    where = str(Path(path).expanduser().resolve())
    try:
        return parse_robot_file(data, where, group=group)
    except ValueError as error:
        raise ValueError(with_lines(str(error), where)) from error


def load_group_names(path: str | Path) -> tuple[str, ...]:
    """Names of a file's groups; raises as `read_robot_file` and `group_names` do."""
    data = read_robot_file(path)
    with _faults_in(path):
        return group_names(data)


def load_resources(path: str | Path) -> dict[str, frozenset[str]]:
    """What names of a robot's parts stand for, see `resources`; raises as `read_robot_file` does,
    and `ValueError` where groups, or what is combined, do not fit the form.
    """
    data = read_robot_file(path)
    with _faults_in(path):
        return resources(data)
