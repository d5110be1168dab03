# SPDX-License-Identifier: Apache-2.0
"""Shows the running tree to tools outside: Groot2, and whatever watches py_trees_ros' streams.

The executor's own messages (``/behavior/tree_status``) need neither.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Protocol

from rclpy.node import Node

from behavior_executor.monitoring.py_trees_monitor import py_trees_monitor
from behavior_executor.running.tree_run import TreeRun
from behavior_tree import BehaviorTreeError, BehaviorTreeFactory, Groot2Publisher
from behavior_tree.monitoring.groot2 import Groot2Error


class TreeMonitor(Protocol):
    """Follows the running tree across missions."""

    def show(self, run: TreeRun) -> None:
        """Another tree runs from now on."""

    def ticked(self, run: TreeRun) -> None:
        """It was ticked."""

    def close(self) -> None:
        """Let go of ports and topics."""


_PORTS_TRIED = 40
_IDLE = """<root BTCPP_format="4">
  <BehaviorTree ID="no_mission_yet"><AlwaysSuccess/></BehaviorTree>
</root>"""


class Groot2Monitor:
    """Serves the running tree, or the last one, to Groot2; before the first one, a stand-in."""

    def __init__(
        self, *, port: int, address: str, breakpoints: bool, warn: Callable[[str], None]
    ) -> None:
        """Take a port at once, so that it is known from the start and stays the same.

        Args:
            port: of the replies, the next one published at; if one of them is taken, the first
                pair behind that is free.
            address: interface to bind to.
            breakpoints: let clients hold nodes and give them results; without it they only look.
            warn: is given what went wrong, for the log.
        """
        self._warn = warn
        self._publisher: Groot2Publisher | None = None
        try:
            self._publisher = Groot2Publisher(
                BehaviorTreeFactory().create_tree_from_text(_IDLE),
                range(port, min(port + _PORTS_TRIED, 65535), 2),
                address=address,
                read_only=not breakpoints,
            )
        except Groot2Error as error:
            warn(f"Groot2 cannot follow trees: {error}")

    def show(self, run: TreeRun) -> None:
        """Serve this tree instead of the former one."""
        if self._publisher is None:
            return
        try:
            self._publisher.serve(run.tree, name=run.tree_id)
        except (Groot2Error, BehaviorTreeError) as error:
            self._warn(f"Groot2 cannot follow tree '{run.tree_id}': {error}")

    def ticked(self, run: TreeRun) -> None:
        """The publisher follows the tree by itself."""

    def close(self) -> None:
        """Free the ports."""
        if self._publisher is not None:
            self._publisher.close()
            self._publisher = None


def tree_monitors(
    node: Node,
    *,
    port: int,
    address: str,
    breakpoints: bool,
    streams: bool,
    warn: Callable[[str], None],
) -> list[TreeMonitor]:
    """The monitors that are asked for and can be had.

    Args:
        node: the executor's node.
        port: for Groot2, or the next one that is free; 0: not.
        address: interface of that port.
        breakpoints: let Groot2 interfere.
        streams: offer py_trees_ros' snapshot streams if that is installed.
        warn: is given what went wrong, for the log.
    """
    monitors: list[TreeMonitor] = []
    if port:
        monitors.append(
            Groot2Monitor(port=port, address=address, breakpoints=breakpoints, warn=warn)
        )
    mirrored = streams and importlib.util.find_spec("py_trees_ros") is not None
    if mirrored and (monitor := py_trees_monitor(node, warn=warn)) is not None:
        monitors.append(monitor)
    return monitors
