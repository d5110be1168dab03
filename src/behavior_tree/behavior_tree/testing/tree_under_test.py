# SPDX-License-Identifier: Apache-2.0
"""`TreeUnderTest`: runs a tree of a file on a simulated clock, with stand-ins for its leaves."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.errors import BehaviorTreeError, LogicError
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.kernel.node import TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.placeholders import register_placeholders
from behavior_tree.script import compile_script
from behavior_tree.stand_ins import make_factory
from behavior_tree.testing.clock import SimulatedClock
from behavior_tree.testing.coverage import Coverage, CoverageWatcher
from behavior_tree.testing.observing import Event, Observer, Watcher
from behavior_tree.testing.outcomes import Outcome, OutcomeRule, read_rules
from behavior_tree.testing.parts import Part, near_names
from behavior_tree.testing.plan import Attempt, Fault, Plan
from behavior_tree.testing.properties import PropertySpec, Violation, read_properties
from behavior_tree.testing.selecting import leaves_below, select, select_leaves
from behavior_tree.testing.story import Story
from behavior_tree.xml.loader import Loader

MakeFactory = Callable[[Path, SimulatedClock], BehaviorTreeFactory]
"""Makes the factory that builds the trees of a file, with this clock."""
HALTED_RUN = "HALTED"
"""How a run ends that a case halts."""
_TURNS = 20
"""Ticks at one moment; then the time goes on, even if nodes ask for another."""
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_TYPES: dict[str, Any] = {"int": int, "double": float, "bool": bool}


@dataclass(frozen=True)
class TimedEvent:
    """Something that happens to the tree from outside."""

    at: float
    """[s]"""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Written to the tree's blackboard."""
    script: str = ""
    """Run on the tree's blackboard."""
    halt: bool = False
    place: str = ""
    """``FILE:LINE`` of a case file."""


@dataclass
class Run:
    """What came of one run."""

    status: str
    """SUCCESS, FAILURE, SKIPPED; RUNNING: it had not ended in time; HALTED; EXCEPTION."""
    reason: str
    """Why it failed or raised; where it hangs."""
    seconds: float
    """Simulated [s]."""
    story: list[str]
    """See `Story`."""
    events: list[Event]
    violations: list[Violation]
    attempts: list[Attempt]
    unused: list[tuple[OutcomeRule, int, Outcome]]
    missed: list[TimedEvent]
    """Events that it ended before."""
    blackboard: Blackboard
    tree: Tree
    faults: tuple[Fault, ...] = ()

    def nodes(self, selector: str, part: Part | None = None) -> list[TreeNode]:
        """The nodes that a text means; raises LoadError if there is none."""
        return select(self.tree, selector, part or Part(selector, "node"))

    def leaves(self, selector: str, part: Part | None = None) -> list[TreeNode]:
        """The leaves that a text means; of a node with children all below it."""
        return leaves_below(self.nodes(selector, part))

    def begun(self, selector: str, part: Part | None = None) -> int:
        """How often a leaf began; raises LoadError if there is none, or it has children."""
        nodes = select_leaves(self.tree, selector, part or Part(selector, "node"))
        return sum(event.begins and event.node in nodes for event in self.events)

    def halted(self, selector: str, part: Part | None = None) -> int:
        """How often it was halted while it ran, or leaves below it."""
        nodes = self.leaves(selector, part)
        return sum(event.what == "HALTED" and event.node in nodes for event in self.events)

    def __str__(self) -> str:
        """The story, and its end."""
        end = f"{self.seconds:8.2f}  = {self.status}{f': {self.reason}' if self.reason else ''}"
        return "\n".join([*self.story, end])


class TreeUnderTest:
    """Runs a tree again and again, each time from its beginning.

    Args:
        file: of the tree
        tree: its ID; None: the main tree, or the only one
        make: makes the factory; the default knows what the file describes or uses: leaves that it
            has no program of become stand-ins, which succeed unless told otherwise
        coverage: counts what runs; None: nothing does

    Raises:
        LoadError: the file cannot be loaded, or has no such tree
    """

    def __init__(
        self,
        file: str | Path,
        tree: str | None = None,
        *,
        make: MakeFactory | None = None,
        coverage: Coverage | None = None,
    ) -> None:
        self.file = Path(file)
        self.clock = SimulatedClock()
        self.factory = (make or default_factory)(self.file, self.clock)
        register_placeholders(self.factory, self.file)
        self.factory.register_behavior_tree_from_file(self.file)
        self._documents = Loader(lambda: "main_tree").load_file(self.file)
        self.tree_id = tree or self._main_tree()
        self.coverage = coverage
        if coverage is not None:
            coverage.add_file(self.file, self.factory)

    def _main_tree(self) -> str:
        own = self._documents.own_trees
        main = self._documents.main_tree or (own[0] if len(own) == 1 else "")
        if not main:
            what = Part(None, "", str(self.file))
            what.fail("has several trees and none is the main one", f"name one: {', '.join(own)}")
        return main

    def choose(self, tree: str, part: Part) -> None:
        """Run another tree of the file from now on."""
        known = self.factory.registered_behavior_trees()
        if tree not in known:
            part.fail(f"no tree '{tree}' in {self.file}", near_names(tree, known))
        self.tree_id = tree

    def run(
        self,
        outcomes: Mapping[str, Any] | None = None,
        *,
        blackboard: Mapping[str, Any] | None = None,
        rules: Iterable[OutcomeRule] = (),
        properties: Iterable[PropertySpec] | list[Any] = (),
        events: Iterable[TimedEvent] = (),
        faults: Iterable[Fault] = (),
        limit: float = 60.0,
        period: float = 0.1,
    ) -> Run:
        """Run the tree from its beginning.

        Args:
            outcomes: as in a case file: ``{"pick": ["FAILURE", "SUCCESS"]}``
            blackboard: entries at the beginning, beside the defaults of the tree's ports
            rules: outcomes that were read already; these count after `outcomes`
            properties: as in a case file, or read already
            events: what happens from outside
            faults: attempts that go wrong
            limit: the run ends after so long [s]
            period: longest time between two ticks [s]

        Raises:
            LoadError: something means a node or an output that there is not
            LogicError: a value that an entry does not take, a script of an event that fails
        """
        self.clock.reset()
        given = read_rules(Part(outcomes or {}, "outcomes"))
        faults = tuple(faults)
        plan = Plan([*given, *rules], faults, self.clock)
        tree = self._build(plan, blackboard or {})
        story, watchers = Story(), list[Watcher]()
        observer = Observer(tree, watchers)
        checks = [each.check(tree, observer) for each in _specs(properties)]
        if self.coverage is not None:
            watchers.append(CoverageWatcher(self.coverage, tree))
        watchers += [story, *checks]
        course = _Course(tree, self.clock, observer, sorted(events, key=lambda each: each.at))
        status, reason = course.run(limit, period)
        for check in checks:
            check.see_end()
        return Run(
            status,
            reason,
            seconds=self.clock.now,
            story=story.lines(),
            events=story.events,
            violations=[check.violation for check in checks if check.violation is not None],
            attempts=plan.attempts,
            unused=plan.unused(),
            missed=course.events,
            blackboard=tree.root_blackboard(),
            tree=tree,
            faults=faults,
        )

    def _build(self, plan: Plan, values: Mapping[str, Any]) -> Tree:
        factory = self.factory
        tree = self.build(self.tree_id, values)
        replaced = plan.select(tree)
        if replaced:
            for node in replaced:
                factory.add_substitution_rule(node.full_path(), plan.stand_in)
            try:
                tree = self.build(self.tree_id, values)
            finally:
                factory.clear_substitution_rules()
        plan.attach(tree)
        return tree

    def build(self, tree_id: str, values: Mapping[str, Any] = _NOTHING) -> Tree:
        """A tree of the file, with the defaults of its ports and these values."""
        board = Blackboard(types=self.factory.types)
        ports = self.factory.subtree_ports(tree_id)
        defaults = {name: port.default for name, port in ports.items() if port.default is not None}
        given = {**defaults, **values}
        for key in ports.keys() & given:
            with _told(f"entry '{key}'"):
                board.set(key, self._typed(given[key], ports[key].type))
        tree = self.factory.create_tree(tree_id, board)
        for key in values.keys() - ports:  # now, since the tree's ports say their types
            entry = board.entry(key)
            whole = entry is not None and entry.type is float and type(values[key]) is int
            with _told(f"entry '{key}'"):
                board.set(key, float(values[key]) if whole else values[key])
        return tree

    def _typed(self, value: Any, kind: str) -> Any:
        """A value for a port of a tree, in the type that its model says."""
        if isinstance(value, str) and kind in _TYPES:
            return self.factory.types.from_text(value, _TYPES[kind])
        return float(value) if kind == "double" and type(value) is int else value


def default_factory(file: Path, clock: SimulatedClock) -> BehaviorTreeFactory:
    """Knows the built-in nodes, and what the file and its includes describe."""
    return make_factory((file,), clock=clock)


@contextlib.contextmanager
def _told(what: str) -> Iterator[None]:
    """Says what of a case an error is about."""
    try:
        yield
    except BehaviorTreeError as error:
        raise LogicError(f"{what}: {error}") from error


def _specs(properties: Iterable[PropertySpec] | list[Any]) -> list[PropertySpec]:
    listed = list(properties)
    if all(isinstance(each, PropertySpec) for each in listed):
        return listed
    return read_properties(Part(listed, "properties"))


@dataclass
class _Course:
    """One run, tick by tick."""

    tree: Tree
    clock: SimulatedClock
    observer: Observer
    events: list[TimedEvent]

    def run(self, limit: float, period: float) -> tuple[str, str]:
        """Tick to the end; how it ended, and why."""
        turns = 0
        while True:
            if self._happen():
                return HALTED_RUN, ""
            try:
                status = self.tree.tick_exactly_once()
            except (BehaviorTreeError, RecursionError) as error:
                return "EXCEPTION", str(error)
            self.observer.tick_is_over()
            if status is not NodeStatus.RUNNING:
                return status.name, str(self.tree.failure_reason() or "")
            turns += 1
            if self.tree.runtime.consume_wake_up() and turns < _TURNS:
                continue
            turns = 0
            if self.clock.now >= limit:
                return "RUNNING", f"still RUNNING after {limit:g} s: {self._running_path()}"
            self.clock.move_to(self._next_moment(period, limit))

    def _running_path(self) -> str:
        leaf = self.tree.active_path()
        node = max(
            (each for each in self.tree.nodes() if each in self.observer.running),
            key=lambda each: each.uid(),
            default=self.tree.root_node(),
        )
        chain: list[str] = []
        up: TreeNode | None = node
        while up is not None:
            chain.append(str(up.name))
            up = up._up
        return f"{leaf} ({' > '.join(reversed(chain))})"

    def _next_moment(self, period: float, limit: float) -> float:
        deadline = self.tree.runtime.next_deadline()
        moments = [round(self.clock.now + period, 9), limit]
        moments += [deadline] if deadline is not None else []
        moments += [self.events[0].at] if self.events else []
        return min(moments)

    def _happen(self) -> bool:
        """Let what is due happen; True if the tree was halted."""
        while self.events and self.events[0].at <= self.clock.now:
            event = self.events.pop(0)
            board = self.tree.root_blackboard()
            for key, value in event.values.items():
                with _told(f"event at {event.at:g} s, entry '{key}'"):
                    board.set(key, value)
            if event.script:
                with _told(f"event at {event.at:g} s, script"):
                    compile_script(event.script, self.tree.runtime.quirks).run(board)
            if event.halt:
                self.tree.halt_tree()
                self.observer.tick_is_over()
                return True
        return False
