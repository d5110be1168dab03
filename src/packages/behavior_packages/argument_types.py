# SPDX-License-Identifier: Apache-2.0
"""Numbers as arguments of commands; what is none is refused in words."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

_Number = TypeVar("_Number", int, float)


def length(text: str) -> float:
    """Any number."""
    return number(text, float, lambda value: abs(value) < 1e6, "a number")


def positive(text: str) -> float:
    """A number above 0."""
    return number(text, float, lambda value: 0.0 < value < 1e9, "a number above 0")


def count(text: str) -> int:
    """How many."""
    return number(text, int, lambda value: 1 <= value <= 10**6, "a whole number of 1 or more")


def number(
    text: str, kind: Callable[[str], _Number], fits: Callable[[_Number], bool], wanted: str
) -> _Number:
    """A number of some kind.

    Args:
        text: what was typed.
        kind: int or float.
        fits: whether a number will do.
        wanted: says which do.

    Raises:
        argparse.ArgumentTypeError: it will not do.
    """
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not fits(value):
        raise argparse.ArgumentTypeError(f"must be {wanted}, not '{text}'")
    return value
