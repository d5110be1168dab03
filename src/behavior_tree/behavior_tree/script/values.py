# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on script values: numbers become floats, texts stay texts, the rest is refused."""

from __future__ import annotations

import enum
import math
import operator
import re
from collections.abc import Callable
from typing import Any

from behavior_tree.blackboard.conversion import number_to_text
from behavior_tree.blackboard.number_text import leading_double
from behavior_tree.errors import ScriptError

EXACT = 2**53
"""Integers from here on are not exact as floats."""
EPSILON = 1.1920929e-07
"""Numbers closer than this are equal (float epsilon)."""
_PREFIX = re.compile(
    r"\s*[+-]?(?:0x[0-9a-f]+|inf(?:inity)?|nan|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)", re.IGNORECASE
)


def as_number(value: Any) -> float:
    """Float of a number, else ScriptError ``Operation not permitted``."""
    if value.__class__ is float:
        return float(value)
    if isinstance(value, int):
        if -EXACT < value < EXACT:
            return float(value)
        raise ScriptError(
            f"Loss of precision when converting a large integer number to floating point:{value}"
        )
    if isinstance(value, float):
        return float(value)
    if isinstance(value, enum.Enum) and isinstance(value.value, int):
        return float(value.value)
    raise ScriptError("Operation not permitted")


def is_number(value: Any) -> bool:
    """True for integers, reals and enumerators with integer values."""
    return isinstance(value, int | float) or (
        isinstance(value, enum.Enum) and isinstance(value.value, int)
    )


def as_bool(value: Any) -> bool:
    """Truth of a value: any real but negative ones, an integer only if it is 0 or 1."""
    if value.__class__ is float:
        if value < 0:
            raise ScriptError("Value is negative and can't be converted to unsigned")
        return bool(value != 0)
    if isinstance(value, int):
        if value in (0, 1):
            return bool(value)
        raise ScriptError(
            f"integer {value} is neither 0 nor 1: Implicit casting to bool is not allowed"
        )
    if value is None:
        raise ScriptError("the value is not initialized, it cannot be a condition")
    raise ScriptError(
        f"a [{type(value).__name__}] cannot be a condition: compare it with something"
    )


def number_from_text(text: str, enums: dict[str, int], lenient: bool) -> float:
    """Number that a text stands for: true, false, an enum name, or digits."""
    if text in ("true", "false"):
        return float(text == "true")
    if text in enums:
        return float(enums[text])
    if lenient:
        return leading_double(text)
    found = _PREFIX.match(text)
    if found and found.end() == len(text.rstrip()):
        digits = found.group()
        return float(int(digits, 16)) if "x" in digits.lower() else float(digits)
    raise ScriptError(f"Any failed string to number conversion: '{text}' is not a number")


_LONGEST_TEXT = 2**20
"""A script that doubles a text, tick after tick, must not take all memory [characters]."""


def joined(left: str, right: str) -> str:
    """Two texts in one; raises ScriptError if it gets too long."""
    if len(left) + len(right) > _LONGEST_TEXT:
        raise ScriptError(f"the text would be longer than {_LONGEST_TEXT} characters")
    return left + right


def concat(left: Any, right: Any, numbers_give_nothing: bool) -> Any:
    """``left .. right``."""
    if isinstance(left, str) and isinstance(right, str):
        return joined(left, right)
    texts = isinstance(left, str) or isinstance(right, str)
    if not (is_number(left) or isinstance(left, str)) or not (
        is_number(right) or isinstance(right, str)
    ):
        raise ScriptError("Operation not permitted: '..' joins texts and numbers")
    if not texts and numbers_give_nothing:
        return None
    return joined(_text(left), _text(right))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return number_to_text(value.value if isinstance(value, enum.Enum) else value)


def bit_operand(value: Any) -> int:
    """Operand of ``& | ^``: a number without fraction."""
    number = as_number(value) if is_number(value) else math.nan
    if not number.is_integer():
        raise ScriptError(
            "Binary operators are not allowed if one of the operands is not an integer"
        )
    return int(number)


def divide(left: float, right: float) -> float:
    """IEEE division: x/0 is inf or nan."""
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left):
        return -math.nan  # the sign that x86 gives it
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": divide,
}

COMPARE: dict[str, Callable[[float, float], bool]] = {
    "==": lambda left, right: left == right or abs(left - right) <= EPSILON,
    "!=": lambda left, right: not (left == right or abs(left - right) <= EPSILON),
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
COMPARE_4_8: dict[str, Callable[[float, float], bool]] = {
    "==": lambda left, right: abs(left - right) <= EPSILON,
    "!=": lambda left, right: not abs(left - right) <= EPSILON,
    "<": lambda left, right: not left >= right,
    ">": lambda left, right: not left <= right,
    "<=": lambda left, right: not left > right,
    ">=": lambda left, right: not left < right,
}
"""Order holds unless its opposite does: with nan everything but ``==`` is true; inf does not equal
inf.
"""
TEXT_COMPARE: dict[str, Callable[[str, str], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
