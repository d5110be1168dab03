# SPDX-License-Identifier: Apache-2.0
"""A behavior tree with its statuses as an indented list in HTML. Pure."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

# BehaviorTree.CPP's numbers.
_IDLE, _RUNNING, _SUCCESS, _FAILURE, _SKIPPED = range(5)
_HALTED = -1
"""Ours: was running when its tree was ended from outside."""
_COLOURS = {
    _IDLE: "#8a8f98",
    _RUNNING: "#d98a00",
    _SUCCESS: "#1f9d4d",
    _FAILURE: "#6b5b73",
    _SKIPPED: "#6b7fd1",
    _HALTED: "#8a8f98",
}
_ALARM = "#d23f31"
_SYMBOLS = {_IDLE: "○", _RUNNING: "▶", _SUCCESS: "✔", _FAILURE: "✘", _SKIPPED: "↷", _HALTED: "■"}


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


def tree_html(lines: list[TreeLine], statuses: Mapping[int, int], *, halted: bool = False) -> str:
    """The list with every node in the colour of its status.

    A failure is an alarm where it made the whole tree fail: everywhere else it is an answer, such
    as a condition that does not hold.

    Args:
        lines: of `tree_lines`.
        statuses: by number of the node; IDLE where there is none.
        halted: the tree was ended from outside: nothing of it runs.
    """
    rows = []
    fatal: list[bool] = []  # of the nodes from the root to this one: failed, and so did all above
    for line in lines:
        status = statuses.get(line.uid, _IDLE) if line.uid is not None else _IDLE
        if halted and status == _RUNNING:
            status = _HALTED
        del fatal[line.depth :]
        above = all(fatal)
        fatal.append(above and (status == _FAILURE or line.uid is None))
        colour = _ALARM if above and status == _FAILURE else _COLOURS.get(status, _COLOURS[_IDLE])
        rows.append(
            f'<div style="padding-left:{0.9 * line.depth:.1f}em;color:{colour};'
            f'font-weight:{"bold" if status == _RUNNING else "normal"};white-space:nowrap">'
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
