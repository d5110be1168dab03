# SPDX-License-Identifier: Apache-2.0
"""Node types in a few words each, for models and whoever asks. No ROS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from behavior_tree import NodeType, PortDirection, PortInfo, TreeNodeManifest
from behavior_tree.shown_text import shorten

_DIRECTIONS = {
    PortDirection.INPUT: "input",
    PortDirection.OUTPUT: "output",
    PortDirection.INOUT: "both",
}
_CHILDREN = {
    NodeType.CONTROL: "children",
    NodeType.DECORATOR: "one child",
    NodeType.SUBTREE: "a tree",
}


def node_row(manifest: TreeNodeManifest) -> dict[str, Any]:
    """A node type by JSON's types: name, kind, what it does, its ports."""
    return {
        "name": manifest.registration_id,
        "kind": manifest.type.name.lower(),
        "about": shorten(manifest.description, 300),
        "commands": list(manifest.commands),
        "ports": [_port_row(port) for port in manifest.ports.values()],
    }


def _port_row(port: PortInfo) -> dict[str, Any]:
    row: dict[str, Any] = {"name": port.name, "direction": _DIRECTIONS[port.direction]}
    if port.direction is PortDirection.INPUT and port.required:
        row["required"] = True
    if port.default_text:
        row["default"] = port.default_text
    if port.description:
        row["about"] = shorten(port.description, 200)
    return row


def node_line(manifest: TreeNodeManifest) -> str:
    """A node type in one line: `Name(input*, output>) [children] what it does`; `*`: required."""
    ports = ", ".join(_port_text(port) for port in manifest.ports.values())
    below = _CHILDREN.get(manifest.type)
    about = f" [{below}]" if below else ""
    text = f": {shorten(manifest.description, 120)}" if manifest.description else ""
    return f"{manifest.registration_id}({ports}){about}{text}"


def _port_text(port: PortInfo) -> str:
    if port.direction is not PortDirection.INPUT:
        return f"{port.name}>"
    about = f" ({shorten(port.description, 80)})" if port.description else ""
    return f"{port.name}{'*' if port.required else ''}{about}"


def node_lines(manifests: Mapping[str, TreeNodeManifest]) -> Iterable[str]:
    """A line for each node type."""
    return (node_line(each) for each in manifests.values())
