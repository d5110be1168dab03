# SPDX-License-Identifier: Apache-2.0
"""What a tree gives to a node: `NodeConfig`, its `Conditions`, and its callable name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.blackboard.ports import PortInfo
from behavior_tree.kernel.runtime import TreeRuntime

__all__ = ["Conditions", "NodeConfig", "NodeName"]


class NodeName(str):
    """A name that may be called: ``node.name() == node.name``."""

    __slots__ = ()

    def __call__(self) -> str:
        return str(self)


@dataclass(eq=False, slots=True)
class Conditions:
    """Pre- and post-conditions of one node: its scripts, bound to its blackboard."""

    tests: tuple[tuple[Callable[[], bool], NodeStatus, str], ...] = ()
    """``_failureIf _successIf _skipIf`` in this order: test, the status that it gives, text."""
    test_while: Callable[[], bool] | None = None
    on_halted: Callable[[], Any] | None = None
    after_success: tuple[Callable[[], Any], ...] = ()
    """``_onSuccess`` and ``_post``."""
    after_failure: tuple[Callable[[], Any], ...] = ()
    """``_onFailure`` and ``_post``."""


class _Texts:
    """Dictionary of a `NodeConfig`, made when it is first looked at: most of them stay empty."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._slot = "_" + name

    def __get__(self, config: NodeConfig, owner: type) -> dict[str, Any]:
        found: dict[str, Any] | None = getattr(config, self._slot)
        if found is None:
            found = {}
            setattr(config, self._slot, found)
        return found

    def __set__(self, config: NodeConfig, texts: dict[str, Any] | None) -> None:
        setattr(config, self._slot, texts)


class NodeConfig:
    """What a tree gives to a node besides its name. ``NodeConfig()`` serves a node used alone."""

    __slots__ = (
        "_condition_attributes",
        "_given_ports",
        "_input_ports",
        "_other_attributes",
        "_output_ports",
        "_ports",
        "blackboard",
        "conditions",
        "element",
        "path",
        "registration_id",
        "runtime",
        "uid",
    )

    ports = _Texts()
    """Declared ports, `PortInfo` by name."""
    input_ports = _Texts()
    """Text of the inputs, defaults included, in the order of the XML."""
    output_ports = _Texts()
    given_ports = _Texts()
    """Ports as the XML gives them, in its order; the others have their default."""
    other_attributes = _Texts()
    """XML attributes that are neither ports nor reserved."""
    condition_attributes = _Texts()
    """Text of ``_skipIf`` and the like."""

    def __init__(
        self,
        blackboard: Blackboard | None = None,
        runtime: TreeRuntime | None = None,
        registration_id: str = "",
        path: str = "",
        uid: int = 0,
        *,
        ports: dict[str, PortInfo] | None = None,
        input_ports: dict[str, str] | None = None,
        output_ports: dict[str, str] | None = None,
        given_ports: dict[str, str] | None = None,
        other_attributes: dict[str, str] | None = None,
        condition_attributes: dict[str, str] | None = None,
        conditions: Conditions | None = None,
        element: Any = None,
    ) -> None:
        self.blackboard = Blackboard() if blackboard is None else blackboard
        self.runtime = TreeRuntime() if runtime is None else runtime
        self.registration_id = registration_id
        self.path = path
        """Full path in the tree, unique."""
        self.uid = uid
        """Number in the tree, from 1, pre-order."""
        self._ports: dict[str, PortInfo] | None = ports
        self._input_ports: dict[str, str] | None = input_ports
        self._output_ports: dict[str, str] | None = output_ports
        self._given_ports: dict[str, str] | None = given_ports
        self._other_attributes: dict[str, str] | None = other_attributes
        self._condition_attributes: dict[str, str] | None = condition_attributes
        self.conditions = conditions
        self.element = element
        """What describes the node, a `behavior_tree.xml.document.Element`; None if it is used
        alone."""
