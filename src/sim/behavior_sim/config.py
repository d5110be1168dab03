# SPDX-License-Identifier: Apache-2.0
"""A world's description, read from YAML (see ``config/worlds/block_stacking.yaml``).

Lengths in metres, masses in kilograms, angles in radians, everything in the frame ``world``.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml

_T = TypeVar("_T")
Vector = tuple[float, ...]


class WorldError(ValueError):
    """A world's description is wrong; the message names file, field and remedy."""


@dataclass(frozen=True, kw_only=True)
class ArmConfig:
    """The arm's joints and the servos that drive them; one value per joint."""

    joints: tuple[str, ...]
    home: Vector
    """[rad]"""
    stiffness: Vector
    """[Nm/rad]"""
    damping: Vector
    """[Nms/rad]"""
    torque: Vector
    """Limit [Nm]."""
    armature: float
    """What the drives add to each joint's inertia [kgm^2]."""
    velocity: Vector
    """Limit [rad/s]."""
    acceleration: Vector
    """Limit [rad/s^2]."""


@dataclass(frozen=True, kw_only=True)
class GripperConfig:
    """Two fingers that move together; the gap between them is the sum of their joints."""

    joints: tuple[str, ...]
    fingers: tuple[str, ...]
    """Links whose contact with an object, both at once, is a grasp."""
    link: str
    """Link that the fingers are on."""
    open: float
    """Widest gap [m]."""
    speed: float
    """Of the gap [m/s]."""
    force: float
    """Grasp force where a command names none [N]."""
    max_force: float
    """[N]"""
    stiffness: float
    """[N/m]"""
    damping: float
    """[Ns/m]"""
    armature: float
    """[kg] added to each finger by the drive."""
    friction: float
    """Coefficient of the fingers' surface."""


@dataclass(frozen=True, kw_only=True)
class RobotConfig:
    """The robot's model files and drives."""

    urdf: str
    srdf: str
    """Names the pairs of links that never collide."""
    collision_meshes: str
    """Folder of the hulls that the URDF's collision elements name."""
    visual_meshes: str
    """Folder of the COLLADA files that the URDF's visual elements name."""
    base_link: str
    arm: ArmConfig
    gripper: GripperConfig


@dataclass(frozen=True, kw_only=True)
class ObjectConfig:
    """A box that moves freely."""

    size: Vector
    """Full edge lengths [m]."""
    mass: float
    """[kg]"""
    color: Vector
    """Red, green, blue in 0..1."""
    friction: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Where an object starts: at `position`, `above` another object, or anywhere in `region`."""

    position: Vector | None = None
    jitter: Vector = (0.0, 0.0)
    above: str | None = None
    region: Mapping[str, Vector] | None = None
    clearance: float = 0.1
    """[m] between centres; only with `region`."""
    yaw: float | Vector = 0.0
    """Angle, or interval to draw from [rad]."""


@dataclass(frozen=True, kw_only=True)
class ViewConfig:
    """The camera of pictures and animations."""

    position: Vector
    target: Vector
    fov: float
    """Vertical opening angle [rad]."""


@dataclass(frozen=True, kw_only=True)
class WorldConfig:
    """A simulated world: robot, objects, start states, camera."""

    name: str
    robot: RobotConfig
    objects: Mapping[str, ObjectConfig]
    layouts: Mapping[str, Mapping[str, Placement]]
    outside: Vector
    """x, y of the place that objects taken away are put to [m]."""
    camera_field: Mapping[str, Vector]
    """Intervals of x, y and z in which the detector sees an object's centre [m]."""
    view: ViewConfig
    timestep: float = 0.002
    """Of the physics [s]."""
    source: str = field(default="", compare=False)
    """File that it was read from."""


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _build(cls: type[_T], data: Any, where: str, **given: Any) -> _T:
    """`cls` of the mapping `data` with the members `given` already built."""
    if not isinstance(data, Mapping):
        raise WorldError(f"{where}: expected a mapping, got {data!r}")
    fields = {f.name: f for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    unknown = sorted(str(key) for key in set(data) - set(fields))
    if unknown:
        raise WorldError(f"{where}: unknown {', '.join(unknown)}; known are {', '.join(fields)}")
    required = [
        f.name
        for f in fields.values()
        if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    ]
    missing = [name for name in required if name not in data and name not in given]
    if missing:
        raise WorldError(f"{where}: {', '.join(missing)} missing")
    return cls(**{**{key: _tuples(value) for key, value in data.items()}, **given})


def _arm(data: Any, where: str) -> ArmConfig:
    arm = _build(ArmConfig, data, where)
    for f in dataclasses.fields(arm):
        value = getattr(arm, f.name)
        if isinstance(value, tuple) and len(value) != len(arm.joints):
            raise WorldError(
                f"{where}.{f.name}: {len(value)} values for {len(arm.joints)} joints; give one each"
            )
    return arm


def _robot(data: Any, where: str) -> RobotConfig:
    if not isinstance(data, Mapping):
        raise WorldError(f"{where}: expected a mapping, got {data!r}")
    return _build(
        RobotConfig,
        data,
        where,
        arm=_arm(data.get("arm"), f"{where}.arm"),
        gripper=_build(GripperConfig, data.get("gripper"), f"{where}.gripper"),
    )


def _layouts(
    data: Mapping[str, Any], objects: Mapping[str, ObjectConfig], where: str
) -> dict[str, dict[str, Placement]]:
    layouts = {}
    for name, places in data.items():
        here = f"{where}.{name}"
        if set(places) != set(objects):
            raise WorldError(f"{here}: must place exactly the objects {', '.join(objects)}")
        layouts[name] = {
            key: _build(Placement, place, f"{here}.{key}") for key, place in places.items()
        }
        for key, placement in layouts[name].items():
            ways = (placement.position, placement.above, placement.region)
            if sum(way is not None for way in ways) != 1:
                raise WorldError(f"{here}.{key}: give one of position, above, region")
            if placement.above is not None and placement.above not in objects:
                raise WorldError(f"{here}.{key}: is to stand on the unknown {placement.above}")
    if "default" not in layouts:
        raise WorldError(f"{where}: a layout named 'default' is missing")
    return layouts


def parse_world(data: Any, source: str = "world") -> WorldConfig:
    """The world that the mapping `data` describes.

    Raises:
        WorldError: names the field that is missing, unknown or of the wrong size.
    """
    if not isinstance(data, Mapping):
        raise WorldError(f"{source}: expected a mapping, got {data!r}")
    objects = {
        name: _build(ObjectConfig, value, f"{source}: objects.{name}")
        for name, value in data.get("objects", {}).items()
    }
    return _build(
        WorldConfig,
        data,
        source,
        robot=_robot(data.get("robot"), f"{source}: robot"),
        objects=objects,
        layouts=_layouts(data.get("layouts", {}), objects, f"{source}: layouts"),
        view=_build(ViewConfig, data.get("view"), f"{source}: view"),
        source=source,
    )


def load_world(path: str | Path) -> WorldConfig:
    """The world described by the YAML file `path`.

    Raises:
        WorldError: the file is no YAML or describes no world.
    """
    try:
        data = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise WorldError(f"{path}: {error}") from error
    return parse_world(data, str(path))
