# SPDX-License-Identifier: Apache-2.0
"""Mistakes in decider networks that can be seen before they run: nodes out of place, names that do
not exist, states that go round without an action, locks that nobody releases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from behavior_tree.basic_types import NodeType
from behavior_tree.blackboard.conversion import is_true
from behavior_tree.blackboard.ports import pointer_key
from behavior_tree.errors import XmlProblem
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.nodes.decider import DECIDER_NODES
from behavior_tree.shown_text import shorten
from behavior_tree.xml.document import Element
from behavior_tree.xml.elements import node_path, resolve_type
from behavior_tree.xml.loader import TreeDefinition

_PARENTS = {"Case": "Decider", "Rd": "RLDS", "State": "StateMachine", "Transition": "State"}
_CHILDREN = {"Decider": "Case", "RLDS": "Rd", "StateMachine": "State"}
_CONDITIONS = {"Case": ("if",), "Rd": ("runnable", "enterable")}
_KEEPS_LOCKS = ("Case", "Rd", "StateMachine")
_INSTANT = ("AlwaysSuccess", "AlwaysFailure", "Script", "SetBlackboard", "UnsetBlackboard")
_INSTANT_ROLES = ("Lock", "WriteContext", "Goto", "Checkpoint")
_REACTIVE = ("ReactiveSequence", "ReactiveFallback", "WhileDoElse")


@dataclass(frozen=True, eq=False)
class _Node:
    """An element with what is around it."""

    element: Element
    path: str
    role: str
    type_id: str
    above: _Node | None

    @property
    def name(self) -> str:
        """As nodes are called that have no name."""
        return self.element.get("name") or self.type_id

    def around(self) -> Iterator[_Node]:
        """The nodes around it, the innermost first."""
        up = self.above
        while up is not None:
            yield up
            up = up.above


@dataclass
class _Networks:
    """The nodes of one tree."""

    manifests: Mapping[str, TreeNodeManifest]
    problems: list[XmlProblem] = field(default_factory=list)

    def nodes(self, element: Element, path: str, above: _Node | None = None) -> Iterator[_Node]:
        """All below an element, parents first."""
        stack = [(child, path, above) for child in reversed(element.children)]
        while stack:
            node = self.node(*stack.pop())
            yield node
            stack += [(child, node.path, node) for child in reversed(node.element.children)]

    def node(self, element: Element, path: str, above: _Node | None) -> _Node:
        """One element."""
        type_id = resolve_type(element) or element.tag
        manifest = self.manifests.get(type_id) if element.tag != "SubTree" else None
        role = manifest.role if manifest is not None and _decides(manifest) else ""
        return _Node(element, node_path(path, element), role, type_id, above)

    def children(self, node: _Node) -> list[_Node]:
        """The nodes directly below."""
        return [self.node(child, node.path, node) for child in node.element.children]

    def add(
        self,
        node: _Node,
        message: str,
        remedy: str,
        attribute: str | None = None,
        severity: str = "error",
    ) -> None:
        """Report something."""
        found = node.element.problem(
            message, remedy, path=node.path, attribute=attribute, severity=severity
        )
        self.problems.append(found)

    # -- places and names -----------------------------------------------------------------------

    def check(self, node: _Node) -> None:
        """All about one node."""
        wanted = _PARENTS.get(node.role)
        around = node.above.role if node.above is not None else ""
        if wanted is not None and around != wanted and around not in _CHILDREN:
            message = f"{_a(node.role)} stands outside of any {wanted}"
            self.add(node, message, f"put it into <{wanted}>")
        if node.role in _CHILDREN:
            self._alternatives(node, _CHILDREN[node.role])
        on_none = node.element.get("on_none")
        if node.role and on_none in ("IDLE", "SKIPPED"):
            self.add(node, f"on_none cannot be {on_none}", "RUNNING, FAILURE or SUCCESS", "on_none")
        if node.role == "Decider":
            self._selection(node)
        elif node.role == "StateMachine":
            self._states(node)
        elif node.role == "State":
            self._state(node)
        elif node.role == "Lock":
            self._lock(node)

    def _alternatives(self, node: _Node, wanted: str) -> None:
        seen: set[str] = set()
        for child in self.children(node):
            name = child.element.get("name")
            if child.role != wanted:
                self.add(
                    child,
                    f"{_a(node.role)} has <{shorten(child.type_id)}> as a child",
                    f'put it into a <{wanted} name="...">',
                )
            elif not name:
                remedy = f'write <{child.type_id} name="...">'
                self.add(child, f"{_a(wanted)} needs a name", remedy)
            elif name in seen:
                message = f"'{shorten(node.name)}' has two of the name '{shorten(name)}'"
                self.add(child, message, "give each another name", "name")
            else:
                seen.add(name)

    def _names(self, node: _Node) -> list[str]:
        return [child.element.get("name") or "" for child in self.children(node)]

    def _selection(self, node: _Node) -> None:
        text = node.element.get("select")
        if text is None:
            return
        names = self._names(node)
        if text and pointer_key(text, "select") is None and text not in names:
            message = f"select names the Case '{shorten(text)}', which is not there"
            self.add(node, message, f"one of {_listed(names)}", "select")
        for child in self.children(node):
            if "if" in child.element.attributes:
                message = "this condition is never looked at, since the Decider has [select]"
                self.add(child, message, "remove one of them", "if")

    # -- states ---------------------------------------------------------------------------------

    def _state(self, node: _Node) -> None:
        bodies = [child for child in self.children(node) if child.role != "Transition"]
        if len(bodies) > 1:
            message = f"a State runs one child besides its Transitions, it has {len(bodies)}"
            self.add(bodies[1], message, "put them into a <Sequence>")
        if node.above is None or node.above.role != "StateMachine":
            return
        names = self._names(node.above)
        for attribute in ("next", "on_failure", "on_timeout"):
            self._target(node, attribute, names)
        for child in self.children(node):
            if child.role == "Transition":
                self._target(child, "to", names)

    def _target(self, node: _Node, attribute: str, names: list[str]) -> None:
        text = node.element.get(attribute)
        if text and pointer_key(text, attribute) is None and text not in names:
            message = f"{attribute} names the State '{shorten(text)}', which is not there"
            self.add(node, message, f"one of {_listed(names)}", attribute)

    def _states(self, node: _Node) -> None:
        self._target(node, "initial", self._names(node))
        states = {state.name: state for state in self.children(node) if state.role == "State"}
        first = node.element.get("initial") or next(iter(states), "")
        again = first if node.element.get("on_done") == "restart" else ""
        after = {name: self._at_once(state, again) for name, state in states.items()}
        cycle = _cycle({name: to & states.keys() for name, to in after.items()})
        if cycle:
            self.add(
                states[cycle[0]],
                f"the States {' -> '.join(cycle)} go round without an action that takes time",
                "give one of them an action, or a Transition with a condition",
            )

    def _at_once(self, state: _Node, again: str) -> set[str]:
        """States that follow without anything having taken time or been waited for."""
        found: set[str] = set()
        bodies = []
        for child in self.children(state):
            if child.role != "Transition":
                bodies.append(child)
            elif child.type_id == "Transition" and not (child.element.get("if") or "").strip():
                return {child.element.get("to") or ""}
        if bodies and all(self._instant(each) for each in bodies):
            found.add(state.element.get("next") or again)
        return found - {""}

    def _instant(self, node: _Node) -> bool:
        """True if a node surely does not take time."""
        manifest = self.manifests.get(node.type_id)
        if manifest is None or node.element.tag == "SubTree":
            return False
        if node.element.children:
            stock = manifest.builtin or bool(manifest.role)
            passes = stock and node.type_id not in ("Delay", "RunFor")
            return passes and all(self._instant(child) for child in self.children(node))
        return (
            manifest.type is NodeType.CONDITION
            or node.type_id in _INSTANT
            or manifest.role in _INSTANT_ROLES
        )

    # -- locks ----------------------------------------------------------------------------------

    def _lock(self, node: _Node) -> None:
        wanted = node.element.get("node") or ""
        if pointer_key(wanted, "node") is not None or not is_true(node.element.get("set")):
            return
        locked = self._locked(node, wanted)
        if locked is None:
            return  # may stand around the SubTree; the node says so when it runs
        others = self.nodes(locked.element, locked.path, locked)
        released = any(
            other.role == "Lock"
            and not is_true(other.element.get("set"))
            and self._same(self._locked(other, other.element.get("node") or ""), locked)
            for other in others
        )
        if not released:
            self.add(
                node,
                f"nobody releases this lock of '{shorten(locked.name)}'",
                'add <Lock set="false"/>, or use <Atomic>, which releases its own',
                "set",
            )

    def _locked(self, node: _Node, wanted: str) -> _Node | None:
        for up in node.around():
            if up.role and (up.name == wanted if wanted else up.role in _KEEPS_LOCKS):
                return up
        return None

    @staticmethod
    def _same(one: _Node | None, other: _Node) -> bool:
        return one is not None and one.element is other.element

    # -- warnings -------------------------------------------------------------------------------

    def warn(self, node: _Node) -> None:
        """What loads but hardly does what was meant."""
        if node.role == "Decider":
            self._unreached(node, self.children(node), "chosen")
        elif node.role == "RLDS":
            self._unreached(node, self.children(node)[::-1], "run")

    def _unreached(self, node: _Node, order: list[_Node], what: str) -> None:
        if "select" in node.element.attributes or node.type_id not in ("Decider", "RLDS"):
            return
        for position, child in enumerate(order[:-1]):
            ports = _CONDITIONS.get(child.type_id, ())
            if ports and not any((child.element.get(port) or "").strip() for port in ports):
                self.add(
                    order[position + 1],
                    f"this is never {what}, because '{shorten(child.name)}' in line "
                    f"{child.element.line} always can be",
                    f"give that one a condition, [{ports[0]}], or mend the order",
                    severity="warning",
                )
                return


def network_problems(
    definition: TreeDefinition, manifests: Mapping[str, TreeNodeManifest]
) -> list[XmlProblem]:
    """Errors in the decider networks of one tree."""
    if not _used(definition, manifests):
        return []
    networks = _Networks(manifests)
    for node in networks.nodes(definition.element, definition.label):
        networks.check(node)
    return networks.problems


def network_warnings(
    trees: Mapping[str, TreeDefinition], manifests: Mapping[str, TreeNodeManifest]
) -> list[XmlProblem]:
    """Cases that are never chosen, and locks below nodes that do not know of them."""
    networks = _Networks(manifests)
    if not any(_used(tree, manifests) for tree in trees.values()):
        return []
    nodes = {
        tree_id: list(networks.nodes(tree.element, tree.label)) for tree_id, tree in trees.items()
    }
    locking = _locking(nodes)
    for each in nodes.values():
        for node in each:
            networks.warn(node)
            if node.element.tag == "SubTree" and node.type_id in locking:
                what = f"the tree '{shorten(node.type_id)}' has an atomic part"
            elif _locks(node):
                what = "this is an atomic part"
            else:
                continue
            reactive = next(filter(_decides_anew, node.around()), None)
            if reactive is not None:
                networks.add(
                    node,
                    f"{what}, but '{shorten(reactive.name)}' in line {reactive.element.line} "
                    "decides anew in each tick and knows nothing of locks: it may halt it",
                    "use a Decider or an RLDS there",
                    severity="warning",
                )
    return networks.problems


def takes_no_time(element: Element, manifests: Mapping[str, TreeNodeManifest]) -> bool:
    """True if an element and all below surely end in one tick."""
    networks = _Networks(manifests)
    return networks._instant(networks.node(element, "", None))


def _used(definition: TreeDefinition, manifests: Mapping[str, TreeNodeManifest]) -> bool:
    """True if a tree has any node of a network."""
    roles = {type_id for type_id, manifest in manifests.items() if _decides(manifest)}
    stack = [definition.element] if roles else []
    while stack:
        element = stack.pop()
        if resolve_type(element) in roles:
            return True
        stack += element.children
    return False


def _decides(manifest: TreeNodeManifest) -> bool:
    """True for a node of decider networks."""
    return manifest.role in DECIDER_NODES


def _locks(node: _Node) -> bool:
    return node.role == "Atomic" or (node.role == "Lock" and is_true(node.element.get("set")))


def _decides_anew(node: _Node) -> bool:
    stock = node.type_id in _REACTIVE or node.type_id.startswith("Switch")
    return stock or "_while" in node.element.attributes


def _locking(nodes: Mapping[str, list[_Node]]) -> set[str]:
    """Trees with atomic parts, in them or in their SubTrees."""
    found = {tree_id for tree_id, each in nodes.items() if any(map(_locks, each))}
    grown = True
    while grown:
        more = {
            tree_id
            for tree_id, each in nodes.items()
            if any(node.element.tag == "SubTree" and node.type_id in found for node in each)
        }
        grown = not more <= found
        found |= more
    return found


def _cycle(after: Mapping[str, set[str]]) -> list[str]:
    """Names on a cycle, the first one again at the end; empty if there is none.

    Each state has one successor at most.
    """
    for start in after:
        chain = [start]
        while (to := next(iter(after[chain[-1]]), None)) is not None:
            if to in chain:
                return [*chain[chain.index(to) :], to]
            chain.append(to)
    return []


def _a(role: str) -> str:
    return f"an {role}" if role.startswith("R") else f"a {role}"


def _listed(names: list[str]) -> str:
    return ", ".join(shorten(name) for name in names if name) or "none"
