# SPDX-License-Identifier: Apache-2.0
"""What kinds of nodes there are, with ports and descriptions, by package: for palette and settings.

As the executor has them: the engine's, those of installed packages, nodes made from ROS interfaces,
and the trees that packages offer as parts of others.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from behavior_executor.node.tree_nodes import (
    NodeContext,
    package_node_models,
    register_package_nodes,
)
from behavior_executor.scene.scene_manager import register_scene_nodes
from behavior_executor.scene.scene_nodes import UnseenScene
from behavior_packages import packages
from behavior_ros import load_node_models, ros_node_manifests
from behavior_ros.leaves.node_models import NodeModelError
from behavior_tree import BehaviorTreeFactory, TreeNodeManifest
from behavior_tree.authoring import register_authoring_nodes
from behavior_tree.blackboard.conversion import type_name
from behavior_tree.blackboard.ports import PortInfo
from behavior_tree.decider import register_decider_nodes

Row = dict[str, Any]
"""A kind of nodes: id, kind, package, description, ports, min_children, max_children."""
ENGINE = "behavior_tree"
_PORT_TAGS = {"input_port": "input", "output_port": "output", "inout_port": "inout"}


def node_models(warn: Callable[[str], None]) -> list[Row]:
    """All kinds of nodes, as plain values; it imports all packages and takes seconds.

    Args:
        warn: is given what is wrong with a package.
    """
    factory = BehaviorTreeFactory()
    register_decider_nodes(factory)
    register_authoring_nodes(factory)
    owners = dict.fromkeys(factory.manifests(), ENGINE)
    scene = UnseenScene()
    register_scene_nodes(factory, scene)
    for name in factory.manifests():
        owners.setdefault(name, "behavior_executor")
    owners |= register_package_nodes(factory, NodeContext(node=None, scene=scene), warn)
    made = [
        manifest
        for models in package_node_models(factory.manifests(), warn)
        for manifest in ros_node_manifests(models)
    ]
    owners = {**_owners_of_interfaces(), **owners}
    manifests = [*factory.manifests().values(), *made]
    return [
        *(_row(each, owners.get(each.registration_id, ENGINE)) for each in manifests),
        *_parts(),
    ]


def _owners_of_interfaces() -> dict[str, str]:
    owners: dict[str, str] = {}
    for offer in packages().offers("nodes"):
        try:
            for model in load_node_models(Path(offer.value)):
                owners.setdefault(model.node, offer.package)
        except NodeModelError:  # was told of before
            continue
    return owners


def _row(manifest: TreeNodeManifest, package: str) -> Row:
    return {
        "id": manifest.registration_id,
        "kind": manifest.type.name.capitalize(),
        "package": package,
        "description": manifest.description,
        "ports": [_port(each) for each in manifest.ports.values()],
        "min_children": manifest.min_children,
        "max_children": manifest.max_children,
    }


def _port(port: PortInfo) -> Row:
    choices: list[str] = []
    if isinstance(port.type, type) and issubclass(port.type, enum.Enum):
        choices = list(port.type.__members__)
    elif port.type is bool:
        choices = ["true", "false"]
    return {
        "name": port.name,
        "direction": port.direction.name.lower(),
        "type": type_name(port.type),
        "default": port.default_text,
        "required": port.required,
        "description": port.description,
        "choices": choices,
    }


def _parts() -> Iterator[Row]:
    """The trees that packages offer as parts of others, by their models."""
    files = (
        (package, file)
        for package, folder in packages().folders("trees")
        for file in sorted((folder / "subtrees").glob("*.xml"))
    )
    for package, file in files:
        try:
            root = ElementTree.parse(file).getroot()
        except (OSError, ElementTree.ParseError):
            continue
        models = {each.get("ID"): each for each in root.iterfind("TreeNodesModel/SubTree")}
        for tree in root.findall("BehaviorTree"):
            model = models.get(tree.get("ID"))
            yield {
                "id": tree.get("ID", ""),
                "kind": "SubTree",
                "package": package,
                "description": _comment_in(file, tree.get("ID", "")),
                "ports": [_declared(port) for port in model if port.tag in _PORT_TAGS]
                if model is not None
                else [],
                "min_children": 0,
                "max_children": 0,
            }


def _comment_in(file: Path, tree: str) -> str:
    """The comment that opens a tree."""
    text = file.read_text(encoding="utf-8")
    inside = text.partition(f'<BehaviorTree ID="{tree}">')[2].lstrip()
    comment = inside.removeprefix("<!--").partition("-->")[0] if inside.startswith("<!--") else ""
    return " ".join(comment.split())


def _declared(port: ElementTree.Element) -> Row:
    return {
        "name": port.get("name", ""),
        "direction": _PORT_TAGS[port.tag],
        "type": port.get("type", ""),
        "default": port.get("default"),
        "required": port.tag == "input_port" and port.get("default") is None,
        "description": port.get("description") or (port.text or "").strip(),
        "choices": ["true", "false"] if port.get("type") == "bool" else [],
    }
