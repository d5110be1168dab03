# SPDX-License-Identifier: Apache-2.0
"""Tree files whose elements have identifiers, and changes that name elements by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from behavior_tree.editing.references import label_of
from behavior_tree.editing.tree_files import Editors, TreeFiles
from behavior_tree.errors import LogicError
from behavior_tree.shown_text import shorten
from behavior_tree.xml.document import Element
from behavior_tree.xml.edit import Address, XmlEditor, element_text


@dataclass(eq=False)
class Numbered:
    """The identifier of an element, and those in it, in the shape of the document."""

    id: str
    children: list[Numbered]

    def all(self) -> Iterator[Numbered]:
        """This one and all in it, in the order of the document."""
        stack = [self]
        while stack:
            each = stack.pop()
            yield each
            stack.extend(reversed(each.children))

    def copy(self) -> Numbered:
        """One that can be changed by itself."""
        return Numbered(self.id, [child.copy() for child in self.children])


class Spot(NamedTuple):
    """An identified element, and where it stands."""

    id: str
    file: Path
    element: Element
    parent: str
    """Identifier; empty for the root of a file."""
    children: tuple[str, ...]


@dataclass(frozen=True)
class Snapshot:
    """What must be kept to come back to a state."""

    data: Mapping[Path, bytes]
    numbers: Mapping[Path, Numbered]

    @cached_property
    def spots(self) -> dict[str, Spot]:
        """All elements by their identifiers."""
        found: dict[str, Spot] = {}
        for file, root in self.numbers.items():
            _find_spots(found, file, root, XmlEditor(self.data[file], str(file)).root)
        return found

    def without_elements(self) -> Snapshot:
        """The same, without what can be read again."""
        return Snapshot(self.data, self.numbers)


def _find_spots(found: dict[str, Spot], file: Path, numbers: Numbered, root: Element) -> None:
    """All elements of a file, in the order of the document but for siblings."""
    stack = [(numbers, root, "")]
    while stack:
        number, element, parent = stack.pop()
        children = number.children
        if not children:
            found[number.id] = Spot(number.id, file, element, parent, ())
            continue
        inside = tuple([child.id for child in children])
        found[number.id] = Spot(number.id, file, element, parent, inside)
        stack += [
            (child, below, number.id)
            for child, below in zip(children, element.children, strict=True)
        ]


@dataclass(frozen=True)
class State:
    """Tree files at one moment; never changed."""

    files: TreeFiles
    numbers: Mapping[Path, Numbered]
    next_number: int
    """Of the next new element."""

    @cached_property
    def snapshot(self) -> Snapshot:
        """What must be kept to come back here."""
        return Snapshot(self.files.data, self.numbers)

    @cached_property
    def spots(self) -> dict[str, Spot]:
        """All elements by their identifiers."""
        found: dict[str, Spot] = {}
        for file, root in self.numbers.items():
            _find_spots(found, file, root, self.files.root(file))
        return found

    def spot(self, node: str) -> Spot:
        """An element; raises LogicError if it is gone."""
        if node not in self.spots:
            raise _gone(node)
        return self.spots[node]

    def address(self, node: str) -> tuple[Path, Address]:
        """File of an element and its way from the root; raises LogicError."""
        spot = self.spot(node)
        indexes: list[int] = []
        while spot.parent:
            above = self.spots[spot.parent]
            indexes.append(above.children.index(spot.id))
            spot = above
        return spot.file, tuple(reversed(indexes))


def first_state(files: TreeFiles) -> State:
    """Identifiers for files that have none yet: n1, n2 and so on."""
    draft = Draft(State(files, {}, 1), {})
    numbers = {
        file: draft.number(XmlEditor(data, str(file)).root) for file, data in files.data.items()
    }
    return State(files, numbers, draft.next_number)


def labelled(spot: Spot) -> str:
    """How messages call an element."""
    return f"'{shorten(label_of(spot.element))}' ({spot.id})"


def _gone(node: str) -> LogicError:
    return LogicError(f"node '{shorten(node)}' is not there any more: look at the tree as it is")


class Draft:
    """Changes documents and identifiers together.

    Args:
        state: before the changes
        editors: of its documents, as `TreeFiles.change` gives them
    """

    def __init__(self, state: State, editors: Editors) -> None:
        self._editors = editors
        self.numbers = {file: root.copy() for file, root in state.numbers.items()}
        self.next_number = state.next_number
        self.made: list[str] = []
        """Identifiers of new elements that others were given directly, in the order of time."""
        self._known: dict[str, Numbered] = {}
        self._above: dict[str, Numbered] = {}
        self._files = {root.id: file for file, root in self.numbers.items()}
        for root in self.numbers.values():
            self._note(root)

    # -- reading --------------------------------------------------------------------------------

    def __contains__(self, node: str) -> bool:
        """Whether there is such an element."""
        return node in self._known

    def parent(self, node: str) -> str:
        """Identifier of what an element stands in; empty for the root of a file."""
        return self._above[node].id if node in self._above else ""

    def below(self, node: str) -> list[str]:
        """Identifiers of an element and all in it."""
        return [each.id for each in self._find(node).all()]

    def element(self, node: str) -> Element:
        """An element as it is now."""
        file, address = self._address(node)
        return self._editors[file].element(address)

    # -- changes --------------------------------------------------------------------------------

    def insert(
        self, parent: str, before: str, xml: str, numbers: Numbered | None = None
    ) -> Numbered:
        """Put a fragment before a child of an element, or behind all; raises LoadError.

        Args:
            parent: where it is put
            before: child before which it stands; empty: behind all
            xml: one element
            numbers: identifiers that it and what is in it get; None: new ones
        """
        place = self._find(parent)
        index = self._index(place, before)
        file, address = self._address(parent)
        editor = self._editors[file]
        editor.insert(address, index, xml)
        element = editor.element((*address, index))
        _check_include(element)
        if numbers is None:
            numbers = self.number(element)
            self.made.append(numbers.id)
        place.children.insert(index, numbers)
        self._note(numbers, place)
        return numbers

    def remove(self, node: str) -> None:
        """Take out an element and all in it."""
        file, address = self._changeable(node)
        self._editors[file].remove(address)
        self._forget(node)

    def move(self, node: str, parent: str, before: str) -> None:
        """Put an element into another one, before a child of it, or behind all."""
        file, address = self._changeable(node)
        place = self._find(parent)
        if parent in self.below(node):
            raise LogicError(f"'{node}' cannot be moved into itself")
        if before == node:
            raise LogicError(f"'{node}' cannot stand before itself")
        moved = self._find(node)
        self._index(place, before)  # is there
        target, above = self._address(parent)
        others = [each for each in place.children if each is not moved]
        index = len(others) if not before else [each.id for each in others].index(before)
        if file == target:
            self._editors[file].move(address, above, index)
            self._forget(node)
        else:
            editor = self._editors[file]
            text = element_text(editor.root.source.data, editor.element(address))
            editor.remove(address)
            self._forget(node)
            self._editors[target].insert(above, index, text)
        place.children.insert(index, moved)
        self._note(moved, place)

    def replace(self, node: str, xml: str) -> None:
        """Put a fragment in the place of an element."""
        file, address = self._changeable(node)
        place = self._above[node]
        index = place.children.index(self._find(node))
        editor = self._editors[file]
        editor.replace(address, xml)
        element = editor.element(address)
        _check_include(element)
        self._forget(node)
        numbers = self.number(element)
        self.made.append(numbers.id)
        place.children.insert(index, numbers)
        self._note(numbers, place)

    def set(self, node: str, attributes: Mapping[str, str | None]) -> None:
        """Give attributes of an element other texts; None takes one out."""
        file, address = self._address(node)
        set_attributes(self._editors[file], address, attributes)

    def number(self, element: Element) -> Numbered:
        """New identifiers for an element and all in it."""
        made = Numbered(f"n{self.next_number}", [])
        self.next_number += 1
        made.children = [self.number(child) for child in element.children]
        return made

    # -- finding --------------------------------------------------------------------------------

    def _find(self, node: str) -> Numbered:
        if node not in self._known:
            raise _gone(node)
        return self._known[node]

    def _address(self, node: str) -> tuple[Path, Address]:
        each, indexes = self._find(node), []
        while each.id in self._above:
            above = self._above[each.id]
            indexes.append(above.children.index(each))
            each = above
        return self._files[each.id], tuple(reversed(indexes))

    def _changeable(self, node: str) -> tuple[Path, Address]:
        file, address = self._address(node)
        if not address:
            raise LogicError(f"'{node}' is the root of {file}: it stays")
        _check_include(self._editors[file].element(address))
        return file, address

    def _index(self, place: Numbered, before: str) -> int:
        if not before:
            return len(place.children)
        for index, child in enumerate(place.children):
            if child.id == before:
                return index
        where = f"'{shorten(before)}' is not in '{place.id}' any more"
        raise LogicError(f"{where}: look at the tree as it is")

    def _note(self, numbers: Numbered, above: Numbered | None = None) -> None:
        if above is not None:
            self._above[numbers.id] = above
        for each in numbers.all():
            self._known[each.id] = each
            self._above.update((child.id, each) for child in each.children)

    def _forget(self, node: str) -> None:
        gone = self._known[node]
        self._above.pop(node).children.remove(gone)
        for each in gone.all():
            del self._known[each.id]
            self._above.pop(each.id, None)


def set_attributes(
    editor: XmlEditor, address: Address, attributes: Mapping[str, str | None]
) -> None:
    """Give attributes of an element other texts; None takes one out."""
    _check_include(editor.element(address))
    for name, text in attributes.items():
        if text is None:
            editor.remove_attribute(address, name)
        else:
            editor.set_attribute(address, name, text)


def _check_include(element: Element) -> None:
    if element.tag == "include":
        raise LogicError("which files are included is not edited together: edit the file instead")
