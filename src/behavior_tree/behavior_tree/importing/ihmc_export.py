# SPDX-License-Identifier: Apache-2.0
"""From a tree file back to IHMC's behaviour JSON."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from behavior_tree.errors import BehaviorTreeError, LoadError
from behavior_tree.importing.ihmc_fields import of_text, type_name
from behavior_tree.importing.ihmc_json import Number, Object, compact, parse, write_behavior
from behavior_tree.xml.document import Element
from behavior_tree.xml.loader import Loader, some_names

NOTHING = "nothing"
"""Mark of what is not in a behaviour: the child of an empty list, a Step around a list."""
_NOT_PORTS = ("name", "ID", "nominal_duration")
_PLACES = {"previous": "Previous", "beginning": "Beginning"}
_CONDITIONS = {"AlwaysSuccess": "ALWAYS_SUCCEED", "AlwaysFailure": "ALWAYS_FAIL"}
_KINDS = {
    "ConcurrentSequence": "Sequence",
    "Try": "Fallback",
    "Sleep": "Wait",
    "Checkpoint": "Checkpoint",
    "Goto": "Goto",
    **dict.fromkeys(_CONDITIONS, "Condition"),
}


def export_ihmc(path: Path) -> dict[str, str]:
    """The JSON files of a tree and of those that it uses, from included files too: text by name,
    the main tree's first.

    A node that has not been changed since it was imported is written as it was; others in today's
    form.

    Raises:
        BehaviorTreeError: a file cannot be read, no tree is the main one, or there are nodes that
            IHMC's program does not know; all are named
    """
    documents = Loader(lambda: "main_tree", check_names=False).load_file(path)
    if documents.problems:
        raise LoadError(documents.problems)
    trees = {tree_id: _copy(each.element) for tree_id, each in documents.trees.items()}
    main = documents.main_tree or next(iter(documents.own_trees or trees), "")
    if main not in trees:
        raise BehaviorTreeError(f"{path}: there is no tree '{main}' to export")
    if not (documents.main_tree or documents.own_trees or len(trees) == 1):
        known = some_names(trees)
        raise BehaviorTreeError(f"{path}: set main_tree_to_execute to one of {known}")
    writer = _Writer(trees)
    writer.tree(main)
    if writer.problems:
        raise BehaviorTreeError(f"{path}: not exported: " + "; ".join(writer.problems))
    return writer.files


def _copy(element: Element) -> ElementTree.Element:
    """An element as the import makes it."""
    made = ElementTree.Element(element.tag, element.attributes)
    made.extend(map(_copy, element.children))
    return made


class _Writer:
    def __init__(self, trees: dict[str, ElementTree.Element]) -> None:
        self._trees = trees
        self._names: dict[str, str] = {}
        self._written: list[tuple[str, Object, bool]] = []
        """Of a file: the name under which a node is called, the node, and whether it is as it was
        imported."""
        self.files: dict[str, str] = {}
        self.problems: list[str] = []

    def tree(self, tree_id: str, called: str = "") -> str:
        """Write a tree; returns the name of its file: as others call it, or as its root says."""
        if tree_id in self._names:
            return self._names[tree_id]
        roots = self._trees[tree_id]
        if len(roots) != 1:
            self.problems.append(f"tree '{tree_id}' has {len(roots)} roots, one is wanted")
            return called
        root = roots[0]
        names = (called, root.get("name", ""), f"{tree_id}.json")
        free = [each for each in names if each.endswith(".json") and each not in self.files]
        name = free[0] if free else f"{tree_id} ({len(self.files)}).json"
        self._names[tree_id] = name
        self.files[name] = ""
        outer, self._written = self._written, []
        node = self._node(root, None)
        self._follow_names()
        self._written = outer
        self.files[name] = write_behavior(node)
        return name

    def _follow_names(self) -> None:
        """Let nodes that are written as they were call others by the names that these have now."""
        earlier: dict[str, str] = {}
        anywhere: dict[str, set[str]] = {}
        for called, node, _ in self._written:
            anywhere.setdefault(called, set()).add(_name(node))
        for called, node, as_it_was in self._written:
            after, to = node.get("executeAfterAction"), node.get("nodeToGoto")
            if as_it_was and isinstance(after, str) and after not in _PLACES.values():
                node["executeAfterAction"] = earlier.get(after, after)
            if as_it_was and isinstance(to, str) and to != "Next":
                names = anywhere.get(to, ())
                node["nodeToGoto"] = next(iter(names)) if len(names) == 1 else to
            earlier[called] = _name(node)

    def _node(self, element: ElementTree.Element, around: ElementTree.Element | None) -> Object:
        self._check(element, around)
        rule = ruled(element, around)
        mark, _, text = element.get("_ihmc", "").partition(" ")
        said = _said(text)
        as_it_was = said is not None and mark == digest(rule)
        node = dict(said if said is not None and as_it_was else rule)
        self._written.append((_name(said or rule), node, as_it_was))
        if element.tag == "SubTree" and element.get("ID") in self._trees:
            node["file"] = self.tree(element.get("ID", ""), str(node.get("file", "")))
        if "children" in node:
            node["children"] = [self._child(each) for each in _children(element)]
        return node

    def _child(self, element: ElementTree.Element) -> Object:
        if element.tag == "Step" and len(element) == 1:
            return self._node(element[0], element)
        return self._node(element, None)

    def _check(self, element: ElementTree.Element, around: ElementTree.Element | None) -> None:
        name = element.get("name") or element.tag
        known = element.tag in _KINDS or element.tag == "SubTree" or element.tag.startswith("Ihmc")
        if not known:
            self.problems.append(f"'{name}': IHMC has no {element.tag}")
        conditions = [each for each in element.attrib if each.startswith("_") and each not in _KEPT]
        if element.tag == "SubTree" and element.get("ID") not in self._trees:
            self.problems.append(f"'{name}': there is no tree '{element.get('ID', '')}'")
        if conditions:
            self.problems.append(f"'{name}': IHMC has no {', '.join(conditions)}")
        if around is not None and "_ihmc" not in {*around.attrib, *element.attrib}:
            if element.tag in ("ConcurrentSequence", "Try", "SubTree"):
                self.problems.append(f"'{name}': a list of IHMC comes after what is before it")
            elif ";" in around.get("execute_after", ""):
                self.problems.append(f"'{name}': with IHMC a node comes after one other")
        clauses = [each for each in element if each.tag == "Catch"]
        if len(clauses) > 1 or any(set(each.attrib) - {"name"} for each in clauses):
            self.problems.append(f"'{name}': IHMC has one clause, for whatever fails")


_KEPT = ("_ihmc", "_description", "_color", "_collapsed", "_uid", "_fullpath")


def _children(element: ElementTree.Element) -> list[ElementTree.Element]:
    found: list[ElementTree.Element] = []
    for child in element:
        if child.tag == "Catch":
            for handled in child:
                found += list(handled) if handled.tag == "ConcurrentSequence" else [handled]
        elif child.tag == "Step" or child.get("_ihmc") != NOTHING:
            found.append(child)
    return found


def ruled(element: ElementTree.Element, around: ElementTree.Element | None) -> Object:
    """The fields of a node by its attributes alone, without its children.

    Args:
        element: of the node
        around: the Step around it
    """
    if element.tag == "SubTree":
        return {"file": element.get("name", "")}
    kind = _KINDS.get(element.tag, element.tag.removeprefix("Ihmc"))
    node: Object = {
        "type": type_name(kind),
        "name": element.get("name", ""),
        "notes": element.get("_description", ""),
        "children": [],
    }
    if kind in ("Sequence", "Fallback"):
        return node
    after = "previous" if around is None else around.get("execute_after", "previous")
    node["executeAfterAction"] = _PLACES.get(after, after)
    return node | _fields(element)


def _fields(element: ElementTree.Element) -> dict[str, Any]:
    if element.tag == "Sleep":
        return {"waitDuration": Number(float(element.get("msec", "0")) / 1000.0)}
    if element.tag == "Goto":
        return {"nodeToGoto": element.get("to", "")}
    if element.tag in _CONDITIONS:
        return {"conditionType": _CONDITIONS[element.tag]}
    ports = [
        each for each in element.attrib.items() if each[0][0] != "_" and each[0] not in _NOT_PORTS
    ]
    return {name: of_text(text) for name, text in ports}


def _said(text: str) -> Object | None:
    """A node as it was imported; None: that is not kept, or cannot be read any more."""
    try:
        said = parse(text)
    except ValueError:
        return None
    return said if isinstance(said, dict) else None


def _name(node: Object) -> str:
    """What a node is called by in a file."""
    return str(node.get("name", node.get("file", "")))


def digest(rule: Object) -> str:
    """Short mark of what a node was by rule."""
    return hashlib.sha256(compact(rule).encode()).hexdigest()[:8]
