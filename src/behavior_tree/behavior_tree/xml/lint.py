# SPDX-License-Identifier: Apache-2.0
"""Trees that load but hardly do what was meant: nodes that no tick reaches, trees that nobody uses.

Each node gets the set of results that it can end with; RUNNING is always possible. From the leaves
up: ``AlwaysFailure`` can only fail, so what follows it in a ``Sequence`` is never ticked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import XmlProblem
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.shown_text import shorten
from behavior_tree.xml.document import MAX_DEPTH, Element
from behavior_tree.xml.elements import node_path, resolve_type, subtrees_below
from behavior_tree.xml.loader import TreeDefinition

S, F, K = NodeStatus.SUCCESS, NodeStatus.FAILURE, NodeStatus.SKIPPED
Results = frozenset[NodeStatus]
_ANY: Results = frozenset((S, F, K))
_LEAVES: dict[str, Results] = {
    "AlwaysSuccess": frozenset((S,)),
    "AlwaysFailure": frozenset((F,)),
    "Script": frozenset((S,)),
    "Sleep": frozenset((S,)),
    "UnsetBlackboard": frozenset((S,)),
}
_GATES = {"_failureIf": F, "_successIf": S, "_skipIf": K, "_while": K}
_MEMORY = ("Sequence", "AsyncSequence", "SequenceWithMemory", "ReactiveSequence")
_CHOICE = ("Fallback", "AsyncFallback", "ReactiveFallback")


def lint(
    trees: Mapping[str, TreeDefinition],
    manifests: Mapping[str, TreeNodeManifest],
    main_tree: str | None,
) -> list[XmlProblem]:
    """Warnings about correct trees.

    Args:
        trees: all that are registered
        manifests: node types; only built-in ones are known to have few results
        main_tree: ID of the tree that will run; None: any may run
    """
    walk = _Reach(trees, manifests)
    for tree_id in trees:
        walk.tree(tree_id)
    return [*walk.problems, *_unused(trees, main_tree)]


def _unused(trees: Mapping[str, TreeDefinition], main_tree: str | None) -> list[XmlProblem]:
    if main_tree is None or main_tree not in trees:
        return []
    todo, seen = [main_tree], {main_tree}
    while todo:
        for used in subtrees_below(trees[todo.pop()].element):
            if used in trees and used not in seen:
                seen.add(used)
                todo.append(used)
    file = trees[main_tree].element.source.file  # a library that is included may offer more
    return [
        tree.element.problem(
            f"tree '{tree.id}' is never used: '{main_tree}' does not lead to it",
            "remove it, or use it as a SubTree",
            path=tree.id,
            attribute="ID",
            severity="warning",
        )
        for tree in trees.values()
        if tree.id not in seen and tree.element.source.file == file
    ]


@dataclass
class _Reach:
    trees: Mapping[str, TreeDefinition]
    manifests: Mapping[str, TreeNodeManifest]
    problems: list[XmlProblem] = field(default_factory=list)
    _known: dict[str, Results] = field(default_factory=dict)
    _depth: int = 0

    def tree(self, tree_id: str) -> Results:
        """Results of a tree; each tree is looked at once."""
        if tree_id in self._known or tree_id not in self.trees:
            return self._known.get(tree_id, _ANY)
        self._known[tree_id] = _ANY  # for trees that contain themselves
        element, label = self.trees[tree_id].element, self.trees[tree_id].label
        if len(element.children) == 1:
            self._known[tree_id] = self._node(element.children[0], label)
        return self._known[tree_id]

    def _node(self, element: Element, path: str) -> Results:
        type_id = resolve_type(element) or element.tag
        path = node_path(path, element)
        if self._depth > MAX_DEPTH:
            return _ANY
        self._depth += 1
        below = [self._node(child, path) for child in element.children]
        if element.tag == "SubTree":
            results = self.tree(type_id)
        else:
            results = self._own(type_id, element, below, path)
        self._depth -= 1
        return results | {status for gate, status in _GATES.items() if gate in element.attributes}

    def _own(self, type_id: str, element: Element, below: list[Results], path: str) -> Results:
        manifest = self.manifests.get(type_id)
        if manifest is None or not manifest.builtin:
            return _ANY
        if type_id in _MEMORY:
            return self._chain(element, below, path, stop=F, go_on=S)
        if type_id in _CHOICE:
            return self._chain(element, below, path, stop=S, go_on=F)
        if type_id in ("IfThenElse", "WhileDoElse") and len(below) in (2, 3):
            return self._branches(element, below, path)
        if type_id == "TryCatch" and len(below) > 1:
            return self._try_catch(element, below, path)
        if len(below) == 1 and type_id in _DECORATORS:
            return _DECORATORS[type_id](element, below[0])
        return _LEAVES.get(type_id, _ANY)

    def _chain(
        self,
        element: Element,
        below: list[Results],
        path: str,
        *,
        stop: NodeStatus,
        go_on: NodeStatus,
    ) -> Results:
        """Children in order, until one gives ``stop``."""
        found: set[NodeStatus] = set()
        all_skip, any_goes_on = True, False
        for child, results, following in zip(
            element.children, below, [*element.children[1:], None], strict=True
        ):
            if stop in results:
                found.add(stop)
            any_goes_on |= go_on in results
            all_skip &= K in results
            if not results & {go_on, K}:
                if following is not None:
                    self._unreached(following, child, results, path)
                return frozenset(found)
        found.update([go_on] if any_goes_on else [])
        return frozenset(found | ({K} if all_skip else set()))

    def _branches(self, element: Element, below: list[Results], path: str) -> Results:
        condition, branches = below[0], list(zip(element.children[1:], below[1:], strict=True))
        found = {K} & condition
        for status, (child, results) in zip((S, F), branches, strict=False):
            if status in condition:
                found |= results
            else:
                self._unreached(child, element.children[0], condition, path)
        if len(branches) == 1:
            found |= {F} & condition
        return frozenset(found)

    def _try_catch(self, element: Element, below: list[Results], path: str) -> Results:
        tries = Element("", {}, element.source, 0, 0, 0, element.children[:-1])
        results = self._chain(tries, below[:-1], path, stop=F, go_on=S)
        if F not in results:
            self._unreached(element.children[-1], element.children[-2], results, path)
        return results

    def _unreached(self, child: Element, cause: Element, results: Results, path: str) -> None:
        ends = " or ".join(sorted(status.name for status in results))
        why = f"can only end with {ends}" if results else "never ends"
        label = shorten(cause.get("name") or resolve_type(cause) or cause.tag)
        self.problems.append(
            child.problem(
                f"this node is never ticked, because <{label}> in line {cause.line} {why}",
                "remove it, or mend the order",
                path=node_path(path, child),
                severity="warning",
            )
        )


def _swap(results: Iterable[NodeStatus]) -> Results:
    return frozenset({S: F, F: S}.get(status, status) for status in results)


def _endless(element: Element, port: str) -> bool:
    return element.get(port) == "-1"


def _repeat(element: Element, child: Results) -> Results:
    found = child & {F, K}
    if not _endless(element, "num_cycles"):
        found |= {S}
    return found


def _retry(element: Element, child: Results) -> Results:
    found = child & {S, K}
    if not _endless(element, "num_attempts"):
        found |= {F}
    return found


_DECORATORS: dict[str, Callable[[Element, Results], Results]] = {
    "Inverter": lambda _, child: _swap(child),
    "ForceSuccess": lambda _, child: frozenset(K if each is K else S for each in child),
    "ForceFailure": lambda _, child: frozenset(K if each is K else F for each in child),
    "KeepRunningUntilFailure": lambda _, child: child & {F},
    "Repeat": _repeat,
    "RetryUntilSuccessful": _retry,
    "Timeout": lambda _, child: child | {F},
    "Delay": lambda _, child: child,
    "RunOnce": lambda _, child: child | {K},
    "SkipUnlessUpdated": lambda _, child: child | {K},
    "WaitValueUpdate": lambda _, child: child,
}
