# SPDX-License-Identifier: Apache-2.0
"""The object library: what is known of each class before it is seen (shape, colour, gates)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

SHAPE_SIZES = {"box": 3, "sphere": 1, "cylinder": 2}
"""Number of dimensions of each shape: box x y z, sphere radius, cylinder height radius."""

Color = tuple[float, float, float, float]


class LibraryError(ValueError):
    """The library file is wrong; the message names file, class and key and how to mend it."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A primitive centred on the object's pose."""

    kind: str = "box"
    """box, sphere or cylinder (along z)."""
    size: tuple[float, ...] = (0.05, 0.05, 0.05)
    """[m] in the order of `SHAPE_SIZES`."""

    @property
    def half_extents(self) -> tuple[float, float, float]:
        """Half edge lengths of the box around the shape in its own frame [m]."""
        if self.kind == "sphere":
            return (self.size[0],) * 3
        if self.kind == "cylinder":
            return (self.size[1], self.size[1], self.size[0] / 2)
        return (self.size[0] / 2, self.size[1] / 2, self.size[2] / 2)


@dataclass(frozen=True, slots=True)
class ObjectClass:
    """What is known of all objects of one class."""

    name: str
    shape: Shape | None = None
    """None: take the bounding box of the detections."""
    color: Color = (0.6, 0.6, 0.6, 1.0)
    instances: int = 0
    """How many there are; 0: any number; 1: the object bears the name of the class."""
    gate: float = 0.15
    """[m] detections nearer than this to a track continue it at once."""
    time_constant: float = 0.15
    """[s] of the exponential pose filter."""
    snap_distance: float = 0.03
    """[m] a jump larger than this is taken over without filtering."""
    acceptance_confidence: float = 0.25
    """Detections below are not used."""


@dataclass(frozen=True, slots=True)
class ObjectLibrary:
    """Classes by name."""

    classes: Mapping[str, ObjectClass] = field(default_factory=dict)
    accept_unlisted: bool = True
    """True: classes that are not listed become objects with the defaults of `ObjectClass`."""

    def get(self, class_id: str) -> ObjectClass | None:
        """The class called `class_id`; None: unknown and not accepted."""
        known = self.classes.get(class_id)
        if known is None and self.accept_unlisted:
            return ObjectClass(name=class_id)
        return known


def load_library(path: str | Path) -> ObjectLibrary:
    """Read a library from YAML.

    Raises:
        LibraryError: the file is absent, is no YAML, or a value in it is wrong.
    """
    try:
        data = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise LibraryError(
            f"Cannot read the object library {path}: {error.strerror}. Set the parameter `library` "
            "to a file such as config/scenes/block_stacking.yaml."
        ) from error
    except yaml.YAMLError as error:
        raise LibraryError(f"The object library {path} is no valid YAML: {error}") from error
    if not isinstance(data, dict):
        raise LibraryError(f"The object library {path} must be a mapping with the key `classes`.")
    return library_from_dict(data, source=str(path))


def library_from_dict(data: Mapping[str, Any], *, source: str = "library") -> ObjectLibrary:
    """Build a library from parsed YAML; raises `LibraryError` naming `source` and the key."""
    unknown = set(data) - {"classes", "accept_unlisted"}
    if unknown:
        raise LibraryError(
            f"{source}: unknown keys {sorted(unknown)}; use `classes` and `accept_unlisted`."
        )
    classes = {
        str(name): _object_class(str(name), entry or {}, source)
        for name, entry in (data.get("classes") or {}).items()
    }
    return ObjectLibrary(classes, accept_unlisted=bool(data.get("accept_unlisted", not classes)))


def _object_class(name: str, entry: Mapping[str, Any], source: str) -> ObjectClass:
    where = f"{source}: class {name!r}"
    keys = ("gate", "time_constant", "snap_distance", "acceptance_confidence")
    unknown = set(entry) - {"shape", "size", "color", "instances", *keys}
    if unknown:
        raise LibraryError(f"{where}: unknown keys {sorted(unknown)}.")
    values: dict[str, Any] = {}
    if "shape" in entry:
        values["shape"] = _shape(str(entry["shape"]), entry.get("size"), where)
    if "color" in entry:
        color = _numbers(entry["color"], f"{where}: color")
        if len(color) not in (3, 4) or not all(0.0 <= part <= 1.0 for part in color):
            raise LibraryError(f"{where}: color must be 3 or 4 numbers in 0..1, not {color}.")
        values["color"] = cast(Color, (*color, 1.0)[:4])
    if "instances" in entry:
        values["instances"] = int(entry["instances"])
    for key in keys:
        if key in entry:
            (values[key],) = _numbers([entry[key]], f"{where}: {key}")
            if values[key] <= 0.0:
                raise LibraryError(f"{where}: {key} must be positive, not {values[key]}.")
    return ObjectClass(name=name, **values)


def _shape(kind: str, size: Any, where: str) -> Shape:
    if kind not in SHAPE_SIZES:
        raise LibraryError(f"{where}: shape {kind!r} is unknown; choose from {list(SHAPE_SIZES)}.")
    numbers = _numbers(size, f"{where}: size")
    if len(numbers) != SHAPE_SIZES[kind] or min(numbers) <= 0.0:
        raise LibraryError(
            f"{where}: a {kind} needs {SHAPE_SIZES[kind]} positive lengths [m], not {numbers}."
        )
    return Shape(kind, numbers)


def _numbers(value: Any, where: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in value)
    except (TypeError, ValueError) as error:
        raise LibraryError(f"{where} must be a list of numbers, not {value!r}.") from error
    if not all(math.isfinite(part) for part in numbers):
        raise LibraryError(f"{where} must be finite, not {value!r}.")
    return numbers
