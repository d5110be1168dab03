# SPDX-License-Identifier: Apache-2.0
"""JSON as IHMC's program writes it: read without losing how a number was written, written alike.

The layout is that of the Jackson library: two blanks for each level of objects, none for arrays.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from behavior_tree.errors import BehaviorTreeError

Object = dict[str, Any]
LARGEST = 16 * 1024 * 1024
"""Bytes of a file."""
DEEPEST = 64
"""Levels of children and objects in a file."""


class Number(str):
    """A number, as it was written."""


def parse(text: str) -> Any:
    """A value; raises ValueError."""
    return json.loads(
        text,
        parse_float=_number,
        parse_int=_number,
        parse_constant=_refuse,
        object_pairs_hook=_once,
    )


def _number(text: str) -> Number:
    if not math.isfinite(float(text)):
        raise ValueError(f"{text} is too large")
    return Number(text)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _once(pairs: list[tuple[str, Any]]) -> Object:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has two values of one name")
    return found


def read_behavior(path: Path) -> tuple[Object, str]:
    """The root node of a file, and its text.

    Raises:
        BehaviorTreeError: it is none
        OSError: it cannot be read
    """
    if path.stat().st_size > LARGEST:
        raise BehaviorTreeError(f"{path}: longer than {LARGEST} bytes, so no behaviour")
    try:
        text = path.read_bytes().decode()
        root = parse(text)
        deep = _deeper_than(root, DEEPEST)
    except (ValueError, RecursionError) as error:
        raise BehaviorTreeError(f"{path}: no JSON: {error}") from None
    if not isinstance(root, dict) or not isinstance(root.get("type"), str) or deep:
        why = f"deeper than {DEEPEST} levels" if deep else "its root has no text 'type'"
        raise BehaviorTreeError(f"{path}: no behaviour of IHMC: {why}")
    return root, text


def _deeper_than(value: Any, levels: int) -> bool:
    inside = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(inside, list):
        return False
    return levels < 0 or any(_deeper_than(each, levels - 1) for each in inside)


def compact(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        return (
            "{"
            + ",".join(f"{json.dumps(key)}:{compact(each)}" for key, each in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(map(compact, value)) + "]"
    return json.dumps(value)


def write_behavior(value: Any, indent: str = "") -> str:
    """A value in IHMC's layout."""
    if isinstance(value, dict) and value:
        inner = indent + "  "
        lines = [f"{inner}{_text(key)} : {write_behavior(v, inner)}" for key, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and value:
        return "[ " + ", ".join(write_behavior(each, indent) for each in value) + " ]"
    if isinstance(value, (dict, list)):
        return "{ }" if isinstance(value, dict) else "[ ]"
    return _text(value) if type(value) is str else compact(value)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
