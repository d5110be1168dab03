# SPDX-License-Identifier: Apache-2.0
"""Try and Catch: what is done when something fails, by what has failed."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any, ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.ports import InputPort, OutputPort, PortInfo, ports_list
from behavior_tree.cause import CauseKind
from behavior_tree.kernel.node import (
    FAILURE,
    IDLE,
    RUNNING,
    SUCCESS,
    NodeConfig,
    TreeNode,
)
from behavior_tree.nodes.authoring.concurrent import ConcurrentSequence, is_called, names_of
from behavior_tree.nodes.authoring.order import listed
from behavior_tree.nodes.decider.port_script import PortScript
from behavior_tree.nodes.decorators.force import ResultChanger


class Then(enum.IntEnum):
    """What follows when a clause has succeeded."""

    go_on = 0
    """The Try has succeeded."""
    retry = 1
    """What was tried is tried again, from its beginning."""
    fail = 2
    """The Try fails for the reason it had: the clause has only cleaned up."""


class Catch(ResultChanger):
    """A clause of a Try: its child runs if what was tried has failed and this clause is the first
    that fits.
    """

    role = "Catch"
    script_ports: ClassVar[tuple[str, ...]] = ("if",)
    of_success = SUCCESS
    of_failure = FAILURE

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        kinds = ", ".join(each.name for each in CauseKind)
        return ports_list(
            InputPort("of", str, "", "names of nodes, ; between them: one of these failed"),
            InputPort("kind", str, "", f"kinds of causes, ; between them: {kinds}"),
            InputPort("if", str, "", "script that must be true too"),
            InputPort("then", Then, Then.go_on, "after success of the clause: go_on, retry, fail"),
            InputPort(
                "max_retries",
                int,
                3,
                "with retry: attempts of the Try after the first, then the clause does not fit; "
                "-1: no limit",
            ),
            OutputPort("reason", str, None, "where the reason of the failure is written"),
        )

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._if = PortScript(self, "if")

    def fits(self, failed: set[str], kinds: set[str], retries: int) -> bool:
        """True if this clause is for a failure.

        Args:
            failed: names of all nodes that have failed
            kinds: of their causes
            retries: how often the Try has been tried again
        """
        if self.get_input("then") == Then.retry and 0 <= self.get_input("max_retries") <= retries:
            return False
        of, kind = listed(self.get_input("of")), listed(self.get_input("kind"))
        if (of and failed.isdisjoint(of)) or (kind and kinds.isdisjoint(kind)):
            return False
        return self._if.holds()


class Try(ConcurrentSequence):
    """Run all children before the first Catch as a ConcurrentSequence. If it fails, and nothing of
    it runs any more, the first Catch that fits runs: its success is the success of the Try, or
    another attempt. FAILURE if no clause fits, or the clause fails.
    """

    role = "Try"

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._clause: Catch | None = None
        """The clause that runs."""
        self._given_up = False
        """True if the clause that ran has failed."""
        self._retries = 0

    def layered(self) -> list[TreeNode]:
        children = self.children
        first = next((i for i, each in enumerate(children) if isinstance(each, Catch)), None)
        return [child for child in children[:first] if not is_called(child)]

    def tick(self) -> NodeStatus:
        if self._clause is None or self.status is not RUNNING:
            status = super().tick()
            if status is not FAILURE:
                return status
            self._clause = self._fitting_clause()
            if self._clause is None:
                return FAILURE
        return self._run_clause(self._clause)

    def _run_clause(self, clause: Catch) -> NodeStatus:
        run = clause._run
        status = run(clause)
        if self.status is not RUNNING:  # a leaf has halted the tree
            self.reset_children()
            self._start()
            return RUNNING
        if self._jump is not None and status is not FAILURE:  # which no jump makes good
            return self._land(*self._jump)
        if status is RUNNING:
            return RUNNING
        if status is IDLE:
            raise self._bad_child()
        self._reset(clause)
        if status is FAILURE:
            self._given_up = True
            return FAILURE
        then = clause.get_input("then")
        if then == Then.retry:
            return self._again()
        return FAILURE if then == Then.fail else SUCCESS

    def _again(self) -> NodeStatus:
        """Begin anew, in the next tick."""
        retries = self._retries + 1
        self._forget()
        self._retries = retries
        self._loop_again()
        return RUNNING

    def _land(self, target: TreeNode, origin: TreeNode) -> NodeStatus:
        if self._clause is not None:  # the failure is dealt with
            self._clause = None
            self._failed.clear()
        return super()._land(target, origin)

    def _fitting_clause(self) -> Catch | None:
        failed = {name for each in _failed_below(self) for name in names_of(each)}
        reason = self.explain_failure()
        kinds = {each.cause.kind.name for each in reason.leaves() if each.cause is not None}
        for clause in self.children:
            if isinstance(clause, Catch) and clause.fits(failed, kinds, self._retries):
                clause.set_output("reason", str(reason))
                return clause
        return None

    def failed_children(self) -> list[TreeNode]:
        failed = super().failed_children()
        return [*failed, self._clause] if self._given_up and self._clause is not None else failed

    def children_changed(self) -> None:
        super().children_changed()
        if self._clause not in self.children:
            self._clause = None

    def _forget(self) -> None:
        super()._forget()
        self._clause = None
        self._given_up = False
        self._retries = 0

    def save_state(self) -> Any:
        clause = None if self._clause is None else self.children.index(self._clause)
        return {**super().save_state(), "clause": clause, "retries": self._retries}

    def restore_state(self, state: Any) -> None:
        super().restore_state(state)
        clause = None if state["clause"] is None else self.children[state["clause"]]
        self._clause = clause if isinstance(clause, Catch) else None
        self._retries = state["retries"]


def _failed_below(node: TreeNode) -> Iterator[TreeNode]:
    """The nodes whose failures made a node fail, at any depth."""
    for child in node.failed_children():
        yield child
        yield from _failed_below(child)
