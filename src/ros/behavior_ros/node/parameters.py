# SPDX-License-Identifier: Apache-2.0
"""Parameters declared with type, range, choices and description, checked when they are set."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import (
    InvalidParameterTypeException,
    InvalidParameterValueException,
    ParameterAlreadyDeclaredException,
)
from rclpy.node import Node
from rclpy.parameter import Parameter


class ParameterError(ValueError):
    """A parameter has a value that it must not have; the message names it and says what may be."""


@dataclass(frozen=True)
class ParameterSpec:
    """What a parameter is."""

    name: str
    """Name within the node, groups separated by dots."""
    default: Any
    """Value where none is given; its type is the parameter's type. An array must not be empty."""
    description: str
    """Meaning and unit, in one sentence."""
    range: tuple[float, float] | None = None
    """Smallest and largest value, both allowed; None: any."""
    choices: Sequence[Any] | None = None
    """All values allowed; None: any."""
    read_only: bool = False
    """True if the node reads it once, when it starts."""

    def problem(self, value: Any) -> str | None:
        """Return what is wrong with a value, None if nothing is."""
        values = (
            value if isinstance(value, (list, tuple)) or hasattr(value, "typecode") else [value]
        )
        for item in values:
            if self.range is not None and not self.range[0] <= item <= self.range[1]:
                low, high = self.range
                return f"parameter {self.name} is {item}: give a value from {low} to {high}"
            if self.choices is not None and item not in self.choices:
                listed = ", ".join(str(choice) for choice in self.choices)
                return f"parameter {self.name} is {item!r}: give one of {listed}"
        return None

    def descriptor(self) -> ParameterDescriptor:
        """Return what ``ros2 param describe`` shows."""
        constraints = ""
        if self.choices is not None:
            constraints = "one of " + ", ".join(str(choice) for choice in self.choices)
        descriptor = ParameterDescriptor(
            description=self.description,
            additional_constraints=constraints,
            read_only=self.read_only,
        )
        scalar = isinstance(self.default, (int, float)) and not isinstance(self.default, bool)
        if self.range is not None and scalar:
            low, high = self.range
            if isinstance(self.default, int):
                descriptor.integer_range = [IntegerRange(from_value=int(low), to_value=int(high))]
            else:
                descriptor.floating_point_range = [
                    FloatingPointRange(from_value=float(low), to_value=float(high))
                ]
        return descriptor


def read_only(
    name: str,
    default: Any,
    description: str,
    range: tuple[float, float] | None = None,
    choices: Sequence[Any] | None = None,
) -> ParameterSpec:
    """A parameter that the node reads once, when it starts."""
    return ParameterSpec(name, default, description, range, choices, read_only=True)


def declare(node: Node, spec: ParameterSpec) -> Any:
    """Declare a parameter and return its value.

    A second declaration of the same name returns the value that is there. An override of the
    wrong number type (1 for 1.0) is taken as the right one. Later changes that break the range or
    the choices are refused with a reason.

    Raises:
        ParameterError: if the value given at start is not allowed
    """
    if node.has_parameter(spec.name):
        return node.get_parameter(spec.name).value
    _mend_number(node, spec)
    try:
        value = node.declare_parameter(spec.name, spec.default, spec.descriptor()).value
    except ParameterAlreadyDeclaredException:  # pragma: no cover - declared by another thread
        return node.get_parameter(spec.name).value
    except (InvalidParameterTypeException, InvalidParameterValueException) as error:
        raise ParameterError(_start_problem(node, spec)) from error
    problem = spec.problem(value)
    if problem is not None:
        raise ParameterError(f"{node.get_fully_qualified_name()}: {problem}")
    node.add_on_set_parameters_callback(lambda changes: _check(spec, changes))
    return value


def declare_all(node: Node, specs: Iterable[ParameterSpec]) -> dict[str, Any]:
    """Declare parameters and return their values by name.

    Raises:
        ParameterError: naming every value that is not allowed
    """
    values: dict[str, Any] = {}
    problems: list[str] = []
    for spec in specs:
        try:
            values[spec.name] = declare(node, spec)
        except ParameterError as error:
            problems.append(str(error))
    if problems:
        raise ParameterError("; ".join(problems))
    return values


def _override(node: Node, name: str) -> Any:
    override = node._parameter_overrides.get(name)
    return None if override is None else override.value


def _start_problem(node: Node, spec: ParameterSpec) -> str:
    """Say why the value given at start was refused by rclpy."""
    given, where = _override(node, spec.name), node.get_fully_qualified_name()
    if type(given) is type(spec.default):
        return f"{where}: {spec.problem(given)}"
    return (
        f"{where}: parameter {spec.name} must be {_type_name(spec.default)} "
        f"like {spec.default!r}, not {given!r}"
    )


def _mend_number(node: Node, spec: ParameterSpec) -> None:
    """Turn an integer given for a float into a float: YAML writes 1 where 1.0 is meant."""
    value = _override(node, spec.name)
    mended: Any = None
    if isinstance(spec.default, float) and type(value) is int:
        mended = float(value)
    elif _is_array(spec.default) and _is_array(value):
        numbers = isinstance(spec.default[0], float) and all(type(item) is int for item in value)
        mended = [float(item) for item in value] if numbers else None
    if mended is not None:
        node._parameter_overrides[spec.name] = Parameter(spec.name, value=mended)


def _is_array(value: Any) -> bool:
    """Tell whether a value is an array that is not empty; rclpy gives lists and array.array."""
    return isinstance(value, (list, tuple, array)) and len(value) > 0


def _check(spec: ParameterSpec, changes: list[Parameter]) -> SetParametersResult:
    for change in changes:
        if change.name == spec.name:
            problem = spec.problem(change.value)
            if problem is not None:
                return SetParametersResult(successful=False, reason=problem)
    return SetParametersResult(successful=True)


def _type_name(default: Any) -> str:
    if isinstance(default, (list, tuple)):
        return f"an array of {type(default[0]).__name__}" if default else "an array"
    return {"bool": "true or false", "int": "an integer", "float": "a number", "str": "a text"}[
        type(default).__name__
    ]
