# SPDX-License-Identifier: Apache-2.0
"""What the navigation managers have in common."""

from __future__ import annotations

from collections.abc import Iterable

from rclpy.node import Node

from behavior_executor.managers.manager import shared
from behavior_executor.managers.manager_node import NodeManager
from behavior_navigation.rules.state import NavigationState
from behavior_ros import ParameterSpec


class NavigationManager(NodeManager):
    """Base of the managers that share what they know of the navigation."""

    def __init__(self, node: Node, parameters: Iterable[ParameterSpec] = ()) -> None:
        """Make the manager's node and declare its parameters.

        Args:
            node: the executor's node.
            parameters: of the manager's node.
        """
        super().__init__(node, parameters)
        self.state = navigation_state(node)
        navigation_managers(node).append(self)

    def pre_tick(self, now: float) -> None:
        """Tell the time to all nodes of this tick; call it first."""
        self.state.now = now


class _Managers(list[NavigationManager]):
    """In the order in which they were made."""


def navigation_state(node: Node) -> NavigationState:
    """The state that all managers of an executor share."""
    return shared(node, NavigationState)


def navigation_managers(node: Node) -> list[NavigationManager]:
    """The navigation managers of an executor, in their order."""
    return shared(node, _Managers)
