# SPDX-License-Identifier: Apache-2.0
"""Entries and values exactly as BehaviorTree.CPP 4.8 treats them; quirk `exact_values`.

Upstream keeps two types per entry: the declared one (here ``Entry.type`` and ``opaque``) and the
one its value had when it came (here ``Entry.origin``, None if it is that of the Python value).
Which one counts depends on who writes; the functions below are the writers, each with its rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from behavior_tree.blackboard.casts_4_8 import to_double, to_int64
from behavior_tree.blackboard.conversion import Unsigned
from behavior_tree.errors import LogicError

if TYPE_CHECKING:
    from behavior_tree.blackboard.blackboard import Blackboard, Entry

_INT32 = 2**31


class Int64:
    """Origin of an integer literal of a script, which upstream tells apart from ``int``."""


class ANY:
    """Writer's type of a value that carries its own type (``BT::Any``)."""


def origin_of(entry: Entry) -> Any:
    """Type that the value had when it came."""
    return type(entry.value) if entry.origin is None else entry.origin


def is_bare(entry: Entry) -> bool:
    """True if the entry is empty and was declared without a type, so that it takes anything."""
    return entry.value is None and entry.type is Any and not entry.opaque


# -- writing ------------------------------------------------------------------------------------


def copy_into(entry: Entry, value: Any, origin: Any = None) -> None:
    """``Any::copyInto``: an entry that has a value keeps its kind of number; raises LogicError."""
    old = entry.value
    if old is None:
        entry.store(value, origin)
        return
    kind, old_kind = _kind(value), _kind(old)
    if kind is not old_kind:
        if kind not in (int, float) or old_kind not in (int, float):
            raise LogicError("Any::copyInto fails")
        value = to_int64(value) if old_kind is int else to_double(value)
    entry.store(value, origin_of(entry))


def set_value(board: Blackboard, key: str, value: Any, kind: Any, origin: Any = None) -> None:
    """``Blackboard::set<kind>``.

    Args:
        board: where the writer is
        key: of the entry
        value: None for an empty value
        kind: type the writer has, `ANY` if it only passes a value on
        origin: of the value, None if it is its Python type

    Raises:
        LogicError: the entry has another type
        ConversionError: a text that does not convert to the entry's type
    """
    if key.startswith("@"):
        set_value(board.root, key[1:], value, kind, origin)
        return
    came_as = type(value) if origin is None else origin
    entry = board.own_entry(key)
    if entry is None:
        declared = came_as if kind is ANY else Any if kind is str else kind
        board.create_entry(key, declared).store(value, origin)
    elif entry.type is Any:
        if kind is ANY:
            entry.opaque = True
        else:
            entry.type, entry.opaque = kind, False
        entry.store(value, origin)
    else:
        if entry.type not in (kind, came_as):
            value, came_as = _fit(board, entry, value, kind)
        if kind is ANY:
            entry.store(value, came_as)
        else:
            copy_into(entry, value, came_as)


def _fit(board: Blackboard, entry: Entry, value: Any, kind: Any) -> tuple[Any, Any]:
    parsed = parse_for(board, entry, value) if kind is str else None
    if parsed is not None:
        return parsed, entry.type
    if not _safe(entry.type, value, kind):
        raise LogicError("Blackboard::set(): once declared, the type of a port shall not change")
    return value, kind


def _safe(declared: Any, value: Any, kind: Any) -> bool:
    """``isCastingSafe``, with what it does to bools and unsigned numbers."""
    if kind is float and declared in (int, Unsigned):
        low, high = (-_INT32, _INT32 - 1) if declared is int else (0, 2 * _INT32 - 1)
        return bool(low <= value <= high and value.is_integer())
    if kind is bool and declared is int:
        return bool(value)
    return (declared is float and kind in (int, bool)) or (declared is Unsigned and kind is bool)


def parse_for(board: Blackboard, entry: Entry, text: str) -> Any:
    """Value of a text for an entry of this type; None if its type has no converter.

    Raises:
        ConversionError: the text does not fit
        LogicError: the entry was declared as ``BT::Any``
    """
    if entry.type is Any:
        if entry.opaque:
            raise LogicError(f"Can't convert string [{text}] to type [BT::Any]")
        return None
    if not board.types.has_text_form(entry.type):
        return None
    return board.types.from_text(text, entry.type)


def _kind(value: Any) -> Any:
    """Type that upstream stores a value as."""
    if isinstance(value, int):
        return int
    return type(value)
