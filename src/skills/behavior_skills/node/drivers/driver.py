# SPDX-License-Identifier: Apache-2.0
"""Drivers by name: a robot's file says which one moves what, packages offer them.

A package offers a driver in its ``behavior.yaml`` (see :mod:`behavior_packages`)::

    drivers: {my_hand: "my_package.drivers:MY_HAND"}

What it names is a :class:`Driver`; the suite's own enter the same way.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from rclpy.node import Node

from behavior_motion import RobotModel
from behavior_motion.robot.robot_file import DriverSection
from behavior_packages import PackageError, packages
from behavior_ros.messages.interfaces import InterfaceError
from behavior_skills.interfaces import JointState
from behavior_tree.shown_text import named


class DriverError(ValueError):
    """A robot's file asks for a driver that is not there, or not so; the message says what is."""


class Role(enum.Enum):
    """What a driver is for: the key of the robot's file that names it."""

    ARM = "controllers.arm"
    """Makes a `behavior_skills.interfaces.Trajectories`."""
    STREAM = "controllers.stream"
    """Makes a `behavior_skills.interfaces.ArmStream`."""
    GRIPPER = "controllers.gripper"
    """Makes a `behavior_skills.interfaces.Gripper`."""
    PUMP = "gripper.suction.pump"
    """Makes a `behavior_skills.interfaces.Pump`."""
    VACUUM = "gripper.suction.vacuum"
    """Makes anything: it listens, and calls `DriverParts.heard`."""
    STATE = "controllers.states"
    """Makes a `behavior_skills.interfaces.DriverState`."""
    BASE = "controllers.base"
    """Makes a `behavior_skills.interfaces.Wheels`."""
    NAVIGATION = "controllers.navigation"
    """Makes a `behavior_skills.interfaces.Navigation`."""


class Options(BaseModel):
    """What a driver is to know; the keys that a robot's file gives beside its name."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverParts:
    """What a driver is made with."""

    node: Node
    """That calls, publishes and listens; see `behavior_ros.remote_actions` for actions."""
    robot: RobotModel | None = None
    """None: a base."""
    state: Callable[[], JointState] | None = None
    """Newest joint state; raises `SkillFailure` SERVER_LOST."""
    heard: Callable[[bool], None] = lambda vacuum: None
    """A vacuum's sensor calls it with every message: whether the cup holds something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """A driver that a robot's file may name."""

    role: Role
    options: type[Options]
    make: Callable[[DriverParts, Any], Any]
    """Makes the adapter, with what `options` holds; raises `InterfaceError` for a type of message
    that is not installed, `ValueError` for options that do not suit the robot.
    """


def make_driver(role: Role, section: DriverSection, parts: DriverParts) -> Any:
    """The adapter that a robot's file names.

    Raises:
        DriverError: there is none of this name and role, or its options are wrong, or it cannot be
            used here; one sentence.
    """
    name, where = section.driver, f"{role.value}.driver"
    try:
        driver = packages().find("drivers", name, lambda: _known(role)).load()
    except PackageError as error:
        raise DriverError(f"{where}: {error}") from error
    if not isinstance(driver, Driver):
        raise DriverError(f"{where}: what is offered as '{name}' is no Driver")
    if driver.role is not role:
        raise DriverError(
            f"{where}: '{name}' is one for {driver.role.value}; choose from {named(_known(role))}"
        )
    try:
        return driver.make(parts, driver.options.model_validate(section.options))
    except ValidationError as error:
        raise DriverError(f"{role.value}: {_faults(name, driver.options, error)}") from error
    except InterfaceError as error:
        raise DriverError(f"{where}: '{name}' needs a type that is not there: {error}") from error
    except ValueError as error:
        raise DriverError(f"{role.value}: {name}: {error}") from error


def _known(role: Role) -> list[str]:
    """Names of the drivers of a role; those that are broken are left out."""
    offers = packages().load_all("drivers", lambda problem: None)
    return sorted(o.name for o, d in offers if isinstance(d, Driver) and d.role is role)


def _faults(name: str, options: type[Options], error: ValidationError) -> str:
    known = named(options.model_fields) if options.model_fields else "none"
    faults = []
    for fault in error.errors():
        key = ".".join(str(part) for part in fault["loc"])
        if fault["type"] == "extra_forbidden":
            faults.append(f"has no option '{key}'")
        elif fault["type"] == "missing":
            faults.append(f"lacks its option '{key}'")
        else:
            faults.append(f"option '{key}': {fault['msg']}" if key else str(fault["msg"]))
    return f"driver '{name}' {', '.join(faults)}; its options are {known}"
