# SPDX-License-Identifier: Apache-2.0
"""Blackboards as JSON and back, one or those of a whole tree.

Only the entries that live on a blackboard are written, not those that it shares by remapping. An
empty entry, and a value without a JSON form, becomes None. Types are those of
`behavior_tree.blackboard.json_types`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from behavior_tree.blackboard.blackboard import Blackboard, Entry
from behavior_tree.errors import BehaviorTreeError, BlackboardError, ConversionError
from behavior_tree.kernel.tree import Tree


def export_blackboard_to_json(blackboard: Blackboard) -> dict[str, Any]:
    """Local entries of a blackboard, by key, as data that `json.dumps` takes. May be called while
    another thread ticks.
    """
    return {key: _exported(blackboard, value) for key, value in blackboard.items()}


def export_tree_to_json(tree: Tree) -> dict[str, dict[str, Any]]:
    """All blackboards of a tree, by the path of their SubTree; the main one by its tree ID.

    Raises:
        BlackboardError: a SubTree is called like the main tree
    """
    return {
        name: export_blackboard_to_json(board) for name, board in _named_blackboards(tree).items()
    }


def import_blackboard_from_json(data: Mapping[str, Any] | None, blackboard: Blackboard) -> None:
    """Write entries under the type rules; None empties an entry. Other entries stay.

    Args:
        data: as `export_blackboard_to_json` gives it
        blackboard: gets the values

    Raises:
        BlackboardError: with every value that does not fit; nothing has changed then
    """
    _write_all(_writes("", data, blackboard))


def import_tree_from_json(data: Mapping[str, Mapping[str, Any] | None], tree: Tree) -> None:
    """`import_blackboard_from_json` for all blackboards of a tree, matched by name.

    Raises:
        BlackboardError: a name is missing or unknown, or values do not fit; nothing has changed
    """
    boards = _named_blackboards(tree)
    if tree.runtime.quirks.json_import_by_position and len(data) == len(boards):
        data = dict(zip(boards, (data[name] for name in sorted(data)), strict=True))
    if data.keys() != boards.keys():
        missing, unknown = sorted(boards.keys() - data.keys()), sorted(data.keys() - boards.keys())
        raise BlackboardError(
            f"the JSON is not that of this tree: blackboards missing: {missing}, unknown: {unknown}"
        )
    writes = [each for name, board in boards.items() for each in _writes(name, data[name], board)]
    _write_all(writes)


@dataclass(frozen=True)
class _Write:
    blackboard: Blackboard
    key: str
    entry: Entry | None
    value: Any
    problem: str = ""


def _writes(name: str, data: Mapping[str, Any] | None, blackboard: Blackboard) -> list[_Write]:
    return [_write(name, key, item, blackboard) for key, item in (data or {}).items()]


def _write(name: str, key: str, item: Any, blackboard: Blackboard) -> _Write:
    try:
        entry = blackboard.entry(key)
        value = blackboard.types.json.from_json(item)
        if entry is not None and entry.type is not Any and value is not None:
            value = _fitted(blackboard, key, entry.type, value)
        return _Write(blackboard, key, entry, value)
    except BehaviorTreeError as error:
        where = f"{name}: [{key}]" if name else f"[{key}]"
        return _Write(blackboard, key, None, None, f"{where}: {error}")


def _fitted(blackboard: Blackboard, key: str, kind: Any, value: Any) -> Any:
    if isinstance(value, list) and kind in (deque, tuple):  # JSON knows only one
        return kind(value)
    return blackboard.fitted(key, kind, value)


def _write_all(writes: list[_Write]) -> None:
    problems = [each.problem for each in writes if each.problem]
    if problems:
        raise BlackboardError("JSON cannot be imported: " + "; ".join(problems))
    for each in writes:
        if each.value is None:
            (each.entry or each.blackboard.create_entry(each.key)).store(None)
        else:
            each.blackboard.set(each.key, each.value)


def _exported(blackboard: Blackboard, value: Any) -> Any:
    try:
        return blackboard.types.json.to_json(value)
    except ConversionError:
        return None


def _named_blackboards(tree: Tree) -> dict[str, Blackboard]:
    named = {each.instance_name or each.tree_id: each.blackboard for each in tree.subtrees}
    if len(named) != len(tree.subtrees):
        raise BlackboardError(
            f"a SubTree is called '{tree.subtrees[0].tree_id}' like the main tree: rename it"
        )
    return named
