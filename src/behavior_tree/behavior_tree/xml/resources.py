# SPDX-License-Identifier: Apache-2.0
"""Two leaves that may run at once and command the same thing: found before they run.

A node type says what it commands: ``commands`` of its class or manifest, such as ``("arm",)``; a
``{port}`` in a name stands for what the XML gives that port. Where that is known only when the tree
runs, nothing is said here but there (`behavior_tree.kernel.claims`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from behavior_tree.blackboard.ports import pointer_key
from behavior_tree.errors import XmlProblem
from behavior_tree.kernel.claims import NO_PARTS, PORT_IN_NAME, Parts, in_common
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.nodes.authoring.order import Order, find_order
from behavior_tree.shown_text import shorten
from behavior_tree.xml.document import Element
from behavior_tree.xml.elements import below, resolve_type, with_paths
from behavior_tree.xml.jumps import JumpChecks
from behavior_tree.xml.list_elements import LISTS, ListElements
from behavior_tree.xml.loader import TreeDefinition

_TOGETHER = ("Parallel", "ParallelAll")

Used = dict[str, str]
"""Name of a leaf that commands something, by what it commands."""


def resource_problems(
    trees: Mapping[str, TreeDefinition],
    manifests: Mapping[str, TreeNodeManifest],
    parts: Parts = NO_PARTS,
) -> list[XmlProblem]:
    """Children that may run at once and command the same, in all trees.

    Args:
        trees: by ID.
        manifests: of all node types.
        parts: what names of ``commands`` stand for that are made of others.
    """
    if not any(manifest.commands for manifest in manifests.values()):
        return []
    check = _Resources(trees, manifests, parts)
    for definition in trees.values():
        check.tree(definition)
    return check.problems


class _Resources(ListElements):
    def __init__(
        self,
        trees: Mapping[str, TreeDefinition],
        manifests: Mapping[str, TreeNodeManifest],
        parts: Parts,
    ) -> None:
        super().__init__(manifests)
        self._trees, self._parts = trees, parts
        self._of_trees: dict[str, Used] = {}
        """What each tree commands; empty while that is being found out."""
        self._calls: dict[Element, Element] = {}
        """What each Gosub runs, of the trees that have nodes whose children run at once."""
        self._wide = {
            type_id
            for type_id, manifest in manifests.items()
            if manifest.role in LISTS or type_id in _TOGETHER
        }

    def tree(self, definition: TreeDefinition) -> None:
        """Look at all nodes whose children may run at once."""
        if not any(resolve_type(each) in self._wide for each in below(definition.element)):
            return
        self._calls |= JumpChecks(self.manifests).calls(definition)
        for element, path in with_paths(definition.element, definition.label):
            if resolve_type(element) not in self._wide:
                continue
            used = {child: self._used(child) for child in element.children}
            told: set[tuple[Element, str]] = set()
            for first, second in self._together(element, used):
                for one, other, both in self._contested(used[first], used[second]):
                    if (second, both) in told:
                        continue
                    told.add((second, both))
                    message = f"'{shorten(one)}' and '{shorten(other)}' may run at "
                    message += f"once, and both command '{shorten(both)}'"
                    self.add(second, path, message, "let one come after the other")

    def _contested(self, first: Used, second: Used) -> Iterator[tuple[str, str, str]]:
        """Leaf of the first, leaf of the second branch, and what both command."""
        named = set()
        for resource, leaf in second.items():
            for other, earlier in first.items():
                both = in_common(other, resource, self._parts)
                if both is not None and both not in named:
                    named.add(both)
                    yield earlier, leaf, both

    def _together(
        self, element: Element, used: Mapping[Element, Used]
    ) -> Iterator[tuple[Element, Element]]:
        """Pairs of children that command something and may run at once."""
        if resolve_type(element) in _TOGETHER:
            yield from combinations([child for child in element.children if used[child]], 2)
        if self.role(element) not in LISTS or element.get("concurrent") in ("false", "0"):
            return
        layered = self.layered(element)
        order = find_order([self.described(child) for child in layered])
        if not isinstance(order, Order):
            return  # told elsewhere
        earlier: dict[int, int] = {}
        """A bit for each child: of long lists sets would fill the memory."""
        for index in order.sequence:
            earlier[index] = 0
            for other in order.before[index]:
                earlier[index] |= earlier[other] | 1 << other
        moving = [index for index, child in enumerate(layered) if used[child]]
        for first, second in combinations(moving, 2):
            if not (earlier[second] >> first | earlier[first] >> second) & 1:
                yield layered[first], layered[second]

    def _used(self, element: Element) -> Used:
        """What a branch commands."""
        found: Used = {}
        stack, seen = [element], {element}
        while stack:
            each = stack.pop()
            inside = [*each.children, *filter(None, [self._calls.get(each)])]
            stack += [child for child in inside if child not in seen]
            seen.update(inside)
            if each.tag == "SubTree":
                found |= self._of_tree(each.get("ID") or "")
                continue
            manifest = self.manifests.get(resolve_type(each) or "")
            if manifest is not None:
                name = each.get("name") or manifest.registration_id
                for resource in _commanded(each, manifest):
                    found.setdefault(resource, name)
        return found

    def _of_tree(self, tree_id: str) -> Used:
        if tree_id not in self._of_trees:
            self._of_trees[tree_id] = {}
            if tree_id in self._trees:
                self._of_trees[tree_id] = self._used(self._trees[tree_id].element)
        return self._of_trees[tree_id]


def _commanded(element: Element, manifest: TreeNodeManifest) -> Iterator[str]:
    for pattern in manifest.commands:
        resource = pattern
        for port in PORT_IN_NAME.findall(pattern):
            text = _text(element, manifest, port)
            if text is None:
                break
            resource = resource.replace(f"{{{port}}}", text)
        else:
            yield resource.strip()


def _text(element: Element, manifest: TreeNodeManifest, port: str) -> str | None:
    """What a port will hold; None if only the run can tell."""
    text = element.get(port)
    if text is None:
        return manifest.default_texts.get(port)
    return text if pointer_key(text, port) is None else None
