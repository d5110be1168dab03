# SPDX-License-Identifier: Apache-2.0
"""The nodes of one behaviour file: their kinds, names and places, and which comes after which.

IHMC runs the leaves of all lists as one sequence. Here each list is one of its own, so what a leaf
comes after is looked for among the children of its list. Where that is not the same, it begins
later here, never earlier, and a note says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from behavior_tree.errors import BehaviorTreeError
from behavior_tree.importing.ihmc_fields import kind_of
from behavior_tree.importing.ihmc_json import Object

LISTS = ("Sequence", "Root", "Basic", "Fallback")
"""Kinds that have children and mean something by themselves."""
HARD_CODED = ("DoorTraversal", "BuildingExploration", "TrashCanInteraction", "AI2R")
"""Kinds that have children and a program of their own."""
_RESERVED = ("previous", "beginning", "gosub", "=", "")
_OTHERWISE = str.maketrans(";{}", ",()")
"""What would not be a name where a node is called by it, and what is written instead."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
Warn = Callable[[str], None]


@dataclass(eq=False)
class IhmcNode:
    """One node of a file."""

    json: Object
    kind: str
    name: str
    parent: IhmcNode | None
    children: list[IhmcNode] = field(default_factory=list)
    catch: IhmcNode | None = None
    """What a Fallback does if a child of its own fails; None: nothing."""
    after: list[str] = field(default_factory=list)
    """Children of its list that it waits for; empty: the one before it."""
    is_first: bool = False
    """Whether it begins with its list, wherever it stands."""
    is_named: bool = False
    """Whether a node calls it by its name that is no child of the same list."""

    @property
    def said_name(self) -> str:
        """Its name in the file."""
        return str(self.json.get("name", self.json.get("file", "")))

    @property
    def is_list(self) -> bool:
        """Whether it has children."""
        return self.kind in LISTS or self.kind in HARD_CODED

    def above(self) -> list[IhmcNode]:
        """Its parents, the nearest first."""
        return [] if self.parent is None else [self.parent, *self.parent.above()]

    def all(self) -> Iterator[IhmcNode]:
        """Itself and all below, in order."""
        yield self
        for child in [*self.children, *([self.catch] if self.catch else [])]:
            yield from child.all()


def read_nodes(json: Object, warn: Warn) -> IhmcNode:
    """The nodes of a file; ``warn`` is given what cannot be carried over.

    Raises:
        BehaviorTreeError: a node lacks what every node has
    """
    root = _read(json, None)
    _name_apart(root)
    for node in root.all():
        if node.kind == "Fallback":
            _split(node, warn)
    earlier: list[IhmcNode] = []
    for node in root.all():
        _order(node, earlier, warn)
        earlier.append(node)
    return root


def _read(json: Any, parent: IhmcNode | None) -> IhmcNode:
    where = f"in '{parent.said_name}'" if parent else "at the root"
    if not isinstance(json, dict):
        raise BehaviorTreeError(f"{where}: a child is no object")
    if isinstance(json.get("file"), str):
        return IhmcNode(json, "File", json["file"], parent)
    type_name, name, children = json.get("type"), json.get("name", ""), json.get("children", [])
    if not isinstance(type_name, str) or not isinstance(name, str):
        raise BehaviorTreeError(f"{where}: a node needs texts 'type' and 'name', or 'file'")
    if not isinstance(children, list):
        raise BehaviorTreeError(f"'{name}': its children are no list")
    node = IhmcNode(json, kind_of(type_name), name, parent)
    if children and not node.is_list:
        raise BehaviorTreeError(f"'{name}': a {node.kind} has no children")
    node.children = [_read(child, node) for child in children]
    return node


def _name_apart(root: IhmcNode) -> None:
    """Two children of a list need two names, and none may mean something else; two SubTrees of a
    tree, too.
    """
    files: set[str] = set()
    for node in root.all():
        taken: set[str] = set()
        for child in node.children:
            plain = _CONTROL.sub(" ", child.said_name.translate(_OTHERWISE)).strip()
            plain = f"{plain or child.kind} node" if plain.lower() in _RESERVED else plain
            name, number = plain, 2
            while name in taken or (child.kind == "File" and name in files):
                name, number = f"{plain} ({number})", number + 1
            taken.add(name)
            if child.kind == "File":
                files.add(name)
            child.name = name


def _split(node: IhmcNode, warn: Warn) -> None:
    """What is tried is the first child and those that begin with it; the others are the catch."""
    children, tried = node.children, 1
    while tried < len(children) and _begins_with(children[tried], node):
        tried += 1
    if tried < len(children):
        node.catch = IhmcNode({}, "Catch", f"if {node.name} fails", node, children[tried:])
        for child in children[tried:]:
            child.parent = node.catch
        node.children = children[:tried]
    else:
        warn(f"'{node.name}': nothing is done when it fails, so it is a plain list")


def _begins_with(child: IhmcNode, fallback: IhmcNode) -> bool:
    after = child.json.get("executeAfterAction", "Previous")
    inside = {each.said_name for node in fallback.children for each in node.all()}
    return not child.is_list and after != "Previous" and after not in inside


def _order(node: IhmcNode, earlier: list[IhmcNode], warn: Warn) -> None:
    """What a node waits for."""
    if node.parent is None or node.kind in ("Catch", "File") or node.is_list:
        return
    wanted = node.json.get("executeAfterAction")
    if wanted is None:
        _legacy(node, warn)
    elif wanted == "Beginning":
        node.is_first = True
        if node.parent.parent is not None:
            warn(f"'{node.name}' begins with its list '{node.parent.name}', not with the whole")
    elif wanted != "Previous":
        found = next((each for each in reversed(earlier) if each.said_name == wanted), None)
        if found is None:
            warn(f"'{node.name}' comes after '{wanted}', which no node before it in this file is")
        else:
            _after(node, found, warn)


def _after(node: IhmcNode, found: IhmcNode, warn: Warn) -> None:
    parent, path = node.parent, [found, *found.above()]
    assert parent is not None
    if found in node.above():
        node.is_first = found.is_named = True
        if found is not parent:
            warn(f"'{node.name}' begins with its list '{parent.name}', not with '{found.name}'")
        return
    own = next((each for each in path if each.parent is parent), None)
    found.is_named = found.is_named or own is not found
    if own is not None:
        node.after = [own.name]
        if own is not found or own.is_list:
            warn(f"'{node.name}' waits for the whole of '{own.name}'")
        return
    node.is_first = True
    warn(f"'{node.name}' begins with its list '{parent.name}', which waits for '{found.name}'")
    for group in node.above():
        outer = next((each for each in path if each.parent is group.parent), None)
        if outer is not None and group.parent is not None and group.kind != "Catch":
            before = group.parent.children[: group.parent.children.index(group)]
            names = [each.name for each in before if each is outer or each is before[-1]]
            group.after = list(dict.fromkeys([*group.after, *names]))
            return


def _legacy(node: IhmcNode, warn: Warn) -> None:
    """Older files say of a node that the next one begins with it."""
    assert node.parent is not None
    nodes = node.parent.children
    place = first = nodes.index(node)
    while first and _with_next(nodes[first - 1]):
        first -= 1
    if first < place and first:
        node.after = _together(nodes, first - 1)
    elif first < place:
        node.is_first = True
    elif place and len(_together(nodes, place - 1)) > 1:
        node.after = _together(nodes, place - 1)


def _together(nodes: list[IhmcNode], last: int) -> list[str]:
    """Names of the nodes that begin at once, up to one of them."""
    first = last
    while first and _with_next(nodes[first - 1]):
        first -= 1
    return [each.name for each in nodes[first : last + 1]]


def _with_next(node: IhmcNode) -> bool:
    return node.json.get("executeWithNextAction") is True
