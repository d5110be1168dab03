# SPDX-License-Identifier: Apache-2.0
"""Mistakes in Gotos and Gosubs that can be seen before they run: names that do not exist, routines
that call themselves or are never called, jumps that go round without taking time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from behavior_tree.blackboard.ports import pointer_key
from behavior_tree.shown_text import shorten
from behavior_tree.xml.document import Element
from behavior_tree.xml.elements import CONDITION_ATTRIBUTES, node_path, with_paths
from behavior_tree.xml.list_elements import LISTS, ListElements, names_of
from behavior_tree.xml.loader import TreeDefinition
from behavior_tree.xml.networks import takes_no_time


@dataclass(frozen=True)
class _Place:
    """A list around a node, and the child of it in which the node is."""

    around: Element
    child: Element
    outer: _Place | None

    def outwards(self) -> Iterator[_Place]:
        """This one and those around it."""
        place: _Place | None = self
        while place is not None:
            yield place
            place = place.outer


@dataclass(frozen=True)
class _Leaf:
    """A Goto or Gosub."""

    element: Element
    path: str
    """Of what is around it."""
    place: _Place | None

    @property
    def to(self) -> str:
        """Whom it names."""
        return self.element.get("to") or ""

    def places(self) -> Iterator[_Place]:
        """The lists around it, the innermost first."""
        if self.place is not None:
            yield from self.place.outwards()


class JumpChecks(ListElements):
    """Checks all jumps of one tree."""

    def check(self, definition: TreeDefinition) -> None:
        """Find errors."""
        calls: dict[Element, list[tuple[Element, _Leaf]]] = {}
        for leaf in self._leaves(definition):
            if not leaf.to:
                continue  # told as a missing port
            if pointer_key(leaf.to, "to") is not None:
                message = "[to] must be known when the tree is loaded, it cannot come from the "
                message += "blackboard"
                self.add(leaf.element, leaf.path, message, "write the name of a child", "to")
            elif self.role(leaf.element) == "Goto":
                self._goto(leaf)
            else:
                self._gosub(leaf, calls)
        self._recursion(calls)

    def calls(self, definition: TreeDefinition) -> dict[Element, Element]:
        """What each Gosub of a tree runs."""
        gosubs = (leaf for leaf in self._leaves(definition) if self.role(leaf.element) == "Gosub")
        found = ((leaf.element, self._routine(leaf)) for leaf in gosubs)
        return {gosub: routine for gosub, routine in found if routine is not None}

    def targets(self, definition: TreeDefinition) -> dict[Element, Element]:
        """The child of a list to which each Goto and Gosub of a tree leads."""
        found = self.calls(definition)
        for leaf in self._leaves(definition):
            target = self._target(leaf) if self.role(leaf.element) == "Goto" else None
            if target is not None:
                found[leaf.element] = target[1]
        return found

    def warn(self, definition: TreeDefinition) -> None:
        """Find what loads but hardly does what was meant."""
        called = []
        for leaf in self._leaves(definition):
            if self.role(leaf.element) == "Goto":
                self._round(leaf)
            else:
                called.append(self._routine(leaf))
        for element, path in with_paths(definition.element, definition.label):
            for child in element.children:
                if self.is_called(child) and child not in called:
                    remedy = "call it by a Gosub, or give it a place in the order"
                    self.add(child, path, "no Gosub runs this", remedy, "execute_after")

    def _leaves(self, definition: TreeDefinition) -> Iterator[_Leaf]:
        stack: list[tuple[Element, str, _Place | None]] = [
            (definition.element, definition.label, None)
        ]
        while stack:
            element, path, place = stack.pop()
            is_list = self.role(element) in LISTS
            for child in element.children:
                around = _Place(element, child, place) if is_list else place
                if self.role(child) in ("Goto", "Gosub"):
                    yield _Leaf(child, path, around)
                stack.append((child, node_path(path, child), around))

    # -- Goto -----------------------------------------------------------------------------------

    def _target(self, leaf: _Leaf) -> tuple[_Place, Element] | None:
        for place in leaf.places():
            if self.is_called(place.child):
                return None  # a jump does not leave what a Gosub runs
            for child in self.called(place.around, leaf.to):
                if child in self.layered(place.around):
                    return place, child
        return None

    def _ambiguous(self, leaf: _Leaf, around: Element) -> None:
        named = self.called(around, leaf.to)
        if len(named) > 1:
            message = f"to names '{shorten(leaf.to)}', and {len(named)} children are called so"
            self.add(leaf.element, leaf.path, message, "give each another name", "to")

    def _goto(self, leaf: _Leaf) -> None:
        found = self._target(leaf)
        if found is not None:
            self._ambiguous(leaf, found[0].around)
            return
        children: list[Element] = []
        for place in leaf.places():
            if self.is_called(place.child):
                break
            children += self.layered(place.around)
        names = ", ".join(shorten(self.described(child).names[0]) for child in children)
        message = f"to names '{shorten(leaf.to)}', which is no child of a list around this"
        remedy = f"one of {names}" if names else "put the Goto into a ConcurrentSequence or Try"
        self.add(leaf.element, leaf.path, message, remedy, "to")

    def _round(self, leaf: _Leaf) -> None:
        """Warn of a jump back over nothing that takes time."""
        found = self._target(leaf)
        if found is None or any(name in leaf.element.attributes for name in CONDITION_ATTRIBUTES):
            return
        place, target = found
        children = self.layered(place.around)
        if place.child not in children:
            return  # from a clause: what is tried has failed before
        passed = children[children.index(target) : children.index(place.child) + 1]
        if passed and all(takes_no_time(child, self.manifests) for child in passed):
            message = "this goes round in every tick without an action that takes time"
            remedy = "give the round an action, such as a Sleep"
            self.add(leaf.element, leaf.path, message, remedy, "to")

    # -- Gosub ----------------------------------------------------------------------------------

    def _routine(self, leaf: _Leaf) -> Element | None:
        for place in leaf.places():
            for child in self.called(place.around, leaf.to):
                if self.is_called(child):
                    return child
        return None

    def _gosub(self, leaf: _Leaf, calls: dict[Element, list[tuple[Element, _Leaf]]]) -> None:
        routine = self._routine(leaf)
        if routine is not None:
            for place in leaf.places():
                if routine in place.around.children:
                    self._ambiguous(leaf, place.around)
                if self.is_called(place.child):
                    calls.setdefault(place.child, []).append((routine, leaf))
            return
        message = f"to names '{shorten(leaf.to)}', which no list around this has for a Gosub"
        remedy = f'write <Step name="{shorten(leaf.to)}" execute_after="gosub"> into the list'
        self.add(leaf.element, leaf.path, message, remedy, "to")

    def _recursion(self, calls: dict[Element, list[tuple[Element, _Leaf]]]) -> None:
        for start in calls:
            reached, stack = set[Element](), [start]
            while stack:
                for routine, leaf in calls.get(stack.pop(), ()):
                    if routine is start:
                        name = shorten(names_of(start)[0])
                        message = f"'{name}' calls itself by this"
                        self.add(leaf.element, leaf.path, message, "write a loop instead", "to")
                        return
                    if routine not in reached:
                        reached.add(routine)
                        stack.append(routine)
