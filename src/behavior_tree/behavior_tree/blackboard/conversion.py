# SPDX-License-Identifier: Apache-2.0
"""From XML text to port types, between number types, and the C++ names of types.

A port type is ``typing.Any`` (untyped) or any class: ``int``, `Unsigned`, ``float``, ``bool``,
``str``,
``list[int | float | bool | str]``, an `enum.Enum`, or a class of your own. Text becomes such a
class by a converter registered with `TypeRegistry.register`; values of the class pass through
unchanged.
"""

from __future__ import annotations

import enum
import json
import math
import re
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from behavior_tree.basic_types import NodeStatus, NodeType, PortDirection
from behavior_tree.blackboard import casts_4_8
from behavior_tree.blackboard.json_types import JsonTypes
from behavior_tree.blackboard.number_text import leading_double
from behavior_tree.blackboard.queue_types import QUEUE_TYPES, SharedQueue
from behavior_tree.errors import ConversionError

Converter = Callable[[str], Any]

_BOOLS = {"1": True, "true": True, "TRUE": True, "True": True}
_BOOLS |= {"0": False, "false": False, "FALSE": False, "False": False}
_INT = re.compile(r"-?[0-9]+")
_FLOAT = re.compile(
    r"-?(?:inf(?:inity)?|nan|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)", re.I
)
_EXACT = 2**53
_JSON = "json:"
_INT64 = 2**63


def is_true(text: str | None) -> bool:
    """True for the text of a bool that is true."""
    return _BOOLS.get(text or "") is True


class Unsigned(int):
    """Port type for integers that cannot be negative (``unsigned int`` in BehaviorTree.CPP)."""


_CPP_NAMES: dict[Any, str] = {
    int: "int",
    Unsigned: "unsigned int",
    float: "double",
    bool: "bool",
    str: "std::string",
    NodeStatus: "BT::NodeStatus",
    list[int]: "std::vector<int>",
    list[float]: "std::vector<double>",
    list[bool]: "std::vector<bool>",
    list[str]: "std::vector<std::string>",
    QUEUE_TYPES[int]: "std::shared_ptr<std::deque<int, std::allocator<int> > >",
    QUEUE_TYPES[float]: "std::shared_ptr<std::deque<double, std::allocator<double> > >",
    QUEUE_TYPES[bool]: "std::shared_ptr<std::deque<bool, std::allocator<bool> > >",
    QUEUE_TYPES[str]: "std::shared_ptr<std::deque<std::string, std::allocator<std::string> > >",
    Any: "BT::AnyTypeAllowed",
}


def type_name(port_type: Any) -> str:
    """Name of a port type in a TreeNodesModel: in C++ if it has one, else in Python."""
    try:
        return _CPP_NAMES[port_type]
    except (KeyError, TypeError):
        pass
    if isinstance(port_type, type) and not typing.get_args(port_type):
        module = port_type.__module__
        return (
            port_type.__qualname__ if module == "builtins" else f"{module}.{port_type.__qualname__}"
        )
    return str(port_type)


_SHARED: dict[Any, Converter] = {}


def register_converter(port_type: Any, converter: Converter) -> None:
    """Teach every factory, present and future, to make a ``port_type`` from text.

    Args:
        port_type: class used as a port type
        converter: takes the text, returns the value, raises ValueError if it cannot
    """
    _SHARED[port_type] = converter


class TypeRegistry:
    """Conversions known to one factory and its trees."""

    def __init__(self, *, exact: bool = False) -> None:
        self._own: dict[Any, Converter] = {}
        self.exact = exact
        """True if entries follow `behavior_tree.blackboard.rules_4_8`."""
        self.json = JsonTypes()
        """Classes with a JSON form."""
        self.enums: dict[str, int] = {}
        """Names usable as numbers in scripts, switches and numeric ports; `add_enum` adds one."""
        self.generation = object()
        """Another object whenever a name may mean another entry or number than before."""

    def add_enum(self, name: str, value: int) -> None:
        """Make a name usable as a number."""
        self.enums[name] = value
        self.names_changed()

    def names_changed(self) -> None:
        """Let scripts look again at what their names mean."""
        self.generation = object()

    def register(self, port_type: Any, converter: Converter) -> None:
        """Make ``port_type`` from text with ``converter``; overrides built-in and shared ones."""
        self._own[port_type] = converter

    def convertible(self, port_type: Any) -> bool:
        """True if text can become a ``port_type``."""
        return (
            port_type is Any or self._converter(port_type) is not None or self.json.knows(port_type)
        )

    def has_text_form(self, port_type: Any) -> bool:
        """True if an entry of this type takes texts; enumerations do not, upstream."""
        return not _is_enum(port_type) and self.convertible(port_type)

    def from_text(self, text: str, port_type: Any) -> Any:
        """Make a ``port_type`` from text.

        Raises:
            ConversionError: the text does not fit, or nobody registered a converter for the type
        """
        if port_type is Any or port_type is str:
            return text
        if text.startswith(_JSON) and self.json.knows(port_type):
            return self._from_json(text, port_type)
        converter = self._converter(port_type)
        name = type_name(port_type)
        if converter is None:
            raise ConversionError(
                f"no converter from text to [{name}]: register one with register_converter, or "
                f"pass a "
                "blackboard entry {key}"
            )
        try:
            return converter(text)
        except ConversionError:
            raise
        except Exception as error:
            raise ConversionError(f"can't convert text [{text}] to [{name}]: {error}") from error

    def cast(self, value: Any, port_type: Any) -> Any:
        """Turn a stored value into a ``port_type`` without loss.

        Raises:
            ConversionError: the value does not fit into the type
        """
        if port_type is Any:
            return value
        kind = value.__class__
        if kind is port_type and not (kind is int and self.exact):
            return value
        if kind is str:
            return self.from_text(value, port_type)
        if self.exact and _is_enum(port_type):
            return _any_status(casts_4_8.to_int32(value), port_type)
        special = (_CASTS_4_8 if self.exact else _CASTS).get(port_type)
        if special is not None:
            return special(value)
        if accepts(port_type, value):
            return value
        if _is_enum(port_type) and isinstance(value, int | float):
            return _enum_from_number(_cast_int(value), port_type)
        raise ConversionError(
            f"[{kind.__name__}] {_short(value)} is not a [{type_name(port_type)}]"
        )

    def read(self, value: Any, value_type: Any) -> Any:
        """Turn a stored value into a ``value_type`` for who asks the blackboard itself.

        Raises:
            ConversionError: the value does not fit into the type
        """
        if self.exact and value_type in _CASTS_4_8:
            return _CASTS_4_8[value_type](value)
        return self.cast(value, value_type)

    def _from_json(self, text: str, port_type: Any) -> Any:
        try:
            value = self.json.from_json(_to_json(text, dict), port_type)
        except RecursionError:
            raise ConversionError(f"[{_short(text)}] is nested too deep") from None
        if not isinstance(value, port_type):
            raise ConversionError(f"[{text}] is not a [{type_name(port_type)}]")
        return value

    def _converter(self, port_type: Any) -> Converter | None:
        for table in (self._own, _SHARED):
            try:
                if port_type in table:
                    return table[port_type]
            except TypeError:  # unhashable annotations
                return None
        return self._builtin(port_type)

    def _builtin(self, port_type: Any) -> Converter | None:
        if port_type is str:
            return str
        if port_type is int:
            return self._to_int32 if self.exact else self._to_int
        if port_type is Unsigned:
            return lambda text: _to_unsigned(self._to_int(text, 2 * _INT64), self.exact)
        if port_type is float:
            return self._to_float
        if port_type is bool:
            return _text_to_bool
        if isinstance(port_type, type) and issubclass(port_type, SharedQueue):
            return lambda text: port_type(self._to_list(text, port_type.item_type))
        if _is_enum(port_type):
            return lambda text: self._to_enum(text, port_type)
        origin, args = typing.get_origin(port_type), typing.get_args(port_type)
        if origin is list and len(args) == 1 and self.convertible(args[0]):
            return lambda text: self._to_list(text, args[0])
        if origin in (typing.Union, types.UnionType):
            return lambda text: self._to_union(text, args)
        if port_type is list or port_type is dict:
            return lambda text: _to_json(text, port_type)
        return None

    def _to_int(self, text: str, limit: int = _INT64) -> int:
        number = text if self.exact else text.strip()
        found = _INT.match(number)
        if found and (self.exact or found.end() == len(number)):
            value = int(found.group())
            if -_INT64 <= value < limit:
                return value
            raise ConversionError(f"integer [{text}] does not fit into 64 bits")
        if number in self.enums:
            return self.enums[number]
        raise ConversionError(f"Can't convert string [{text}] to integer")

    def _to_int32(self, text: str) -> int:
        return casts_4_8.to_int32(self._to_int(text))

    def _to_float(self, text: str) -> float:
        if self.exact:
            return leading_double(text)
        number = text.strip()
        found = _FLOAT.match(number)
        if found and found.end() == len(number):
            value = float(number)
            if math.isinf(value) and "inf" not in number.lower():
                raise ConversionError(f"[{text}] is too large for a double")
            return value
        if number in self.enums:
            return float(self.enums[number])
        raise ConversionError(f"Can't convert string [{text}] to double")

    def _to_enum(self, text: str, port_type: type[enum.Enum]) -> enum.Enum:
        if text in port_type.__members__:
            return port_type.__members__[text]
        if text in self.enums:
            return _enum_from_number(self.enums[text], port_type)
        if _INT.fullmatch(text) and port_type is not NodeStatus:
            return _enum_from_number(int(text), port_type)
        if issubclass(port_type, NodeType | PortDirection):
            for member in port_type:
                if text == member.tag:
                    return member
        names = ", ".join(port_type.__members__)
        raise ConversionError(f"[{text}] is not a {port_type.__name__}: use one of {names}")

    def _to_list(self, text: str, item_type: Any) -> list[Any]:
        if text.startswith(_JSON) and not self.exact:
            return [self.cast(item, item_type) for item in _to_json(text, list)]
        parts = text.split(";")
        if parts[-1] == "":
            parts.pop()
        return [self.from_text(part, item_type) for part in parts]

    def _to_union(self, text: str, options: tuple[Any, ...]) -> Any:
        errors: list[str] = []
        for option in options:
            if option is type(None):
                continue
            try:
                return self.from_text(text, option)
            except ConversionError as error:
                errors.append(str(error))
        raise ConversionError("; ".join(errors))


def accepts(port_type: Any, value: Any) -> bool:
    """True if ``value`` is already an instance of ``port_type``; containers by their outer type."""
    if port_type is Any:
        return True
    origin = typing.get_origin(port_type)
    if origin in (typing.Union, types.UnionType):
        return any(accepts(option, value) for option in typing.get_args(port_type))
    if origin is list or port_type is list:  # arrays and tuples serve as lists
        return (
            hasattr(value, "__len__")
            and hasattr(value, "__getitem__")
            and not isinstance(value, str | Mapping)
        )
    if port_type is None:
        return value is None
    return isinstance(value, origin or port_type)


def number_to_text(value: float) -> str:
    """Text of a number as C++ ``std::to_string`` writes it: 1.5 becomes ``1.500000``."""
    if isinstance(value, int):
        return str(int(value))
    if math.isnan(value):
        return "-nan" if math.copysign(1.0, value) < 0 else "nan"
    return f"{value:f}"


def _is_enum(port_type: Any) -> bool:
    return isinstance(port_type, type) and issubclass(port_type, enum.Enum)


def _enum_from_number(number: int, port_type: type[enum.Enum]) -> enum.Enum:
    try:
        return port_type(number)
    except ValueError as error:
        raise ConversionError(f"{number} is no value of {port_type.__name__}") from error


def _any_status(number: int, port_type: type[enum.Enum]) -> enum.Enum:
    """As `_enum_from_number`; a number that is no status is refused only where it is returned."""
    known = port_type is not NodeStatus or 0 <= number < len(NodeStatus)
    return _enum_from_number(number if known else NodeStatus.IDLE.value, port_type)


def _text_to_bool(text: str) -> bool:
    try:
        return _BOOLS[text]
    except KeyError:
        raise ConversionError(
            f"convertFromString(): invalid bool conversion of [{text}]: use true, false, 1 or 0"
        ) from None


def _to_json(text: str, port_type: type) -> Any:
    try:
        value = json.loads(text.removeprefix(_JSON))
    except ValueError as error:  # also of numbers with thousands of digits
        raise ConversionError(f"[{text}] is not JSON: {error}") from error
    if not isinstance(value, port_type):
        raise ConversionError(f"[{text}] is not a JSON {port_type.__name__}")
    return value


def _to_unsigned(value: int, bounded: bool = False) -> Unsigned:
    if value < 0:
        raise ConversionError("Value is negative and can't be converted to unsigned")
    if bounded and value >= 2**32:
        raise ConversionError(f"{value} is too large for an unsigned int")
    return Unsigned(value)


def _to_text(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, int | float):
        return number_to_text(value)
    raise ConversionError(f"[{type(value).__name__}] is not castable to a string")


def _cast_int(value: Any) -> int:
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if math.isfinite(value) and value.is_integer() and -_INT64 <= value < _INT64:
            return int(value)
        raise ConversionError("Floating point truncated")
    if isinstance(value, enum.Enum) and isinstance(value.value, int):
        return value.value
    if hasattr(value, "__index__"):
        return int(value.__index__())
    raise ConversionError(f"[{type(value).__name__}] is not castable to an integer")


def _cast_float(value: Any) -> float:
    if isinstance(value, int) and abs(value) >= _EXACT:
        raise ConversionError("Loss of precision when casting a large integer to double")
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ConversionError(f"[{type(value).__name__}] is not castable to a double") from error


def _cast_bool(value: Any) -> bool:
    if isinstance(value, float):
        return bool(value)
    if isinstance(value, int):
        if value in (0, 1):
            return bool(value)
        raise ConversionError("Implicit casting to bool is not allowed")
    raise ConversionError(f"[{type(value).__name__}] is not castable to bool")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


_CASTS: dict[Any, Callable[[Any], Any]] = {
    int: _cast_int,
    Unsigned: lambda value: _to_unsigned(_cast_int(value)),
    float: _cast_float,
    bool: _cast_bool,
    str: _to_text,
}
_CASTS_4_8: dict[Any, Callable[[Any], Any]] = {
    int: casts_4_8.to_int32,
    Unsigned: casts_4_8.to_unsigned,
    float: casts_4_8.to_double,
    bool: casts_4_8.to_bool,
    str: casts_4_8.to_text,
}
