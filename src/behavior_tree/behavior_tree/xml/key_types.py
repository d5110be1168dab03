# SPDX-License-Identifier: Apache-2.0
"""Ports of different types that share a blackboard entry, found without building the tree.

The builder finds them too, but it needs a tree without other mistakes. This walk follows SubTrees
and their remappings as the builder does, and steps over what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from behavior_tree.basic_types import PortDirection
from behavior_tree.blackboard.conversion import type_name
from behavior_tree.blackboard.ports import PortInfo, pointer_key
from behavior_tree.errors import XmlProblem
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.xml.document import Element
from behavior_tree.xml.elements import autoremaps, node_path, resolve_type, subtree_ports
from behavior_tree.xml.loader import SubTreePort, TreeDefinition

_MAX_NODES, _MAX_DEPTH = 65535, 256
"""As many nodes, and as deep, as a tree may have."""


def types_agree(entry_type: Any, port: PortInfo, *, exact: bool = False) -> bool:
    """True if a port may use an entry that was made for another port's type.

    Classes agree if one derives from the other, as a value may turn out to be of the right one; but
    a port that writes must not put a base class where a derived one is expected. Numbers are
    checked when they are written.

    Args:
        entry_type: of the entry
        port: who wants to use it
        exact: only the same type agrees, quirk `exact_values`
    """
    port_type = port.type
    if entry_type is Any or port_type is Any or entry_type is str or entry_type == port_type:
        return True
    if (
        exact
        or bool in (entry_type, port_type)
        or not (isinstance(entry_type, type) and isinstance(port_type, type))
    ):
        return False
    try:
        if issubclass(entry_type, port_type):
            return port.direction is PortDirection.INPUT or issubclass(entry_type, int)
        return issubclass(port_type, entry_type)
    except TypeError:  # generic aliases such as list[int]
        return False


def type_conflict(key: str, entry_type: Any, port_type: Any) -> tuple[str, str]:
    """Message and remedy."""
    return (
        f"The creation of the tree failed because the port [{key}] was initially created with type "
        f"[{type_name(entry_type)}] and, later type [{type_name(port_type)}] was used somewhere "
        "else.",
        "use another key, or ports of the same type",
    )


@dataclass(eq=False)
class _Scope:
    """What a blackboard of the tree would hold."""

    outer: _Scope | None
    remaps: dict[str, str] = field(default_factory=dict)
    autoremap: bool = False
    types: dict[str, Any] = field(default_factory=dict)

    def find(self, key: str) -> tuple[_Scope, str]:
        """Where a key's entry is, or would be made."""
        if self.outer is None:
            return self, key.removeprefix("@")
        if key.startswith("@"):
            return self.outer.find(key)
        if key in self.types:
            return self, key
        if key in self.remaps:
            return self.outer.find(self.remaps[key])
        if self.autoremap and not key.startswith("_"):
            return self.outer.find(key)
        return self, key


@dataclass
class KeyTypes:
    """Walks trees as the builder would."""

    manifests: Mapping[str, TreeNodeManifest]
    trees: Mapping[str, TreeDefinition]
    models: Mapping[str, Mapping[str, SubTreePort]]
    seen: set[str] = field(default_factory=set)
    """Trees that have been walked, alone or inside others."""
    _problems: dict[XmlProblem, None] = field(default_factory=dict)
    _nodes: int = 0

    def check(self, tree_id: str) -> list[XmlProblem]:
        """Conflicts in a tree and the SubTrees that it uses."""
        self._problems, self._nodes = {}, 0
        self._tree(tree_id, _Scope(None), (tree_id,), 1)
        return list(self._problems)

    def _tree(self, tree_id: str, scope: _Scope, chain: tuple[str, ...], depth: int) -> None:
        self.seen.add(tree_id)
        for child in self.trees[tree_id].element.children:
            self._node(child, scope, chain, self.trees[tree_id].label, depth)

    def _node(
        self, element: Element, scope: _Scope, chain: tuple[str, ...], path: str, depth: int
    ) -> None:
        self._nodes += 1
        if self._nodes > _MAX_NODES or depth > _MAX_DEPTH:
            return
        type_id = resolve_type(element) or ""
        path = node_path(path, element)
        if element.tag == "SubTree":
            if type_id in self.trees and type_id not in chain:
                inner = self._inner(element, type_id, scope)
                self._tree(type_id, inner, (*chain, type_id), depth + 1)
            return
        manifest = self.manifests.get(type_id)
        if manifest is not None:
            self._ports(element, manifest, scope, path)
        for child in element.children:
            self._node(child, scope, chain, path, depth + 1)

    def _inner(self, element: Element, tree_id: str, scope: _Scope) -> _Scope:
        ports = subtree_ports(element)
        for port in self.models.get(tree_id, {}).values():
            if port.name not in ports and port.default is not None:
                ports[port.name] = port.default
        inner = _Scope(scope)
        inner.autoremap = autoremaps(element)
        for name, text in ports.items():
            key = pointer_key(text, name)
            if key is None or text == "=":
                inner.types[name] = Any
            else:
                inner.remaps[name] = key
        return inner

    def _ports(
        self, element: Element, manifest: TreeNodeManifest, scope: _Scope, path: str
    ) -> None:
        given = {key: text for key, text in element.attributes.items() if key in manifest.ports}
        defaults = {port.name: port.default_text for port in manifest.ports.values()}
        for port_name, text in {**given, **{**defaults, **given}}.items():
            port = manifest.ports[port_name]
            key = None if text is None else pointer_key(text, port_name)
            if key is None:
                continue
            place, name = scope.find(key)
            known = place.types.setdefault(name, port.type)
            if not types_agree(known, port):
                message, remedy = type_conflict(key, known, port.type)
                problem = element.problem(message, remedy, path=path, attribute=port.name)
                self._problems[problem] = None
