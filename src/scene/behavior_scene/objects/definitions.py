# SPDX-License-Identifier: Apache-2.0
"""Definitions of objects: what the key `objects` of a file, or of a setup, may hold.

Each object has a name, which is its frame too, and a `kind`; without one it is detected::

    objects:
      cup: {class: mug, select: closest, near: camera, where: "confidence > 0.5 and z < 0.4"}
      cup_approach: {kind: approach, frame_a: base, frame_b: cup, distance: 0.6}

Objects may be computed from others; a circle of them is refused.
"""

from __future__ import annotations

import graphlib
from collections.abc import Mapping
from typing import Any

from behavior_ros.messages.limits import LONGEST_NAME
from behavior_ros.messages.sent_text import SentTextError, read_yaml, shown
from behavior_scene import derived
from behavior_scene.derived import DerivedObject
from behavior_scene.objects.selection import DetectedObject
from behavior_scene.yaml_models import validated

Definition = DetectedObject | DerivedObject

KINDS: dict[str, type[DetectedObject] | type[DerivedObject]] = {
    "detected": DetectedObject,
    "approach": derived.CompositeApproach,
    "hybrid": derived.CompositeHybrid,
    "custom": derived.CustomFrame,
    "grasp": derived.GraspFrame,
    "door_panel": derived.DoorPanel,
    "door_frame": derived.DoorFrame,
    "approach_table": derived.ApproachTable,
    "interior": derived.ContainerInterior,
    "stack_slot": derived.StackSlot,
    "zone": derived.Zone,
}


class DefinitionError(ValueError):
    """Definitions that cannot be used; the message lists everything wrong with them."""


def kind_of(definition: Definition) -> str:
    """Name of a definition's kind."""
    return next(name for name, kind in KINDS.items() if type(definition) is kind)


def read_definitions(text: str, source: str = "definition") -> dict[str, Definition]:
    """Definitions from YAML text: a mapping by name, with or without the key `objects`.

    Raises:
        DefinitionError: see there.
    """
    try:
        data = read_yaml(text, source)
    except SentTextError as error:
        raise DefinitionError(str(error)) from error
    if data is None:
        return {}
    if not isinstance(data, Mapping):
        raise DefinitionError(f"{source}: write a mapping from names to objects, not {shown(data)}")
    return definitions_from(data.get("objects", data), source)


def definitions_from(data: Any, source: str) -> dict[str, Definition]:
    """Definitions from parsed YAML; raises `DefinitionError`."""
    if not isinstance(data, Mapping):
        raise DefinitionError(f"{source}: write a mapping from names to objects, not {shown(data)}")
    found: dict[str, Definition] = {}
    problems = []
    for name, entry in data.items():
        try:
            found[_checked_name(name, source)] = _definition(
                entry, f"{source}: object {shown(name)}"
            )
        except ValueError as error:
            problems.append(str(error))
    if problems:
        raise DefinitionError("\n".join(problems))
    return found


def names_from(text: str) -> list[str]:
    """Names that objects may bear, from a list of YAML; raises `DefinitionError`."""
    try:
        data = read_yaml(text, "definition")
        if not isinstance(data, list):
            raise ValueError(
                f"definition: write a list of names, such as [cup, saucer], not {shown(data)}"
            )
        return [_checked_name(name, "definition") for name in data]
    except ValueError as error:
        raise DefinitionError(str(error)) from error


def computing_order(definitions: Mapping[str, Definition]) -> list[str]:
    """Names such that every object comes after those it is computed from.

    Raises:
        DefinitionError: some depend on themselves; the circle is named.
    """
    sorter = graphlib.TopologicalSorter(
        {
            name: sorted(source for source in definition.sources() if source in definitions)
            for name, definition in sorted(definitions.items())
        }
    )
    try:
        return list(sorter.static_order())
    except graphlib.CycleError as error:
        circle = " <- ".join(error.args[1])
        raise DefinitionError(
            f"objects depend on themselves: {circle}. Compute one of them from something else."
        ) from error


def _checked_name(name: Any, source: str) -> str:
    if not isinstance(name, str) or not name or name.startswith("/") or name != name.strip():
        raise ValueError(
            f"{source}: {shown(name)} cannot be the name of a frame: write a text without a "
            "slash or space at its ends"
        )
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise ValueError(
            f"{source}: {shown(name)} cannot be the name of a frame: write at most {LONGEST_NAME} "
            "characters that can be printed"
        )
    return name


def _definition(entry: Any, where: str) -> Definition:
    if not isinstance(entry, Mapping):
        raise ValueError(f"{where}: write a mapping of keys and values, not {shown(entry)}")
    kind = entry.get("kind", "detected")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"{where}: kind {shown(kind)} is unknown; choose from {', '.join(KINDS)}")
    definition: Definition = validated(KINDS[kind], entry, where)
    return definition
