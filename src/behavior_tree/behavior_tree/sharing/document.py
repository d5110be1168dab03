# SPDX-License-Identifier: Apache-2.0
"""The Yjs document that shows a shared tree, and replicas of it.

Only the authority writes it, so it always is a tree that loads; editors send edits. Its maps:

``nodes``
    by identifier: ``tag``, ``attributes`` (a map of texts), ``children`` (identifiers)
``files``
    by path: ``root`` (identifier), ``modified`` (whether it has edits that are not saved)
``tree``
    ``revision`` (number of accepted edits), ``file`` (the first file)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from behavior_tree.errors import LogicError
from behavior_tree.sharing.identified import State

try:
    from pycrdt import Doc, Map
except ImportError as missing:  # pragma: no cover, the rest of the engine does without
    raise ImportError("shared trees need pycrdt: pip install pycrdt") from missing

LONGEST_STATE_VECTOR = 1024
"""Bytes; that of a replica has twenty, since only the authority writes."""


class _Maps:
    def __init__(self, doc: Doc[Any]) -> None:
        self.doc = doc
        self.nodes: Map[Any] = doc.get("nodes", type=Map)
        self.files: Map[Any] = doc.get("files", type=Map)
        self.tree: Map[Any] = doc.get("tree", type=Map)


class TreeDocument:
    """What the authority writes.

    Args:
        client: number among Yjs clients; None: a random one
    """

    def __init__(self, client: int | None = None) -> None:
        self._maps = _Maps(Doc(client_id=client))
        self._shown: State | None = None

    def show(self, state: State, revision: int, retagged: Sequence[str] | None = None) -> bytes:
        """Show a state of the files.

        Args:
            state: to be shown
            revision: its number
            retagged: the elements that differ from the state shown before, and by their attributes
                alone; None: it is found out what differs

        Returns:
            the update for replicas that are up to date
        """
        maps, before = self._maps, self._maps.doc.get_state()
        known = {} if self._shown is None else self._shown.spots
        spots = state.spots
        looked_at = spots if retagged is None else retagged
        with maps.doc.transaction():
            for id in looked_at:
                old, spot = known.get(id), spots[id]
                if old is None:
                    maps.nodes[id] = Map(
                        {
                            "tag": spot.element.tag,
                            "attributes": Map(dict(spot.element.attributes)),
                            "children": list(spot.children),
                        }
                    )
                    continue
                if old.children != spot.children:
                    maps.nodes[id]["children"] = list(spot.children)
                if old.element.attributes != spot.element.attributes:
                    _renew(maps.nodes[id]["attributes"], spot.element.attributes)
            for id in known.keys() - spots.keys() if retagged is None else ():
                del maps.nodes[id]
            self._show_files(state)
            if maps.tree.get("revision") != revision:
                maps.tree["revision"] = revision
                maps.tree["file"] = str(state.files.path)
        self._shown = state
        return bytes(maps.doc.get_update(before))

    def _show_files(self, state: State) -> None:
        modified, files = state.files.modified, self._maps.files
        for file, root in state.numbers.items():
            shown = {"root": root.id, "modified": file in modified}
            if files.get(str(file)) != shown:
                files[str(file)] = shown
        for gone in set(files.keys()) - {str(file) for file in state.numbers}:
            del files[gone]

    def update_for(self, state_vector: bytes) -> bytes:
        """What a replica lacks; empty state vector: everything. Raises LogicError."""
        if state_vector:
            _check_state_vector(state_vector)
        try:
            return bytes(self._maps.doc.get_update(state_vector or b"\x00"))
        except Exception as error:  # pycrdt raises what its Rust part says
            raise LogicError(f"this is no Yjs state vector: {error}") from None


def _check_state_vector(data: bytes) -> None:
    """Raises LogicError: with numbers that its length belies the library goes on for hours."""
    numbers, value, shift = [], 0, 0
    for byte in data[:LONGEST_STATE_VECTOR]:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value = shift = 0
    count, pairs = (numbers[0], numbers[1:]) if numbers else (-1, [])
    whole = len(data) <= LONGEST_STATE_VECTOR and not shift and max(numbers, default=0) < 2**53
    if not whole or len(pairs) != 2 * count:
        raise LogicError("this is no Yjs state vector: send the one of your replica, or none")


def _renew(shown: Any, attributes: dict[str, str]) -> None:
    before = dict(shown.to_py() or {})
    for name in before.keys() - attributes.keys():
        del shown[name]
    for name, text in attributes.items():
        if before.get(name) != text:
            shown[name] = text


class Replica:
    """A copy of a shared tree, as an editor has it. Updates may come doubled, late, in any order
    or not at all: `state_vector` tells the authority what is missing, and until that has come the
    tree is shown as it was.
    """

    def __init__(self) -> None:
        self._maps = _Maps(Doc())
        self._newest: dict[str, dict[str, Any]] = {}
        """Elements that the document has, also while others are missing."""
        touched: set[str] = set()
        self._touched = touched
        """Elements that have changed in the document, and not yet in `_newest`."""
        self._lacks = False
        """Something that came before the last update is missing."""
        # Not a method of this object: what the document holds is never collected.
        self._watch = self._maps.nodes.observe_deep(lambda events: _note(events, touched))
        self.nodes: dict[str, dict[str, Any]] = {}
        """All elements: tag, attributes and children, by identifier."""
        self.files: dict[str, dict[str, Any]] = {}
        """Root element of each file, and whether it has edits that are not saved."""
        self.file = ""
        """The first file, which includes the others."""
        self.revision = 0
        """Number of accepted edits."""

    def apply(self, update: bytes) -> None:
        """Take in an update; raises LogicError if it is none."""
        try:
            self._maps.doc.apply_update(update)
        except Exception as error:  # pycrdt raises what its Rust part says
            raise LogicError(f"this is no Yjs update: {error}") from None
        revision = self._maps.tree.get("revision")
        # Yjs removes at once, but what is new waits for what came before it: that of the revision,
        # which each edit changes last, is not there then.
        if revision is None:
            self._lacks = True
            return
        self._renew()
        nodes = self._newest
        files: dict[str, dict[str, Any]] = self._maps.files.to_py() or {}
        self._lacks = not files or not _is_whole(nodes, files)
        if not self._lacks:
            self.nodes, self.files = dict(nodes), files
            self.revision = int(revision)
            self.file = str(self._maps.tree.get("file") or "")

    def _renew(self) -> None:
        """Only what has changed is read: that of a whole tree takes longer than a tick may. Not all
        that went while something was missing has been told.
        """
        nodes = self._maps.nodes
        if self._lacks:
            self._newest = nodes.to_py() or {}
            self._touched.clear()
        for id in self._touched:
            if id in nodes:
                self._newest[id] = nodes[id].to_py()
            else:
                self._newest.pop(id, None)
        self._touched.clear()

    @property
    def state_vector(self) -> bytes:
        """What is known."""
        return bytes(self._maps.doc.get_state())

    def paths(self) -> dict[str, str]:
        """Paths such as ``Tree/list/node`` of all trees and nodes, by identifier."""
        nodes, found = self.nodes, {}
        for file in self.files.values():
            for tree in nodes[file["root"]]["children"]:
                if nodes[tree]["tag"] == "BehaviorTree":
                    stack = [(tree, nodes[tree]["attributes"].get("ID", ""))]
                    while stack:
                        id, path = stack.pop()
                        found[id] = path
                        inside = nodes[id]["children"]
                        stack += [(each, f"{path}/{_label(nodes[each])}") for each in inside]
        return found

    def find(self, name: str) -> str:
        """Identifier of a node: given itself, by its path, or by the end of that.

        Raises:
            LogicError: none or several are called so
        """
        paths = self.paths()
        if name in self.nodes:
            return name
        found = [id for id, path in paths.items() if path == name] or [
            id for id, path in paths.items() if path.endswith(f"/{name}")
        ]
        if len(found) == 1:
            return found[0]
        if not found:
            raise LogicError(f"there is no node '{name}': write a path such as Tree/node")
        some = ", ".join(f"'{paths[id]}' ({id})" for id in found[:5])
        raise LogicError(
            f"'{name}' may be any of {some}: write more of the path, or the identifier"
        )

    def xml(self, file: str) -> str:
        """A file as it is now, but for comments and layout."""
        nodes = self.nodes
        element = _element(nodes, self.files[file]["root"])
        ElementTree.indent(element)
        return ElementTree.tostring(element, encoding="unicode")


def _note(events: list[Any], touched: set[str]) -> None:
    """Which elements events of the map of all elements are about."""
    for event in events:
        touched.update(event.path[:1] or event.keys)


def _is_whole(nodes: dict[str, dict[str, Any]], files: dict[str, dict[str, Any]]) -> bool:
    """Whether all elements are there that are in others, and nothing else."""
    stack, found = [file["root"] for file in files.values()], 0
    while stack:
        node = nodes.get(stack.pop())
        if node is None or not node.keys() >= {"tag", "attributes", "children"}:
            return False
        found += 1
        stack += node["children"]
    return found == len(nodes)


def _label(node: dict[str, Any]) -> str:
    attributes = node["attributes"]
    return str(attributes.get("name") or attributes.get("ID") or node["tag"])


def _element(nodes: dict[str, dict[str, Any]], id: str) -> ElementTree.Element:
    node = nodes[id]
    attributes = node["attributes"]  # in no order
    names = sorted(attributes, key=lambda name: (name not in ("ID", "name"), name))
    element = ElementTree.Element(node["tag"], {name: attributes[name] for name in names})
    element.extend([_element(nodes, child) for child in node["children"]])
    return element
