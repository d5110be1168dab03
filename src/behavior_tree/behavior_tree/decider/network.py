# SPDX-License-Identifier: Apache-2.0
"""`Network`: a decider network written in Python, as XML and as a tree."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.blackboard.ports import model_name_mistake
from behavior_tree.decider.parts import Part, call, node
from behavior_tree.decider.register import register_decider_nodes
from behavior_tree.errors import LogicError
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.kernel.node import NodeConfig, TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.nodes.decider import DECIDER_NODES
from behavior_tree.xml.escape import escape
from behavior_tree.xml.writer import manifest_lines

_QUOTES = {'"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}


class Network:
    """Parts, monitors and the context that their functions share.

    Args:
        name: becomes the ID of the tree; unique in a factory
        root: what decides
        context: given to all functions, and as ``context`` to nodes of Python classes; if it has a
            method ``reset``, `reset` calls it
        monitors: functions of the context, or parts, run once per tick before any decision
        compat: ``"cortex"`` to keep the reference's defects in all parts

    Raises:
        LogicError: the name is not allowed, or two different parts have the same type name
    """

    def __init__(
        self,
        name: str,
        root: Part,
        *,
        context: Any = None,
        monitors: Sequence[Part | Callable[[Any], object]] = (),
        compat: str | None = None,
    ) -> None:
        mistake = model_name_mistake(name)
        if mistake:
            raise LogicError(mistake)
        self.name = name
        self.context = context
        self._classes: dict[str, type[TreeNode]] = {}
        watching = [each if isinstance(each, Part) else _monitor(each) for each in monitors]
        self._root = self._checked(root, compat)
        if watching:  # which end in their tick in both modes
            ending = [self._checked(each, None) for each in watching]
            self._root = node("Monitors", *ending, self._root)

    def _checked(self, part: Part, compat: str | None) -> Part:
        """The part with unique type names, and ``compat`` where there is such a port."""
        type_id, attributes = part.type_id, dict(part.attributes)
        if part.node_class is not None:
            wanted = self.name + type_id if part.of_functions else type_id
            type_id = self._type_id(wanted, part.node_class)
        kind = part.node_class or DECIDER_NODES.get(type_id)
        if compat is not None and kind is not None and "compat" in kind.provided_ports():
            attributes.setdefault("compat", compat)
        children = tuple(self._checked(child, compat) for child in part.children)
        return replace(part, type_id=type_id, attributes=attributes, children=children)

    def _type_id(self, wanted: str, node_class: type[TreeNode]) -> str:
        mistake = model_name_mistake(wanted)
        if mistake:
            raise LogicError(mistake)
        number, type_id = 1, wanted
        while self._classes.get(type_id, node_class) is not node_class:
            number += 1
            type_id = f"{wanted}{number}"
        self._classes[type_id] = node_class
        return type_id

    # -- what it becomes ------------------------------------------------------------------------

    def xml(self) -> str:
        """The network as a document that loads where it is registered, and opens in Groot2."""
        lines = [f'<root BTCPP_format="4" main_tree_to_execute="{escape(self.name, _QUOTES)}">']
        lines.append(f'    <BehaviorTree ID="{escape(self.name, _QUOTES)}">')
        lines += _lines(self._root, 2)
        lines += ["    </BehaviorTree>", "    <TreeNodesModel>"]
        types = {**DECIDER_NODES, **self._classes}
        for type_id in sorted(set(_type_ids(self._root)) & types.keys()):
            lines += manifest_lines(TreeNodeManifest.of_class(types[type_id], type_id))
        return "\n".join([*lines, "    </TreeNodesModel>", "</root>", ""])

    def register_nodes(self, factory: BehaviorTreeFactory) -> None:
        """Register the node types of the network, so that its document can be loaded.

        Raises:
            NodeTypeTakenError: the factory has a node type of the name of one of them
        """
        register_decider_nodes(factory)
        for type_id, node_class in self._classes.items():
            factory.register_builder(
                TreeNodeManifest.of_class(node_class, type_id),
                functools.partial(_build, node_class, self.context),
            )

    def register(self, factory: BehaviorTreeFactory) -> None:
        """Register the node types of the network, and its tree under its name.

        Raises:
            LogicError: the factory has a tree of this name
            NodeTypeTakenError: as `register_nodes`
            LoadError: mistakes in the network
        """
        if self.name in factory.registered_behavior_trees():
            raise LogicError(f"there is a tree '{self.name}' already: name the network otherwise")
        self.register_nodes(factory)
        factory.register_behavior_tree_from_text(self.xml())

    def tree(
        self, factory: BehaviorTreeFactory | None = None, blackboard: Blackboard | None = None
    ) -> Tree:
        """A tree of the network, ready to tick.

        Args:
            factory: knows the other node types; None for a new one
            blackboard: becomes the root blackboard; a new one if None
        """
        factory = BehaviorTreeFactory() if factory is None else factory
        self.register(factory)
        return factory.create_tree(self.name, blackboard)

    def reset(self, tree: Tree) -> None:
        """Halt a tree of the network, leaf first, which releases all locks; then reset the context.

        In both modes: the reference forgets its path without an exit, and leaves locks set.
        """
        tree.halt_tree()
        reset = getattr(self.context, "reset", None)
        if reset is not None:
            reset()


def _build(node_class: Any, context: Any, name: str, config: NodeConfig) -> TreeNode:
    made: TreeNode
    if "context" in inspect.signature(node_class.__init__).parameters:
        made = node_class(name, config, context)
    else:
        made = node_class(name, config)
    return made


def _monitor(function: Callable[[Any], object]) -> Part:
    name = getattr(function, "__name__", "monitor").strip("_<>")
    return call(name, function)


def _type_ids(part: Part) -> Iterator[str]:
    yield part.type_id
    for child in part.children:
        yield from _type_ids(child)


def _lines(part: Part, depth: int) -> list[str]:
    indent = "    " * depth
    text = "".join(f' {key}="{escape(value, _QUOTES)}"' for key, value in part.attributes.items())
    if not part.children:
        return [f"{indent}<{part.type_id}{text}/>"]
    lines = [f"{indent}<{part.type_id}{text}>"]
    for child in part.children:
        lines += _lines(child, depth + 1)
    return [*lines, f"{indent}</{part.type_id}>"]
