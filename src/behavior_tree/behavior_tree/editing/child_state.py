# SPDX-License-Identifier: Apache-2.0
"""What control nodes remember about their children by position, kept right when positions change.

In one place rather than in each control node: no node needs it while its children stay.
"""

from __future__ import annotations

from typing import Any

from behavior_tree.kernel.node import FAILURE, IDLE, RUNNING, SUCCESS, TreeNode


def exchange_children(parent: TreeNode, children: list[TreeNode]) -> None:
    """Give ``parent`` other children; those that stay keep their status, and the parent its place
    among them. Children that leave must have been halted.
    """
    before = list(parent.children)
    for child in before:
        if child not in children:
            child.parent = child._up = None
    for child in children:
        child.parent = child._up = parent
    parent.children[:] = children
    parent.children_changed()
    places = {index: children.index(c) for index, c in enumerate(before) if c in children}
    _move_positions(parent, places)
    parent._failed_child = None


def _move_positions(parent: Any, places: dict[int, int]) -> None:
    count = len(parent.children)
    if hasattr(parent, "_index") and (parent._index or parent.status is RUNNING):
        # A current child that left hands over to the one that took its position.
        parent._index = min(places.get(parent._index, parent._index), count)
        if parent.status is RUNNING:  # completed children keep their status, skipped ones do not
            passed = parent.children[: parent._index]
            parent._skipped = sum(1 for child in passed if child.status is IDLE)
    for name in ("_running", "_last", "_answer"):
        if isinstance(getattr(parent, name, None), int):
            setattr(parent, name, places.get(getattr(parent, name)))
    if hasattr(parent, "_branch") and parent._branch:
        parent._branch = places.get(parent._branch, 0)
    if hasattr(parent, "_done"):
        parent._done = {places[index] for index in parent._done if index in places}
        results = [parent.children[index].status for index in parent._done]
        parent._successes = results.count(SUCCESS)
        parent._failures = results.count(FAILURE)
