# SPDX-License-Identifier: Apache-2.0
"""Orders of missions as pages give them: a mission by its name, or places to drive to. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from behavior_console.commands import CommandError

_LONGEST = 10_000
"""Characters of one text."""
_MOST_PARAMETERS = 256
_MOST_STEPS = 100

NAVIGATE = "navigate"
"""Name by which a drive to one place is previewed, with the parameters x, y, yaw and frame."""


@dataclass(frozen=True)
class Drive:
    """A place to drive to."""

    x: float
    """[m]"""
    y: float
    """[m]"""
    yaw: float
    """[rad]"""
    frame: str


@dataclass(frozen=True)
class MissionOrder:
    """What somebody wants done."""

    name: str
    """Of a mission; empty: it drives."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    drives: tuple[Drive, ...] = ()
    """Places, one after the other."""


def order_of(args: Mapping[str, Any]) -> MissionOrder:
    """The order in the arguments of a command: ``name`` and ``parameters``, or ``steps``, a list of
    ``{"navigate": {"x", "y", "yaw", "frame"}}`` [m], [rad].

    Raises:
        CommandError: something in it makes no sense.
    """
    if "steps" in args:
        return MissionOrder("", drives=_drives(args["steps"]))
    name, parameters = text_of(args, "name").strip(), args.get("parameters") or {}
    if not name:
        raise CommandError("the name of a mission is missing")
    if not isinstance(parameters, dict) or len(parameters) > _MOST_PARAMETERS:
        raise CommandError(f"'parameters' is a map of at most {_MOST_PARAMETERS} texts")
    return MissionOrder(name, {key: text_of(parameters, key) for key in parameters})


def previewed(order: MissionOrder) -> tuple[str, dict[str, str]]:
    """Name and parameters by which an order is previewed; `order_previewed` reads them.

    Raises:
        CommandError: it drives to several places, or to none that makes sense.
    """
    drives = order.drives or order_previewed(order.name, order.parameters).drives
    if not drives:
        return order.name, dict(order.parameters)
    if len(drives) > 1:
        raise CommandError("of drives one place is previewed at a time")
    (drive,) = drives
    numbers = {key: repr(getattr(drive, key)) for key in ("x", "y", "yaw")}
    return NAVIGATE, {**numbers, "frame": drive.frame}


def order_previewed(name: str, parameters: Mapping[str, str]) -> MissionOrder:
    """The order that a preview of that name and those parameters stands for.

    Raises:
        CommandError: it is a drive, and the parameters are no place.
    """
    if name != NAVIGATE:
        return MissionOrder(name, parameters)
    place: dict[str, Any] = dict(parameters)
    try:
        place |= {key: float(place[key]) for key in ("x", "y", "yaw") if key in place}
    except ValueError as error:
        raise CommandError(f"'{NAVIGATE}' takes numbers for x, y and yaw: {error}") from error
    return MissionOrder("", drives=(_drive({"navigate": place}),))


def text_of(args: Mapping[str, Any], key: str, default: str | None = None) -> str:
    """An argument that is a text.

    Raises:
        CommandError: it is none, or too long.
    """
    value = args.get(key, default)
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise CommandError(f"'{key}' is a text of at most {_LONGEST} characters")
    return value


def _drives(steps: Any) -> tuple[Drive, ...]:
    if not isinstance(steps, list) or not 0 < len(steps) <= _MOST_STEPS:
        raise CommandError(f"'steps' is a list of 1 to {_MOST_STEPS} places to drive to")
    return tuple(_drive(step) for step in steps)


def _drive(step: Any) -> Drive:
    place = step.get("navigate") if isinstance(step, dict) else None
    if not isinstance(place, dict) or len(step) > 1:
        raise CommandError("a step is {'navigate': {'x', 'y', 'yaw', 'frame'}}")
    x, y, yaw = (_number(place, key) for key in ("x", "y", "yaw"))
    return Drive(x, y, yaw, text_of(place, "frame", "map") or "map")


def _number(place: Mapping[str, Any], key: str) -> float:
    value = place.get(key, 0.0 if key == "yaw" else None)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise CommandError(f"'{key}' of a place is a finite number")
    return float(value)
