# SPDX-License-Identifier: Apache-2.0
"""A factory that can build a file without its programs: stand-ins from ``<TreeNodesModel>``."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from behavior_tree.basic_types import NodeStatus, NodeType, PortDirection
from behavior_tree.blackboard.conversion import Unsigned, type_name
from behavior_tree.blackboard.ports import PortInfo, pointer_key, port_name_mistake
from behavior_tree.decider import register_decider_nodes
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.kernel.node import NodeConfig
from behavior_tree.nodes.actions.test_node import TestNode, TestNodeConfig
from behavior_tree.nodes.control import Sequence
from behavior_tree.xml.document import Element
from behavior_tree.xml.loader import Loader

__all__ = ["Extend", "make_factory", "succeeding"]

Extend = Callable[[BehaviorTreeFactory], object]
"""Registers node types with a factory."""

_DIRECTIONS = {
    "input_port": PortDirection.INPUT,
    "output_port": PortDirection.OUTPUT,
    "inout_port": PortDirection.INOUT,
}
_BASIC_TYPES = (
    *(int, Unsigned, float, bool, str, NodeStatus),
    *(list[int], list[float], list[bool], list[str], Any),
)


def make_factory(
    files: Iterable[Path],
    register: Iterable[str] = (),
    rules: Path | None = None,
    extend: Extend | None = None,
) -> BehaviorTreeFactory:
    """Factory with the user's node types, and stand-ins for the others that files describe.

    Args:
        files: documents that, with what they include, describe node types in their
            ``<TreeNodesModel>``; a stand-in succeeds at once, unless a rule says otherwise
        register: ``module:function`` each, called with the factory
        rules: JSON file of substitution rules
        extend: registers further node types, before the files' descriptions count

    Raises:
        BehaviorTreeError: a function or the rules cannot be loaded
    """
    factory = BehaviorTreeFactory()
    register_decider_nodes(factory)
    for name in register:
        _call(name, factory)
    if extend is not None:
        extend(factory)
    _StandIns(factory).add(files)
    if rules is not None:
        try:
            factory.load_substitution_rules_from_json(rules.read_text(encoding="utf-8"))
        except OSError as error:
            raise BehaviorTreeError(f"cannot read {rules}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise BehaviorTreeError(f"{rules} is not UTF-8: {error}") from error
    return factory


def _call(name: str, factory: BehaviorTreeFactory) -> None:
    module, _, function = name.partition(":")
    try:
        getattr(importlib.import_module(module), function)(factory)
    except (ImportError, AttributeError, ValueError) as error:
        raise BehaviorTreeError(
            f'--register {name}: {error}; write "module:function" of a function that takes the '
            f"factory"
        ) from error


class _StandIns:
    """Registers what documents describe and nobody has registered."""

    def __init__(self, factory: BehaviorTreeFactory) -> None:
        self._factory = factory
        ports = [port for each in factory.manifests().values() for port in each.ports.values()]
        self._types: dict[str, Any] = {type_name(each.type): each.type for each in ports}
        self._types.update({type_name(each): each for each in _BASIC_TYPES})

    def add(self, files: Iterable[Path]) -> None:
        """Those of all files and their includes; what cannot be read is reported elsewhere."""
        for file in files:
            documents = Loader(lambda: "main_tree").load_file(file)
            for model in documents.node_models.values():
                self._register(model)

    def _register(self, model: Element) -> None:
        type_id, factory = model.get("ID") or "", self._factory
        kind = {each.tag: each for each in NodeType}.get(model.tag)
        if not type_id or type_id in factory.manifests() or kind is None:
            return
        ports = self._ports(model)
        by_name = {port.name: port for port in ports}
        try:
            if kind is NodeType.DECORATOR:
                factory.register_simple_decorator(type_id, lambda status, node: status, ports)
            elif kind is NodeType.CONTROL:
                manifest = TreeNodeManifest(
                    type_id, kind, by_name, min_children=1, max_children=None
                )
                factory.register_builder(manifest, Sequence)
            elif kind in (NodeType.ACTION, NodeType.CONDITION):
                factory.register_builder(TreeNodeManifest(type_id, kind, by_name), succeeding)
        except BehaviorTreeError:
            return  # a name that no node type may have; the tree that uses it is refused

    def _ports(self, model: Element) -> list[PortInfo]:
        found: dict[str, PortInfo] = {}
        for child in model.children:
            name = child.get("name") or ""
            if child.tag in _DIRECTIONS and port_name_mistake(name) is None:
                kind = self._type(child.get("type") or "BT::AnyTypeAllowed")
                default, text = child.get("default"), " ".join(child.text.split())
                found[name] = PortInfo(name, _DIRECTIONS[child.tag], kind, default, text)
        return list(found.values())

    def _type(self, name: str) -> Any:
        """The type of this name, or one of its own that any text may become."""
        if name not in self._types:
            self._types[name] = kind = type(name, (), {"__module__": "builtins"})
            self._factory.register_converter(kind, lambda text: text)
        return self._types[name]


class _StandIn(TestNode):
    """Writes something into the outputs that nobody has written yet, so that a tree goes on whose
    scripts read them: true, 0 or an empty text, by the type of the port.
    """

    def _complete(self) -> NodeStatus:
        for port in self.config().ports.values():
            key = pointer_key(self.raw_port(port.name) or "", port.name)
            if (
                port.direction is PortDirection.OUTPUT
                and port.type in _NEUTRAL
                and key is not None
                and self._bb.get(key, None) is None
            ):
                self.set_output(port.name, _NEUTRAL[port.type])
        return super()._complete()


_NEUTRAL: dict[Any, bool | int | float | str] = {
    bool: True,
    int: 0,
    Unsigned: 0,
    float: 0.0,
    str: "",
}


def succeeding(name: str, config: NodeConfig) -> TestNode:
    """A node that stands in for a leaf: it succeeds at once, its open outputs get values."""
    return _StandIn(name, config, TestNodeConfig(NodeStatus.SUCCESS))
