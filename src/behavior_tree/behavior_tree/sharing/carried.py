# SPDX-License-Identifier: Apache-2.0
"""Identifiers after a change of whole files, such as a refactoring or an edit on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from behavior_tree.editing.merge import Pairing
from behavior_tree.editing.tree_files import TreeFiles
from behavior_tree.sharing.identified import Numbered, State
from behavior_tree.xml.document import Element


def carried(state: State, files: TreeFiles) -> State:
    """Files after any change: what is the same, or as it was in another place, keeps its
    identifier, all else gets new ones.
    """
    return _Carrying(state, files).run()


class _Carrying:
    def __init__(self, state: State, files: TreeFiles) -> None:
        self._state, self._files = state, files
        self._pairing = Pairing()
        self._next = state.next_number
        self._found: dict[Element, str] = {}
        self._left: dict[int, list[Numbered]] = {}
        """What has not been found in its place, by signature."""
        self._taken: set[str] = set()

    def run(self) -> State:
        roots = {file: self._files.root(file) for file in self._files.data}
        spots = self._state.spots
        for root in roots.values():
            self._pairing.sign(root)
        for file, number in self._state.numbers.items():
            before = spots[number.id].element
            self._pairing.sign(before)
            if file in roots:
                self._pair(number, before, roots[file])
            else:  # is included no more, but what it held may stand in another file
                self._leave(number, before)
        numbers: Mapping[Path, Numbered] = {
            file: self._number(root) for file, root in roots.items()
        }
        return State(self._files, numbers, self._next)

    def _pair(self, number: Numbered, before: Element, after: Element) -> None:
        self._found[after] = number.id
        pairs = self._pairing.pairs(before.children, after.children)
        for child, element in zip(number.children, before.children, strict=True):
            if element in pairs:
                self._pair(child, element, pairs[element])
            else:
                self._leave(child, element)

    def _leave(self, number: Numbered, element: Element) -> None:
        self._left.setdefault(self._pairing.signature(element), []).append(number)
        for child, inside in zip(number.children, element.children, strict=True):
            self._leave(child, inside)

    def _number(self, element: Element) -> Numbered:
        elsewhere = None if element in self._found else self._take(element)
        if elsewhere is not None:
            return elsewhere
        id = self._found.get(element)
        if id is None:
            id = f"n{self._next}"
            self._next += 1
        return Numbered(id, [self._number(child) for child in element.children])

    def _take(self, element: Element) -> Numbered | None:
        """What stood elsewhere, with all in it, and is like this element; None: nothing."""
        for number in self._left.get(self._pairing.signature(element), ()):
            inside = {each.id for each in number.all()}
            if inside.isdisjoint(self._taken):
                self._taken |= inside
                return number.copy()
        return None
