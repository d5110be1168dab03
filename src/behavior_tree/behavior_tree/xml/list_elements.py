# SPDX-License-Identifier: Apache-2.0
"""The elements of lists (ConcurrentSequence, Try), read by the part that they play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from behavior_tree.errors import XmlProblem
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.nodes.authoring.order import CALLED, PREVIOUS, Child
from behavior_tree.xml.document import Element
from behavior_tree.xml.elements import node_path, resolve_type

LISTS = ("ConcurrentSequence", "Try")
_ROLES = (*LISTS, "Step", "Catch", "Goto", "Gosub")


@dataclass
class _Inside:
    """The children of a list."""

    layered: list[Element]
    called: dict[str, list[Element]]


@dataclass
class ListElements:
    """Knows node types, and collects problems. Elements must not change meanwhile."""

    manifests: Mapping[str, TreeNodeManifest]
    severity: str = "error"
    problems: list[XmlProblem] = field(default_factory=list)
    _lists: dict[Element, _Inside] = field(default_factory=dict)
    """Children of the lists that were asked for: many name one of many."""

    @property
    def known(self) -> bool:
        """True if there can be any list."""
        return any(manifest.role in _ROLES for manifest in self.manifests.values())

    def role(self, element: Element) -> str:
        """Part that an element plays among these nodes."""
        type_id = resolve_type(element) if element.tag != "SubTree" else None
        manifest = self.manifests.get(type_id or "")
        return manifest.role if manifest is not None else ""

    def is_called(self, element: Element) -> bool:
        """True for a child that only a Gosub runs."""
        return self.role(element) == "Step" and element.get("execute_after") == CALLED

    def tried(self, element: Element) -> list[Element]:
        """Children of a list before its first clause."""
        children = list(element.children)
        clauses = [i for i, child in enumerate(children) if self.role(child) == "Catch"]
        return children[: clauses[0]] if clauses and self.role(element) == "Try" else children

    def layered(self, element: Element) -> list[Element]:
        """The children that a list puts in order."""
        return self._inside(element).layered

    def called(self, element: Element, name: str) -> list[Element]:
        """The children of a list that others call by a name."""
        return self._inside(element).called.get(name, [])

    def _inside(self, element: Element) -> _Inside:
        if element not in self._lists:
            layered = [child for child in self.tried(element) if not self.is_called(child)]
            inside = self._lists[element] = _Inside(layered, {})
            for child in element.children:
                for name in dict.fromkeys(self.described(child).names):
                    inside.called.setdefault(name, []).append(child)
        return self._lists[element]

    def described(self, element: Element) -> Child:
        """A child of a list, as far as the order goes."""
        if self.role(element) != "Step":
            return Child(names_of(element))
        own = element.get("name")
        inside = names_of(element.children[0]) if element.children else ()
        names = (own, *inside) if own and own != resolve_type(element) else inside
        return Child(names or (element.tag,), element.get("execute_after") or PREVIOUS)

    def add(
        self, element: Element, path: str, message: str, remedy: str, attribute: str | None = None
    ) -> None:
        """Report something about a child of what has this path."""
        path, severity = node_path(path, element), self.severity
        self.problems.append(
            element.problem(message, remedy, path=path, attribute=attribute, severity=severity)
        )


def names_of(element: Element) -> tuple[str, ...]:
    """What others may call an element; of a SubTree also its ID."""
    type_id = resolve_type(element) or element.tag
    name = element.get("name") or type_id
    return tuple(dict.fromkeys((name, type_id))) if element.tag == "SubTree" else (name,)
