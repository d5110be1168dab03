# SPDX-License-Identifier: Apache-2.0
"""What must hold in every run, whatever happens in it.

A state is a script on the tree's blackboard, or the results of nodes::

    properties:
      - never: "held != '' && complete"
      - never_both: [arm home, pick]
      - nothing_runs_below: drive
        while: {autonomy enabled?: FAILURE}
      - eventually: {home: SUCCESS}
      - always: "count < 5"
      - every_start_ends: {within: 30}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.kernel.node import TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.script import compile_script
from behavior_tree.testing.observing import HALTED, Event, Observer
from behavior_tree.testing.outcomes import STATUSES, checked_question
from behavior_tree.testing.parts import Part
from behavior_tree.testing.selecting import leaves_below, select

_KINDS = (
    *("never", "always", "eventually", "never_both", "nothing_runs_below", "every_start_ends"),
)


@dataclass(frozen=True)
class Violation:
    """A property that did not hold."""

    place: str
    text: str
    time: float
    """[s]"""
    unknown: bool = False
    """The run never came to where the property could be asked: told of the run without faults."""

    def __str__(self) -> str:
        """One sentence."""
        return f"{self.place}: at {self.time:g} s {self.text}"


@dataclass(frozen=True)
class PropertySpec:
    """A property as a case states it."""

    kind: str
    part: Part
    """What follows the kind."""
    condition: Part | None = None
    """What follows ``while``."""

    def check(self, tree: Tree, observer: Observer) -> Check:
        """What watches a run of a tree for it.

        Raises:
            LoadError: a node that there is not
        """
        return _CHECKS[self.kind](self, tree, observer)


def read_properties(part: Part) -> list[PropertySpec]:
    """Properties of a list."""
    return [_spec(each) for each in part.items()]


def _spec(part: Part) -> PropertySpec:
    keys = part.mapping((*_KINDS, "while"))
    kinds = [key for key in keys if key != "while"]
    if len(kinds) != 1:
        part.fail(f"has {len(kinds)} properties", f"write one of {', '.join(_KINDS)} in each item")
    kind = kinds[0]
    if (kind == "nothing_runs_below") != ("while" in keys):
        part.fail("'while' belongs to nothing_runs_below", "write both, or neither")
    spec = PropertySpec(kind, keys[kind], keys.get("while"))
    if kind == "never_both" and len(spec.part.items()) != 2:
        spec.part.fail(f"names {len(spec.part.items())} nodes", "write two: [NODE, NODE]")
    if kind == "every_start_ends":
        _most_time(spec.part)
    for state in filter(None, (spec.condition, keys[kind] if kind in _STATES else None)):
        _check_state(state)
    return spec


def _most_time(part: Part) -> float | None:
    """How long a start may last [s]; None: as long as the run."""
    if part.value is True:
        return None
    keys = part.mapping(("within",))
    if "within" not in keys:
        part.fail("says no time", "write true, or {within: SECONDS}")
    return keys["within"].number()


def _check_state(part: Part) -> None:
    if isinstance(part.value, str):
        checked_question(part)
        return
    nodes = part.mapping()
    if not nodes:
        part.fail("is empty, which always holds", "write a script, or {NODE: STATUS}")
    for each in nodes.values():
        each.choice((*STATUSES, HALTED))


class _State:
    """Whether a state holds now."""

    def __init__(self, part: Part, tree: Tree, observer: Observer) -> None:
        self._observer = observer
        self._nodes: list[tuple[list[TreeNode], str]] = []
        self._script: Callable[[], bool] | None = None
        self.error = ""
        """Why it could never be asked; empty: it could."""
        if isinstance(part.value, str):
            script = compile_script(part.value, tree.runtime.quirks)
            self._script = script.bind_test(tree.root_blackboard())
            self.error = "never asked"
        else:
            for name, each in part.mapping().items():
                self._nodes.append((select(tree, name, each), each.value))

    def holds(self) -> bool:
        """False while an entry that it asks for is not there."""
        if self._script is None:
            results = self._observer.results
            return all(
                any(results.get(node) == wanted for node in nodes) for nodes, wanted in self._nodes
            )
        try:
            holds = self._script()
        except BehaviorTreeError as error:
            if self.error:
                self.error = str(error)
            return False
        self.error = ""
        return holds


class Check:
    """Watches one run."""

    def __init__(self, spec: PropertySpec, tree: Tree, observer: Observer) -> None:
        self.spec = spec
        self.tree = tree
        self.observer = observer
        self.violation: Violation | None = None
        """The first; None: it holds so far."""
        self.states: list[_State] = []

    def state(self, part: Part) -> _State:
        """A state that this check asks for."""
        made = _State(part, self.tree, self.observer)
        self.states.append(made)
        return made

    def violated(self, text: str, *, unknown: bool = False) -> None:
        """Note that the property does not hold; only the first time counts."""
        if self.violation is None:
            now = self.tree.runtime.clock()
            self.violation = Violation(self.spec.part.place, text, now, unknown)

    def see_result(self, node: TreeNode, status: NodeStatus) -> None:
        """A node was ticked."""

    def see_event(self, event: Event) -> None:
        """Something happened to a leaf."""

    def see_tick(self) -> None:
        """A tick is over."""

    def see_end(self) -> None:
        """The run is over."""
        for state in self.states:
            if state.error:
                self.violated(f"the state was never known: {state.error}", unknown=True)


class _Never(Check):
    def __init__(self, spec: PropertySpec, tree: Tree, observer: Observer) -> None:
        super().__init__(spec, tree, observer)
        self._state = self.state(spec.part)

    def see_tick(self) -> None:
        if self._state.holds():
            self.violated(f"what must never be is: {self.spec.part.value}")


class _Always(_Never):
    def see_tick(self) -> None:
        if not self._state.holds():
            self.violated(f"what must always be is not: {self.spec.part.value}")


class _Eventually(_Never):
    def __init__(self, spec: PropertySpec, tree: Tree, observer: Observer) -> None:
        super().__init__(spec, tree, observer)
        self._seen = False

    def see_tick(self) -> None:
        self._seen = self._seen or self._state.holds()

    def see_event(self, event: Event) -> None:
        self.see_tick()

    def see_end(self) -> None:
        super().see_end()
        if not self._seen:
            self.violated(f"it had never come to {self.spec.part.value}")


class _NeverBoth(Check):
    def __init__(self, spec: PropertySpec, tree: Tree, observer: Observer) -> None:
        super().__init__(spec, tree, observer)
        self._sides = [select(tree, each.text(), each) for each in spec.part.items()]
        if len({*self._sides[0], *self._sides[1]}) == 1:
            spec.part.fail("names one node twice, which never runs beside itself", "name two")

    def see_result(self, node: TreeNode, status: NodeStatus) -> None:
        for one, other in (self._sides, self._sides[::-1]):
            both = [each for each in other if each in self.observer.running and each is not node]
            if node in one and both and status is not NodeStatus.SKIPPED:
                self.violated(f"'{node.full_path()}' runs beside '{both[0].full_path()}'")


class _NothingRunsBelow(Check):
    def __init__(self, spec: PropertySpec, tree: Tree, observer: Observer) -> None:
        super().__init__(spec, tree, observer)
        tops = select(tree, spec.part.text(), spec.part)
        self._below = set(leaves_below(tops))
        assert spec.condition is not None
        self._state = self.state(spec.condition)
        self._while = spec.condition.value

    def see_event(self, event: Event) -> None:
        if event.node in self._below and event.begins:
            self._ask(event.node)

    def see_tick(self) -> None:
        self._ask(None)

    def _ask(self, begun: TreeNode | None) -> None:
        if not self._state.holds():
            return
        running = [leaf for leaf in self._below if leaf in self.observer.running]
        for leaf in [begun] if begun is not None else sorted(running, key=TreeNode.uid):
            if leaf is not None:
                self.violated(f"'{leaf.full_path()}' runs while {self._while}")


class _EveryStartEnds(Check):
    def __init__(self, spec: PropertySpec, tree: Tree, observer: Observer) -> None:
        super().__init__(spec, tree, observer)
        self._within = _most_time(spec.part)
        self._begun: dict[TreeNode, float] = {}

    def see_event(self, event: Event) -> None:
        if event.what == "RUNNING":
            self._begun[event.node] = event.time
        else:
            self._late(event.time, [event.node])
            self._begun.pop(event.node, None)

    def see_tick(self) -> None:
        self._late(self.tree.runtime.clock(), list(self._begun))

    def _late(self, now: float, nodes: Iterable[TreeNode]) -> None:
        for node in nodes:
            since = self._begun.get(node)
            if self._within is not None and since is not None and now - since > self._within:
                self.violated(f"'{node.full_path()}' has run for more than {self._within:g} s")

    def see_end(self) -> None:
        for node in self._begun:
            self.violated(f"'{node.full_path()}' was begun and neither ended nor halted")


_STATES = ("never", "always", "eventually")
_CHECKS: dict[str, Callable[[PropertySpec, Tree, Observer], Check]] = {
    "never": _Never,
    "always": _Always,
    "eventually": _Eventually,
    "never_both": _NeverBoth,
    "nothing_runs_below": _NothingRunsBelow,
    "every_start_ends": _EveryStartEnds,
}
