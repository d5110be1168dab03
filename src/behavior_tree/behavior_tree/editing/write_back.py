# SPDX-License-Identifier: Apache-2.0
"""From an edited tree back to the files it came from.

What was edited is found by comparing each node with the element that describes it; only the
differences go into the text, by `behavior_tree.xml.edit`. So it does not matter how often a change
was undone and redone: a tree that is again as it was read gives the bytes that were read.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from behavior_tree.basic_types import NodeType
from behavior_tree.editing.description import describe
from behavior_tree.errors import LogicError
from behavior_tree.kernel.leaf import LeafNode
from behavior_tree.kernel.node import TreeNode
from behavior_tree.kernel.subtree import Subtree
from behavior_tree.kernel.tree import Tree
from behavior_tree.xml.document import Element, Source
from behavior_tree.xml.edit import Address, XmlEditor, element_text
from behavior_tree.xml.version3 import is_version_3


def edited_documents(tree: Tree) -> dict[str, bytes]:
    """New contents of the documents that differ from the tree, by file name.

    Raises:
        LogicError: instances of one SubTree differ, so that no definition describes them
        LoadError: a document cannot be edited, because it is not UTF-8
    """
    by_definition: dict[int, list[Subtree]] = {}
    for instance in tree.subtrees:
        if instance.definition is not None:
            by_definition.setdefault(id(instance.definition), []).append(instance)
    by_source: dict[int, list[Subtree]] = {}
    for instances in by_definition.values():
        _check_equal(instances)
        definition = instances[0].definition
        assert definition is not None
        by_source.setdefault(id(definition.source), []).append(instances[0])
    found: dict[str, bytes] = {}
    for instances in by_source.values():
        definition = instances[0].definition
        assert definition is not None
        source = definition.source
        data = _Writer(source).write(instances)
        if data != source.data:
            found[source.file] = data
    return found


def _check_equal(instances: list[Subtree]) -> None:
    first = _signature(describe(instances[0].nodes[0], {}))
    for other in instances[1:]:
        if _signature(describe(other.nodes[0], {})) != first:
            names = " and ".join(
                f"'{each.instance_name}'" if each.instance_name else "the main tree"
                for each in (instances[0], other)
            )
            raise LogicError(
                f"{names} are both tree '{other.tree_id}', but have been changed differently: make "
                "the same changes in all of them, or replace one by a tree of its own"
            )


def _signature(element: Element) -> tuple[object, ...]:
    below = tuple(_signature(child) for child in element.children)
    return element.tag, tuple(sorted(element.attributes.items())), below


@dataclass(eq=False)
class _Place:
    """An element of the text as it is being edited."""

    parent: _Place | None
    children: list[_Place] = field(default_factory=list)

    def address(self) -> Address:
        if self.parent is None:
            return ()
        return (*self.parent.address(), self.parent.children.index(self))

    def below(self) -> Iterator[_Place]:
        stack = list(self.children)
        while stack:
            each = stack.pop()
            yield each
            stack.extend(each.children)


class _Writer:
    """Brings one document into agreement with its instances."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._editor = XmlEditor(source.data, source.file)
        self._mark = len(source.data) - len(self._editor.root.source.data)
        self._places: dict[tuple[int, int], _Place] = {}
        self._wanted: set[_Place] = set()
        self._top = self._add(self._editor.root, None, source, self._mark)

    def write(self, instances: Iterable[Subtree]) -> bytes:
        """The document for these instances, each of another definition."""
        version_3 = is_version_3(self._editor.root)
        definitions = []
        for instance in instances:
            assert instance.definition is not None
            place = self._places[self._key(instance.definition)]
            definitions.append(place)
            self._arrange(place, [instance.nodes[0]])
        for place in definitions:
            self._remove_unwanted(place)
        if version_3 and self._editor.data != self._source.data:
            raise LogicError(
                f"{self._source.file} is a file of BehaviorTree.CPP 3: convert it with "
                "`behavior tree migrate` before saving edits to it"
            )
        return self._editor.data

    def _add(
        self, element: Element, parent: _Place | None, source: Source, shift: int = 0
    ) -> _Place:
        """Note an element that now stands in the text, and all in it."""
        place = _Place(parent)
        # Known already: moved out of a fragment before that came in. This copy will be removed.
        self._places.setdefault((id(source), element.offset + shift), place)
        place.children = [self._add(child, place, source, shift) for child in element.children]
        return place

    @staticmethod
    def _key(element: Element) -> tuple[int, int]:
        return id(element.source), element.offset

    def _arrange(self, parent: _Place, nodes: list[TreeNode]) -> None:
        """Make nodes the wanted children of an element; others may still stand between them."""
        known = [self._places.get(self._key(node.config().element)) for node in nodes]
        here = [place for place in known if place is not None and place.parent is parent]
        at = {place: index for index, place in enumerate(parent.children)}
        staying = {parent.children[i] for i in longest_rise([at[place] for place in here])}
        index = 0
        for node, place in zip(nodes, known, strict=True):
            if place in staying:
                index = parent.children.index(place) + 1
                self._wanted.add(place)
            else:
                index = self._put(node, place, parent, index) + 1
        for node in nodes:
            self._node(node)

    def _put(self, node: TreeNode, place: _Place | None, parent: _Place, index: int) -> int:
        element: Element = node.config().element
        if place is None:
            text = element_text(element.source.data, element)
            self._editor.insert(parent.address(), index, text)
            place = self._add(element, parent, element.source)
        else:
            assert place.parent is not None
            at = place.parent.children.index(place)
            if place.parent is parent and at < index:
                index -= 1
            self._editor.move(place.address(), parent.address(), index)
            place.parent.children.remove(place)
            place.parent = parent
        parent.children.insert(index, place)
        self._wanted.add(place)
        return index

    def _node(self, node: TreeNode) -> None:
        place = self._places[self._key(node.config().element)]
        for name, text in _changed_attributes(node).items():
            if text is None:
                self._editor.remove_attribute(place.address(), name)
            else:
                self._editor.set_attribute(place.address(), name, text)
        if node.type() is NodeType.SUBTREE or isinstance(node, LeafNode):
            self._wanted.update(place.below())  # children of a node that a rule has replaced
        else:
            self._arrange(place, list(node.children))

    def _remove_unwanted(self, parent: _Place) -> None:
        for place in reversed(list(parent.children)):
            if place in self._wanted:
                self._remove_unwanted(place)
            else:
                self._editor.remove(place.address())
                parent.children.remove(place)


def _changed_attributes(node: TreeNode) -> dict[str, str | None]:
    """Attributes in which a node differs from its element; None: to be removed."""
    config, element = node.config(), node.config().element
    found: dict[str, str | None] = {}
    if node.name() != (element.get("name") or config.registration_id):
        found["name"] = node.name()
    if node.type() is NodeType.SUBTREE:
        return found
    for port in config.ports.values():
        live, written = node.raw_port(port.name), element.get(port.name)
        if live != (port.default_text if written is None else written):
            found[port.name] = live
    return found


def longest_rise(numbers: list[int]) -> list[int]:
    """The longest rising subsequence: children that may stay where they are."""
    tails: list[int] = []
    before: dict[int, int | None] = {}
    for number in numbers:
        at = bisect.bisect_left(tails, number)
        before[number] = tails[at - 1] if at else None
        tails[at : at + 1] = [number]
    found: list[int] = []
    last = tails[-1] if tails else None
    while last is not None:
        found.append(last)
        last = before[last]
    return found
