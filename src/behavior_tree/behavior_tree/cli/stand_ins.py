# SPDX-License-Identifier: Apache-2.0
"""A factory that can build a file without its programs: stand-ins from ``<TreeNodesModel>``."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from behavior_tree.actions.test_node import TestNode, TestNodeConfig
from behavior_tree.basic_types import NodeStatus, NodeType, PortDirection
from behavior_tree.errors import BehaviorTreeError, LoadError
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.manifest import TreeNodeManifest
from behavior_tree.ports import PortInfo, port_name_mistake
from behavior_tree.xml.document import Element, parse_xml

__all__ = ["make_factory"]

_DIRECTIONS = {
    "input_port": PortDirection.INPUT,
    "output_port": PortDirection.OUTPUT,
    "inout_port": PortDirection.INOUT,
}


def make_factory(
    files: Iterable[Path], register: Iterable[str] = (), rules: Path | None = None
) -> BehaviorTreeFactory:
    """Factory with the user's node types, and stand-ins for the others that files describe.

    Args:
        files: documents whose ``<TreeNodesModel>`` describes node types; a stand-in succeeds at
            once, unless a rule says otherwise
        register: ``module:function`` each, called with the factory
        rules: JSON file of substitution rules

    Raises:
        BehaviorTreeError: a function or the rules cannot be loaded
    """
    factory = BehaviorTreeFactory()
    for name in register:
        _call(name, factory)
    for file in files:
        try:
            root = parse_xml(file.read_bytes(), str(file))
        except (OSError, LoadError):
            continue  # reported when the file is loaded
        for model in root.children:
            if model.tag == "TreeNodesModel":
                for each in model.children:
                    _stand_in(factory, each)
    if rules is not None:
        try:
            factory.load_substitution_rules_from_json(rules.read_text(encoding="utf-8"))
        except OSError as error:
            raise BehaviorTreeError(f"cannot read {rules}: {error.strerror}") from error
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


def _stand_in(factory: BehaviorTreeFactory, model: Element) -> None:
    type_id = model.get("ID")
    if not type_id or type_id in factory.manifests():
        return
    ports = _ports(model)
    if model.tag == "Decorator":
        factory.register_simple_decorator(type_id, lambda status, node: status, ports)
    elif model.tag in ("Action", "Condition"):
        kind = NodeType[model.tag.upper()]
        factory.register_builder(
            TreeNodeManifest(type_id, kind, {port.name: port for port in ports}),
            lambda name, config: TestNode(name, config, TestNodeConfig(NodeStatus.SUCCESS)),
        )


def _ports(model: Element) -> list[PortInfo]:
    found: list[PortInfo] = []
    for child in model.children:
        name = child.get("name") or ""
        if child.tag in _DIRECTIONS and port_name_mistake(name) is None:
            found.append(PortInfo(name, _DIRECTIONS[child.tag], Any, child.get("default")))
    return found
