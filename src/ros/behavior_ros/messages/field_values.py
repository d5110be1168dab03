# SPDX-License-Identifier: Apache-2.0
"""Values of message fields: from XML text, checked on the way in, plain on the way out.

rclpy checks neither types nor ranges by default: 300 in a uint8 becomes 44 on the wire. So values
are checked here.

Text forms of messages, numbers separated by ``;``:

=========================  ==============================================================
Point, Vector3, Point32    ``x;y;z``
Quaternion                 ``x;y;z;w``
Pose                       ``x;y;z`` or ``x;y;z;qx;qy;qz;qw``
PointStamped, PoseStamped  the same, with or without ``frame;`` in front
Path                       the same of each pose, with ``|`` between
Time, Duration             seconds
any message                ``json:{"field": value, …}``; fields left out keep their defaults
array of messages          items separated by ``|``, or ``json:[…]``
array of texts             texts separated by ``;``
=========================  ==============================================================
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from behavior_ros.messages.conversions import to_duration, to_time
from behavior_ros.messages.interfaces import load_message
from behavior_ros.messages.limits import MOST_TEXT
from behavior_ros.messages.sent_text import read_json, shown

_SINGLE = ("float", "float32")
_FLOATS = (*_SINGLE, "double", "float64")
_LARGEST_SINGLE = (2.0 - 2.0**-23) * 2.0**127
_TEXTS = re.compile(r"w?string(<\d+>)?")
_SEQUENCE = re.compile(r"sequence<(?P<item>.+?)(?:, (?P<bound>\d+))?>")
_ARRAY = re.compile(r"(?P<item>.+)\[(?P<size>\d+)\]")


def item_type(type_text: str) -> tuple[str, int | None, int | None] | None:
    """Return item type, exact size and largest size of an array type, None for other types."""
    match = _SEQUENCE.fullmatch(type_text)
    if match is not None:
        return match["item"], None, int(match["bound"]) if match["bound"] else None
    match = _ARRAY.fullmatch(type_text)
    return None if match is None else (match["item"], int(match["size"]), None)


def fit(value: Any, type_text: str) -> Any:
    """Return a value as a field of the type takes it.

    Raises:
        ValueError: if it does not fit without loss
    """
    array = item_type(type_text)
    if array is not None:
        return _fit_array(value, type_text, *array)
    if type_text == "boolean":
        if isinstance(value, bool) or value in (0, 1):
            return bool(value)
        raise ValueError(f"{shown(value)} is neither true nor false")
    if type_text == "octet":
        return bytes([_fit_integer(value, "uint8")]) if not isinstance(value, bytes) else value
    if _integer_range(type_text) is not None:
        return _fit_integer(value, type_text)
    if type_text in _FLOATS:
        if isinstance(value, bool) or not hasattr(value, "__float__"):
            raise ValueError(f"{shown(value)} is no number")
        try:
            number = float(value)
        except OverflowError:
            raise ValueError("the whole number is too large for a number field") from None
        if type_text in _SINGLE and _LARGEST_SINGLE < abs(number) < math.inf:
            raise ValueError(f"{shown(number)} does not fit {type_text}: it would be infinite")
        return number
    if _TEXTS.fullmatch(type_text):
        if not isinstance(value, str):
            raise ValueError(f"{shown(value)} is no text")
        return value
    return _fit_message(value, type_text)


def _fit_array(
    value: Any, type_text: str, item: str, size: int | None, largest: int | None
) -> list[Any]:
    if isinstance(value, str) and _TEXTS.fullmatch(item):
        value = value.split(";") if value else []
    if isinstance(value, (str, Mapping)) or not hasattr(value, "__iter__"):
        raise ValueError(f"{shown(value)} is no array ({type_text})")
    values = [fit(entry, item) for entry in value]
    if size is not None and len(values) != size:
        raise ValueError(f"{len(values)} values where {type_text} takes {size}")
    if largest is not None and len(values) > largest:
        raise ValueError(f"{len(values)} values where {type_text} takes at most {largest}")
    return values


def _integer_range(type_text: str) -> tuple[int, int] | None:
    match = re.fullmatch(r"(u?)int(8|16|32|64)", type_text)
    if match is None:
        return None
    bits = int(match[2])
    return (0, 2**bits - 1) if match[1] else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _fit_integer(value: Any, type_text: str) -> int:
    span = _integer_range(type_text)
    assert span is not None
    whole = isinstance(value, float) and value.is_integer()
    if isinstance(value, bool) or not (whole or hasattr(value, "__index__")):
        raise ValueError(f"{shown(value)} is no integer")
    number = int(value)
    if not span[0] <= number <= span[1]:
        raise ValueError(f"{shown(number)} does not fit {type_text}: give {span[0]} to {span[1]}")
    return number


def _fit_message(value: Any, type_text: str) -> Any:
    message = load_message(type_text)
    if isinstance(value, message):
        return value
    if isinstance(value, Mapping):
        return message_from_mapping(message, value)
    if isinstance(value, str):
        return message_from_text(message, value)
    raise ValueError(f"{type(value).__name__} is no {type_text}")


def message_from_mapping(message: Any, values: Mapping[str, Any]) -> Any:
    """Return a message with some of its fields set, nested ones by nested mappings.

    Raises:
        ValueError: unknown field, or a value that does not fit
    """
    types = message.get_fields_and_field_types()
    made = message()
    for name, value in values.items():
        if name not in types:
            near = difflib.get_close_matches(name, types, n=1) or list(types)
            raise ValueError(f"{message.__name__} has no field {shown(name)}: {', '.join(near)}")
        try:
            setattr(made, name, fit(value, types[name]))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return made


def message_from_text(message: Any, text: str) -> Any:
    """Return the message that a text stands for; see the module's documentation.

    Raises:
        ValueError: if the text stands for none
    """
    _check_length(text)
    text = text.strip()
    if text.startswith("json:"):
        values = read_json(text.removeprefix("json:"), "the JSON")
        if not isinstance(values, dict):
            raise ValueError(f"{shown(text)} is no JSON object")
        return message_from_mapping(message, values)
    form = _TEXT_FORMS.get(_type_text(message))
    if form is None:
        fields = ", ".join(message.get_fields_and_field_types())
        raise ValueError(f'write a {message.__name__} as json:{{"field": value}} with {fields}')
    return form(message, [part.strip() for part in text.split(";")])


def messages_from_text(message: Any, text: str) -> list[Any]:
    """Return the messages of an array's text; raises ValueError as `message_from_text`."""
    _check_length(text)
    if text.startswith("json:"):
        values = read_json(text.removeprefix("json:"), "the JSON")
        if not isinstance(values, list):
            raise ValueError(f"{shown(text)} is no JSON array")
        return [_fit_message(value, _type_text(message)) for value in values]
    return [message_from_text(message, part) for part in text.split("|") if part.strip()]


def _check_length(text: str) -> None:
    if len(text) > MOST_TEXT:
        raise ValueError(f"the text has {len(text)} characters: at most {MOST_TEXT} are read")


def plain(value: Any) -> Any:
    """Return a field's value with arrays as lists; messages stay messages."""
    return value.tolist() if hasattr(value, "tolist") else value


def mismatch(message: Any, condition: Mapping[str, Any], name: str) -> str | None:
    """Say which field of a message has not the value that it must have; None: all have.

    Args:
        message: any
        condition: values by the names of fields, nested with dots
        name: of the topic or service that it is from
    """
    for path, wanted in condition.items():
        value = plain(reduce(getattr, path.split("."), message))
        if value != wanted:
            return f"{path} of {name} is {value!r}, not {wanted!r}"
    return None


def _type_text(message: Any) -> str:
    return f"{message.__module__.split('.')[0]}/{message.__name__}"


def _numbers(parts: Sequence[str], names: Sequence[str], what: str) -> list[float]:
    if len(parts) != len(names):
        raise ValueError(f"{what} takes {';'.join(names)}, not {shown(';'.join(parts))}")
    try:
        values = [float(part) for part in parts]
    except ValueError:
        raise ValueError(f"{what} takes the numbers {';'.join(names)}: {shown(parts)}") from None
    if not all(math.isfinite(value) for value in values):
        raise ValueError(f"{what} takes finite numbers, not {shown(';'.join(parts))}")
    return values


def _point(message: Any, parts: Sequence[str]) -> Any:
    names = ("x", "y", "z")
    numbers = _numbers(parts, names, message.__name__)
    return message_from_mapping(message, dict(zip(names, numbers, strict=True)))


def _quaternion(message: Any, parts: Sequence[str]) -> Any:
    x, y, z, w = _numbers(parts, ("x", "y", "z", "w"), message.__name__)
    norm = math.sqrt(x * x + y * y + z * z + w * w)
    if norm < 1e-6:
        raise ValueError("quaternion 0;0;0;0 is no rotation: for none write 0;0;0;1")
    return message(x=x / norm, y=y / norm, z=z / norm, w=w / norm)


def _pose(message: Any, parts: Sequence[str]) -> Any:
    made = message()
    if len(parts) not in (3, 7):
        raise ValueError(f"a pose is x;y;z or x;y;z;qx;qy;qz;qw, not {shown(';'.join(parts))}")
    made.position = _point(type(made.position), parts[:3])
    if len(parts) == 7:
        made.orientation = _quaternion(type(made.orientation), parts[3:])
    return made


def _stamped(field: str) -> Callable[[Any, Sequence[str]], Any]:
    def convert(message: Any, parts: Sequence[str]) -> Any:
        made = message()
        if not _is_number(parts[0]):
            made.header.frame_id, parts = parts[0], parts[1:]
        content = type(getattr(made, field))
        setattr(made, field, _TEXT_FORMS[_type_text(content)](content, parts))
        return made

    return convert


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _path(message: Any, parts: Sequence[str]) -> Any:
    pose = load_message("geometry_msgs/PoseStamped")
    return message(poses=messages_from_text(pose, ";".join(parts)))


_TEXT_FORMS: dict[str, Callable[[Any, Sequence[str]], Any]] = {
    "geometry_msgs/Point": _point,
    "geometry_msgs/Point32": _point,
    "geometry_msgs/Vector3": _point,
    "geometry_msgs/Quaternion": _quaternion,
    "geometry_msgs/Pose": _pose,
    "geometry_msgs/PoseStamped": _stamped("pose"),
    "geometry_msgs/PointStamped": _stamped("point"),
    "nav_msgs/Path": _path,
    "builtin_interfaces/Time": lambda message, parts: to_time(*_numbers(parts, ("s",), "a time")),
    "builtin_interfaces/Duration": lambda message, parts: to_duration(
        *_numbers(parts, ("s",), "a duration")
    ),
}
