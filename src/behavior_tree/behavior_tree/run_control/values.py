# SPDX-License-Identifier: Apache-2.0
"""Writes a blackboard entry of a tree that somebody else ticks."""

from __future__ import annotations

import difflib
from typing import Any

from behavior_tree.blackboard.blackboard import Blackboard, Entry
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.kernel.tree import Tree
from behavior_tree.shown_text import visible


def assignment(text: str) -> tuple[str, str]:
    """Place and value of ``PLACE = VALUE``; the value is kept as it is.

    Raises:
        BehaviorTreeError: it is something else
    """
    place, equals, value = text.partition("=")
    if not equals or not place.strip():
        raise BehaviorTreeError(f"'{visible(text)}' is not of the form KEY = VALUE")
    return place.strip(), value.removeprefix(" ")


def write_value(tree: Tree, place: str, text: str) -> None:
    """Write an entry that is there, between two ticks, and wake the tree.

    Args:
        tree: its blackboards are written to
        place: key, after the path of the SubTree on whose blackboard it lives: ``pick/target``;
            without a path one of the main tree's
        text: of the value, converted to the entry's type

    Raises:
        BehaviorTreeError: there is no such entry, or its type does not take this value
    """
    with tree.runtime.between_ticks():
        board, key, entry = _entry(tree, place)
        value = board.get(key, None)
        untyped = entry.type is Any and value is not None
        board.set(key, board.types.from_text(text, type(value)) if untyped else text)
    tree.emit_wake_up()


def _entry(tree: Tree, place: str) -> tuple[Blackboard, str, Entry]:
    places = {
        f"{each.instance_name}/{key}" if each.instance_name else key: (each.blackboard, key, entry)
        for each in tree.subtrees
        for key in each.blackboard.get_keys()
        if (entry := each.blackboard.own_entry(key)) is not None
    }
    if place not in places:
        close = difflib.get_close_matches(place, places, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise BehaviorTreeError(f"no blackboard has an entry '{visible(place)}'{hint}")
    return places[place]
