# SPDX-License-Identifier: Apache-2.0
"""`Plan`: gives each stand-in of a tree what it does, attempt by attempt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from behavior_tree.basic_types import NodeStatus, NodeType, PortDirection
from behavior_tree.errors import LoadError
from behavior_tree.kernel.node import NodeConfig, TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.nodes.actions.test_node import TestNode, TestNodeConfig
from behavior_tree.placeholders import condition_placeholder, placeholder
from behavior_tree.shown_text import visible
from behavior_tree.testing.outcomes import Outcome, OutcomeRule, Turns
from behavior_tree.testing.parts import near_names
from behavior_tree.testing.selecting import Address, address, select

_GOOD = Outcome()
FAULT_KINDS = {
    "FAILURE": TestNodeConfig(NodeStatus.FAILURE, reason="injected fault"),
    "RUNNING": TestNodeConfig(NodeStatus.RUNNING),
    "SKIPPED": TestNodeConfig(NodeStatus.SKIPPED),
    "EXCEPTION": TestNodeConfig(exception="injected fault"),
}
"""What can go wrong in an attempt; RUNNING never ends."""


@dataclass(frozen=True)
class Attempt:
    """One start of a stand-in."""

    node: Address
    number: int
    """From 1, by node."""
    status: str = field(default="", compare=False)
    """What it does without a fault; empty: a script decides."""


@dataclass(frozen=True)
class Fault:
    """An attempt that goes wrong."""

    attempt: Attempt
    kind: str
    """Of `FAULT_KINDS`."""

    def __str__(self) -> str:
        """As a story tells it."""
        return f"{self.attempt.node[0]}, attempt {self.attempt.number}: {self.kind}"


class Plan:
    """What the stand-ins of one run do.

    Args:
        rules: the first that selects a node counts
        faults: what goes wrong besides
        clock: of the tree [s]
    """

    def __init__(
        self,
        rules: Iterable[OutcomeRule],
        faults: Iterable[Fault],
        clock: Callable[[], float],
    ) -> None:
        self._rules = list(rules)
        self._faults = {fault.attempt: fault.kind for fault in faults}
        self._clock = clock
        self._given: dict[Address, OutcomeRule] = {}
        self._replaced: dict[Address, NodeType] = {}
        self._counts: dict[Address, int] = {}
        self._turns: dict[Address, Turns] = {}
        self._used: set[int] = set()
        self.attempts: list[Attempt] = []
        """All starts of stand-ins so far, in order."""

    def select(self, tree: Tree) -> list[TreeNode]:
        """Find out whom the rules mean; returns the nodes that no stand-in is at yet.

        Raises:
            LoadError: a rule means no node, or an output that its node has not
        """
        replaced = []
        for rule in self._rules:
            for node in _selected(tree, rule):
                if address(node) in self._given:
                    continue
                self._given[address(node)] = rule
                self._turns[address(node)] = Turns(rule.outcomes, self._clock, self._used)
                _check_outputs(rule, node)
                if not isinstance(node, TestNode):
                    replaced.append(node)
                    self._replaced[address(node)] = node.type()
        return replaced

    def stand_in(self, name: str, config: NodeConfig) -> TreeNode | None:
        """A substitution rule: a stand-in for a node that a rule means."""
        kind = self._replaced.get((config.path, config.element))
        if kind is None:
            return None
        return (condition_placeholder if kind is NodeType.CONDITION else placeholder)(name, config)

    def attach(self, tree: Tree) -> None:
        """Let the stand-ins of a tree follow the plan."""
        for node in tree.nodes():
            if isinstance(node, TestNode):
                node.plan = self._follower(address(node))

    def _follower(self, node: Address) -> Callable[[], TestNodeConfig]:
        return lambda: self._next(node)

    def _next(self, node: Address) -> TestNodeConfig:
        number = self._counts[node] = self._counts.get(node, 0) + 1
        does = self._turns[node].next() if node in self._turns else _GOOD.does
        status = "" if does.return_status_script else does.return_status.name
        attempt = Attempt(node, number, "EXCEPTION" if does.exception else status)
        self.attempts.append(attempt)
        return FAULT_KINDS[self._faults[attempt]] if attempt in self._faults else does

    def unused(self) -> list[tuple[OutcomeRule, int, Outcome]]:
        """Outcomes that no attempt had, with their rules and numbers from 1."""
        return [
            (rule, number, outcome)
            for rule in self._rules
            for number, outcome in enumerate(rule.outcomes, 1)
            if id(outcome) not in self._used
        ]


def _selected(tree: Tree, rule: OutcomeRule) -> list[TreeNode]:
    """The nodes that a rule means; one for all cases may be for another tree of the file."""
    try:
        return select(tree, rule.selector, rule.part)
    except LoadError:
        if rule.shared:
            return []
        raise


def _check_outputs(rule: OutcomeRule, node: TreeNode) -> None:
    ports = node.config().ports.values()
    known = [port.name for port in ports if port.direction is not PortDirection.INPUT]
    for outcome in rule.outcomes:
        for name in outcome.does.outputs:
            if name not in known:
                message = f"'{visible(node.full_path())}' has no output '{visible(name)}'"
                model = f"describe it in <TreeNodesModel>: <output_port name='{visible(name)}'/>"
                rule.part.fail(message, near_names(name, known) if known else model)
