# SPDX-License-Identifier: Apache-2.0
"""The stack description: which nodes run in which processes, with which parameters.

One YAML file per world (`stacks` of a package, see `behavior_packages`) is read by `behavior up`
and by the launch file, so that the two cannot drift apart::

Arguments:
      speed: {default: 1.0, help: times real time}
    processes:
      simulation:
        nodes:
          simulation:
            node: "behavior_sim.node.simulation_node:SimulationNode"
            parameters: {speed: "${speed}"}

`${NAME}` stands for an argument; a text that is nothing else keeps the argument's type. `${share}`
is the folder of the package that the file belongs to, `${robots:NAME}` and `${scenes:NAME}` are
files that packages offer, and `${robot_description:NAME}` is the URDF text of a robot. A node's
`node_parameters` are those of nodes that it makes for its own use, by their names, as
`node_parameters: {autonomy_level: {deadman_switch_timeout_s: 0.5}}` for a manager of the executor.
`extends: NAME` takes over another stack, of the same folder or of a package; what the file says
itself replaces that stack's values, key by key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.offers import chosen
from behavior_bringup.suggestions import choose
from behavior_packages import MANIFEST, PackageError, packages
from behavior_packages.extended_file import FileError, read_extended
from behavior_packages.validation import faults

Scalar = bool | int | float | str
Environment = Literal["pip", "distribution"]

_PLACEHOLDER = re.compile(r"\$\{(\w+)(?::([^${}]*))?\}")
"""One that holds no other."""
_NAME = r"^[a-z][a-z0-9_]*$"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Argument(_Strict):
    """A value that whoever starts the stack may choose."""

    default: bool | int | float | str
    help: str = ""


class NodeEntry(_Strict):
    """One ROS node of a process."""

    node: str = Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")
    """`module:Class`."""
    parameters: dict[str, Any] = {}
    node_parameters: dict[str, dict[str, Any]] = {}
    """Parameters of the nodes that this one makes for its own use, by their names; the executor's
    managers are such nodes."""
    only_if: Environment | None = None
    """Only on a machine with, or only on one without, a ROS 2 distribution."""


class Executable(_Strict):
    """A program of a ROS package."""

    package: str
    executable: str
    arguments: list[str] = []
    parameters: dict[str, Any] = {}


class ProcessEntry(_Strict):
    """One process: either nodes of ours, or a program of a ROS package."""

    nodes: dict[str, NodeEntry] = {}
    program: Executable | None = None
    only_if: Environment | None = None
    when: str | None = None
    """Name of a boolean argument that must be true."""
    unless: str | None = None
    """Name of a boolean argument that must be false."""

    @model_validator(mode="after")
    def _either_nodes_or_program(self) -> ProcessEntry:
        if bool(self.nodes) == (self.program is not None):
            raise ValueError("give either nodes or a program")
        names = [
            *self.nodes,
            *(name for node in self.nodes.values() for name in node.node_parameters),
        ]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"parameters of the node '{twice[0]}' are given in two places")
        return self


class Readiness(_Strict):
    """What must be there before the stack counts as up."""

    services: list[str] = []
    actions: list[str] = []
    objects: str | None = None
    """Topic of a SceneObjectArray that must hold at least one object."""
    timeout: float = Field(default=60.0, gt=0.0)
    """[s] of wall time."""


class StackDescription(_Strict):
    """A whole stack. Read it with `load_stack`."""

    description: str
    arguments: dict[str, Argument] = {}
    processes: dict[str, ProcessEntry]
    ready: Readiness = Readiness()

    @model_validator(mode="after")
    def _names_are_known(self) -> StackDescription:
        for name, process in self.processes.items():
            if not re.match(_NAME, name):
                raise ValueError(f"process name '{name}' must match {_NAME}")
            for condition in (process.when, process.unless):
                if condition is not None and condition not in self.arguments:
                    raise ValueError(
                        f"processes.{name}: the condition names no argument: '{condition}'"
                        f" (known: {', '.join(self.arguments)})"
                    )
        return self


@dataclass(frozen=True, kw_only=True)
class Node:
    """One node with its final parameters."""

    name: str
    target: str
    """`module:Class`."""
    parameters: dict[str, Any] = field(default_factory=dict)
    node_parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Of the nodes that it makes for its own use."""


@dataclass(frozen=True, kw_only=True)
class Process:
    """One process to start, with every argument filled in."""

    name: str
    nodes: tuple[Node, ...] = ()
    program: Executable | None = None

    def parameter_document(self, namespace: str = "") -> dict[str, Any]:
        """Content of the ROS parameter file of this process, whose nodes are in the namespace."""
        if self.program is not None:
            return _parameter_section("/**", self.program.parameters)
        return {
            key: value
            for node in self.nodes
            for name, parameters in {node.name: node.parameters, **node.node_parameters}.items()
            for key, value in _parameter_section(f"{namespace}/{name}", parameters).items()
        }


def stack_file(world: str) -> Path:
    """The description of the stack for a world.

    Raises:
        UsageError: there is none; the message lists those that exist.
    """
    return Path(chosen("stacks", world, f"There is no world '{world}'").value)


def load_stack(file: Path) -> StackDescription:
    """Read and check a stack description.

    Raises:
        BringupError: names the file, the key, and what is wrong, one line per problem.
    """
    try:
        data = read_extended(file, "stacks", _in_package)
    except FileError as error:
        raise BringupError(str(error)) from error
    try:
        stack = StackDescription.model_validate(data)
    except ValidationError as error:
        lines = (f"{file}: {fault}" for fault in faults(error, "stack"))
        raise BringupError("\n".join(lines)) from error
    _check_placeholders(stack, file)
    return stack


def _in_package(value: Any, file: Path) -> Any:
    """A description with `${share}` filled in: the folder whose manifest offers the file."""
    if isinstance(value, dict):
        return {key: _in_package(item, file) for key, item in value.items()}
    if isinstance(value, list):
        return [_in_package(item, file) for item in value]
    if not isinstance(value, str) or "${share}" not in value:
        return value
    share = next((at for at in file.absolute().parents if (at / MANIFEST).is_file()), file.parent)
    return value.replace("${share}", str(share))


def resolve(
    stack: StackDescription,
    *,
    environment: Environment,
    arguments: Mapping[str, Scalar] | None = None,
) -> list[Process]:
    """The processes to start, with arguments filled in and conditions applied.

    Args:
        stack: what `load_stack` returned.
        environment: which kind of machine this is.
        arguments: values that replace the defaults; text is converted to the default's type.

    Raises:
        UsageError: an argument is unknown or has the wrong type.
    """
    values = argument_values(stack, arguments or {})
    processes = []
    for name, entry in stack.processes.items():
        if entry.only_if not in (None, environment):
            continue
        if entry.when is not None and not values[entry.when]:
            continue
        if entry.unless is not None and values[entry.unless]:
            continue
        nodes = tuple(
            Node(
                name=node_name,
                target=node.node,
                parameters=_filled(node.parameters, values),
                node_parameters=_filled(node.node_parameters, values),
            )
            for node_name, node in entry.nodes.items()
            if node.only_if in (None, environment)
        )
        program = entry.program and Executable(**_filled(entry.program.model_dump(), values))
        if nodes or program:
            processes.append(Process(name=name, nodes=nodes, program=program))
    return processes


def argument_values(stack: StackDescription, arguments: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Every argument of the stack with its value, in the type of its default.

    Raises:
        UsageError: an argument is unknown or cannot be converted.
    """
    values: dict[str, Scalar] = {name: item.default for name, item in stack.arguments.items()}
    for name, value in arguments.items():
        if name not in values:
            raise UsageError(f"The stack has no argument '{name}': {choose(name, values)}")
        values[name] = _converted(name, value, type(values[name]))
    return values


def _converted(name: str, value: Scalar, kind: type[Scalar]) -> Scalar:
    try:
        if kind is bool and isinstance(value, str):
            return {"true": True, "1": True, "false": False, "0": False}[value.lower()]
        return kind(value)
    except (KeyError, ValueError) as error:
        raise UsageError(
            f"Argument '{name}' must be of type {kind.__name__}, not '{value}'"
        ) from error


def _filled(value: Any, values: Mapping[str, Scalar]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, values) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, values) for item in value]
    if not isinstance(value, str):
        return value
    whole = _PLACEHOLDER.fullmatch(value)
    if whole:
        return _placeholder(whole, values)
    if not _PLACEHOLDER.search(value):
        return value
    return _filled(_PLACEHOLDER.sub(lambda match: str(_placeholder(match, values)), value), values)


def _placeholder(match: re.Match[str], values: Mapping[str, Scalar]) -> Scalar:
    name, detail = match.groups()
    if name in _BUILTINS:
        return _BUILTINS[name](detail or "")
    return values[name]


def _offered(kind: str) -> Callable[[str], str]:
    def file(name: str) -> str:
        try:
            return packages().find(kind, name).value
        except PackageError as error:
            raise BringupError(str(error)) from error

    return file


def _robot_description(name: str) -> str:
    from behavior_bringup.stacks.robot_description import robot_description

    return robot_description(Path(_offered("robots")(name)))


_BUILTINS: dict[str, Callable[[str], str]] = {
    "robots": _offered("robots"),
    "scenes": _offered("scenes"),
    "robot_description": _robot_description,
}


def _check_placeholders(stack: StackDescription, file: Path) -> None:
    known = {*stack.arguments, *_BUILTINS}
    for location, text in _texts(stack.model_dump()["processes"], "processes"):
        rest = text
        while match := _PLACEHOLDER.search(rest):
            if match.group(1) not in known:
                raise BringupError(
                    f"{file}: {location}: '{match.group(0)}' names no argument"
                    f" (known: {', '.join(sorted(known))})"
                )
            rest = rest.replace(match.group(0), "")


def _texts(value: Any, location: str) -> list[tuple[str, str]]:
    if isinstance(value, str):
        return [(location, value)]
    if isinstance(value, dict):
        pairs = [(f"{location}.{key}", item) for key, item in value.items()]
    elif isinstance(value, list):
        pairs = [(f"{location}.{index}", item) for index, item in enumerate(value)]
    else:
        return []
    return [found for where, item in pairs for found in _texts(item, where)]


def _parameter_section(key: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {key: {"ros__parameters": dict(parameters)}} if parameters else {}
