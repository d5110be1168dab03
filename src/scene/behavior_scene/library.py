# SPDX-License-Identifier: Apache-2.0
"""The object library: what is known of each class before it is seen, and objects to derive.

A file::

    accept_unlisted: false        # true: detections of other classes become objects too
    classes:
      mug:
        shape: cylinder           # box (x y z), sphere (radius), cylinder (height radius)
        size: [0.10, 0.04]        # [m]
        mesh: meshes/mug.stl      # beside this file
        color: [0.9, 0.9, 0.9]    # red green blue, and alpha if given, 0..1
        instances: 1              # one of its kind: the object bears the name of the class
        automatic: true           # becomes an object as soon as it is tracked
        gate: 0.15                # [m] see ObjectClass for this and the following
        symmetry: {axis: z}       # looks the same however it is turned about z
        grasps:
          - {name: rim, pose: {position: [0.04, 0, 0.05], rpy: [3.1416, 0, 0]}, width: 0.01}
    objects:                      # as in the `definition` of /scene/manage
      mug_approach: {kind: approach, frame_a: base, frame_b: mug, distance: 0.6}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast

import numpy as np
import yaml
from pydantic import ConfigDict, Field, field_validator
from scipy.spatial.transform import Rotation

from behavior_packages.bounded_yaml import read_yaml
from behavior_scene.detections import Array
from behavior_scene.yaml_models import (
    FixedPose,
    Length,
    NotNegative,
    StrictModel,
    Unit,
    validated,
)

SHAPE_SIZES = {"box": 3, "sphere": 1, "cylinder": 2}
"""Number of dimensions of each shape: box x y z, sphere radius, cylinder height radius."""

Color = tuple[float, float, float, float]


class LibraryError(ValueError):
    """The library file is wrong; the message names file, class and key and how to mend it."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A primitive centred on the object's pose."""

    kind: str = "box"
    """box, sphere, cylinder (along z), or none: a mere frame."""
    size: tuple[float, ...] = (0.05, 0.05, 0.05)
    """[m] in the order of `SHAPE_SIZES`."""

    @property
    def half_extents(self) -> tuple[float, float, float]:
        """Half edge lengths of the box around the shape in its own frame [m]."""
        if self.kind == "none":
            return (0.0, 0.0, 0.0)
        if self.kind == "sphere":
            return (self.size[0],) * 3
        if self.kind == "cylinder":
            return (self.size[1], self.size[1], self.size[0] / 2)
        return (self.size[0] / 2, self.size[1] / 2, self.size[2] / 2)


NO_SHAPE = Shape("none", ())


class Symmetry(StrictModel):
    """Turns about an axis through the object's centre after which it looks the same."""

    axis: Literal["x", "y", "z"] = "z"
    order: int = Field(default=0, ge=0)
    """Number of such turns in a full one; 0: every turn."""

    @field_validator("order")
    @classmethod
    def _real(cls, order: int) -> int:
        if order == 1:
            raise ValueError("1 is no symmetry: write 2 or more, or 0 for every turn")
        return order

    def nearest(self, pose: Array, reference: Array) -> Array:
        """Of all poses that look like `pose`, the one turned least against `reference` (4x4)."""
        column = "xyz".index(self.axis)
        relative = reference[:3, :3].T @ pose[:3, :3]
        # The turn about the axis that makes the trace of relative @ R(angle) largest.
        i, j = (column + 1) % 3, (column + 2) % 3
        angle = math.atan2(relative[i, j] - relative[j, i], relative[i, i] + relative[j, j])
        if self.order:
            part = 2.0 * math.pi / self.order
            angle = round(angle / part) * part
        turn = np.zeros(3)
        turn[column] = angle
        turned = np.array(pose)
        turned[:3, :3] = pose[:3, :3] @ Rotation.from_rotvec(turn).as_matrix()
        return turned


class GraspAnnotation(StrictModel):
    """A way to take an object."""

    name: str = Field(min_length=1)
    pose: FixedPose = FixedPose()
    """Of the tool in the object's frame."""
    width: NotNegative = 0.0
    """Gap between the fingers [m]; 0: as the fingers meet the object."""


@dataclass(frozen=True, slots=True)
class ObjectClass:
    """What is known of all objects of one class."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    name: str
    shape: Shape | None = None
    """None: take the bounding box of the detections."""
    mesh: str = ""
    """Path of a file with its surface; empty: none."""
    color: Color = (0.6, 0.6, 0.6, 1.0)
    instances: Annotated[int, Field(ge=0)] = 0
    """How many there are; 0: any number; 1: the object bears the name of the class."""
    automatic: bool = True
    """Becomes an object as soon as it is tracked; False: only when it is set up."""
    gate: Length = 0.15
    """[m] detections nearer than this to a track continue it at once."""
    maximum_speed: Length = 2.0
    """[m/s] hardly ever exceeded; bounds where a thing that is hidden or fast is looked for."""
    position_deviation: Length = 0.005
    """[m] standard deviation of the detected positions, where the detector tells no covariance."""
    time_constant: Length | None = None
    """[s] of the pose filter of a thing at rest; None: the tracker's."""
    acceptance_confidence: Unit | None = None
    """Detections at least this sure start tracks; None: the tracker's."""
    compare_orientation: bool = False
    """True: detections are told apart by orientation too. Not for things with symmetry."""
    symmetry: Symmetry | None = None
    """How it may be turned without looking different; None: in no way."""
    grasps: tuple[GraspAnnotation, ...] = ()
    """Ways to take it."""

    def grasp(self, name: str) -> GraspAnnotation | None:
        """The annotation of this name."""
        return next((grasp for grasp in self.grasps if grasp.name == name), None)


@dataclass(frozen=True, slots=True)
class ObjectLibrary:
    """Classes by name, and definitions of objects."""

    classes: Mapping[str, ObjectClass] = field(default_factory=dict)
    accept_unlisted: bool = True
    """True: classes that are not listed become objects with the defaults of `ObjectClass`."""
    objects: Mapping[str, Any] = field(default_factory=dict)
    """Definitions by name, as read; see `behavior_scene.objects.definitions`."""

    def get(self, class_id: str) -> ObjectClass | None:
        """The class called `class_id`; None: unknown and not accepted."""
        known = self.classes.get(class_id)
        if known is None and self.accept_unlisted:
            return ObjectClass(name=class_id)
        return known


def load_library(path: str | Path) -> ObjectLibrary:
    """Read a library from YAML; paths of meshes in it are relative to the file.

    Raises:
        LibraryError: the file is absent, is no YAML, or a value in it is wrong.
    """
    try:
        data = read_yaml(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise LibraryError(
            f"Cannot read the object library {path}: {error.strerror}. Set the parameter `library` "
            "to a file such as those in config/scenes."
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise LibraryError(f"The object library {path} is no valid YAML: {error}") from error
    if not isinstance(data, dict):
        raise LibraryError(f"The object library {path} must be a mapping with the key `classes`.")
    return library_from_dict(data, source=str(path), folder=Path(path).parent)


def library_from_dict(
    data: Mapping[str, Any], *, source: str = "library", folder: Path | None = None
) -> ObjectLibrary:
    """Build a library from parsed YAML.

    Args:
        data: the file's content.
        source: name of the file, for errors.
        folder: where meshes are; None: they are not looked for.

    Raises:
        LibraryError: one line per problem, naming `source`, class and key.
    """
    unknown = set(data) - {"classes", "accept_unlisted", "objects"}
    problems = []
    if unknown:
        problems.append(
            f"{source}: unknown keys {sorted(map(str, unknown))}; use `classes`, `objects` and "
            "`accept_unlisted`."
        )
    groups: dict[str, Mapping[Any, Any]] = {}
    for key in ("classes", "objects"):
        groups[key] = data.get(key) or {}
        if not isinstance(groups[key], Mapping):
            problems.append(f"{source}: `{key}` must be a mapping from names, not {groups[key]!r}.")
            groups[key] = {}
    classes = {}
    for name, entry in groups["classes"].items():
        try:
            classes[str(name)] = _object_class(str(name), entry, source, folder)
        except ValueError as error:
            problems.append(str(error))
    if problems:
        raise LibraryError("\n".join(problems))
    return ObjectLibrary(
        classes,
        accept_unlisted=bool(data.get("accept_unlisted", not classes)),
        objects={str(name): entry for name, entry in groups["objects"].items()},
    )


def _object_class(name: str, entry: Any, source: str, folder: Path | None) -> ObjectClass:
    """One class; raises ValueError."""
    where = f"{source}: class {name!r}"
    values = {} if entry is None else entry
    if not isinstance(values, Mapping):
        raise ValueError(f"{where}: write a mapping of keys and values, not {entry!r}")
    values = dict(values)
    if "name" in values:
        raise ValueError(f"{where}: unknown key 'name': the class is called by its key")
    if "shape" in values or "size" in values:
        values["shape"] = _shape(values.get("shape"), values.pop("size", None), where)
    if "color" in values:
        values["color"] = _color(values["color"], where)
    object_class = validated(ObjectClass, {**values, "name": name}, where)
    _check_grasps(object_class, where)
    if object_class.mesh and folder is not None:
        mesh = folder / object_class.mesh
        if not mesh.is_file():
            raise ValueError(
                f"{where}: mesh: there is no file {mesh}; its path is relative to {folder}"
            )
        object_class = replace(object_class, mesh=str(mesh.resolve()))
    return object_class


def _check_grasps(object_class: ObjectClass, where: str) -> None:
    names = [grasp.name for grasp in object_class.grasps]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{where}: grasps: two are called {twice[0]!r}; rename one")


def _color(value: Any, where: str) -> Color:
    color = _numbers(value, f"{where}: color")
    if len(color) not in (3, 4) or not all(0.0 <= part <= 1.0 for part in color):
        raise ValueError(f"{where}: color must be 3 or 4 numbers in 0..1, not {color}.")
    return cast(Color, (*color, 1.0)[:4])


def _shape(kind: Any, size: Any, where: str) -> Shape:
    if kind not in SHAPE_SIZES:
        raise ValueError(f"{where}: shape {kind!r} is unknown; choose from {list(SHAPE_SIZES)}.")
    numbers = _numbers(size, f"{where}: size")
    if len(numbers) != SHAPE_SIZES[kind] or min(numbers) <= 0.0:
        raise ValueError(
            f"{where}: a {kind} needs {SHAPE_SIZES[kind]} positive lengths [m], not {numbers}."
        )
    return Shape(kind, numbers)


def _numbers(value: Any, where: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where} must be a list of numbers, not {value!r}.") from error
    if not all(math.isfinite(part) for part in numbers):
        raise ValueError(f"{where} must be finite, not {value!r}.")
    return numbers
