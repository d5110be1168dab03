# SPDX-License-Identifier: Apache-2.0
"""A behavior tree with its statuses as an indented list in HTML. Pure."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

# BehaviorTree.CPP's numbers: IDLE, RUNNING, SUCCESS, FAILURE, SKIPPED.
_COLOURS = {0: "#8a8f98", 1: "#d98a00", 2: "#1f9d4d", 3: "#d23f31", 4: "#6b7fd1"}
_SYMBOLS = {0: "○", 1: "▶", 2: "✔", 3: "✘", 4: "↷"}
_IDLE = 0


@dataclass(frozen=True)
class TreeLine:
    """One node of the list."""

    depth: int
    text: str
    uid: int | None
    """Number by which statuses name it; None where the XML gives none."""


def tree_lines(xml: str) -> list[TreeLine]:
    """The nodes of a tree document in the order of ticking, subtrees in their places.

    Args:
        xml: a document in BehaviorTree.CPP's format, best with `_uid` on its nodes and `_fullpath`
            on its subtrees.

    Returns:
        The lines; none when the text is no such document.
    """
    try:
        root = ElementTree.fromstring(xml)
    except ElementTree.ParseError:
        return []
    trees: dict[str, ElementTree.Element] = {}
    for tree in root.iter("BehaviorTree"):
        trees.setdefault(tree.get("ID", ""), tree)
        trees[_address(tree)] = tree
    main = root.get("main_tree_to_execute") or next(iter(trees), "")
    if main not in trees:
        return []
    return list(_walk(trees[main], trees, depth=0, seen=(main,)))


def tree_html(lines: list[TreeLine], statuses: Mapping[int, int]) -> str:
    """The list with every node in the colour of its status."""
    rows = []
    for line in lines:
        status = statuses.get(line.uid, _IDLE) if line.uid is not None else _IDLE
        weight = "bold" if status == 1 else "normal"
        rows.append(
            f'<div style="padding-left:{0.9 * line.depth:.1f}em;color:{_COLOURS.get(status)};'
            f'font-weight:{weight};white-space:nowrap">'
            f"{_SYMBOLS.get(status, '?')} {html.escape(line.text)}</div>"
        )
    body = "".join(rows) or '<div style="color:#8a8f98">no tree runs</div>'
    return (
        '<div style="font-family:monospace;font-size:11px;line-height:1.35;'
        f'overflow:auto;max-height:45vh;padding:0 0.8em">{body}</div>'
    )


def _walk(
    parent: ElementTree.Element,
    trees: Mapping[str, ElementTree.Element],
    *,
    depth: int,
    seen: tuple[str, ...],
) -> Iterator[TreeLine]:
    for element in parent:
        if not isinstance(element.tag, str):
            continue
        uid = element.get("_uid")
        yield TreeLine(depth, _title(element), int(uid) if uid and uid.isdigit() else None)
        yield from _walk(element, trees, depth=depth + 1, seen=seen)
        subtree = _address(element)
        if element.tag == "SubTree" and not len(element) and subtree not in seen:
            inner = trees.get(subtree)
            if inner is not None:
                yield from _walk(inner, trees, depth=depth + 1, seen=(*seen, subtree))


def _address(element: ElementTree.Element) -> str:
    """What leads from a SubTree to its tree: the instance's path, else the tree's ID."""
    return element.get("_fullpath", "") or element.get("ID", "")


def _title(element: ElementTree.Element) -> str:
    """Kind and name of a node: `Pick "fetch"`."""
    kind = element.get("ID", element.tag) if element.tag in _EXPLICIT else element.tag
    if element.tag == "SubTree":
        kind = f"SubTree {element.get('ID', '')}"
    name = element.get("name")
    return kind if name in (None, "", kind, element.get("ID")) else f'{kind} "{name}"'


_EXPLICIT = {"Action", "Condition", "Control", "Decorator"}
