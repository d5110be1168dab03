# SPDX-License-Identifier: Apache-2.0
"""What a tree gives to a node: `NodeConfig`, and its callable name."""

from __future__ import annotations

from typing import Any

from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.blackboard.ports import PortInfo
from behavior_tree.kernel.conditions import Conditions
from behavior_tree.kernel.runtime import TreeRuntime


class NodeName(str):
    """A name that may be called: ``node.name() == node.name``."""

    __slots__ = ()

    def __call__(self) -> str:
        return str(self)


class NodeConfig:
    """What a tree gives to a node besides its name. ``NodeConfig()`` serves a node used alone."""

    __slots__ = (
        "blackboard",
        "condition_attributes",
        "conditions",
        "element",
        "given_ports",
        "input_ports",
        "other_attributes",
        "output_ports",
        "path",
        "ports",
        "registration_id",
        "runtime",
        "uid",
    )

    ports: dict[str, PortInfo]
    """Declared ports by name."""
    input_ports: dict[str, str]
    """Text of the inputs, defaults included, in the order of the XML."""
    output_ports: dict[str, str]
    given_ports: dict[str, str]
    """Ports as the XML gives them, in its order; the others have their default."""
    other_attributes: dict[str, str]
    """XML attributes that are neither ports nor reserved."""
    condition_attributes: dict[str, str]
    """Text of ``_skipIf`` and the like."""

    def __init__(
        self,
        blackboard: Blackboard | None = None,
        runtime: TreeRuntime | None = None,
        registration_id: str = "",
        path: str = "",
        uid: int = 0,
        *,
        element: Any = None,
        input_ports: dict[str, str] | None = None,
        output_ports: dict[str, str] | None = None,
    ) -> None:
        self.blackboard = Blackboard() if blackboard is None else blackboard
        self.runtime = TreeRuntime() if runtime is None else runtime
        self.registration_id = registration_id
        self.path = path
        """Full path in the tree, unique."""
        self.uid = uid
        """Number in the tree, from 1, pre-order."""
        self.conditions: Conditions | None = None
        self.element = element
        """What describes the node, a `behavior_tree.xml.document.Element`; None if it is used
        alone."""
        if input_ports is not None:
            self.input_ports = input_ports
        if output_ports is not None:
            self.output_ports = output_ports

    def __getattr__(self, name: str) -> dict[str, Any]:
        """Dictionaries are made when they are first looked at: most of them stay empty."""
        if name not in NodeConfig.__slots__:
            raise AttributeError(f"a NodeConfig has no attribute '{name}'")
        empty: dict[str, Any] = {}
        setattr(self, name, empty)
        return empty
