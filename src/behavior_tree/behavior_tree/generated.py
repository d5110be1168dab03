# SPDX-License-Identifier: Apache-2.0
"""Functions that are written at run time, from fixed pieces of code, and the text of them."""

from __future__ import annotations

import inspect
import textwrap
from types import FunctionType
from typing import Any

__all__ = ["is_generated", "source_of", "write_function"]

_TEXTS: dict[str, str] = {}


def write_function(name: str, lines: list[str], title: str, names: dict[str, Any]) -> Any:
    """Compile the definition of one function.

    Args:
        name: of the function
        lines: its definition
        title: stands for the file in tracebacks; the same title means the same lines
        names: global names that it knows
    """
    text = "\n".join(lines)
    made = dict(names)
    exec(compile(text, title, "exec"), made)
    _TEXTS[title] = text
    return made[name]


def is_generated(function: FunctionType) -> bool:
    """True if `write_function` made it."""
    return function.__code__.co_filename in _TEXTS


def source_of(function: FunctionType) -> str:
    """Text of a function, decorators included; OSError if there is none on this machine."""
    text = _TEXTS.get(function.__code__.co_filename)
    return textwrap.dedent(inspect.getsource(function)) if text is None else text
