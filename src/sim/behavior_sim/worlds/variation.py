# SPDX-License-Identifier: Apache-2.0
"""A world that is a little different from its file: values by *factor*.

`size`, `mass` and `friction` are those of the objects, times what the world's file says;
`blue_block.mass` is that of one object, `bin_*.mass` of some. A varied friction counts in all
contacts of the object, also with fingers that are rougher. All other factors are those of the
detector (:class:`~behavior_sim.worlds.detection.DetectorConfig`), such as `dropout` or `latency`,
in its units.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from fnmatch import fnmatchcase

from behavior_sim.worlds.config import ObjectConfig, WorldConfig
from behavior_sim.worlds.detection import DetectorConfig
from behavior_sim.worlds.reading import WorldError

OF_OBJECTS = ("size", "mass", "friction")
OF_DETECTOR = tuple(field.name for field in dataclasses.fields(DetectorConfig))
_PROBABILITIES = ("dropout", "minimum_visible", "confusion", "doubles")
_LARGEST = 100.0
"""Times an object's own, and of the detector's units."""

Factors = Mapping[str, float]


def parse_factors(text: str) -> dict[str, float]:
    """Factors of a JSON mapping; empty: none.

    Raises:
        WorldError: it is no such mapping.
    """
    try:
        found = json.loads(text) if text else {}
        return {str(name): float(value) for name, value in found.items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise WorldError(f"{text!r} is no JSON mapping of factors to numbers") from error


def check_factor(name: str, value: float) -> None:
    """Make sure that there is such a factor, and that it can have a value.

    Raises:
        WorldError: what is wrong, and what can be.
    """
    pattern, _, kind = name.rpartition(".")
    if kind in OF_OBJECTS:
        if not 0.0 < value <= _LARGEST:
            raise WorldError(f"{name}: {value:g}; give a number above 0, at most {_LARGEST:g}")
        return
    if pattern or kind not in OF_DETECTOR:
        raise WorldError(
            f"{name} is no factor; choose one of {', '.join([*OF_OBJECTS, *OF_DETECTOR])}, or"
            " OBJECT.size, OBJECT.mass, OBJECT.friction"
        )
    most = 1.0 if kind in _PROBABILITIES else _LARGEST
    if not 0.0 <= value <= most:
        raise WorldError(f"{name}: {value:g}; give a number from 0 to {most:g}")


def varied_world(config: WorldConfig, factors: Factors) -> WorldConfig:
    """The world with other objects; factors of the detector change nothing.

    Raises:
        WorldError: a factor is none, cannot have its value, or is of no object of this world.
    """
    objects = dict(config.objects)
    for name, value in factors.items():
        check_factor(name, value)
        pattern, _, kind = name.rpartition(".")
        if kind not in OF_OBJECTS:
            continue
        changed = [each for each in objects if fnmatchcase(each, pattern or "*")]
        if not changed:
            raise WorldError(
                f"{name}: the world {config.name} has no such object; there are"
                f" {', '.join(objects)}"
            )
        objects |= {each: _varied_object(objects[each], kind, value) for each in changed}
    return dataclasses.replace(config, objects=objects)


def _varied_object(config: ObjectConfig, kind: str, value: float) -> ObjectConfig:
    if kind == "mass":
        return dataclasses.replace(config, mass=value * config.mass)
    if kind == "friction":
        return dataclasses.replace(config, friction=value * config.friction, friction_decides=True)
    parts = {
        name: dataclasses.replace(
            part,
            size=tuple(value * edge for edge in part.size),
            position=tuple(value * coordinate for coordinate in part.position),
        )
        for name, part in config.parts.items()
    }
    size = tuple(value * edge for edge in config.size)
    return dataclasses.replace(config, size=size, parts=parts)


def varied_detector(config: DetectorConfig, factors: Factors) -> DetectorConfig:
    """The detector with other values; factors of objects change nothing.

    Raises:
        WorldError: a factor is none, or cannot have its value.
    """
    for name, value in factors.items():
        check_factor(name, value)
    changes = {name: value for name, value in factors.items() if name in OF_DETECTOR}
    return dataclasses.replace(config, **changes)
