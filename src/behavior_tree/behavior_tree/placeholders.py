# SPDX-License-Identifier: Apache-2.0
"""Placeholders: nodes that stand in for leaves whose program is not here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from behavior_tree.basic_types import NodeStatus, NodeType, PortDirection
from behavior_tree.blackboard.conversion import Unsigned, type_name
from behavior_tree.blackboard.ports import (
    PortInfo,
    is_port_attribute,
    pointer_key,
    port_name_mistake,
)
from behavior_tree.errors import LoadError, LogicError
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.kernel.node import NodeConfig
from behavior_tree.nodes.actions.test_node import TestNode, TestNodeConfig
from behavior_tree.nodes.control import Sequence
from behavior_tree.nodes.decorators.base import SimpleDecoratorNode
from behavior_tree.xml.document import Element
from behavior_tree.xml.elements import EXPLICIT_TAGS, below, resolve_type
from behavior_tree.xml.loader import DocumentSet, Loader

_DIRECTIONS = {
    "input_port": PortDirection.INPUT,
    "output_port": PortDirection.OUTPUT,
    "inout_port": PortDirection.INOUT,
}
_KINDS = {each.tag: each for each in NodeType}
_BASIC_TYPES = (
    *(int, Unsigned, float, bool, str, NodeStatus),
    *(list[int], list[float], list[bool], list[str], Any),
)
_SPELLINGS: dict[str, Any] = {
    **dict.fromkeys(("string", "text"), str),
    "BT::Any": Any,
    **dict.fromkeys(("uint8", "uint16", "uint32", "uint64", "unsigned int"), Unsigned),
    **dict.fromkeys(("int8", "int16", "int32", "int64"), int),
    **dict.fromkeys(("float", "float32", "float64"), float),
    "vector<int>": list[int],
    "vector<string>": list[str],
}
"""How models written by hand, as Nav2's, call types that the engine calls otherwise."""
_NEUTRAL: dict[Any, bool | int | float | str] = {
    bool: True,
    int: 0,
    Unsigned: 0,
    float: 0.0,
    str: "",
}


def register_placeholders(
    factory: BehaviorTreeFactory, source: str | Path | Iterable[TreeNodeManifest]
) -> list[str]:
    """Let a factory build trees whose programs are not here.

    Every node type that ``source`` describes or uses, and that the factory does not know, becomes a
    placeholder. A leaf succeeds at once, unless a substitution rule says otherwise, and gives what
    it leaves open a value: true, 0 or an empty text. A node with one child gives the child's
    result, one with several is a Sequence. Inputs without a default are optional. A port that the
    ``<TreeNodesModel>`` lacks is warned of, as the model may be out of date; a factory that is
    strict refuses it.

    Args:
        factory: gets the node types
        source: XML text, or the path of a file, with what it includes: what ``<TreeNodesModel>``
            describes, and what the trees use without a description; or manifests, as
            `BehaviorTreeFactory.manifests` of another program gives

    Returns:
        the IDs of the node types that are new

    Raises:
        LoadError: the document cannot be read
        LogicError: a manifest has a name that no node type may have
    """
    before = set(factory.manifests())
    if isinstance(source, str | Path):
        documents = _read(source)
        register_models(factory, documents.node_models.values())
        _register_used(factory, documents)
    else:
        for manifest in source:
            if manifest.registration_id not in factory.manifests():
                _register(factory, manifest)
    return [type_id for type_id in factory.manifests() if type_id not in before]


def register_models(factory: BehaviorTreeFactory, models: Iterable[Element]) -> None:
    """Register a placeholder for each model of a ``<TreeNodesModel>`` that the factory lacks."""
    registration = _Models(factory)
    for model in models:
        registration.register(model)


def _read(source: str | Path) -> DocumentSet:
    loader = Loader(lambda: "main_tree")
    if isinstance(source, Path):
        documents = loader.load_file(source)
    else:
        documents = loader.load_text(source, Path.cwd())
    if documents.incomplete:
        raise LoadError(documents.problems)
    return documents


def _register(factory: BehaviorTreeFactory, manifest: TreeNodeManifest) -> None:
    """Register a placeholder for a node type."""
    kind = manifest.type
    if kind is NodeType.DECORATOR:
        factory.register_builder(manifest, _transparent)
    elif kind is NodeType.CONTROL:
        factory.register_builder(manifest, Sequence)
    elif kind is NodeType.ACTION:
        factory.register_builder(manifest, placeholder)
    elif kind is NodeType.CONDITION:
        factory.register_builder(manifest, condition_placeholder)


class _Models:
    """Registers what ``<TreeNodesModel>`` describes."""

    def __init__(self, factory: BehaviorTreeFactory) -> None:
        self._factory = factory
        self._known = set(factory.manifests())
        ports = [port for each in factory.manifests().values() for port in each.ports.values()]
        self._types: dict[str, Any] = dict(_SPELLINGS)
        self._types.update({type_name(each.type): each.type for each in ports})
        self._types.update({type_name(each): each for each in _BASIC_TYPES})

    def register(self, model: Element) -> None:
        type_id = model.get("ID") or ""
        kind = _KINDS.get(model.tag)
        if not type_id or type_id in self._known or kind is None:
            return
        self._known.add(type_id)
        try:
            _register(self._factory, _manifest(type_id, kind, self._ports(model)))
        except LogicError:
            return  # a name that no node type may have; the tree that uses it is refused

    def _ports(self, model: Element) -> dict[str, PortInfo]:
        found: dict[str, PortInfo] = {}
        for child in model.children:
            name = child.get("name") or ""
            if child.tag in _DIRECTIONS and port_name_mistake(name) is None:
                kind = self._type(child.get("type") or "BT::AnyTypeAllowed")
                default, text = child.get("default"), " ".join(child.text.split())
                found[name] = PortInfo(name, _DIRECTIONS[child.tag], kind, default, text)
        return found

    def _type(self, name: str) -> Any:
        """The type of this name, or one of its own that any text may become."""
        if name not in self._types:
            self._types[name] = kind = type(name, (), {"__module__": "builtins"})
            self._factory.register_converter(kind, lambda text: text)
        return self._types[name]


def _manifest(type_id: str, kind: NodeType, ports: dict[str, PortInfo]) -> TreeNodeManifest:
    low = 0 if kind in (NodeType.ACTION, NodeType.CONDITION) else 1
    high = None if kind is NodeType.CONTROL else low
    return TreeNodeManifest(
        type_id, kind, ports, min_children=low, max_children=high, described=True
    )


def _register_used(factory: BehaviorTreeFactory, documents: DocumentSet) -> None:
    """Placeholders for what trees use and nothing describes, judged by how they use it."""
    known = {*factory.manifests(), *documents.trees}
    uses: dict[str, list[Element]] = {}
    for tree in documents.trees.values():
        for element in below(tree.element):
            type_id = resolve_type(element)
            if element.tag != "SubTree" and type_id is not None and type_id not in known:
                uses.setdefault(type_id, []).append(element)
    for type_id, elements in uses.items():
        names = {name: None for each in elements for name in each.attributes}
        ports = {
            name: PortInfo(name, PortDirection.INPUT) for name in names if is_port_attribute(name)
        }
        try:
            _register(factory, _manifest(type_id, _kind(elements), ports))
        except LogicError:
            continue  # as for models


def _kind(uses: list[Element]) -> NodeType:
    tag = next((each.tag for each in uses if each.tag in EXPLICIT_TAGS), None)
    if tag is not None:
        return _KINDS[tag]
    most = max(len(each.children) for each in uses)
    return (NodeType.ACTION, NodeType.DECORATOR)[most] if most < 2 else NodeType.CONTROL


class _Placeholder(TestNode):
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


class _ConditionPlaceholder(_Placeholder):
    """One that takes no time, and is asked anew at every tick, as conditions are."""

    node_type = NodeType.CONDITION

    def tick(self) -> NodeStatus:
        self._reason = ""
        return self.on_running() if self.status is NodeStatus.RUNNING else self.on_start()


def condition_placeholder(name: str, config: NodeConfig) -> TestNode:
    """The same for a condition, which is asked at every tick."""
    return _ConditionPlaceholder(name, config, TestNodeConfig(NodeStatus.SUCCESS))


def _transparent(name: str, config: NodeConfig) -> SimpleDecoratorNode:
    return SimpleDecoratorNode(name, config, lambda status, node: status)


def placeholder(name: str, config: NodeConfig) -> TestNode:
    """A node that stands in for a leaf: it succeeds at once, its open outputs get values."""
    return _Placeholder(name, config, TestNodeConfig(NodeStatus.SUCCESS))
