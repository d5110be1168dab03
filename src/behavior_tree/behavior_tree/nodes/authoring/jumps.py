# SPDX-License-Identifier: Apache-2.0
"""Goto, Gosub, Checkpoint: other ways through a list than its order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from behavior_tree.basic_types import NodeStatus, NodeType
from behavior_tree.blackboard.ports import InputPort, ports_list
from behavior_tree.errors import LogicError
from behavior_tree.kernel.leaf import StatefulActionNode, SyncActionNode
from behavior_tree.kernel.node import (
    FAILURE,
    IDLE,
    RUNNING,
    SKIPPED,
    SUCCESS,
    NodeConfig,
    TreeNode,
)
from behavior_tree.nodes.authoring.concurrent import ConcurrentSequence, is_called, names_of


class Checkpoint(SyncActionNode):
    """A place in a list, for a Goto or for ``execute_after``: ends at once."""

    role = "Checkpoint"

    def tick(self) -> NodeStatus:
        return SUCCESS


class _Named(StatefulActionNode):
    """Names a child of a list around it."""

    restorable: ClassVar[tuple[str, ...]] = ("_halt_requested",)

    def lists(self) -> Iterator[tuple[ConcurrentSequence, TreeNode]]:
        """The lists of this tree around the node, the innermost first, each with the child of it
        in which the node is.
        """
        child: TreeNode = self
        up = self._up
        while up is not None and up.node_type is not NodeType.SUBTREE:
            if isinstance(up, ConcurrentSequence):
                yield up, child
            child, up = up, up._up

    def nowhere(self, what: str) -> LogicError:
        """The error that there is no such child."""
        return LogicError(f"no list around this has {what} '{self.get_input('to')}'")


class Goto(_Named):
    """Go on with another child of a list around this: that one and all behind it begin anew, in the
    next tick. What is jumped out of is halted.
    """

    role = "Goto"

    ports = ports_list(InputPort("to", str, description="name of a child of a list around this"))

    def on_start(self) -> NodeStatus:
        name = self.get_input("to")
        for around, origin in self.lists():
            if is_called(origin):
                break  # a jump does not leave what a Gosub runs
            for child in around.layered():
                if name in names_of(child):
                    around.jump(child, origin)
                    return RUNNING  # until the list halts this
        raise self.nowhere("a child")

    def on_running(self) -> NodeStatus:
        return self.on_start()

    def on_halted(self) -> None:
        """Nothing is left to do."""


class Gosub(_Named):
    """Run a child of a list around this whose Step says ``execute_after="gosub"``, and go on here
    with its result.
    """

    role = "Gosub"

    ports = ports_list(InputPort("to", str, description="name of a child that only a Gosub runs"))

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._failed: TreeNode | None = None
        self._running: TreeNode | None = None
        """What it has begun: another name in ``to`` counts from the next call on."""

    def routine(self) -> TreeNode:
        """What is run."""
        name = self.get_input("to")
        for around, _ in self.lists():
            for child in around.children:
                if is_called(child) and name in names_of(child):
                    return child
        raise self.nowhere("a child for a Gosub,")

    def on_start(self) -> NodeStatus:
        self._failed = None
        routine = self.routine()
        if routine.status is not IDLE:
            self.set_failure_reason(
                f"'{routine.name}' is running already, called from elsewhere: let one come after "
                "the other"
            )
            return FAILURE
        self._running = routine
        return self._run_routine(routine)

    def on_running(self) -> NodeStatus:
        return self._run_routine(self._begun())

    def _begun(self) -> TreeNode:
        """What it runs; what ``to`` names if that was taken out, or a saved state was restored."""
        running = self._running
        around = None if running is None else running._up
        if running is None or around is None or running not in around.children:
            running = self._running = self.routine()
        return running

    def _run_routine(self, routine: TreeNode) -> NodeStatus:
        run = routine._run
        status = run(routine)
        if status is RUNNING:
            return RUNNING
        routine.reset_status()
        if status is FAILURE:
            self._failed = routine
        return SUCCESS if status is SKIPPED else status

    def on_halted(self) -> None:
        routine = self._begun()
        if routine.status is RUNNING:
            routine.halt_node()
        routine.reset_status()

    def failed_children(self) -> list[TreeNode]:
        return [] if self._failed is None else [self._failed]

    def restore_failure(self, reason: str, failed: list[TreeNode]) -> None:
        super().restore_failure(reason, failed)
        self._failed = failed[-1] if failed else None
