# SPDX-License-Identifier: Apache-2.0
"""Trees that contain themselves, and SubTrees of one tree with the same path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from behavior_tree.errors import XmlProblem
from behavior_tree.xml.document import Element
from behavior_tree.xml.elements import path_of, subtree_uses
from behavior_tree.xml.loader import TreeDefinition


def recursion(cycle: Iterable[str], tree_id: str) -> tuple[str, str]:
    """Message and remedy for a tree that contains itself by way of ``cycle``."""
    return (
        f"Recursive behavior tree cycle detected: tree '{tree_id}' references itself: "
        f"{' -> '.join(cycle)}",
        "a tree cannot contain itself; use Repeat or KeepRunningUntilFailure to loop",
    )


def recursion_problems(trees: Mapping[str, TreeDefinition]) -> list[XmlProblem]:
    """One problem for each SubTree element that closes a cycle, found depth first."""
    problems: list[XmlProblem] = []
    done: set[str] = set()
    for start in trees:
        if start in done:
            continue
        chain, positions = [start], {start: 0}
        stack = [subtree_uses(trees[start].element)]
        while stack:
            use = next(stack[-1], None)
            if use is None:
                stack.pop()
                done.add(finished := chain.pop())
                del positions[finished]
                continue
            element = use[0]
            target = element.get("ID") or ""
            if target in positions:
                cycle = [*chain[positions[target] :], target]
                message, remedy = recursion(cycle, target)
                path = path_of(use, chain[-1])
                problems.append(element.problem(message, remedy, path=path, attribute="ID"))
            elif target in trees and target not in done:
                positions[target] = len(chain)
                chain.append(target)
                stack.append(subtree_uses(trees[target].element))
    return problems


def node_count(trees: Mapping[str, TreeDefinition], tree_id: str) -> int:
    """Nodes of a tree, SubTrees included; a tree inside itself counts as nothing."""
    counts: dict[str, int] = {}
    known: dict[str, tuple[int, list[str]]] = {}
    stack = [tree_id]
    while stack:
        tree = stack[-1]
        if tree not in known:
            own, uses = _own_nodes(trees[tree].element)
            known[tree] = own, [use for use in uses if use in trees]
            stack.extend(use for use in set(known[tree][1]) if use not in known)
        else:
            own, uses = known[stack.pop()]
            counts[tree] = own + sum(counts.get(use, 0) for use in uses)
    return counts[tree_id]


def _own_nodes(element: Element) -> tuple[int, list[str]]:
    """Number of nodes in a definition, and IDs of the SubTrees among them."""
    count, uses, stack = 0, [], [element]
    while stack:
        children = stack.pop().children
        count += len(children)
        for child in children:
            if child.tag == "SubTree":
                uses.append(child.get("ID") or "")
            if child.children:
                stack.append(child)
    return count, uses


def duplicate_paths(definition: TreeDefinition) -> list[XmlProblem]:
    """SubTrees of one tree that bear the same name."""
    problems: list[XmlProblem] = []
    seen: dict[str, Element] = {}
    for use in sorted(subtree_uses(definition.element), key=lambda use: use[0].offset):
        element = use[0]
        name = element.get("name")
        if not name:
            continue  # its path ends with its uid
        if name in seen:
            problems.append(
                element.problem(
                    f"Duplicate SubTree path detected: '{name}', as in line {seen[name].line}",
                    "give each SubTree below the same tree another name",
                    path=path_of(use, definition.label),
                    attribute="name",
                )
            )
        seen.setdefault(name, element)
    return problems
