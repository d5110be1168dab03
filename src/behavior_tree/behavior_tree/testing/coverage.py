# SPDX-License-Identifier: Apache-2.0
"""`Coverage`: which parts of tree files were run, counted at the elements of the files.

* **nodes** that were ticked
* **branches**: the ways on from each leaf, SUCCESS and FAILURE, and from each pre-condition
  (``_skipIf``, ``_failureIf``, ``_successIf``, ``_while``), true and false. What a tree does next
  depends on nothing else.
* **statuses** that the nodes came to, of SUCCESS and FAILURE
* **conditions**: the branches of condition leaves and pre-conditions alone

A SubTree that is used in several places counts once, where it is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from behavior_tree.basic_types import NodeStatus, NodeType
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.kernel.conditions import Conditions
from behavior_tree.kernel.node import TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.testing.observing import Event
from behavior_tree.xml.document import Element
from behavior_tree.xml.elements import resolve_type
from behavior_tree.xml.loader import Loader

METRICS = ("nodes", "branches", "statuses", "conditions")
PRE_CONDITIONS = ("_failureIf", "_successIf", "_skipIf", "_while")
_NEVER_FAIL = {
    *("Script", "SetBlackboard", "UnsetBlackboard", "AlwaysSuccess", "Sleep", "ForceSuccess"),
    "WriteContext",
}
_NEVER_SUCCEED = {"AlwaysFailure", "ForceFailure", "KeepRunningUntilFailure"}
_COPIED = ("place", "tree", "depth", "type_id", "name", "expected")
"""Fields of `NodeCoverage` that are plain values."""
Place = tuple[str, int, int]
"""File, line and column of an element."""


@dataclass(frozen=True)
class Ratio:
    """How much of something was reached."""

    reached: int
    total: int

    @property
    def percent(self) -> float:
        """0 to 100; of nothing, all was reached."""
        return 100.0 * self.reached / self.total if self.total else 100.0

    def __add__(self, other: Ratio) -> Ratio:
        """Both together."""
        return Ratio(self.reached + other.reached, self.total + other.total)

    def __str__(self) -> str:
        """For tables."""
        return f"{self.percent:.1f} % ({self.reached}/{self.total})"


@dataclass
class NodeCoverage:
    """What was seen of one element of a file."""

    place: Place
    tree: str
    """ID of the tree that it belongs to."""
    depth: int
    """Below the tree."""
    type_id: str
    name: str
    kind: NodeType
    expected: tuple[str, ...]
    """Of SUCCESS and FAILURE, what it can come to."""
    results: Counter[str] = field(default_factory=Counter)
    """How often it came to each status."""
    conditions: dict[str, set[bool]] = field(default_factory=dict)
    """Pre-conditions, with the values that they were seen to have."""

    @property
    def is_leaf(self) -> bool:
        """It has no children, whatever stands in for it."""
        return self.kind in (NodeType.ACTION, NodeType.CONDITION)

    def ratios(self) -> dict[str, Ratio]:
        """By metric."""
        seen = sum(status in self.results for status in self.expected)
        statuses = Ratio(seen, len(self.expected))
        values = Ratio(sum(map(len, self.conditions.values())), 2 * len(self.conditions))
        none = Ratio(0, 0)
        asked = statuses if self.kind is NodeType.CONDITION else none
        return {
            "nodes": Ratio(int(bool(self.results)), 1),
            "branches": (statuses if self.is_leaf else none) + values,
            "statuses": statuses,
            "conditions": asked + values,
        }

    def missing(self) -> list[str]:
        """What was not seen, in words."""
        if not self.results:
            return ["never ticked"]
        told = [each for each in self.expected if each not in self.results]
        for name, values in self.conditions.items():
            told += [
                f"{name} never {str(value).lower()}"
                for value in (True, False)
                if value not in values
            ]
        return told


class Coverage:
    """Of any number of files and runs."""

    def __init__(self) -> None:
        self.nodes: dict[Place, NodeCoverage] = {}
        """By place, in the order of the files."""
        self._names: dict[str, str] = {}

    def add_file(self, file: Path, factory: BehaviorTreeFactory) -> None:
        """Expect what a file and its includes define."""
        documents = Loader(lambda: "main_tree").load_file(file)
        for tree in documents.trees.values():
            for element, depth in _elements(tree.element):
                self._expect(element, depth, tree.label, factory)

    def data(self) -> list[Any]:
        """What was seen, as plain values for another process; see `add_data`."""
        return [
            {
                **{name: getattr(node, name) for name in _COPIED},
                "kind": node.kind.value,
                "results": dict(node.results),
                "conditions": {name: sorted(seen) for name, seen in node.conditions.items()},
            }
            for node in self.nodes.values()
        ]

    def add_data(self, data: Iterable[Mapping[str, Any]]) -> None:
        """Count what another process saw."""
        for each in data:
            copied = {name: each[name] for name in _COPIED}
            copied.update(place=tuple(each["place"]), expected=tuple(each["expected"]))
            made = NodeCoverage(**copied, kind=NodeType(each["kind"]))
            node = self.nodes.setdefault(made.place, made)
            node.results.update(each["results"])
            for name, seen in each["conditions"].items():
                node.conditions.setdefault(name, set()).update(seen)

    def _expect(
        self, element: Element, depth: int, tree: str, factory: BehaviorTreeFactory
    ) -> None:
        place = self._place(element)
        type_id = resolve_type(element) or element.tag
        if place in self.nodes:
            return
        manifest = factory.manifests().get(type_id)
        kind = NodeType.SUBTREE if element.tag == "SubTree" else NodeType.UNDEFINED
        kind = manifest.type if manifest is not None and kind is NodeType.UNDEFINED else kind
        can = [
            *(["SUCCESS"] if type_id not in _NEVER_SUCCEED else []),
            *(["FAILURE"] if type_id not in _NEVER_FAIL else []),
        ]
        node = NodeCoverage(
            place, tree, depth, type_id, element.get("name") or type_id, kind, tuple(can)
        )
        node.conditions = {n: set() for n in PRE_CONDITIONS if n in element.attributes}
        self.nodes[place] = node

    def _place(self, element: Element) -> Place:
        file = element.source.file
        if file not in self._names:
            self._names[file] = _display(Path(file))
        return self._names[file], element.line, element.column

    def of(self, node: TreeNode) -> NodeCoverage | None:
        """What is counted for a node; None: its file is not expected."""
        element = node.config().element
        return None if element is None else self.nodes.get(self._place(element))

    @property
    def files(self) -> list[str]:
        """Those of which something is expected, sorted."""
        return sorted({place[0] for place in self.nodes})

    def in_file(self, file: str) -> list[NodeCoverage]:
        """The nodes of a file, in its order."""
        return [node for place, node in sorted(self.nodes.items()) if place[0] == file]

    def ratio(self, metric: str, file: str | None = None) -> Ratio:
        """How much was reached, of a file or of all."""
        nodes: Iterable[NodeCoverage] = self.nodes.values() if file is None else self.in_file(file)
        return sum((node.ratios()[metric] for node in nodes), Ratio(0, 0))


class CoverageWatcher:
    """Counts one run.

    Args:
        coverage: gets the counts
        tree: not ticked yet
    """

    def __init__(self, coverage: Coverage, tree: Tree) -> None:
        self._of = {node: coverage.of(node) for node in tree.nodes()}
        for node, seen in self._of.items():
            if seen is not None and seen.conditions:
                _watch_conditions(node, seen)

    def see_result(self, node: TreeNode, status: NodeStatus) -> None:
        """Count it."""
        seen = self._of.get(node)
        if seen is not None:
            seen.results[status.name] += 1

    def see_event(self, event: Event) -> None:
        """Results are enough."""

    def see_tick(self) -> None:
        """Results are enough."""


def _watch_conditions(node: TreeNode, seen: NodeCoverage) -> None:
    """Give a node pre-conditions of its own, which note what they come to."""
    config = node.config()
    made = Conditions(config.condition_attributes, config.blackboard, node._rt.quirks)
    try:
        made.bind()
    except BehaviorTreeError:
        return  # the tick will tell
    names = [name for name in PRE_CONDITIONS if name in seen.conditions and name != "_while"]
    made.tests = tuple(
        (_noting(test, seen.conditions[name]), status, text)
        for name, (test, status, text) in zip(names, made.tests, strict=True)
    )
    if made.test_while is not None:
        made.test_while = _noting(made.test_while, seen.conditions["_while"])
    node._conditions = made
    node.select_kernel()


def _noting(test: Callable[[], bool], values: set[bool]) -> Callable[[], bool]:
    def asked() -> bool:
        value = bool(test())
        values.add(value)
        return value

    return asked


def _elements(tree: Element) -> Iterator[tuple[Element, int]]:
    """The nodes of a tree with their depths, in order."""
    stack = [(child, 1) for child in reversed(tree.children)]
    while stack:
        element, depth = stack.pop()
        yield element, depth
        stack += [(child, depth + 1) for child in reversed(element.children)]


def _display(file: Path) -> str:
    """A file's name as people in the working directory call it."""
    resolved = file.resolve()
    here = Path.cwd()
    return str(resolved.relative_to(here)) if resolved.is_relative_to(here) else str(resolved)
