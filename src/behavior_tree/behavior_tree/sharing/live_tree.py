# SPDX-License-Identifier: Apache-2.0
"""A tree that ticks follows the shared files from which it was built.

Nodes are the same by the identifiers of their elements. Of a node that stays only ports,
conditions, name and place change; it keeps what it does, unless it runs with a port or condition
that changes: it is halted then and begins anew. A node of which more changes is built anew, with
all in it.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import dataclass, field

from behavior_tree.basic_types import NodeType
from behavior_tree.blackboard.ports import is_port_attribute
from behavior_tree.editing.editor import ManyChanges, TreeEditor
from behavior_tree.errors import LogicError
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.kernel.conditions import Conditions
from behavior_tree.kernel.leaf import LeafNode
from behavior_tree.kernel.node import RUNNING, TreeNode
from behavior_tree.kernel.subtree import Subtree
from behavior_tree.kernel.tree import Tree
from behavior_tree.sharing.identified import State
from behavior_tree.shown_text import listed
from behavior_tree.xml.document import Element
from behavior_tree.xml.elements import (
    CONDITION_ATTRIBUTES,
    IS_CONDITION,
    autoremaps,
    resolve_type,
)


class RunsNowError(LogicError):
    """What an edit changes runs now."""

    def __init__(self, nodes: list[TreeNode]) -> None:
        paths = listed([f"'{node.full_path()}'" for node in nodes])
        super().__init__(
            f'it changes what runs now: {paths}. Say how: with running "after" the edit is made '
            'when that has ended, with "halt" that is halted'
        )
        self.nodes = nodes
        """Those that run, and would be halted or changed."""


@dataclass
class _Plan:
    """What is to be done to a tree."""

    changes: ManyChanges = field(default_factory=ManyChanges)
    others: list[tuple[TreeNode, dict[str, str]]] = field(default_factory=list)
    """Attributes that no port and no condition has."""
    conditions: dict[TreeNode, dict[str, str]] = field(default_factory=dict)
    """Nodes whose conditions change, and all that they have then."""
    trees: list[tuple[TreeNode, str]] = field(default_factory=list)
    """SubTrees whose tree has another ID."""
    stay: dict[TreeNode, str] = field(default_factory=dict)
    """Nodes that stay, and their identifiers."""
    all_stay: bool = False
    """All nodes stay where they are."""
    moved: list[TreeNode] = field(default_factory=list)


class LiveTree:
    """One tree and the files that it shall be like.

    Args:
        tree: built from the files of ``state``
        factory: has built it, and builds new nodes; its trees become those of the files
        state: of the files
    """

    def __init__(self, tree: Tree, factory: BehaviorTreeFactory, state: State) -> None:
        self.tree = tree
        self.state = state
        """Of the files that the tree is like."""
        self._factory = factory
        self._editor = TreeEditor(tree, factory)
        self._ids: dict[TreeNode, str] = {}
        self._nodes: dict[str, list[TreeNode]] = {}
        """Nodes by the identifiers of their elements: of a SubTree one for each use."""
        self._identify(state)

    def identifier(self, node: TreeNode) -> str:
        """Of the element that a node was built from; raises KeyError."""
        return self._ids[node]

    def follow(self, state: State, *, halt: bool, retagged: Sequence[str] | None = None) -> None:
        """Become like other files, between two ticks.

        Args:
            state: of files that have been checked
            halt: whether what runs may be changed and halted
            retagged: the elements that differ from those of now, and by their attributes alone;
                None: it is found out what differs

        Raises:
            RunsNowError: something runs that would be changed; nothing has changed
            LoadError: a new node cannot be built; nothing has changed
        """
        with self.tree.runtime.between_ticks():
            plan = None if retagged is None else self._plan_of(retagged, state)
            plan = plan or self._plan(state)
            running = self._running(plan)
            if running and not halt:
                raise RunsNowError(running)
            for node in running:
                if node in plan.stay or plan.all_stay:
                    node.halt_node()
                    node.reset_status()
            self._make(plan, state)
        self.tree.emit_wake_up()

    def _make(self, plan: _Plan, state: State) -> None:
        def complete() -> None:
            for node, texts in plan.conditions.items():
                _set_conditions(node, texts)
            for node, attributes in plan.others:
                node.config().other_attributes = attributes
            self.state = state
            if not plan.all_stay:
                self._ids = plan.stay
            self._identify(state, new=not plan.all_stay)

        before = [(node, node.registration_id()) for node, _ in plan.trees]
        self._factory.adopt(state.files.documents)
        for node, tree_id in plan.trees:
            node.config().registration_id = tree_id
        plan.changes.others.extend([*plan.conditions, *(node for node, _ in plan.trees)])
        try:
            if plan.changes:
                self._editor.change_many(plan.changes, complete)
            else:
                complete()
        except Exception:  # a node may raise anything while it is built
            self._factory.adopt(self.state.files.documents)
            for node, tree_id in before:
                node.config().registration_id = tree_id
            raise

    # -- what to do -----------------------------------------------------------------------------

    def _plan(self, state: State) -> _Plan:
        plan = _Plan()
        root = self.tree.root_node()
        new = self._main(root, plan, state)
        if new is not root:
            plan.changes.children[None] = [new]
        elif self._tree_element(state).get("ID") != self._tree_element(self.state).get("ID"):
            plan.changes.others.append(root)  # its tree has another name
        return plan

    def _tree_element(self, state: State) -> Element:
        """The ``<BehaviorTree>`` of the main tree in some files."""
        return state.spots[self._tree_of(self.tree.subtrees[0])].element

    def _main(self, root: TreeNode, plan: _Plan, state: State) -> TreeNode | Element:
        """What becomes of the root of the main tree; raises LogicError if that is gone."""
        instance = self.tree.subtrees[0]
        main, tree_id = self._tree_of(instance), instance.tree_id
        if main in state.spots:
            element = state.spots[main].element
            tree_id = element.get("ID") or tree_id
            if element.get("ID") is None or _is_defined(element, state):
                return self._child(main, root, plan, state)
        definition = state.files.documents.trees.get(tree_id)
        if definition is None:
            raise LogicError(f"tree '{tree_id}' ticks and would be gone: wait until it has ended")
        return definition.element.children[0]  # another one has taken its place

    def _plan_of(self, retagged: Sequence[str], state: State) -> _Plan | None:
        """The same if attributes of these elements alone have changed; None: all must be seen."""
        plan = _Plan(all_stay=True)
        for identifier in retagged:
            element, nodes = state.spots[identifier].element, self._nodes.get(identifier, ())
            if not nodes or element.tag == "SubTree":
                return None  # no node, or more than one
            for node in nodes:
                if not self._stays(node, element, state):
                    return None
                self._attributes(node, element, plan)
        return plan

    def _tree_of(self, instance: Subtree) -> str:
        """Identifier of the ``<BehaviorTree>`` of an instance."""
        return self.state.spots[self._ids[instance.nodes[0]]].parent

    def _child(self, tree: str, root: TreeNode, plan: _Plan, state: State) -> TreeNode | Element:
        """What becomes of the root of an instance of a tree."""
        if tree not in state.spots:
            return root  # no one uses it any more, so the node above goes
        here = {self._ids[node]: node for node in _instance_nodes(root)}
        return self._become(state.spots[tree].children[0], here, plan, state)

    def _become(
        self, identifier: str, here: dict[str, TreeNode], plan: _Plan, state: State
    ) -> TreeNode | Element:
        """What an element becomes: the node that it has been, or one to be built.

        ``here``: nodes of the instance by the identifiers of their elements.
        """
        element, node = state.spots[identifier].element, here.get(identifier)
        if node is None or not self._stays(node, element, state):
            return element
        plan.stay[node] = identifier
        self._attributes(node, element, plan)
        if node.type() is NodeType.SUBTREE:
            inner = node.children[0]
            tree = self.state.spots[self._ids[inner]].parent
            children: list[TreeNode | Element] = [self._child(tree, inner, plan, state)]
        elif isinstance(node, LeafNode):
            return node
        else:
            below = state.spots[identifier].children
            children = [self._become(each, here, plan, state) for each in below]
        if [*map(id, children)] != [*map(id, node.children)]:
            plan.changes.children[node] = children
            plan.moved += [
                each for each in children if not isinstance(each, Element) and each._up is not node
            ]
        return node

    def _stays(self, node: TreeNode, element: Element, state: State) -> bool:
        before = self.state.spots[self._ids[node]].element
        if before.tag != element.tag:
            return False
        changed = _changed(before, element)
        if element.tag == "SubTree":
            alike = changed <= {"name", "ID", *IS_CONDITION}
            defaults = _defaults(before, self.state) == _defaults(element, state)
            return alike and defaults and self._same_tree(node, element, state)
        if resolve_type(before) != resolve_type(element):
            return False
        ports = node.config().ports
        undescribed = [name for name in changed if name not in ports and is_port_attribute(name)]
        return not undescribed

    def _same_tree(self, node: TreeNode, element: Element, state: State) -> bool:
        """Whether a SubTree still means the tree that it has, under whatever name."""
        tree = self.state.spots[self._ids[node.children[0]]].parent
        if tree not in state.spots:
            return False
        definition = state.spots[tree].element
        return definition.get("ID") == element.get("ID") and _is_defined(definition, state)

    def _attributes(self, node: TreeNode, element: Element, plan: _Plan) -> None:
        before = self.state.spots[self._ids[node]].element
        config = node.config()
        others = dict(config.other_attributes)
        for name in _changed(before, element):
            text = element.get(name)
            if name in ("name", "ID"):
                continue
            if name in IS_CONDITION:
                plan.conditions[node] = {
                    each: element.attributes[each]
                    for each in CONDITION_ATTRIBUTES
                    if each in element.attributes
                }
            elif name in config.ports:
                default = config.ports[name].default_text
                plan.changes.ports.append((node, name, default if text is None else text))
            elif text is None:
                others.pop(name, None)
            else:
                others[name] = text
        if others != config.other_attributes:
            plan.others.append((node, others))
        name = element.get("name") or resolve_type(element) or ""
        if node.registration_id() != resolve_type(element):
            plan.trees.append((node, resolve_type(element) or ""))
            plan.changes.names[node] = name
        elif name != node.name():
            plan.changes.names[node] = name

    def _running(self, plan: _Plan) -> list[TreeNode]:
        """What runs and would not go on as it is."""
        ported = [node for node, _, _ in plan.changes.ports]
        touched = dict.fromkeys([*ported, *plan.moved, *plan.conditions])
        if plan.all_stay:
            return [node for node in touched if node.status is RUNNING]
        return [
            node
            for node in self.tree.nodes()
            if node.status is RUNNING and (node not in plan.stay or node in touched)
        ]

    # -- who is who -----------------------------------------------------------------------------

    def _identify(self, state: State, *, new: bool = True) -> None:
        """Let nodes know their elements as they are now."""
        if new:
            self._find_new(state)
        spots = state.spots
        for node, identifier in self._ids.items():
            node.config().element = spots[identifier].element
        for instance in self.tree.subtrees:
            definition = state.spots[self._tree_in(state, instance)].element
            instance.definition = definition
            instance.tree_id = definition.get("ID") or instance.tree_id

    def _find_new(self, state: State) -> None:
        """Identify nodes that are new by where their elements stand."""
        nodes = list(self.tree.nodes())
        new = [node for node in nodes if node not in self._ids]
        places = _places(state) if new else {}
        for node in new:
            self._ids[node] = places[_place(node.config().element)]
        self._nodes = {}
        for node in nodes:
            self._nodes.setdefault(self._ids[node], []).append(node)

    def _tree_in(self, state: State, instance: Subtree) -> str:
        return state.spots[self._ids[instance.nodes[0]]].parent


def _places(state: State) -> dict[tuple[str, int], str]:
    """Identifiers by where their elements stand: file and byte."""
    return {(str(spot.file), spot.element.offset): id for id, spot in state.spots.items()}


def _place(element: Element) -> tuple[str, int]:
    """File in which an element stands, and at which byte of its text."""
    mark = len(BOM_UTF8) if element.source.data.startswith(BOM_UTF8) else 0
    return element.source.file, element.offset - mark


def _is_defined(tree: Element, state: State) -> bool:
    """Whether a ``<BehaviorTree>`` is the one that its ID means: another may take its place."""
    definition = state.files.documents.trees.get(tree.get("ID") or "")
    return definition is not None and _place(definition.element) == _place(tree)


def _defaults(subtree: Element, state: State) -> dict[str, str]:
    """What the model of a tree gives to a SubTree that does not say it itself."""
    model = {} if autoremaps(subtree) else state.files.documents.models.get(subtree.get("ID") or "")
    return {
        port.name: port.default
        for port in (model or {}).values()
        if port.default is not None and port.name not in subtree.attributes
    }


def _set_conditions(node: TreeNode, texts: dict[str, str]) -> None:
    config = node.config()
    made = Conditions(texts, config.blackboard, config.runtime.quirks) if texts else None
    config.condition_attributes, config.conditions = texts, made
    node.select_kernel()


def _changed(before: Element, after: Element) -> set[str]:
    one, other = before.attributes, after.attributes
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


def _instance_nodes(root: TreeNode) -> list[TreeNode]:
    """A node and all below it, down to SubTrees."""
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        found.append(node)
        if node.type() is not NodeType.SUBTREE and not isinstance(node, LeafNode):
            stack.extend(node.children)
    return found
