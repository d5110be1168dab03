# SPDX-License-Identifier: Apache-2.0
"""The bond between a lifecycle node and the manager that brought it up.

Nav2's lifecycle manager, unless its ``bond_timeout`` is 0, waits for a bond with every node that it
has activated, and brings all of them down when one breaks. Both sides say on a topic that they are
alive; `bondpy <https://github.com/ros/bond_core>`_ does so for nodes in Python.
"""

from __future__ import annotations

import importlib
from typing import Any

from rclpy.node import Node

TOPIC = "bond"
"""The one that Nav2's lifecycle manager listens to."""
HEARTBEAT_PERIOD = 0.25
"""[s] between two signs of life: a manager's ``bond_timeout`` must be a few times that."""
FOREVER = 1e9
"""[s] for which the manager may be silent: it watches the node, and not the node the manager."""


class ManagerBond:
    """A node's bond, which lasts while the node is active; none where bondpy is not installed.

    Where no manager answers within 10 s it gives up without a word. Use it in the executor's
    thread.

    Args:
        node: is known to the manager by its name
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._bond: Any = None

    def form(self) -> None:
        """Begin to tell the manager that the node is alive."""
        try:
            bondpy = importlib.import_module("bondpy.bondpy")
        except ImportError:
            return
        self._bond = bondpy.Bond(self._node, TOPIC, self._node.get_name())
        self._bond.heartbeat_period = HEARTBEAT_PERIOD
        self._bond.heartbeat_timeout = FOREVER
        self._bond.start()

    def end(self) -> None:
        """Tell the manager that the node is active no more."""
        bond, self._bond = self._bond, None
        if bond is not None:
            bond.shutdown()
            # It destroys what it made, but for the node's own lists.
            self._node.destroy_subscription(bond.sub)
            self._node.destroy_publisher(bond.pub)
