# SPDX-License-Identifier: Apache-2.0
"""A schedule as text for a terminal, and as an SVG picture."""

from __future__ import annotations

import json

from behavior_tree.schedule.outlook import Outlook, Row
from behavior_tree.shown_text import shorten
from behavior_tree.svg import svg_document
from behavior_tree.xml.escape import escape

_NAME, _CELL, _BAR = 20, 8, 32
"""Widths [characters] of a name, of a number, and of the whole time."""
_PLANNED, _MEASURED = ("begin", "end", "nominal"), ("median", "95 %", "last")
"""Columns, and those that are left out if nothing was measured."""
_NAMES = 5
"""Most names that a sentence lists."""
_ROW, _LEFT, _WIDE, _MARGIN = 24.0, 200.0, 640.0, 16.0
"""[px] height of a row, width of the names and of the time, space around it."""
_STEPS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0, 300.0, 600.0, 3600.0)
"""Distances between marks of the time axis [s]."""
_STYLE = (
    ".mark{stroke:#ddd}.bar{fill:#9db9e8;stroke:#3b6fc4}.critical{fill:#f0a8a0;stroke:#c03020}"
    ".unknown{fill:#e8e8e8;stroke:#777}"
)


def timeline_text(outlook: Outlook) -> list[str]:
    """Lines with a bar for each leaf that takes time: thick ones are those that the end waits for,
    all times are in seconds.
    """
    rows, end = outlook.rows(), outlook.predicted.end
    measured = any(row.duration.measured for row in rows)
    columns = _PLANNED + (_MEASURED if measured else ())
    lines = [" " * _NAME + "".join(f"{name:>{_CELL}}" for name in columns)]
    for row in rows:
        bar, known = row.bar, row.duration
        times = (bar.begin, bar.end, known.nominal, known.median, known.most, known.last)
        cells = "".join(f"{_seconds(each):>{_CELL}}" for each in times[: len(columns)])
        lines.append(f"{_fitted(_label(row)):{_NAME}}{cells}  {_drawn(row, end)}".rstrip())
    return [*lines, "", *summary(outlook)]


def summary(outlook: Outlook) -> list[str]:
    """What a schedule comes to, in sentences."""
    plan = outlook.predicted
    text = f"predicted {plan.end:.3f} s, one after the other {plan.sequential:.3f} s"
    if plan.sequential > plan.end:
        text += f" ({plan.end / plan.sequential - 1:+.0%})"
    lines = [text]
    if outlook.pessimistic.end != plan.end:
        lines.append(f"with every leaf at its 95 %: {outlook.pessimistic.end:.3f} s")
    if outlook.nominal.end != plan.end and not outlook.nominal.unknown:
        lines.append(f"nominal {outlook.nominal.end:.3f} s")
    if outlook.measured is not None:
        lines.append(f"measured the last time {outlook.measured:.3f} s")
    if plan.critical:
        chain = " -> ".join(str(bar.node.name) for bar in plan.critical)
        lines.append(f"the end waits for: {chain}")
    if plan.unknown:
        names = list(dict.fromkeys(str(bar.node.name) for bar in plan.unknown))
        listed = ", ".join(names[:_NAMES])
        more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
        lines.append(f"nobody knows how long these take, they count as nothing: {listed}{more}")
    return lines


def timeline_json(outlook: Outlook) -> str:
    """The same as `timeline_text`, for programs. All times are in seconds."""
    plan = outlook.predicted
    rows = [
        {
            "path": row.bar.node.full_path(),
            "begin": row.bar.begin,
            "end": row.bar.end,
            "nominal": row.duration.nominal,
            "median": row.duration.median,
            "percentile_95": row.duration.most,
            "last": row.duration.last,
            "critical": row.critical,
            "known": row.bar.known,
        }
        for row in outlook.rows()
    ]
    whole = {
        "predicted": plan.end,
        "sequential": plan.sequential,
        "percentile_95": outlook.pessimistic.end,
        "measured": outlook.measured,
        "critical": [bar.node.full_path() for bar in plan.critical],
        "leaves": rows,
    }
    return json.dumps(whole, indent=1)


def timeline_svg(outlook: Outlook, title: str) -> str:
    """An SVG document with a bar for each leaf that takes time, the critical ones in red."""
    rows, end = outlook.rows(), outlook.predicted.end
    texts = summary(outlook)
    top = 2 * _MARGIN + _ROW
    bottom = top + _ROW * len(rows)
    width = _LEFT + _WIDE + 5 * _MARGIN
    height = bottom + _ROW * (len(texts) + 2)
    scale = _WIDE / end if end > 0 else 0.0
    body = [f'<text class="title" x="{_MARGIN:g}" y="{_MARGIN + 12:g}">{escape(title)}</text>']
    for mark in _marks(end):
        x = _LEFT + mark * scale
        body.append(f'<path class="mark" d="M{x:g} {top - 4:g}V{bottom:g}"/>')
        body.append(f'<text class="small" x="{x + 3:g}" y="{top - 6:g}">{mark:g} s</text>')
    for index, row in enumerate(rows):
        body += _svg_row(row, top + _ROW * index, scale)
    for index, text in enumerate(texts):
        y = bottom + _ROW * (index + 1)
        body.append(f'<text x="{_MARGIN:g}" y="{y:g}">{escape(text)}</text>')
    return svg_document(width, height, _STYLE, body)


def _svg_row(row: Row, y: float, scale: float) -> list[str]:
    bar = row.bar
    x, wide = _LEFT + bar.begin * scale, max((bar.end - bar.begin) * scale, 2.0)
    kind = "critical" if row.critical else "bar" if bar.known else "unknown"
    duration = f"{bar.end - bar.begin:.2f} s" if bar.known else "not known"
    tip = f"{bar.node.full_path()}: {bar.begin:.3f} s to {bar.end:.3f} s"
    name = escape(_fitted(_label(row)))
    return [
        f'<text x="{_MARGIN:g}" y="{y + 16:g}">{name}</text>',
        f'<rect class="{kind}" x="{x:g}" y="{y + 4:g}" width="{wide:g}" height="{_ROW - 8:g}" '
        f'rx="3"><title>{escape(tip)}</title></rect>',
        f'<text class="small" x="{x + wide + 4:g}" y="{y + 16:g}">{duration}</text>',
    ]


def _marks(end: float) -> list[float]:
    step = next((each for each in _STEPS if end <= 12 * each), end or 1.0)
    return [index * step for index in range(int(end / step) + 1)]


def _label(row: Row) -> str:
    times = f" ({row.bar.times} times)" if row.bar.times > 1 else ""
    return f"{shorten(str(row.bar.node.name))}{times}"


def _fitted(text: str) -> str:
    return text if len(text) < _NAME else text[: _NAME - 2] + "…"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _drawn(row: Row, end: float) -> str:
    if not row.bar.known:
        return " " * round(_BAR * row.bar.begin / end if end else 0) + "?"
    first = round(_BAR * row.bar.begin / end)
    last = max(round(_BAR * row.bar.end / end), first + 1)
    return " " * first + ("━" if row.critical else "─") * (last - first)
