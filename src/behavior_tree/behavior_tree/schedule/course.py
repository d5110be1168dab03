# SPDX-License-Identifier: Apache-2.0
"""The course that a tree takes if every leaf succeeds, and when each leaf begins and ends in it.

Of a Fallback the first child is taken that takes time, since a condition before it asks whether
there is anything to do; of nodes that choose the branch that takes longest. What loops as long as
the world wants it is taken once. Conditions on nodes are taken to let them run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from behavior_tree.kernel.leaf import LeafNode
from behavior_tree.kernel.node import TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.nodes import control, decider, decorators
from behavior_tree.nodes.authoring import ConcurrentSequence, Gosub
from behavior_tree.nodes.control.parallel import from_end

_ANY = control.Fallback | control.AsyncFallback | control.ReactiveFallback

Seconds = Callable[[TreeNode], float | None]
"""How long a leaf takes [s]; None if that is not known."""


@dataclass(frozen=True, eq=False)
class Bar:
    """One leaf, or what is repeated, in time."""

    node: TreeNode
    begin: float
    """[s]"""
    end: float
    """[s]"""
    after: Bar | None = None
    """What it had to wait for; None: nothing."""
    times: int = 1
    """How often it is repeated."""
    known: bool = True
    """False if nobody knows how long it takes: it is drawn as if it took no time."""


@dataclass(frozen=True)
class Schedule:
    """All bars of a tree."""

    bars: tuple[Bar, ...]
    """In the order of the tree."""
    end: float
    """When the tree has ended [s]."""
    critical: tuple[Bar, ...]
    """The chain of bars that the end waits for, in the order of time."""

    @property
    def sequential(self) -> float:
        """How long it would take with one leaf after the other [s]."""
        return sum(bar.end - bar.begin for bar in self.bars)

    @property
    def unknown(self) -> tuple[Bar, ...]:
        """Bars of which nobody knows how long they take."""
        return tuple(bar for bar in self.bars if not bar.known)


def make_schedule(tree: Tree, seconds: Seconds) -> Schedule:
    """When each leaf of a tree begins and ends, if it takes what ``seconds`` says."""
    part = _Course(seconds).of(tree.root_node(), 0.0, None)
    chain: list[Bar] = []
    bar = part.last
    while bar is not None:
        chain.append(bar)
        bar = bar.after
    return Schedule(tuple(part.bars), part.end, tuple(reversed(chain)))


@dataclass
class _Part:
    """A branch in time."""

    end: float
    """When it has ended [s]."""
    last: Bar | None
    """What its end waits for: the last of its bars, or if it takes no time what it came after."""
    bars: list[Bar] = field(default_factory=list)

    @property
    def takes_time(self) -> bool:
        """True unless all of it surely ends in one tick."""
        return any(bar.end > bar.begin or not bar.known for bar in self.bars)


@dataclass(frozen=True)
class _Course:
    seconds: Seconds

    def of(self, node: TreeNode, begin: float, after: Bar | None) -> _Part:
        """A branch that begins at a time [s], when ``after`` has ended."""
        if isinstance(node, Gosub):
            return self.of(node.routine(), begin, after)
        if isinstance(node, LeafNode):
            return self._leaf(node, begin, after)
        if isinstance(node, ConcurrentSequence):
            return self._layered(node, begin, after)
        if isinstance(node, control.Parallel | control.ParallelAll):
            return self._parallel(node, begin, after)
        if isinstance(node, decorators.Repeat):
            return self._repeated(node, begin, after)
        if isinstance(node, _ANY):
            parts = [self.of(child, begin, after) for child in node.children]
            return next((part for part in parts if part.takes_time), parts[0])
        if isinstance(node, control.Switch | decider.Decider):
            parts = [self.of(child, begin, after) for child in node.children]
            return max(parts, key=lambda part: part.end)
        part = self._row(_taken(node), begin, after)
        return self._timed(node, begin, after, part)

    def _leaf(self, node: TreeNode, begin: float, after: Bar | None) -> _Part:
        seconds = self.seconds(node)
        bar = Bar(node, begin, begin + (seconds or 0.0), after, known=seconds is not None)
        return _Part(bar.end, bar if bar.end > begin else after, [bar])

    def _row(self, nodes: Iterable[TreeNode], begin: float, after: Bar | None) -> _Part:
        """One after the other."""
        row = _Part(begin, after)
        for node in nodes:
            part = self.of(node, row.end, row.last)
            row.bars.extend(part.bars)
            row.end, row.last = part.end, part.last
        return row

    def _layered(self, node: ConcurrentSequence, begin: float, after: Bar | None) -> _Part:
        before, children = node.comes_after(), node.layered()
        parts: dict[int, _Part] = {}
        start = _Part(begin, after)
        while len(parts) < len(before):
            for index, places in enumerate(before):
                if index not in parts and all(place in parts for place in places):
                    waits = [parts[place] for place in places]
                    ready = max(waits, key=lambda part: part.end, default=start)
                    parts[index] = self.of(children[index], ready.end, ready.last)
        return _together([parts[index] for index in range(len(before))] or [start])

    def _parallel(self, node: TreeNode, begin: float, after: Bar | None) -> _Part:
        parts = [self.of(child, begin, after) for child in node.children]
        if not isinstance(node, control.Parallel):
            return _together(parts)
        count = node.get_input_int("success_count")
        need = len(parts) if count is None else from_end(count, len(parts))
        ends = sorted(parts, key=lambda part: part.end)
        enough = ends[min(max(need, 1), len(ends)) - 1]
        bars = [
            replace(bar, end=min(bar.end, enough.end)) if bar.end > enough.end else bar
            for part in parts
            for bar in part.bars
            if bar.begin <= enough.end
        ]
        return _Part(enough.end, enough.last, bars)

    def _repeated(self, node: TreeNode, begin: float, after: Bar | None) -> _Part:
        once = self.of(node.children[0], begin, after)
        times = (node.get_input_int("num_cycles") if node.is_literal("num_cycles") else 1) or 1
        if times < 2 or once.end <= begin:
            return once
        known = all(bar.known for bar in once.bars)
        end = begin + times * (once.end - begin)
        bar = Bar(node, begin, end, after, times, known)
        return _Part(end, bar, [bar])

    def _timed(self, node: TreeNode, begin: float, after: Bar | None, part: _Part) -> _Part:
        """What a node that looks at the clock makes of its branch."""
        if isinstance(node, decorators.Delay) and node.is_literal("delay_msec"):
            wait = (node.get_input_int("delay_msec") or 0) / 1000
            bar = Bar(node, begin, begin + wait, after)
            later = self._row(node.children, bar.end, bar if wait > 0 else after)
            return _Part(later.end, later.last, [bar, *later.bars])
        return part


def _together(parts: list[_Part]) -> _Part:
    last = max(parts, key=lambda part: part.end)
    return _Part(last.end, last.last, [bar for part in parts for bar in part.bars])


def _taken(node: TreeNode) -> list[TreeNode]:
    """Children that run one after the other if each succeeds."""
    children = list(node.children)
    if isinstance(node, control.TryCatch):
        return children[:-1]
    if isinstance(node, control.IfThenElse | control.WhileDoElse):
        return children[:2]
    return children
