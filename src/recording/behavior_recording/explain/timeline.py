# SPDX-License-Identifier: Apache-2.0
"""When each leaf ran, as an SVG that takes its colours from the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from behavior_recording.replay.story import Span, Story
from behavior_recording.tree_document import RecordedNode
from behavior_tree.basic_types import NodeStatus
from behavior_tree.xml.escape import escape

_MOST_ROWS = 40
_NAMES, _WIDE, _ROW, _TOP, _RIGHT = 210.0, 830.0, 22.0, 36.0, 20.0
"""[px] room for names, of the time axis, of a row, above the rows, right of the axis."""
_FINE = 4.0
"""[px] Bars that are shorter are put together."""
_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600)
_CLASSES = {
    NodeStatus.SUCCESS: "success",
    NodeStatus.FAILURE: "failure",
    NodeStatus.RUNNING: "running",
    NodeStatus.SKIPPED: "skipped",
    NodeStatus.IDLE: "halted",
}
_LONGEST = 30


def timeline_svg(story: Story, marks: Sequence[tuple[int, str]], moment: int) -> str:
    """An ``<svg>`` element: a row for each leaf that ran, a bar for each of its runs.

    Args:
        story: the run
        marks: what somebody did from outside: time [ns] and text
        moment: a line is drawn at this time [ns]
    """
    rows, left_out = _rows(story)
    span = max(story.end - story.begin, 1)
    bottom = _TOP + _ROW * len(rows)
    height = bottom + (_ROW if left_out else 6)
    body = list(_axis(span / 1e9, bottom))
    for index, (node, spans) in enumerate(rows):
        body += _row(story, node, spans, _TOP + _ROW * index, span)
    for time, text in marks:
        if story.begin <= time <= story.end:
            x = _x(time, story, span)
            body.append(
                f'<path class="mark" d="M{x:.1f} {_TOP - 9:g}l4 -7h-8z">'
                f"<title>{escape(text)}</title></path>"
            )
    if story.begin <= moment <= story.end:
        body.append(
            f'<path class="now" d="M{_x(moment, story, span):.1f} {_TOP - 4:g}V{bottom:g}"/>'
        )
    if left_out:
        body.append(f'<text x="4" y="{bottom + 16:g}">and {left_out} more leaves</text>')
    width = _NAMES + _WIDE + _RIGHT
    return (
        f'<svg class="timeline" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="when each leaf ran">{"".join(body)}</svg>'
    )


def _rows(story: Story) -> tuple[list[tuple[RecordedNode, list[Span]]], int]:
    """Leaves that ran, in the order of the tree, those that matter most if there are too many."""
    spans: dict[int, list[Span]] = {}
    for span in story.spans:
        spans.setdefault(span.uid, []).append(span)
    found = [(node, spans[node.uid]) for node in story.leaves() if node.uid in spans]
    if len(found) <= _MOST_ROWS:
        return found, 0

    def weight(row: tuple[RecordedNode, list[Span]]) -> tuple[bool, int]:
        told = any(span.reason for span in row[1])
        return told, sum(span.end - span.begin for span in row[1])

    kept = {row[0].uid for row in sorted(found, key=weight, reverse=True)[:_MOST_ROWS]}
    return [row for row in found if row[0].uid in kept], len(found) - _MOST_ROWS


def _axis(duration: float, bottom: float) -> Iterator[str]:
    step = next((each for each in _STEPS if duration <= 10 * each), duration / 10)
    for index in range(int(duration / step) + 1):
        x = _NAMES + _WIDE * index * step / duration
        yield f'<path class="grid" d="M{x:.1f} {_TOP - 4:g}V{bottom:g}"/>'
        yield f'<text class="time" x="{x:.1f}" y="12">{index * step:g} s</text>'


def _row(
    story: Story, node: RecordedNode, spans: list[Span], y: float, duration: int
) -> Iterator[str]:
    name = node.name if len(node.name) <= _LONGEST else f"{node.name[: _LONGEST - 1]}…"
    yield f'<text x="4" y="{y + 15:g}">{escape(name)}<title>{escape(node.path)}</title></text>'
    for left, right, span, count in _bars(story, spans, duration):
        times = f", {count} times" if count > 1 else ""
        why = f": {span.reason}" if span.reason else ""
        begin, end = ((each - story.begin) / 1e9 for each in (span.begin, span.end))
        word = "halted" if span.result is NodeStatus.IDLE else span.result.name
        tip = f"{node.path}: {word}{times}, {begin:.2f} s to {end:.2f} s{why}"
        yield (
            f'<rect class="{_CLASSES[span.result]}" x="{left:.1f}" y="{y + 4:g}" '
            f'width="{max(right - left - 1, 3):.1f}" height="{_ROW - 8:g}" rx="2.5">'
            f"<title>{escape(tip)}</title></rect>"
        )


def _bars(
    story: Story, spans: list[Span], duration: int
) -> Iterator[tuple[float, float, Span, int]]:
    """Ends of each bar [px], its last span, and how many it stands for: those that nobody could
    tell apart are one.
    """
    bar: tuple[float, float, Span, int] | None = None
    for span in spans:
        left, right = _x(span.begin, story, duration), _x(span.end, story, duration)
        alike = bar is not None and bar[2].result is span.result and left <= bar[1] + 1
        if bar is not None and alike and min(right - left, bar[1] - bar[0]) < _FINE:
            bar = (bar[0], max(right, bar[1]), span, bar[3] + 1)
            continue
        if bar is not None:
            yield bar
        bar = (left, right, span, 1)
    if bar is not None:
        yield bar


def _x(time: int, story: Story, duration: int) -> float:
    return _NAMES + _WIDE * (time - story.begin) / duration
