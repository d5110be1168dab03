# SPDX-License-Identifier: Apache-2.0
"""`BlackboardChanges`: which entries of a tree's blackboards were written since the last look.

A look costs what a comparison of two lists of numbers costs. It shows the value that an entry has
then: of several writes between two looks the last one, and nothing of a value that was changed in
its place, such as a queue from which somebody has taken.
"""

from __future__ import annotations

import copy
import json
from collections import deque
from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass
from typing import Any

from behavior_tree.blackboard.blackboard import Blackboard, Entry
from behavior_tree.blackboard.conversion import type_name
from behavior_tree.blackboard.json_types import JsonTypes
from behavior_tree.errors import ConversionError
from behavior_tree.kernel.tree import Tree

OMITTED = "__omitted"
"""Key of the object that stands for a value that is not written out; its value says what it is."""
LONGEST = 20_000
"""Characters of a value as JSON."""
_MOST_ITEMS = 5_000
_COPIED = (list, dict, set, deque, bytearray)
_UNTYPED: Any = Any

ToJson = Callable[[Any], Any]
"""Makes plain data of a value that has no JSON form; raises ConversionError if it knows none."""


@dataclass(frozen=True, slots=True)
class EntryValue:
    """An entry as it was at one moment."""

    board: str
    """Path of the SubTree whose blackboard it lives on; empty: the main tree's."""
    key: str
    type: Any
    """Its type; ``typing.Any`` while it has none."""
    value: Any
    """Containers of Python are copies, other objects are not."""
    removed: bool = False

    @property
    def type_name(self) -> str:
        """Name of the type; empty while there is none."""
        return "" if self.type is _UNTYPED else type_name(self.type)


class BlackboardChanges:
    """Looks at the blackboards of one tree, always from between its ticks.

    Args:
        tree: whose entries are looked at
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._stamps: list[float] = []
        self._known: dict[tuple[str, str], float] = {}

    @property
    def pending(self) -> bool:
        """Whether there is something that `read` has not told."""
        stamps = [
            entry.stamp
            for each in self._tree.subtrees
            for entry in list(each.blackboard._entries.values())
        ]
        return stamps != self._stamps

    def read(self) -> list[EntryValue]:
        """Entries that were written or removed since the last call; at first all there are."""
        found = {(board, key): entry for board, key, entry in self._entries()}
        stamps = {place: entry.stamp for place, entry in found.items()}
        changes = [
            _value(*place, found[place])
            for place, stamp in stamps.items()
            if self._known.get(place) != stamp
        ]
        gone = self._known.keys() - stamps.keys()
        changes += [EntryValue(*place, _UNTYPED, None, removed=True) for place in sorted(gone)]
        self._known, self._stamps = stamps, list(stamps.values())
        return changes

    def everything(self) -> list[EntryValue]:
        """All entries as they are now."""
        return [_value(board, key, entry) for board, key, entry in self._entries()]

    def _entries(self) -> Iterator[tuple[str, str, Entry]]:
        for subtree in self._tree.subtrees:
            board: Blackboard = subtree.blackboard
            for key, entry in list(board._entries.items()):
                yield subtree.instance_name, key, entry


def json_text(value: Any, types: JsonTypes, to_json: ToJson | None = None) -> str:
    """A value as JSON text of at most `LONGEST` characters.

    Args:
        value: of a blackboard
        types: JSON forms of the tree's types
        to_json: for values that these do not know

    Returns:
        JSON; an object with the key `OMITTED` for a value that has no form or is too large
    """
    if isinstance(value, Sized) and len(value) > _MOST_ITEMS and not isinstance(value, str):
        return _omitted(f"{type(value).__name__} of {len(value)} items")
    try:
        text = json.dumps(_plain(value, types, to_json), separators=(",", ":"), ensure_ascii=False)
    except (ConversionError, ValueError, TypeError, RecursionError):
        return _omitted(type(value).__name__)
    if len(text) > LONGEST:
        return _omitted(f"{type(value).__name__} of {len(text)} characters: {text[:200]} ...")
    return text


def _plain(value: Any, types: JsonTypes, to_json: ToJson | None) -> Any:
    try:
        return types.to_json(value)
    except ConversionError:
        if to_json is None:
            raise
        return to_json(value)


def _omitted(what: str) -> str:
    return json.dumps({OMITTED: what}, ensure_ascii=False)


def _value(board: str, key: str, entry: Entry) -> EntryValue:
    value = entry.value
    if isinstance(value, _COPIED):
        value = copy.copy(value)
    return EntryValue(board, key, entry.type, value)
