# SPDX-License-Identifier: Apache-2.0
"""`TreeDocument`: the nodes of a recorded tree, from its XML with ``_uid`` on every node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from xml.etree import ElementTree

from behavior_recording.errors import RecordingError
from behavior_tree.rerun.recorded_tree import instance_name

_NOT_PORTS = ("name", "_uid", "_fullpath", "ID")


@dataclass(frozen=True)
class RecordedNode:
    """A node of a recorded tree."""

    uid: int
    type_id: str
    """As in XML, such as ``Sequence`` or ``Pick``; of a SubTree the ID of its tree."""
    name: str
    path: str
    """Full path, as statuses and reasons name it."""
    board: str
    """Path of the SubTree on whose blackboard its ports are; empty: the main tree's."""
    parent: int | None
    depth: int
    ports: dict[str, str]
    """Texts of ports and conditions, such as ``{target}``."""
    is_subtree: bool = False
    children: tuple[int, ...] = ()


@dataclass(frozen=True)
class TreeDocument:
    """The structure of a tree."""

    xml: str
    tree_id: str
    nodes: dict[int, RecordedNode] = field(repr=False)
    """By uid, parents before children."""

    @classmethod
    def read(cls, xml: str) -> TreeDocument:
        """The tree of a document.

        Raises:
            RecordingError: it is no such document
        """
        try:
            root = ElementTree.fromstring(xml)
        except ElementTree.ParseError as error:
            raise RecordingError(f"the recorded tree is no XML: {error}") from error
        trees = {tree.get("_fullpath", ""): tree for tree in root.iter("BehaviorTree")}
        main = trees.get("")
        if main is None:
            raise RecordingError("the recorded XML has no main tree")
        try:
            nodes = {node.uid: node for node in _Reader(trees).below(main, None, "", 0)}
        except (ValueError, RecursionError) as error:
            raise RecordingError(f"the recorded tree cannot be read: {error}") from error
        if not nodes:
            raise RecordingError("the recorded tree holds no nodes with numbers (_uid)")
        return cls(xml, main.get("ID", ""), nodes)

    @cached_property
    def root(self) -> RecordedNode:
        """The topmost node."""
        return next(iter(self.nodes.values()))

    def find(self, text: str) -> list[RecordedNode]:
        """Nodes whose path, name or type is this text; of several kinds of match the first."""
        for match in ("path", "name", "type_id"):
            found = [node for node in self.nodes.values() if getattr(node, match) == text]
            if found:
                return found
        return []


class _Reader:
    def __init__(self, trees: dict[str, ElementTree.Element]) -> None:
        self._trees = trees

    def _tree(self, element: ElementTree.Element, instance: str) -> ElementTree.Element:
        """What a SubTree stands for; some logs name it by its instance."""
        own = self._trees.get(element.get("_fullpath", ""))
        return own if own is not None else self._trees.get(instance, element)

    def below(
        self, above: ElementTree.Element, parent: int | None, board: str, depth: int
    ) -> Iterator[RecordedNode]:
        for element in above:
            if element.get("_uid") is None:
                continue
            uid = int(element.get("_uid", "0"))
            subtree = element.tag == "SubTree"
            inner_board = instance_name(element.attrib, self._trees) if subtree else board
            inner = self._tree(element, inner_board) if subtree else element
            below = list(self.below(inner, uid, inner_board, depth + 1))
            type_id = element.get("ID", element.tag) if subtree else element.tag
            name = element.get("name", type_id)
            last = name if name != type_id else f"{name}::{uid}"
            yield RecordedNode(
                uid=uid,
                type_id=type_id,
                name=name,
                path=element.get("_fullpath") or (f"{board}/{last}" if board else last),
                board=board,
                parent=parent,
                depth=depth,
                ports={k: text for k, text in element.attrib.items() if k not in _NOT_PORTS},
                is_subtree=subtree,
                children=tuple(node.uid for node in below if node.parent == uid),
            )
            yield from below
