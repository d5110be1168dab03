# SPDX-License-Identifier: Apache-2.0
"""The node that a manager has for itself, in the executor's process.

It has its own name, parameters, topics and diagnostics, but lives on the executor's clock: a clock
of its own would cost a callback per ``/clock`` message.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rclpy.clock import Clock
from rclpy.node import Node

from behavior_executor.manager import BehaviorManager
from behavior_executor.navigation.state import NavigationState
from behavior_ros import ParameterSpec, declare_all, register_companion


class ManagerNode(Node):  # type: ignore[misc]
    """A node on the clock of another one."""

    def __init__(self, name: str, host: Node) -> None:
        """Make the node and have it spun with its host.

        Args:
            name: of the node; parameters given to the process count by this name.
            host: the executor's node.
        """
        self._host_clock: Clock | None = None
        super().__init__(name, namespace=host.get_namespace())
        self._host_clock = host.get_clock()
        register_companion(host, self)

    def get_clock(self) -> Clock:
        """The host's clock."""
        return self._host_clock or super().get_clock()

    def create_timer(self, period: float, callback: Any, **options: Any) -> Any:
        """As of any node, but on the host's clock unless told otherwise."""
        options.setdefault("clock", self.get_clock())
        return super().create_timer(period, callback, **options)


class NavigationManager(BehaviorManager):
    """Base of the managers that share what they know of the navigation."""

    def __init__(self, node: Node, parameters: Iterable[ParameterSpec] = ()) -> None:
        """Make the manager's node and declare its parameters.

        Args:
            node: the executor's node.
            parameters: of the manager's node.
        """
        super().__init__(node)
        self.state = navigation_state(node)
        self.manager_node = ManagerNode(self.name, node)
        self.values: dict[str, Any] = declare_all(self.manager_node, parameters)


def navigation_state(node: Node) -> NavigationState:
    """The state that all managers of an executor share."""
    state: NavigationState = vars(node).setdefault("_navigation_state", NavigationState())
    return state
