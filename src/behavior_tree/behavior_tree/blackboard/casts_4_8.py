# SPDX-License-Identifier: Apache-2.0
"""``Any::cast`` of BehaviorTree.CPP 4.8: values of entries as other types, quirk `exact_values`.

All raise ConversionError.
"""

from __future__ import annotations

import math
from typing import Any

from behavior_tree.blackboard.number_text import leading_double, leading_long
from behavior_tree.errors import ConversionError

_EXACT = 2**53
_INT32 = 2**31
_INT64 = 2**63


def to_int64(value: Any) -> int:
    """Integer; a real must have no fraction. 2^63 passes the bound, which is compared as a real,
    and becomes the smallest integer.
    """
    if isinstance(value, float):
        if value == _INT64:
            return -_INT64
        if -_INT64 <= value < _INT64 and value.is_integer():
            return int(value)
        raise ConversionError("Invalid floating point to integer conversion")
    if isinstance(value, int):
        return int(value)
    raise _no_cast(value, "int64")


def to_int32(value: Any) -> int:
    """32-bit integer; a text only needs to begin with one."""
    if isinstance(value, str):
        value = leading_long(value)
    number = to_int64(value)
    if -_INT32 <= number < _INT32:
        return number
    raise ConversionError("Value outside the numerical limits of int")


def to_unsigned(value: Any) -> int:
    """Unsigned 32-bit integer."""
    number = to_int64(value)
    if 0 <= number < 2 * _INT32:
        return number
    raise ConversionError("Value outside the numerical limits of unsigned int")


def to_double(value: Any) -> float:
    """Real; an integer must be exact, a text only needs to begin with a number. The smallest one
    passes too: its absolute value, which is compared, does not exist.
    """
    if isinstance(value, str):
        return leading_double(value)
    if isinstance(value, float):
        return value
    if isinstance(value, int):
        if -_EXACT < value < _EXACT or value == -_INT64:
            return float(value)
        raise ConversionError(
            f"Loss of precision when converting a large integer to floating point: {value}"
        )
    raise _no_cast(value, "double")


def to_bool(value: Any) -> bool:
    """Truth: any real but negative ones, an integer only if it is 0 or 1."""
    if isinstance(value, float):
        if value < 0:
            raise ConversionError("Value is negative and can't be converted to unsigned")
        return value != 0
    if isinstance(value, int):
        if value in (0, 1):
            return bool(value)
        raise ConversionError("Implicit casting to bool is not allowed")
    raise _no_cast(value, "bool")


def to_text(value: Any) -> str:
    """Text of a number as ``std::to_string`` writes it, or the text itself."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        if math.isnan(value):
            return "-nan" if math.copysign(1.0, value) < 0 else "nan"
        return f"{value:f}"
    raise _no_cast(value, "std::string")


def _no_cast(value: Any, kind: str) -> ConversionError:
    return ConversionError(
        f"[Any::convert]: no known safe conversion between [{type(value).__name__}] and [{kind}]"
    )
