# SPDX-License-Identifier: Apache-2.0
"""Mistakes in ConcurrentSequences and Trys that can be seen before they run: names that do not
exist, children that wait for each other, Steps and clauses out of place. For jumps see
`behavior_tree.xml.jumps`.
"""

from __future__ import annotations

from collections.abc import Mapping

from behavior_tree.blackboard.ports import pointer_key
from behavior_tree.cause import CauseKind
from behavior_tree.errors import XmlProblem
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.nodes.authoring.order import Order, find_order, listed
from behavior_tree.shown_text import shorten
from behavior_tree.xml.document import Element
from behavior_tree.xml.elements import below, with_paths
from behavior_tree.xml.jumps import JumpChecks
from behavior_tree.xml.list_elements import LISTS, ListElements, names_of
from behavior_tree.xml.loader import TreeDefinition
from behavior_tree.xml.networks import takes_no_time

Manifests = Mapping[str, TreeNodeManifest]


def concurrency_problems(definition: TreeDefinition, manifests: Manifests) -> list[XmlProblem]:
    """Errors in the ConcurrentSequences and Trys of one tree."""
    checks = _Checks(manifests)
    if not checks.known:
        return []
    for element, path in with_paths(definition.element, definition.label):
        checks.check(element, path)
    jumps = JumpChecks(manifests)
    jumps.check(definition)
    return checks.problems + jumps.problems


def concurrency_warnings(
    trees: Mapping[str, TreeDefinition], manifests: Manifests
) -> list[XmlProblem]:
    """Clauses that never run, and those that go round in every tick."""
    checks = _Checks(manifests, severity="warning")
    if not checks.known:
        return []
    for definition in trees.values():
        for element, path in with_paths(definition.element, definition.label):
            if checks.role(element) == "Try":
                checks.warn(element, path)
        jumps = JumpChecks(manifests, severity="warning")
        jumps.warn(definition)
        checks.problems += jumps.problems
    return checks.problems


class _Checks(ListElements):
    # -- errors ---------------------------------------------------------------------------------

    def check(self, element: Element, path: str) -> None:
        """All about the children of one element."""
        role = self.role(element)
        for child in element.children:
            if self.role(child) == "Step" and role not in LISTS:
                message = "a Step stands outside of any ConcurrentSequence"
                self.add(child, path, message, "put it into one, or take out the Step")
            elif self.role(child) == "Catch" and role != "Try":
                self.add(child, path, "a Catch stands outside of any Try", "put it into one")
        if role == "Try":
            self._clauses(element, path)
        if role in LISTS:
            self._order(self.layered(element), path)

    def _order(self, children: list[Element], path: str) -> None:
        for child in children:
            after = child.get("execute_after") if self.role(child) == "Step" else None
            if after is not None and pointer_key(after, "execute_after") is not None:
                message = "execute_after must be known when the tree is loaded, it cannot come "
                message += "from the blackboard"
                remedy = "write previous, beginning, or names of children"
                self.add(child, path, message, remedy, "execute_after")
                return
        found = find_order([self.described(child) for child in children])
        for mistake in [] if isinstance(found, Order) else found:
            child = children[mistake.index]
            self.add(child, path, mistake.message, mistake.remedy, "execute_after")

    def _clauses(self, element: Element, path: str) -> None:
        tried = self.tried(element)
        clauses = element.children[len(tried) :]
        if not tried and clauses:
            self.add(clauses[0], path, "there is nothing to try before this", "put it before")
        if not clauses and tried:
            message = "a Try has no clause: nothing of this is caught"
            self.add(tried[-1], path, message, "add a <Catch>, or write <ConcurrentSequence>")
        inside = [each for child in tried for each in (child, *below(child))]
        # In a SubTree may be any name.
        known = None if any(each.tag == "SubTree" for each in inside) else _names(inside)
        for child in clauses:
            if self.role(child) != "Catch":
                message = "this stands behind a Catch, where only clauses stand"
                self.add(child, path, message, "put it before the first Catch, or into a clause")
                continue
            self._kinds(child, path)
            if known is not None:
                self._of(child, path, known)

    def _kinds(self, clause: Element, path: str) -> None:
        text = clause.get("kind") or ""
        known = [kind.name for kind in CauseKind]
        for kind in [] if pointer_key(text, "kind") is not None else listed(text):
            if kind not in known:
                message = f"there is no kind of cause '{shorten(kind)}'"
                self.add(clause, path, message, f"one of {', '.join(known)}", "kind")

    def _of(self, clause: Element, path: str, known: dict[str, None]) -> None:
        text = clause.get("of") or ""
        for name in [] if pointer_key(text, "of") is not None else listed(text):
            if name not in known:
                message = f"of names '{shorten(name)}', which is not tried"
                some = ", ".join(map(shorten, list(known)[:20]))
                self.add(clause, path, message, f"one of {some}", "of")

    # -- warnings -------------------------------------------------------------------------------

    def warn(self, element: Element, path: str) -> None:
        """What loads but hardly does what was meant, in one Try."""
        tried = self.tried(element)
        catches_all: Element | None = None
        for clause in element.children[len(tried) :]:
            if catches_all is not None:
                message = f"this never runs, because the clause in line {catches_all.line} "
                self.add(clause, path, message + "catches all", "mend the order")
                return
            endless = clause.get("then") == "retry" and (clause.get("max_retries") or "")[:1] == "-"
            parts = [*tried, *clause.children]
            if endless and all(takes_no_time(each, self.manifests) for each in parts):
                message = "this goes round in every tick without an action that takes time"
                remedy = "give it an action, such as a Sleep, or a limit: max_retries"
                self.add(clause, path, message, remedy, "then")
            limited = clause.get("then") == "retry" and not endless
            if not limited and not any(clause.get(name) for name in ("of", "kind", "if")):
                catches_all = clause


def _names(elements: list[Element]) -> dict[str, None]:
    """What elements are called, in their order."""
    return {name: None for each in elements for name in names_of(each)}
