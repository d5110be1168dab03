# SPDX-License-Identifier: Apache-2.0
"""Numbers at the beginning of texts, as the C library reads them (``strtol``, ``strtod``)."""

from __future__ import annotations

import math
import re

from behavior_tree.errors import ConversionError

_SPACE = " \t\n\v\f\r"
_LONG = re.compile(rf"[{_SPACE}]*[+-]?[0-9]+")
_DOUBLE = re.compile(
    rf"[{_SPACE}]*[+-]?(?:0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?"
    r"|inf(?:inity)?|nan|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)",
    re.IGNORECASE,
)


def leading_long(text: str) -> int:
    """Decimal integer that ``text`` begins with; raises ConversionError if there is none."""
    found = _LONG.match(text)
    if found is None:
        raise ConversionError(f"Can't convert string [{text}] to integer")
    return int(found.group())


def leading_double(text: str) -> float:
    """Real number that ``text`` begins with, hexadecimal ones included.

    Raises:
        ConversionError: there is none, or it is too large for a float
    """
    found = _DOUBLE.match(text)
    if found is None:
        raise ConversionError(f"Can't convert string [{text}] to double")
    digits = found.group().strip(_SPACE).lower()
    try:
        number = float.fromhex(digits) if "x" in digits else float(digits)
    except OverflowError:
        number = math.inf
    if math.isinf(number) and "inf" not in digits:
        raise ConversionError(f"[{text}] is too large for a double")
    return number
