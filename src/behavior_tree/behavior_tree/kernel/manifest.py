# SPDX-License-Identifier: Apache-2.0
"""What a factory knows about one node type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from behavior_tree.basic_types import NodeType, PortDirection
from behavior_tree.blackboard.ports import PortInfo
from behavior_tree.kernel.node import NodeConfig, TreeNode

NodeBuilder = Callable[[str, NodeConfig], TreeNode]
"""Makes a node from its name and configuration."""


@dataclass(frozen=True)
class TreeNodeManifest:
    """Registration of a node type."""

    registration_id: str
    """Name in XML."""
    type: NodeType
    ports: dict[str, PortInfo] = field(default_factory=dict)
    description: str = ""
    """One or two sentences for editors."""
    metadata: tuple[tuple[str, str], ...] = ()
    """Key and value pairs written into a TreeNodesModel."""
    min_children: int = 0
    max_children: int | None = 0
    """None: any number."""
    script_ports: tuple[str, ...] = ()
    """Ports whose literals are scripts, so that they are checked at load."""
    builtin: bool = False
    described: bool = False
    """True if the type is known by a description only, which may be out of date: other ports than
    these are warned of, not refused."""
    role: str = ""
    """Part that nodes of this type play among others, which checks at load look at; empty: none."""

    commands: tuple[str, ...] = ()
    """What nodes of this type command, such as ``arm``, so that no two do at once; ``{port}`` in a
    name stands for the text of that port."""

    @cached_property
    def default_texts(self) -> dict[str, str]:
        """What ports stand for that the XML does not give, by name."""
        texts = ((port.name, port.default_text) for port in self.ports.values())
        return {name: text for name, text in texts if text is not None}

    @cached_property
    def required_ports(self) -> tuple[PortInfo, ...]:
        """Ports that the XML must give."""
        return tuple(port for port in self.ports.values() if port.required)

    @cached_property
    def only_inputs(self) -> bool:
        """True if no port is written."""
        return all(port.direction is PortDirection.INPUT for port in self.ports.values())

    @staticmethod
    def of_class(
        node_class: Any, registration_id: str, *, builtin: bool = False
    ) -> TreeNodeManifest:
        """Manifest of a node class."""
        low, high = _children_limits(node_class)
        doc = node_class.__dict__.get("__doc__") or ""
        return TreeNodeManifest(
            registration_id,
            node_class.node_type,
            dict(node_class.provided_ports()),
            description=" ".join(doc.split()),
            metadata=tuple(node_class.metadata().items()),
            min_children=low,
            max_children=high,
            script_ports=tuple(getattr(node_class, "script_ports", ())),
            builtin=builtin,
            role=str(getattr(node_class, "role", "")),
            commands=tuple(getattr(node_class, "commands", ())),
        )


def _children_limits(node_class: Any) -> tuple[int, int | None]:
    if node_class.node_type is NodeType.CONTROL:
        return node_class.min_children, node_class.max_children
    return (1, 1) if node_class.node_type in (NodeType.DECORATOR, NodeType.SUBTREE) else (0, 0)
