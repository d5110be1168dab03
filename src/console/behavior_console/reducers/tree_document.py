# SPDX-License-Identifier: Apache-2.0
"""The nodes of a running tree, as the channel ``tree`` has them, from its XML with ``_uid``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from xml.etree import ElementTree

from behavior_recording import TreeDocument
from behavior_tree import BehaviorTreeFactory

_KINDS = ("Action", "Condition", "Control", "Decorator", "SubTree")


@dataclass(frozen=True)
class ShownNode:
    """A node of a tree."""

    uid: int
    parent: int | None
    type_id: str
    name: str
    kind: str
    """Action, Condition, Control, Decorator or SubTree."""
    path: str
    is_leaf: bool

    def row(self) -> list[int | str | None]:
        """As the channel has it."""
        return [self.uid, self.parent, self.type_id, self.name, self.kind, self.path]


def shown_nodes(xml: str) -> list[ShownNode]:
    """The nodes of a document, parents before children.

    Raises:
        RecordingError: it is no such document.
    """
    kinds = {**_builtin_kinds(), **_declared_kinds(xml)}
    return [
        ShownNode(
            uid=node.uid,
            parent=node.parent,
            type_id=node.type_id,
            name=node.name,
            kind="SubTree" if node.is_subtree else kinds.get(node.type_id, _guess(node.children)),
            path=node.path,
            is_leaf=not node.children and not node.is_subtree,
        )
        for node in TreeDocument.read(xml).nodes.values()
    ]


def _guess(children: tuple[int, ...]) -> str:
    """Of a type that nobody has declared."""
    return ("Action", "Decorator")[len(children)] if len(children) < 2 else "Control"


@cache
def _builtin_kinds() -> dict[str, str]:
    manifests = BehaviorTreeFactory().manifests().values()
    return {each.registration_id: each.type.name.capitalize() for each in manifests}


def _declared_kinds(xml: str) -> dict[str, str]:
    models = ElementTree.fromstring(xml).iter("TreeNodesModel")
    declared = (each for model in models for each in model if each.tag in _KINDS)
    return {each.get("ID", ""): each.tag for each in declared}
