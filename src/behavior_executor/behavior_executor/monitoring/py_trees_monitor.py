# SPDX-License-Identifier: Apache-2.0
"""py_trees_ros' snapshot and blackboard streams, for its watchers and for py_trees_ros_viewer."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from behavior_executor.monitoring.py_trees_mirror import BlackboardMirror, ShownLeaf, TreeMirror
from behavior_executor.running.tree_run import TreeRun
from behavior_ros.node.node_parts import node_parts

_LOOK = 1.0
"""[s] of steady time between two looks at what was opened while no tree is ticked."""


class PyTreesMonitor:
    """Feeds py_trees_ros: its tree is never ticked, only told of ticks.

    Its services and parameters are declared once in the life of a node, whatever the lifecycle of
    the node does: get it from `py_trees_monitor`.
    """

    def __init__(self, node: Node, *, warn: Callable[[str], None]) -> None:
        """Offer the services.

        Args:
            node: the executor's node.
            warn: is given what went wrong, for the log.

        Raises:
            ImportError: py_trees_ros is not installed, or lacks something.
        """
        self._warn = warn
        kind: Any = importlib.import_module("py_trees_ros.trees").BehaviourTree
        self._tree: Any = kind(_nothing())
        self._tree.setup(node=node)
        self._run: TreeRun | None = None
        self._mirror: TreeMirror | None = None
        self._entries = BlackboardMirror()
        self._ticked = False
        self._forget_structure: Callable[[], None] = lambda: None
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        node.create_timer(_LOOK, self._look, clock=steady)

    def show(self, run: TreeRun) -> None:
        """Describe this tree from now on."""
        self._release()
        self._run = run
        self._forget_structure = run.tree.subscribe_structure_change(lambda change: self._rebuild())

    def ticked(self, run: TreeRun) -> None:
        """Tell of a tick as if py_trees_ros had done it."""
        self._ticked = True
        self._guard(lambda: self._publish(run))

    def close(self) -> None:
        """No tree runs any more."""
        self._release()
        self._run = None
        if self._tree is not None:
            self._tree.root = _nothing()

    def _publish(self, run: TreeRun) -> None:
        tree = self._tree
        if not self._watched():
            return
        self._entries.update(run.tree)
        if self._mirror is None:
            self._mirror = TreeMirror(run.tree)
            tree.root = self._mirror.root
        for visitor in tree.visitors:
            visitor.initialise()
        for handler in tree.pre_tick_handlers:
            handler(tree)
        for twin in self._mirror.update(run):
            for visitor in tree.visitors:
                visitor.run(twin)
        for visitor in tree.visitors:
            visitor.finalise()
        for handler in tree.post_tick_handlers:
            handler(tree)
        tree.count += 1

    def _watched(self) -> bool:
        return bool(self._tree.snapshot_streams or self._tree.blackboard_exchange.views)

    def _look(self) -> None:
        """Keep the entries that may be asked for, and show the last tree to who came after it."""
        run = self._run
        if run is not None:
            self._guard(lambda: self._entries.update(run.tree))
        if not self._ticked:
            self._guard(self._show_last)
        self._ticked = False

    def _show_last(self) -> None:
        tree = self._tree
        if self._run is not None and self._mirror is None and self._watched():
            self._mirror = TreeMirror(self._run.tree)
            self._mirror.update(self._run)
            tree.root = self._mirror.root
        for stream in tree.snapshot_streams.values():
            if stream.last_snapshot_timestamp is None:
                stream.publish(
                    root=tree.root,
                    changed=True,
                    statistics=tree.statistics,
                    visited_behaviour_ids=set(),
                    visited_blackboard_client_ids=set(),
                )
        tree.blackboard_exchange.post_tick_handler(set())

    def _rebuild(self) -> None:
        """Describe the tree anew at its next tick: it was edited."""
        if self._mirror is not None:
            self._mirror.close()
            self._mirror = None

    def _release(self) -> None:
        self._forget_structure()
        self._rebuild()
        self._entries.clear()
        self._forget_structure = lambda: None

    def _guard(self, work: Callable[[], None]) -> None:
        """Do it; a tool for watching must not stop what it watches."""
        if self._tree is None:
            return
        try:
            work()
        except Exception as error:
            self._tree = None
            self._warn(f"py_trees_ros' streams are switched off: {error}")


def _nothing() -> ShownLeaf:
    return ShownLeaf(name="no mission yet")


def py_trees_monitor(node: Node, *, warn: Callable[[str], None]) -> PyTreesMonitor | None:
    """The node's only one; None, with a warning, if py_trees_ros cannot be used."""
    try:
        return node_parts(node).shared(PyTreesMonitor, lambda: PyTreesMonitor(node, warn=warn))
    except Exception as error:  # whatever a broken installation may raise
        warn(f"py_trees_ros' streams are not offered: {error}")
        return None
