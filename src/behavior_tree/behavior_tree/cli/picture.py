# SPDX-License-Identifier: Apache-2.0
"""Trees as an SVG picture.

The tree grows from left to right, one column per level, so that names stay readable however many
nodes there are. Siblings with all that is below them are pushed together until two boxes of one
column touch (the contours of Reingold and Tilford, "Tidier Drawings of Trees", 1981), and their
parent stands in the middle: nothing overlaps, and children keep their order from top to bottom.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from behavior_tree.basic_types import NodeStatus
from behavior_tree.cli.drawing import Drawn
from behavior_tree.svg import svg_document
from behavior_tree.xml.escape import escape

_FILL = {
    "control": "#dbe7fb",
    "decorator": "#e9defa",
    "action": "#dcf3de",
    "condition": "#fdf0c8",
    "subtree": "#d3f0f2",
    "unknown": "#e8e8e8",
}
_EDGE = {
    "control": "#3b6fc4",
    "decorator": "#7b4fc0",
    "action": "#3a8f45",
    "condition": "#b08a10",
    "subtree": "#1f8a93",
    "unknown": "#777777",
}
_STATUS = {
    NodeStatus.IDLE: "#9a9a9a",
    NodeStatus.RUNNING: "#e08600",
    NodeStatus.SUCCESS: "#1d9a35",
    NodeStatus.FAILURE: "#d02828",
    NodeStatus.SKIPPED: "#3f7fd0",
}
_SYMBOLS = {
    **dict.fromkeys(("Sequence", "AsyncSequence", "SequenceWithMemory", "ReactiveSequence"), "→"),
    **dict.fromkeys(("Fallback", "AsyncFallback", "ReactiveFallback"), "?"),
    **dict.fromkeys(("Parallel", "ParallelAll"), "⇉"),
    "Inverter": "!",
}
_LINE, _PAD, _GAP, _COLUMN_GAP, _MARGIN = 15.0, 6.0, 8.0, 34.0, 16.0
"""[px] height of a line of text, inside a box, between boxes, between columns, around it all."""
_MOST_LINES, _LONGEST = 4, 44
"""Attributes shown in a box, and characters shown of a line."""
_WIDE, _NARROW = 7.4, 6.3
"""[px] of a character of the bold and of the small font."""
_LEGEND = 960.0
"""[px] width of the legend."""
_STYLE = ".name{font-size:12px;font-weight:bold}.edge{fill:none;stroke:#888;stroke-width:1.2}"


@dataclass
class _Box:
    node: Drawn
    lines: list[str]
    width: float
    height: float
    children: list[_Box] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0
    """Top, at first relative to that of the parent."""


def svg_picture(trees: Sequence[tuple[str, Drawn]]) -> str:
    """An SVG document of trees with their titles, one above the other.

    Args:
        trees: title and root node of each
    """
    body: list[str] = []
    top, right = _MARGIN, 420.0
    for title, root in trees:
        box = _box(root)
        _arrange(box)
        _place(box, _column_positions(box), 0, 0.0)
        boxes = list(_all(box))
        above = min(each.y for each in boxes)
        for each in boxes:
            each.y += top + 28 - above
        body.append(f'<text class="title" x="{_MARGIN:g}" y="{top + 16:g}">{escape(title)}</text>')
        body += [line for each in boxes for line in _edges(each)]
        body += [line for each in boxes for line in _drawing(each)]
        top = max(each.y + each.height for each in boxes) + 2 * _MARGIN
        right = max([right, *(each.x + each.width for each in boxes)])
    body += _legend(top)
    return svg_document(max(right + _MARGIN, _LEGEND), top + 40, _STYLE, body)


def _box(node: Drawn) -> _Box:
    symbol = _SYMBOLS.get(node.type_id, "")
    head = [_shortened(f"{symbol} {node.name or node.type_id}".strip())]
    small: list[str] = []
    if node.category == "subtree":
        small.append(_shortened(f"SubTree {node.type_id}"))
    elif node.name:
        small.append(_shortened(node.type_id))
    ports = [_shortened(f"{key}: {text}") for key, text in node.attributes.items()]
    if len(ports) > _MOST_LINES:
        ports = [*ports[: _MOST_LINES - 1], f"and {len(ports) - _MOST_LINES + 1} more"]
    lines = [*head, *small, *ports]
    width = max(len(head[0]) * _WIDE, *(len(line) * _NARROW for line in lines)) + 4 * _PAD
    height = len(lines) * _LINE + 2 * _PAD
    return _Box(node, lines, width, height, [_box(child) for child in node.children])


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _column_positions(root: _Box) -> list[float]:
    """Left edge of each level."""
    widths: list[float] = []
    level = [root]
    while level:
        widths.append(max(box.width for box in level))
        level = [child for box in level for child in box.children]
    positions = [_MARGIN]
    for width in widths:
        positions.append(positions[-1] + width + _COLUMN_GAP)
    return positions


_Contour = list[tuple[float, float]]
"""Highest and lowest edge per level, relative to the top of the subtree's root."""


def _arrange(box: _Box) -> _Contour:
    """Set the places of all boxes below one, relative to their parents."""
    below: _Contour = []
    for child in box.children:
        contour = _arrange(child)
        pairs = zip(below, contour, strict=False)
        child.y = max([low + _GAP - high for (_, low), (high, _) in pairs], default=0.0)
        moved = [(high + child.y, low + child.y) for high, low in contour]
        shared = [(old[0], new[1]) for old, new in zip(below, moved, strict=False)]
        below = [*shared, *below[len(shared) :], *moved[len(shared) :]]
    if not box.children:
        return [(0.0, box.height)]
    first, last = box.children[0], box.children[-1]
    middle = (first.y + first.height / 2 + last.y + last.height / 2) / 2
    shift = box.height / 2 - middle
    for child in box.children:
        child.y += shift
    return [(0.0, box.height), *((high + shift, low + shift) for high, low in below)]


def _place(box: _Box, columns: list[float], depth: int, top: float) -> None:
    """Turn relative into absolute places."""
    box.x, box.y = columns[depth], top + box.y
    for child in box.children:
        _place(child, columns, depth + 1, box.y)


def _all(box: _Box) -> Iterable[_Box]:
    yield box
    for child in box.children:
        yield from _all(child)


def _edges(box: _Box) -> list[str]:
    lines = []
    x, y = box.x + box.width, box.y + box.height / 2
    for child in box.children:
        end_x, end_y = child.x, child.y + child.height / 2
        bend = max(child.x - _COLUMN_GAP * 0.5, x)
        status = child.node.status
        active = status is not None and status is not NodeStatus.IDLE
        style = f' style="stroke:{_STATUS[status]};stroke-width:2"' if active and status else ""
        lines.append(f'<path class="edge"{style} d="M{x:g} {y:g}H{bend:g}V{end_y:g}H{end_x:g}"/>')
    return lines


def _drawing(box: _Box) -> list[str]:
    category, status = box.node.category, box.node.status
    edge, width = _EDGE[category], 1.2
    if status is not None and status is not NodeStatus.IDLE:
        edge, width = _STATUS[status], 3.0
    radius = 10 if category in ("action", "condition") else 3
    label = f"{box.node.head}" + (f" [{status.name}]" if status is not None else "")
    tip = "\n".join([label, *(f"{key}: {text}" for key, text in box.node.attributes.items())])
    lines = [
        f"<g><title>{escape(tip)}</title>",
        f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" '
        f'rx="{radius}" fill="{_FILL[category]}" stroke="{edge}" stroke-width="{width:g}"/>',
    ]
    if category == "subtree":
        lines.append(
            f'<rect x="{box.x + 3:g}" y="{box.y + 3:g}" width="{box.width - 6:g}" '
            f'height="{box.height - 6:g}" rx="2" fill="none" stroke="{edge}" stroke-width="0.8"/>'
        )
    for number, text in enumerate(box.lines):
        kind = "name" if number == 0 else "small"
        y = box.y + _PAD + (number + 0.78) * _LINE
        lines.append(
            f'<text class="{kind}" x="{box.x + 2 * _PAD:g}" y="{y:g}">{escape(text)}</text>'
        )
    return [*lines, "</g>"]


def _legend(top: float) -> list[str]:
    lines, x = [], _MARGIN
    colours = [*_FILL.items(), *((each.name, _STATUS[each]) for each in _STATUS)]
    for name, colour in colours:
        lines.append(
            f'<rect x="{x:g}" y="{top:g}" width="12" height="12" rx="2" fill="{colour}" '
            'stroke="#555"/>'
        )
        lines.append(f'<text class="small" x="{x + 17:g}" y="{top + 10:g}">{name}</text>')
        x += 30 + len(name) * _WIDE
    return lines
