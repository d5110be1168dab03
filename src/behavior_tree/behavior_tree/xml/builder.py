# SPDX-License-Identifier: Apache-2.0
"""From tree definitions to nodes: uids, paths, blackboards, ports."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from behavior_tree.basic_types import PortDirection
from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.blackboard.conversion import TypeRegistry
from behavior_tree.blackboard.ports import (
    RESERVED_ATTRIBUTES,
    PortInfo,
    braced_key,
    is_port_attribute,
    pointer_key,
)
from behavior_tree.errors import (
    BehaviorTreeError,
    ConversionError,
    LoadError,
    LogicError,
    XmlProblem,
)
from behavior_tree.kernel.conditions import Conditions
from behavior_tree.kernel.manifest import NodeBuilder, TreeNodeManifest
from behavior_tree.kernel.node import NodeConfig, NodeName, TreeNode
from behavior_tree.kernel.runtime import TreeRuntime
from behavior_tree.kernel.subtree import Subtree
from behavior_tree.nodes.control.base import ControlNode
from behavior_tree.nodes.decorators.base import DecoratorNode
from behavior_tree.nodes.decorators.subtree import SubTreeNode
from behavior_tree.xml.document import Element
from behavior_tree.xml.elements import (
    CONDITION_ATTRIBUTES,
    IS_CONDITION,
    node_path,
    resolve_type,
    subtree_ports,
)
from behavior_tree.xml.key_types import type_conflict, types_agree
from behavior_tree.xml.loader import NO_SUCH_TREE, SubTreePort, TreeDefinition, some_names
from behavior_tree.xml.lone_change import LoneBlackboard
from behavior_tree.xml.recursion import node_count, recursion

MAX_DEPTH = 256
"""Deepest nesting of nodes, SubTrees included."""
FRAMES = 1000 + 10 * MAX_DEPTH
"""Calls within each other that Python must allow to tick and halt a tree of that depth. Its usual
1000 end a halt at a depth of 200, with leaves still at work."""
MAX_NODES = 65535
"""Most nodes of a tree: logs and monitors number them with 16 bits. Trees that contain each other
several times grow with powers of two, so there has to be a limit."""

Substitute = Callable[[str, str, str], Callable[[str, NodeConfig], TreeNode | None] | None]
"""From registration id, instance name and path to what makes a node in the place of another, or
gives None after all."""


class _Place:
    """In which tree a node is built."""

    __slots__ = ("chain", "path_start", "subtree")

    def __init__(self, subtree: Subtree, chain: tuple[str, ...]) -> None:
        self.subtree = subtree
        self.chain = chain
        """IDs of the trees from the main one down to this one."""
        self.path_start = f"{subtree.instance_name}/" if len(chain) > 1 else ""
        """What the paths of all its nodes begin with."""


@dataclass
class TreeBuilder:
    """Builds one tree. Definitions are expected to be checked by the validator."""

    manifests: Mapping[str, TreeNodeManifest]
    builders: Mapping[str, NodeBuilder]
    trees: Mapping[str, TreeDefinition]
    models: Mapping[str, Mapping[str, SubTreePort]]
    types: TypeRegistry
    runtime: TreeRuntime
    substitute: Substitute | None
    """None: nothing is."""
    subtrees: list[Subtree] = field(default_factory=list)
    _problems: list[XmlProblem] = field(default_factory=list)
    _uid: int = 0
    _paths: set[str] = field(default_factory=set)
    _names: dict[str, NodeName] = field(default_factory=dict)
    _shared: dict[tuple[object, ...], Conditions] = field(default_factory=dict)
    """Conditions by blackboard and texts: nodes with the same ones need them once."""

    def build(self, tree_id: str, blackboard: Blackboard) -> TreeNode:
        """Root node of the tree.

        Raises:
            LoadError: with every problem found while building
        """
        if node_count(self.trees, tree_id) > MAX_NODES:
            raise _too_large(self.trees[tree_id].element)
        sys.setrecursionlimit(max(FRAMES, sys.getrecursionlimit()))
        root = self._tree(self.trees[tree_id], blackboard, "", (), 1)
        if self._problems or root is None:
            raise LoadError(self._problems)
        return root

    def build_fragment(
        self,
        element: Element,
        subtree: Subtree,
        chain: tuple[str, ...],
        *,
        depth: int,
        last_uid: int,
        instance_names: set[str],
    ) -> TreeNode:
        """Node of one element, for a tree that exists.

        Args:
            element: checked by the validator
            subtree: instance of the tree that the node will belong to
            chain: IDs of the trees from the main one down to this one
            depth: nesting of the node in the whole tree, from 1
            last_uid: greatest uid in use
            instance_names: instances of SubTrees that exist

        Raises:
            LoadError: with every problem found while building
        """
        self._uid = last_uid
        self._paths = set(instance_names)
        node = self._node(element, _Place(subtree, chain), depth)
        if self._problems or node is None:
            raise LoadError(self._problems)
        return node

    def refused_nodes(
        self, definition: TreeDefinition, faulty: Collection[Element]
    ) -> list[XmlProblem]:
        """What the classes of a tree's nodes say against them, each made alone.

        Args:
            definition: cannot be built, because of other mistakes
            faulty: elements whose mistakes are known
        """
        self._problems = []
        stack = [(definition.element, definition.label)]
        while stack:
            element, path = stack.pop()
            type_id = resolve_type(element) or ""
            if type_id in self.manifests and element not in faulty:
                board = Blackboard(types=self.types)
                config = NodeConfig(board, self.runtime, type_id, path, 1, element=element)
                try:
                    self._registered(element, element.get("name") or type_id, config)
                except BehaviorTreeError as error:
                    self._add(element, path, str(error), "")
            stack.extend((child, node_path(path, child)) for child in element.children)
        return self._problems

    def takes_alone(self, element: Element) -> bool:
        """Whether the class of a node takes it, and would beside whatever other nodes."""
        type_id = str(resolve_type(element))
        board = LoneBlackboard(types=self.types)
        config = NodeConfig(board, self.runtime, type_id, type_id, 1, element=element)
        self._problems = []
        try:
            if not IS_CONDITION.isdisjoint(element.attributes):
                self._conditions(element, config)
            self._registered(element, element.get("name") or type_id, config)
        except BehaviorTreeError:
            return False
        return not (self._problems or board.was_read)

    @property
    def last_uid(self) -> int:
        """Greatest uid given so far."""
        return self._uid

    def _tree(
        self,
        definition: TreeDefinition,
        board: Blackboard,
        path: str,
        chain: tuple[str, ...],
        depth: int,
    ) -> TreeNode | None:
        subtree = Subtree(path, definition.id, board, definition=definition.element)
        self.subtrees.append(subtree)
        place = _Place(subtree, (*chain, definition.id))
        return self._node(definition.element.children[0], place, depth)

    def _node(self, element: Element, place: _Place, depth: int) -> TreeNode | None:
        subtree, children = place.subtree, element.children
        type_id = str(resolve_type(element))
        self._uid = uid = self._uid + 1
        if uid > MAX_NODES:  # of an edit: `build` has counted the nodes
            message = f"all {MAX_NODES} numbers of nodes have been used by edits of this tree"
            raise LoadError([element.problem(message, "save the edits and load the tree anew")])
        given = element.attributes.get("name", type_id)
        name = self._names.get(given) or self._new_name(given, type_id)
        path = place.path_start + (name if name != type_id else f"{type_id}::{uid}")
        if depth > MAX_DEPTH:
            self._add(element, path, f"the tree is nested deeper than {MAX_DEPTH}", "flatten it")
            return None
        config = NodeConfig(subtree.blackboard, self.runtime, type_id, path, uid, element=element)
        if element.attributes and not IS_CONDITION.isdisjoint(element.attributes):
            self._conditions(element, config)
        try:
            if element.tag == "SubTree":
                return self._subtree(element, name, config, place, depth)
            node = self._registered(element, name, config)
        except BehaviorTreeError as error:
            self._add(element, path, str(error), "")
            node = None
        if node is not None:
            subtree.nodes.append(node)
        if children:
            self._children(children, node, place, depth + 1)
        return node

    def _children(
        self, elements: Sequence[Element], parent: TreeNode | None, place: _Place, depth: int
    ) -> None:
        """Build the nodes below one; below one that could not be made to find all problems."""
        add: Callable[[TreeNode], object] = id  # to nobody
        node: Any = parent
        kinds = type(node).__mro__  # isinstance of an abstract class takes longer than a node
        if ControlNode in kinds:
            add = node.add_child
        elif DecoratorNode in kinds:
            if SubTreeNode not in kinds:
                add = node.set_child
        elif parent is not None:  # a leaf stands in for all of them
            self._uid += sum(1 + _count_below(element) for element in elements)
            return
        for element in elements:
            child = self._node(element, place, depth)
            if child is not None:
                add(child)

    def _new_name(self, given: str, type_id: str) -> NodeName:
        """Name of a node, kept since many are named alike; one that is empty means its type."""
        text = given if given or self.runtime.quirks.names_unchecked else type_id
        name = self._names[text] = NodeName(text)
        return name

    def _registered(self, element: Element, name: str, config: NodeConfig) -> TreeNode:
        type_id = config.registration_id
        manifest = self.manifests[type_id]
        if manifest.ports or element.attributes:
            self._ports(element, manifest, config)
        try:
            return self._substituted(name, config) or self.builders[type_id](name, config)
        except BehaviorTreeError:
            raise
        except Exception as error:
            raise LogicError(f"cannot make a {type_id}: {type(error).__name__}: {error}") from error

    def _substituted(self, name: str, config: NodeConfig) -> TreeNode | None:
        """What takes the place of a node; None: nothing does."""
        if self.substitute is None:
            return None
        builder = self.substitute(config.registration_id, name, config.path)
        return None if builder is None else builder(name, config)

    # -- ports ----------------------------------------------------------------------------------

    def _ports(self, element: Element, manifest: TreeNodeManifest, config: NodeConfig) -> None:
        quirks, ports = self.runtime.quirks, manifest.ports
        given: dict[str, str] = {}
        for name, text in element.attributes.items():
            if name in ports:
                given[name] = text
            elif name in RESERVED_ATTRIBUTES:
                continue
            elif is_port_attribute(name, any_name=quirks.names_unchecked):
                given[name] = text  # the description of the node type lacks it
                ports = {**ports, name: PortInfo(name, PortDirection.INPUT)}
            else:
                config.other_attributes[name] = text
        texts = {**given}
        for name, text in manifest.default_texts.items():
            texts.setdefault(name, text)
        config.ports, config.given_ports = ports, given
        if manifest.only_inputs:
            config.input_ports = texts
        else:
            inputs: dict[str, str] = {}
            outputs: dict[str, str] = {}
            config.input_ports, config.output_ports = inputs, outputs
            for name, text in texts.items():
                direction = ports[name].direction
                if direction is not PortDirection.OUTPUT:
                    inputs[name] = text
                if direction is not PortDirection.INPUT:
                    outputs[name] = text
        order = [name for name, text in texts.items() if "{" in text or text == "="]
        if quirks.exact_values:  # upstream's, which counts if two ports share a key
            order.sort(key=list(ports).index, reverse=True)
        for name in order:
            key = pointer_key(texts[name], name)
            if key is not None:
                # Upstream's update watchers declare BT::Any, other untyped ports AnyTypeAllowed.
                watched = manifest.builtin and name == "entry"
                self._entry(element, key, ports[name], config, opaque=watched)

    def _entry(
        self,
        element: Element,
        key: str,
        port: PortInfo,
        config: NodeConfig,
        *,
        opaque: bool,
    ) -> None:
        entry = config.blackboard.entry(key)
        if entry is None:
            lost = self.runtime.quirks.exact_values
            config.blackboard.create_entry(key, port.type).opaque = opaque and lost
            return
        if not types_agree(entry.type, port, exact=self.runtime.quirks.exact_values):
            message, remedy = type_conflict(key, entry.type, port.type)
            self._add(element, config.path, message, remedy, port.name)

    def _conditions(self, element: Element, config: NodeConfig) -> None:
        texts = {
            name: element.attributes[name]
            for name in CONDITION_ATTRIBUTES
            if name in element.attributes
        }
        config.condition_attributes = texts
        same = (id(config.blackboard), *texts.items())
        if same not in self._shared:
            self._shared[same] = Conditions(texts, config.blackboard, self.runtime.quirks)
        config.conditions = self._shared[same]

    # -- subtrees -------------------------------------------------------------------------------

    def _subtree(
        self, element: Element, name: str, config: NodeConfig, place: _Place, depth: int
    ) -> TreeNode | None:
        tree_id = config.registration_id
        definition = self.trees.get(tree_id)
        if definition is None:
            self._add(
                element,
                config.path,
                f"{NO_SUCH_TREE}{tree_id}",
                f"known trees: {some_names(self.trees)}",
                "ID",
            )
            return None
        if tree_id in place.chain:
            cycle = [*place.chain[place.chain.index(tree_id) :], tree_id]
            self._add(element, config.path, *recursion(cycle, tree_id), "ID")
            return None
        path = config.path
        if element.get("name") == tree_id:  # the node itself is told from others by its uid
            path = path.removesuffix(f"::{config.uid}")
        if path in self._paths and not self.runtime.quirks.names_unchecked:
            self._add(
                element,
                config.path,
                f"Duplicate SubTree path detected: '{path}'",
                "give each SubTree below the same tree another name",
                "name",
            )
            return None
        self._paths.add(path)
        board = self._subtree_blackboard(element, tree_id, config)
        substituted = self._substituted(name, config)
        if substituted is not None:
            place.subtree.nodes.append(substituted)
            return substituted
        node = SubTreeNode(name, config, tree_id)
        place.subtree.nodes.append(node)
        child = self._tree(definition, board, path, place.chain, depth + 1)
        if child is not None:
            node.set_child(child)
        return node

    def _subtree_blackboard(self, element: Element, tree_id: str, config: NodeConfig) -> Blackboard:
        board = Blackboard(config.blackboard, types=self.types)
        any_name = self.runtime.quirks.names_unchecked
        ports = subtree_ports(element, any_name=any_name)
        config.given_ports = {name: element.attributes[name] for name in ports}
        wanted = element.get("_autoremap")
        autoremap = self.types.from_text(wanted, bool) if wanted else False
        for port in () if autoremap else self.models.get(tree_id, {}).values():
            if port.name not in ports and port.default is not None:
                ports[port.name] = port.default
        if self.runtime.quirks.subtree_root_remap_is_literal:
            board.use_literal_at_remaps()
        for name, text in ports.items():
            key = braced_key(text) if any_name else pointer_key(text, name)
            if key is None or text == "=":
                self._literal(board, name, text)
            else:
                board.add_subtree_remapping(name, key)
        board.enable_autoremapping(autoremap)
        config.input_ports = ports
        for name, text in element.attributes.items():
            if name.startswith("_") and name not in RESERVED_ATTRIBUTES:
                config.other_attributes[name] = text
        return board

    def _literal(self, board: Blackboard, name: str, text: str) -> None:
        if self.runtime.quirks.subtree_literals_are_text:
            board.set(name, text)
            return
        for number_type in (int, float):
            try:
                number = self.types.from_text(text, number_type)
            except ConversionError:
                continue
            if text not in self.types.enums:
                board.set(name, number)
                return
        board.set(name, text)

    def _add(
        self, element: Element, path: str, message: str, remedy: str, attribute: str | None = None
    ) -> None:
        self._problems.append(element.problem(message, remedy, path=path, attribute=attribute))


def _too_large(element: Element) -> LoadError:
    message = f"the tree has more than {MAX_NODES} nodes"
    return LoadError([element.problem(message, "split it into several trees")])


def _count_below(element: Element) -> int:
    return sum(1 + _count_below(child) for child in element.children)
