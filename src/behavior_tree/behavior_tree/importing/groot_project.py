# SPDX-License-Identifier: Apache-2.0
"""Projects of Groot2 (``.btproj``): one tree file that includes all theirs.

The tree files of a project do not name each other: only the project ties them together, and holds
the models of the node types.
"""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree

from behavior_tree.errors import BehaviorTreeError
from behavior_tree.importing.imported import Imported
from behavior_tree.xml.document import Element, parse_xml
from behavior_tree.xml.elements import below


def import_groot(path: Path, target: Path) -> Imported:
    """Make the tree file of a project.

    Args:
        path: of the project
        target: where the tree file will stand: paths are relative to it

    Raises:
        BehaviorTreeError: it is no project, or files are missing
        OSError: it cannot be read
    """
    project = parse_xml(path.read_bytes(), str(path))
    version = project.get("BTCPP_format") or "3"
    if project.tag != "root" or version != "4":
        why = f"its BTCPP_format is {version}" if project.tag == "root" else "its root is no <root>"
        raise BehaviorTreeError(f"{path}: no project of Groot2: {why}; 4 is wanted")
    root = ElementTree.Element("root", BTCPP_format="4")
    missing: list[str] = []
    main, notes, trees = "", [], _trees(project)
    for include in (each for each in below(project) if each.tag == "include"):
        if include.get("ros_pkg"):
            ElementTree.SubElement(root, "include", include.attributes)
            notes.append(f"{include.get('path')} is looked for in package {include.get('ros_pkg')}")
            continue
        file = (path.parent / (include.get("path") or "")).resolve()
        if not file.is_file():
            missing.append(str(file))
            continue
        if file == target.resolve():
            why = "is one of the project's tree files: choose another one to be written"
            raise BehaviorTreeError(f"{target} {why}")
        relative = os.path.relpath(file, target.resolve().parent)
        ElementTree.SubElement(root, "include", path=Path(relative).as_posix())
        included = parse_xml(file.read_bytes(), str(file))
        main = main or included.get("main_tree_to_execute") or ""
        trees += _trees(included)
    if missing:
        raise BehaviorTreeError(f"{path}: no such files: {', '.join(missing)}")
    for kind in ("BehaviorTree", "TreeNodesModel"):
        root.extend(_copy(each) for each in project.children if each.tag == kind)
    only = trees[0] if len(trees) == 1 else ""
    main = project.get("main_tree_to_execute") or main or only
    if main:
        root.set("main_tree_to_execute", main)
    else:
        notes.append("no file says which tree is the main one: set main_tree_to_execute")
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return Imported(f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n', tuple(notes))


def _trees(root: Element) -> list[str]:
    """The trees that a document has."""
    return [each.get("ID") or "" for each in below(root) if each.tag == "BehaviorTree"]


def _copy(element: Element) -> ElementTree.Element:
    """An element with all in it, and the line breaks of its attributes."""
    made = ElementTree.Element(element.tag, element.attributes)
    made.text = element.text or None
    made.extend(map(_copy, element.children))
    return made
