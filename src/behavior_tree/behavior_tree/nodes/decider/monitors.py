# SPDX-License-Identifier: Apache-2.0
"""Monitors: what keeps the logical state up to date, before anything is decided."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import LogicError
from behavior_tree.kernel.node import FAILURE, IDLE, RUNNING
from behavior_tree.nodes.decider.session import ControlSession


class Monitors(ControlSession):
    """Tick all children but the last once per tick, in order, also while a lock is held; then the
    last one, whose result this is. A monitor ends in its tick; FAILURE of one fails the node.
    """

    role = "Monitors"
    min_children = 2

    def sweep(self) -> NodeStatus:
        last = len(self.children) - 1
        for index in range(last):
            child = self.children[index]
            status = self.tick_child(index)
            if status is FAILURE:
                self.set_failure_reason(f"monitor '{child.name}' failed")
                return FAILURE
            if status is RUNNING:
                raise LogicError(
                    f"monitor '{child.name}' does not end in its tick: only the last child of "
                    "Monitors may be RUNNING"
                )
            if status is IDLE:
                raise self._bad_child()
            self.halt_child(index)
        child = self.children[last]
        run = child._run
        status = run(child)
        if status is IDLE:
            raise self._bad_child()
        return status
