# SPDX-License-Identifier: Apache-2.0
"""A world's description, read from YAML (see ``config/worlds``).

Lengths in metres, masses in kilograms, angles in radians, everything in the frame ``world``.
"""

import dataclasses
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from behavior_motion.robot.robot_file import read_robot_file
from behavior_motion.robot.yaml_lines import with_lines
from behavior_packages.extended_file import read_extended
from behavior_sim.worlds.camera_config import CameraConfig, CameraNoise
from behavior_sim.worlds.reading import Pair, Triple, Vector, WorldError, build, mapping
from behavior_sim.worlds.resources import find
from behavior_sim.worlds.robot import SimulatedRobot, parse_robot

SHAPE_SIZES = {"box": 3, "sphere": 1, "cylinder": 2}
"""Lengths that each shape takes: box x y z, sphere radius, cylinder (along z) height radius."""
MOST_ALIKE = 1000
"""Objects of one kind that a world may have."""


@dataclass(frozen=True, kw_only=True)
class PartConfig:
    """One of the pieces that an object is made of, turned like the object."""

    size: Vector
    """[m] lengths of the shape, see `SHAPE_SIZES`."""
    position: Triple
    """Of its centre from the object's [m]."""
    shape: str = "box"
    color: Triple = ()
    """Red, green, blue in 0..1; empty: the object's."""


@dataclass(frozen=True, kw_only=True)
class ObjectConfig:
    """A thing that moves freely."""

    size: Vector
    """[m] lengths of the shape, see `SHAPE_SIZES`."""
    mass: float
    """[kg]"""
    color: Triple
    """Red, green, blue in 0..1."""
    shape: str = "box"
    class_id: str = ""
    """What the detector calls it; empty: by its name, so that it is the only one of its kind."""
    parts: Mapping[str, PartConfig] = field(default_factory=dict)
    """Pieces by name, within the shape that is seen, as bottom and walls of an open box; empty: the
    shape itself. The mass is spread over them by volume."""
    friction: float = 1.0
    """Coefficient; in a contact the greater one of both bodies counts."""
    friction_decides: bool = False
    """This body's coefficient counts in its contacts, also where it is the smaller one."""
    rolling_friction: float = 0.0001
    """[m] distance by which a rolling body's support runs ahead of it; foam more, steel less."""

    @property
    def extents(self) -> Vector:
        """Edge lengths of the box around it [m]."""
        return extents(self.shape, self.size)


@dataclass(frozen=True, kw_only=True)
class BoxConfig:
    """A box that is part of a fixture."""

    size: Triple
    """Full edge lengths [m]."""
    position: Triple
    """Of its centre in the fixture's frame [m]."""
    velocity: Triple = ()
    """x y z of its surface in the fixture's frame, of a belt [m/s]; empty: it stands."""
    color: Triple = ()
    """Red, green, blue in 0..1; empty: the fixture's."""
    friction: float | None = None
    """Of this part, whatever touches it; None: the greater of the fixture's and the object's."""


@dataclass(frozen=True, kw_only=True)
class FixtureConfig:
    """Something that stands still, made of boxes: a tray, a shelf, a table."""

    position: Triple
    """Of its frame in the world [m]."""
    boxes: Mapping[str, BoxConfig]
    """By the name of the part."""
    color: Triple
    """Red, green, blue in 0..1."""
    yaw: float = 0.0
    """[rad]"""
    seen: str = "whole"
    """whole: the detector reports the box around all parts, by the fixture's name; parts: each by
    FIXTURE_PART; no: not at all."""
    friction: float = 0.6

    @property
    def moves(self) -> bool:
        """Whether a part of it is a belt."""
        return any(any(box.velocity) for box in self.boxes.values())


@dataclass(frozen=True, kw_only=True)
class DoorConfig:
    """A hinged leaf with a lever and a spring latch, in a frame of two posts.

    Its frame stands where the hinge meets the ground: x along the shut leaf towards the latch, z
    up; the leaf opens towards +y or, see `opens`, -y. The lever points back to the hinge. The
    detector reports NAME_panel, NAME_lever (its bar), NAME_hinge_post, NAME_latch_post and
    NAME_hinge, the hinge's knuckle, which is on the side that the leaf opens to.
    """

    position: Triple
    """Of the hinge on the ground [m]."""
    yaw: float
    """[rad]"""
    opens: float = 1.0
    """1: the leaf opens towards +y; -1: towards -y, as the same door in a mirror."""
    lever_side: float
    """1: the lever is on the side that the leaf opens to (it is pulled); -1: on the other."""
    other_lever: bool = False
    """The leaf's other face has a lever too, NAME_other_lever, that turns with this one."""
    width: float = 0.5
    """Of the leaf [m]."""
    height: float = 0.8
    bottom: float = 0.02
    """Height of the leaf's lower edge [m]."""
    thickness: float = 0.03
    mass: float = 4.0
    """Of the leaf [kg]."""
    friction: float = 0.3
    """Of the hinge [Nm]."""
    damping: float = 0.6
    """Of the hinge [Nms/rad]."""
    closer: float = 0.0
    """Torque of a closer, that shuts the leaf when nobody holds it [Nm]; 0: there is none."""
    largest_angle: float = 1.6
    """[rad]"""
    lever_height: float = 0.5
    """[m]"""
    backset: float = 0.06
    """From the leaf's edge to the lever's axis [m]."""
    standoff: float = 0.055
    """From the leaf's face to the middle of the lever's bar [m]."""
    lever_size: Triple = (0.13, 0.018, 0.022)
    """Of the bar: length, thickness, height [m]."""
    lever_range: float = 0.8
    """[rad]"""
    lever_stiffness: float = 1.5
    """Of the spring that brings the lever back [Nm/rad]."""
    lever_preload: float = 0.5
    """Torque of that spring at rest [Nm]."""
    lever_damping: float = 0.06
    """[Nms/rad]"""
    latch_angle: float = 0.45
    """Of the lever at which the bolt is free of its strike [rad]."""
    color: Triple = (0.62, 0.44, 0.28)
    """Of the leaf."""
    frame_color: Triple = (0.80, 0.80, 0.78)
    lever_color: Triple = (0.30, 0.32, 0.36)


def extents(shape: str, size: Vector) -> Vector:
    """Edge lengths of the box around a shape [m]."""
    if shape == "sphere":
        return (2 * size[0],) * 3
    if shape == "cylinder":
        return (2 * size[1], 2 * size[1], size[0])
    return size


def volume(shape: str, size: Vector) -> float:
    """Of a shape [m^3]."""
    if shape == "sphere":
        return 4.0 / 3.0 * math.pi * size[0] ** 3
    if shape == "cylinder":
        return math.pi * size[1] ** 2 * size[0]
    return math.prod(size)


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Where an object starts: at `position`, `above` another object, or anywhere in `region`."""

    position: Pair | None = None
    jitter: Pair = (0.0, 0.0)
    above: str | None = None
    region: Mapping[str, Pair] | None = None
    clearance: float = 0.1
    """[m] between centres; only with `region`."""
    height: float = 0.0
    """[m] above the ground of what it stands on, as a table; not with `above`."""
    yaw: float | Pair = 0.0
    """Angle, or interval to draw from [rad]."""


@dataclass(frozen=True, kw_only=True)
class SpawnerConfig:
    """Brings objects into the world, one at a time."""

    objects: str
    """Names of the objects that it brings are NAME_0, NAME_1, ...; they come in this order."""
    position: Triple
    """Of an object's centre when it comes [m]."""
    region: Mapping[str, Pair]
    """Intervals of x and y; the next comes when the last one's centre is not inside [m]."""
    jitter: Triple = (0.0, 0.0, 0.0)
    """Half widths of the uniform noise on the position [m]."""
    yaw: float | Pair = 0.0
    """Angle, or interval to draw from [rad]."""
    upside_down: float = 0.0
    """Probability that it comes with its z axis down."""
    velocity: Triple = (0.0, 0.0, 0.0)
    """[m/s]"""


@dataclass(frozen=True, kw_only=True)
class ViewConfig:
    """The camera of pictures and animations."""

    position: Triple
    target: Triple
    fov: float
    """Vertical opening angle [rad]."""


@dataclass(frozen=True, kw_only=True)
class WorldConfig:
    """A simulated world: robot, objects, start states, camera."""

    name: str
    robot: SimulatedRobot
    objects: Mapping[str, ObjectConfig]
    layouts: Mapping[str, Mapping[str, Placement]]
    outside: Pair
    """x, y of the place that objects taken away, or not come yet, are put to [m]."""
    camera_field: Mapping[str, Pair]
    """Intervals of x, y and z in which the detector sees an object's centre [m]."""
    view: ViewConfig
    ground: float = 0.0
    """Height of the floor [m]."""
    start: Placement | None = None
    """Where a robot that drives starts; None: in the middle of the world."""
    spawner: SpawnerConfig | None = None
    sleep: bool = False
    """Objects at rest are not computed until something touches them: they do not creep either."""
    fixtures: Mapping[str, FixtureConfig] = field(default_factory=dict)
    doors: Mapping[str, DoorConfig] = field(default_factory=dict)
    cameras: Mapping[str, CameraConfig] = field(default_factory=dict)
    timestep: float = 0.002
    """Of the physics [s]."""
    text: str = field(default="", compare=False, repr=False)
    """The whole description as YAML, for recordings; no other file belongs to it."""


def _check_shape(config: ObjectConfig | PartConfig, where: str) -> None:
    lengths = SHAPE_SIZES.get(config.shape)
    if lengths is None:
        raise WorldError(f"{where}.shape: {config.shape!r}; choose one of {', '.join(SHAPE_SIZES)}")
    if len(config.size) != lengths or min(config.size) <= 0:
        raise WorldError(f"{where}.size: a {config.shape} takes {lengths} lengths above 0")


def _object(data: Any, where: str) -> ObjectConfig:
    pieces = mapping(mapping(data, where).get("parts", {}), f"{where}.parts")
    parts = {
        name: build(PartConfig, piece, f"{where}.parts.{name}") for name, piece in pieces.items()
    }
    config = build(ObjectConfig, data, where, parts=parts)
    _check_shape(config, where)
    if not config.mass > 0.0:
        raise WorldError(f"{where}.mass: {config.mass}; give a number above 0")
    for name, part in parts.items():
        _check_shape(part, f"{where}.parts.{name}")
    return config


def _objects(data: Mapping[str, Any], where: str) -> dict[str, ObjectConfig]:
    """All objects by name; of one with a `count` there are NAME_0, NAME_1, ..., of class NAME."""
    objects = {}
    for name, value in mapping(data, where).items():
        here = f"{where}.{name}"
        count = value.get("count") if isinstance(value, Mapping) else None
        if count is None:
            objects[name] = _object(value, here)
            continue
        if type(count) is not int or not 0 < count <= MOST_ALIKE:
            raise WorldError(f"{here}.count: {count!r}; give a whole number in 1..{MOST_ALIKE}")
        alike = {"class_id": name} | {key: v for key, v in value.items() if key != "count"}
        objects |= {numbered(name, index): _object(alike, here) for index in range(count)}
    return objects


def numbered(family: str, index: int) -> str:
    """Name of one of several objects that are alike."""
    return f"{family}_{index}"


def brought(objects: Mapping[str, ObjectConfig], spawner: SpawnerConfig | None) -> tuple[str, ...]:
    """Names of the objects that a spawner brings, in their order."""
    if spawner is None:
        return ()
    names = (numbered(spawner.objects, index) for index in range(len(objects)))
    return tuple(name for name in names if name in objects)


def _spawner(data: Any, objects: Mapping[str, ObjectConfig], where: str) -> SpawnerConfig | None:
    if data is None:
        return None
    spawner = build(SpawnerConfig, data, where)
    if not brought(objects, spawner):
        raise WorldError(
            f"{where}.objects: there are no objects {numbered(spawner.objects, 0)}, ...; give "
            f"{spawner.objects} a `count`"
        )
    if {axis for axis, interval in spawner.region.items() if interval} != {"x", "y"}:
        raise WorldError(f"{where}.region: give intervals of x and y")
    if not 0.0 <= spawner.upside_down <= 1.0:
        raise WorldError(f"{where}.upside_down: {spawner.upside_down}; give a probability, 0 to 1")
    return spawner


def _fixture(data: Any, where: str) -> FixtureConfig:
    boxes = mapping(data, where).get("boxes")
    if not boxes:
        raise WorldError(f"{where}.boxes: name at least one box")
    boxes = mapping(boxes, f"{where}.boxes")
    parts = {name: build(BoxConfig, box, f"{where}.boxes.{name}") for name, box in boxes.items()}
    for name, part in parts.items():
        if not min(part.size) > 0.0:
            raise WorldError(f"{where}.boxes.{name}.size: {part.size}; give lengths above 0")
    fixture = build(FixtureConfig, data, where, boxes=parts)
    if fixture.seen not in ("whole", "parts", "no"):
        raise WorldError(f"{where}.seen: {fixture.seen!r}; choose one of whole, parts, no")
    return fixture


def _door(data: Any, where: str) -> DoorConfig:
    door = build(DoorConfig, data, where)
    if abs(door.opens) != 1:
        raise WorldError(f"{where}.opens: {door.opens}; give 1 or -1")
    if abs(door.lever_side) != 1:
        raise WorldError(f"{where}.lever_side: {door.lever_side}; give 1 or -1")
    for name in ("width", "height", "thickness", "mass", "largest_angle"):
        if not getattr(door, name) > 0.0:
            raise WorldError(f"{where}.{name}: {getattr(door, name)}; give a number above 0")
    if not min(door.lever_size) > 0.0:
        raise WorldError(f"{where}.lever_size: {door.lever_size}; give three lengths above 0")
    if not 0.0 < door.latch_angle < door.lever_range:
        raise WorldError(f"{where}.latch_angle: must lie between 0 and lever_range")
    return door


def _start(data: Any, robot: SimulatedRobot, where: str) -> Placement | None:
    if data is None:
        return None
    start = build(Placement, data, where)
    if start.position is None:
        raise WorldError(f"{where}.position: give x and y of the robot's base")
    if robot.base is None:
        raise WorldError(f"{where}: the robot does not drive; its file has no section base")
    return start


def parse_noise(data: Any, where: str) -> CameraNoise:
    """A camera's noise of the mapping `data`.

    Raises:
        WorldError: names what is unknown or out of bounds.
    """
    noise = build(CameraNoise, data, where)
    if trouble := noise.problem():
        raise WorldError(f"{where}.{trouble}")
    return noise


def replaced_noise(config: WorldConfig, changes: Any, where: str) -> dict[str, CameraNoise]:
    """The noise of each camera of a world, with the values of the mapping `changes` replaced.

    Raises:
        WorldError: names what is unknown or out of bounds.
    """
    if not isinstance(changes, Mapping):
        raise WorldError(f"{where}: expected a mapping, got {changes!r}")
    return {
        name: parse_noise({**dataclasses.asdict(camera.noise), **changes}, where)
        for name, camera in config.cameras.items()
    }


def _camera(data: Any, where: str) -> CameraConfig:
    noise = mapping(data, where).get("noise", {})
    camera = build(CameraConfig, data, where, noise=parse_noise(noise, f"{where}.noise"))
    if trouble := camera.problem():
        raise WorldError(f"{where}.{trouble}")
    return camera


def _standing_on_each_other(layout: Mapping[str, Placement]) -> list[str]:
    """Those of a layout's objects that stand on nothing that stands by itself."""
    left = {key: each.above for key, each in layout.items() if each.above is not None}
    while ready := [key for key, below in left.items() if below not in left]:
        for key in ready:
            del left[key]
    return list(left)


def _layouts(
    data: Mapping[str, Any],
    objects: Mapping[str, ObjectConfig],
    spawned: Collection[str],
    where: str,
) -> dict[str, dict[str, Placement]]:
    layouts = {}
    wanted = [name for name in objects if name not in spawned]
    for name, places in mapping(data, where).items():
        here = f"{where}.{name}"
        if set(mapping(places, here)) != set(wanted):
            raise WorldError(f"{here}: must place exactly the objects {', '.join(wanted)}")
        layouts[name] = {
            key: build(Placement, place, f"{here}.{key}") for key, place in places.items()
        }
        for key, placement in layouts[name].items():
            ways = (placement.position, placement.above, placement.region)
            if sum(way is not None for way in ways) != 1:
                raise WorldError(f"{here}.{key}: give one of position, above, region")
            if placement.region is not None and set(placement.region) != {"x", "y"}:
                raise WorldError(f"{here}.{key}.region: give intervals of x and y")
            if placement.above is not None and placement.above not in places:
                kind = "unknown" if placement.above not in objects else "spawner's"
                raise WorldError(f"{here}.{key}: is to stand on the {kind} {placement.above}")
        if circle := _standing_on_each_other(layouts[name]):
            raise WorldError(f"{here}: {', '.join(circle)} stand on each other; place one of them")
    if "default" not in layouts:
        raise WorldError(f"{where}: a layout named 'default' is missing")
    return layouts


def parse_world(data: Any, source: str = "world") -> WorldConfig:
    """The world that the mapping `data` describes.

    Raises:
        WorldError: names the field that is missing, unknown, of another type or the wrong size.
    """
    data = mapping(data, source)
    objects = _objects(data.get("objects", {}), f"{source}: objects")
    spawner = _spawner(data.get("spawner"), objects, f"{source}: spawner")
    fixtures = {
        name: _fixture(value, f"{source}: fixtures.{name}")
        for name, value in mapping(data.get("fixtures", {}), f"{source}: fixtures").items()
    }
    doors = {
        name: _door(value, f"{source}: doors.{name}")
        for name, value in mapping(data.get("doors", {}), f"{source}: doors").items()
    }
    cameras = {
        name: _camera(value, f"{source}: cameras.{name}")
        for name, value in mapping(data.get("cameras", {}), f"{source}: cameras").items()
    }
    robot = parse_robot(data.get("robot"), f"{source}: robot")
    world = build(
        WorldConfig,
        data,
        source,
        robot=robot,
        start=_start(data.get("start"), robot, f"{source}: start"),
        objects=objects,
        fixtures=fixtures,
        doors=doors,
        cameras=cameras,
        spawner=spawner,
        layouts=_layouts(
            data.get("layouts", {}), objects, brought(objects, spawner), f"{source}: layouts"
        ),
        view=build(ViewConfig, data.get("view"), f"{source}: view"),
        text=yaml.safe_dump(data, sort_keys=False),
    )
    if set(world.camera_field) != {"x", "y", "z"}:
        raise WorldError(f"{source}: camera_field: give intervals of x, y and z")
    if not 0.0 < world.view.fov < math.pi:
        raise WorldError(f"{source}: view.fov: {world.view.fov}; give an angle between 0 and pi")
    if not world.timestep > 0.0:
        raise WorldError(f"{source}: timestep: {world.timestep}; give a number above 0")
    return world


def load_world(path: str | Path) -> WorldConfig:
    """The world described by the YAML file `path`; its `robot` may be that of a package, or a file.

    ``extends: NAME`` takes over another world, see `behavior_packages.extended_file`.

    Raises:
        WorldError: a file is no YAML or describes no world.
    """
    file = ""
    try:
        data = read_extended(Path(path), "worlds", _with_file_of_robot)
        if isinstance(robot := data.get("robot"), str):
            file, data["robot"] = robot, read_robot_file(robot)
    except (FileNotFoundError, ValueError) as error:
        raise WorldError(str(error)) from error
    try:
        return parse_world(data, str(path))
    except WorldError as error:
        raise WorldError(_placed(str(error), path, file)) from error


def _placed(message: str, path: str | Path, robot: str) -> str:
    """What is wrong in a world, with the file and line that say so: the robot may have its own."""
    for place in (f"{path}: robot: ", f"{path}: robot."):
        if robot and message.startswith(place):
            return with_lines(f"{robot}: {message.removeprefix(place)}", robot)
    own = message.removeprefix(f"{path}.")
    return with_lines(message if own == message else f"{path}: {own}", path)


def _with_file_of_robot(data: dict[str, Any], file: Path) -> dict[str, Any]:
    """A world's keys with the file of its robot, which may count from the world's own."""
    if isinstance(robot := data.get("robot"), str):
        try:
            data["robot"] = str(find(robot, "robots", file.parent))
        except FileNotFoundError as error:
            raise WorldError(f"{file}: robot: {error}") from error
    return data
