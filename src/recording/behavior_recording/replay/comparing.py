# SPDX-License-Identifier: Apache-2.0
"""Two runs of one tree: where did they part?

Runs are never as fast as each other, and nodes that run beside each other end in any order. So what
is compared is what each node came to the first time, the second time, and so on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from behavior_recording.errors import RecordingError
from behavior_recording.moments import RecordedEntry
from behavior_recording.replay.history import History
from behavior_recording.replay.story import Span, Story
from behavior_recording.replay.text import entry_text
from behavior_tree.basic_types import NodeStatus


@dataclass(frozen=True)
class Side:
    """What a node did in one of two runs."""

    time: float
    """Since the beginning of the run [s]."""
    status: str
    """Name of its result, or `halted`."""
    reason: str

    def __str__(self) -> str:
        why = f": {self.reason}" if self.reason else ""
        return f"{self.status} at {self.time:.3f} s{why}"


@dataclass(frozen=True)
class Comparison:
    """Where two runs part."""

    path: str = ""
    """The node that came to something else; empty: none did."""
    number: int = 0
    """For the how manieth time it ended, from 1."""
    first: Side | None = None
    """In the first run; None: it did not come that far."""
    second: Side | None = None
    common: int = 0
    """Results that are the same, up to there."""
    entries: tuple[str, ...] = ()
    """Blackboard entries that differ when it began, in words."""
    trees: tuple[str, ...] = ()
    """How the trees differ, in words; empty: they are the same."""

    def json(self) -> dict[str, Any]:
        """For programs."""
        return {**asdict(self), "same": not self.path}

    def lines(self) -> Iterator[str]:
        """In words."""
        yield from self.trees
        if not self.path:
            yield f"the same decisions: {self.common} results of nodes agree"
            return
        part = f"they part at {self.path}, end {self.number}:"
        yield f"after {self.common} results that agree, {part}"
        yield f"  the first:  {self.first or 'does not come to it'}"
        yield f"  the second: {self.second or 'does not come to it'}"
        if self.entries:
            yield "the blackboards differ there:"
            yield from (f"  {each}" for each in self.entries)


def compare(one: History, first: Story, other: History, second: Story) -> Comparison:
    """Find where two runs part.

    Args:
        one: holds the first
        first: a run
        other: holds the second
        second: a run

    Raises:
        RecordingError: they are runs of different trees
    """
    trees = _trees_differ(one, first, other, second)
    events, others = _events(first), _events(second)
    places = [_first_without(events, others), _first_without(others, events)]
    if places == [None, None]:
        return Comparison(common=len(events), trees=trees)
    chosen = min((p for p in places if p is not None), key=lambda key: _begin(key, events, others))
    a, b = events.get(chosen), others.get(chosen)
    ours = list(events if a is not None else others)
    common = sum(_same(events.get(k), others.get(k)) for k in ours[: ours.index(chosen)])
    return Comparison(
        path=chosen[0],
        number=chosen[1],
        first=_side(first, a),
        second=_side(second, b),
        common=common,
        entries=tuple(_entries(_blackboard(one, first, a), _blackboard(other, second, b))),
        trees=trees,
    )


Key = tuple[str, int]
"""Path of a node, and for the how manieth time it ended."""
Events = dict[Key, Span]


def _events(story: Story) -> Events:
    """What nodes came to, in order."""
    counts: Counter[str] = Counter()
    found: Events = {}
    for span in story.spans:
        path = story.path(span.uid)
        counts[path] += 1
        found[path, counts[path]] = span
    return found


def _same(a: Span | None, b: Span | None) -> bool:
    return a is not None and b is not None and a.result is b.result


def _first_without(events: Events, others: Events) -> Key | None:
    """The first end that the other run has not, or has otherwise."""
    return next((key for key, span in events.items() if not _same(span, others.get(key))), None)


def _begin(key: Key, events: Events, others: Events) -> tuple[int, int]:
    """Where an end comes in the order of the runs: what comes early in either, comes early."""
    places = [list(each).index(key) for each in (events, others) if key in each]
    return min(places), len(places)


def _side(story: Story, span: Span | None) -> Side | None:
    if span is None:
        return None
    word = "halted" if span.result is NodeStatus.IDLE else span.result.name
    return Side((span.end - story.begin) / 1e9, word, span.reason)


def _trees_differ(one: History, first: Story, other: History, second: Story) -> tuple[str, ...]:
    here = {node.path for node in first.tree.nodes.values()}
    there = {node.path for node in second.tree.nodes.values()}
    if len(here & there) * 2 < min(len(here), len(there)):
        raise RecordingError(
            f"{one.path} is a run of {first.run.tree_id or 'a tree'}, {other.path} one of "
            f"{second.run.tree_id or 'a tree'}: these are different trees, compare two runs of one"
        )
    lines = []
    for name, missing in (("first", here - there), ("second", there - here)):
        if missing:
            listed = ", ".join(sorted(missing)[:5])
            more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
            lines.append(f"only the tree of the {name} run has {listed}{more}")
    return tuple(lines)


def _entries(here: Entries, there: Entries) -> Iterator[str]:
    """Entries that differ."""
    for place in sorted(here.keys() | there.keys()):
        mine, theirs = here.get(place), there.get(place)
        if mine is None or theirs is None or mine.text != theirs.text:
            name = f"{place[0]}/{place[1]}" if place[0] else place[1]
            texts = ["nothing" if each is None else entry_text(each) for each in (mine, theirs)]
            yield f"{name}: {texts[0]} | {texts[1]}"


Entries = dict[tuple[str, str], RecordedEntry]


def _blackboard(history: History, story: Story, span: Span | None) -> Entries:
    """The blackboard when a node began."""
    moment = history.moment(story.end if span is None else span.begin)
    return {} if moment is None else dict(moment.blackboard)
