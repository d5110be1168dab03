# SPDX-License-Identifier: Apache-2.0
"""`Gates`: what stands around the nodes of a controlled tree.

A gate is called in place of the node, conditions and hooks included. A leaf that may not begin
yet stays IDLE while its parent is told RUNNING; so nothing blocks a tick, what runs goes on, and a
halt finds nothing to stop. A node that has failed for good stays FAILURE, and its parent is told
RUNNING, until somebody decides.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from behavior_tree.basic_types import NodeStatus
from behavior_tree.kernel.leaf import LeafNode
from behavior_tree.kernel.node import (
    FAILURE,
    IDLE,
    RUNNING,
    SUCCESS,
    Tick,
    TreeNode,
    select_kernels,
)
from behavior_tree.kernel.runtime import Timer
from behavior_tree.kernel.tree import Tree
from behavior_tree.nodes.authoring import Gosub
from behavior_tree.nodes.control.conditional import WhileDoElse
from behavior_tree.nodes.control.reactive import ReactiveFallback, ReactiveSequence
from behavior_tree.nodes.decider.choosing import Choosing
from behavior_tree.nodes.decider.monitors import Monitors
from behavior_tree.nodes.decider.state_machine import StateMachine, Transition
from behavior_tree.nodes.decorators.base import DecoratorNode
from behavior_tree.run_control.entry_point import EntryPoint
from behavior_tree.run_control.handled import unhandled

_REACTIVE = (ReactiveSequence, ReactiveFallback, WhileDoElse, Choosing, Monitors, StateMachine)
"""Nodes that ask earlier children again while a later one runs."""
_FAR = 1e8
"""By how much timers are put off that stand still [s]."""


class Decision(enum.Enum):
    """What becomes of a node that has failed."""

    RETRY = enum.auto()
    SKIP = enum.auto()
    GIVE_UP = enum.auto()


@dataclass
class Gates:
    """The ticking side of a `RunControl`, and what both sides know. Changed between ticks only."""

    tree: Tree
    hold_failures: bool
    automatic: bool = True
    breakpoints: dict[TreeNode, None] = field(default_factory=dict)
    stop_before: set[TreeNode] = field(default_factory=set)
    """Nodes at whose next beginning the tree stops, once."""
    stop_after: set[TreeNode] = field(default_factory=set)
    """Nodes at whose next end the tree stops, once."""
    released: set[TreeNode] = field(default_factory=set)
    """Leaves that may begin in the next tick."""
    held: list[TreeNode] = field(default_factory=list)
    """Leaves that wanted to begin in the last tick."""
    failed: dict[TreeNode, Decision | None] = field(default_factory=dict)
    """Nodes that have failed for good, with what was decided."""
    stands: bool = False
    """True if something waits for the operator, and no leaf runs."""
    entry_point: EntryPoint | None = None
    """Where the next run begins, if not at the beginning."""
    _unhandled: set[TreeNode] = field(default_factory=set)
    _reactive_above: dict[TreeNode, TreeNode] = field(default_factory=dict)
    """The uppermost reactive node around a leaf."""
    _asked: set[TreeNode] = field(default_factory=set)
    """Leaves that were asked and answered at once since the reactive node around them began."""
    _monitors: set[TreeNode] = field(default_factory=set)
    """Nodes that have to end in their tick, and so are never held."""
    _held_before: set[TreeNode] = field(default_factory=set)
    """Leaves that wanted to begin in the tick before."""
    _stopped: tuple[float, tuple[Timer, ...]] = (0.0, ())
    """Since when [s] which timers stand still."""

    def look_again(self) -> None:
        """Follow the structure of the tree, and what stops it."""
        root = self.tree.root_node()
        self._unhandled = set(unhandled(root))
        self._reactive_above = {}
        self._monitors = set()
        for node in self.tree.nodes():
            up = node._up
            watches = isinstance(up, Monitors) and node is not up.children[-1]
            if watches or up in self._monitors:
                self._monitors.add(node)
            above = self._reactive_above.get(node._up) if node._up is not None else None
            if above is None and isinstance(node, _REACTIVE):
                above = node
            if above is not None:
                self._reactive_above[node] = above
        present = set(self.tree.nodes())
        for node in [node for node in self.failed if node not in present]:
            del self.failed[node]
        self.held = [node for node in self.held if node in present]
        select_kernels(present)

    def wanting(self) -> list[TreeNode]:
        """The leaves that want to begin and may not."""
        return [n for n in tuple(self.held) if n._up is None or n._up.status is RUNNING]

    def undecided(self) -> list[TreeNode]:
        """The nodes that have failed, for which nothing is decided."""
        failed = self.failed.copy().items()
        return [node for node, decision in failed if decision is None and not _is_halted(node)]

    def around(self, node: TreeNode, run: Tick) -> Tick:
        """How a node is ticked, by `NodeKernel.select_kernel`.

        Args:
            node: of this tree
            run: how it is ticked without control
        """
        whole = node is self.tree.root_node()
        if not (whole or isinstance(node, LeafNode) or self._concerns(node)):
            return run

        asked = isinstance(node, LeafNode) and node in self._reactive_above

        def gate(node: TreeNode) -> NodeStatus:
            begins = node.status is not RUNNING
            if begins:
                status = self._begins(node)
                if status is not None:
                    return status
            status = run(node)
            if asked and begins:
                (self._asked.discard if status is RUNNING else self._asked.add)(node)
            return status if status is RUNNING else self._ended(node, status)

        def whole_tick(root: TreeNode) -> NodeStatus:
            self._let_timers_go()
            self._held_before = set(self.held)
            self.held.clear()
            self.failed = {n: each for n, each in self.failed.items() if not _is_halted(n)}
            try:
                return gate(root)
            finally:
                self.released.clear()
                self.begin_at(None)
                self._stop_timers()

        return whole_tick if whole else gate

    def begin_at(self, node: TreeNode | None) -> None:
        """Let the next run begin at a node; None: at the beginning, as always."""
        if self.entry_point is not None:
            self.entry_point.undo()
            self.entry_point = None
        if node is not None:
            self.entry_point = EntryPoint(node)

    def _concerns(self, node: TreeNode) -> bool:
        stops = node in self.breakpoints or node in self.stop_before or node in self.stop_after
        return stops or node in self._unhandled or self._reactive_above.get(node) is node

    # -- the beginning of a node ------------------------------------------------------------------

    def _begins(self, node: TreeNode) -> NodeStatus | None:
        """What the parent is told instead of a tick; None if the node is ticked."""
        if node in self.failed:
            status = self._decided(node)
            if status is not None:
                return status
        leaf = isinstance(node, LeafNode)
        if not leaf:
            self._begins_anew(node)
        elif self._is_asked_again(node):
            return None  # to hold it would halt what runs behind it
        if node not in self.released:
            if node in self.breakpoints or node in self.stop_before:
                self.stop_before.discard(node)
                self.automatic = False
            if leaf and node not in self._monitors and self._waits():
                self.held.append(node)
                return RUNNING
        return None

    def _is_asked_again(self, leaf: TreeNode) -> bool:
        """True if a leaf has answered before, and a reactive node around it asks it again while a
        later child goes on. What begins anew is no question, such as the next round of a loop.
        """
        if leaf not in self._asked:
            return False
        if isinstance(leaf, Transition):
            return True
        node, up = leaf, leaf._up
        while up is not None:
            if isinstance(up, _REACTIVE):
                later = up.children[up.children.index(node) + 1 :]
                if any(map(self._goes_on, later)):
                    return True
            node, up = up, up._up
        return False

    def _goes_on(self, node: TreeNode) -> bool:
        """True if a node runs, or waits for the operator."""
        return node.status is RUNNING or node in self._held_before or node in self.failed

    def _waits(self) -> bool:
        return not self.automatic or bool(self.undecided())

    def _begins_anew(self, node: TreeNode) -> None:
        """What was below a node when it ran last is forgotten."""
        if self._reactive_above.get(node) is node:
            self._asked = {
                each for each in self._asked if self._reactive_above.get(each) is not node
            }

    # -- the end of a node ------------------------------------------------------------------------

    def _ended(self, node: TreeNode, status: NodeStatus) -> NodeStatus:
        if node in self.stop_after:
            self.stop_after.discard(node)
            self.automatic = False
        if status is FAILURE and self.hold_failures and node in self._unhandled:
            passed_on = not isinstance(node, LeafNode) and any(
                child in self._unhandled for child in node.failed_children()
            )
            if not passed_on:
                self.failed[node] = None
                return RUNNING
        return status

    def _decided(self, node: TreeNode) -> NodeStatus | None:
        """What the parent of a failed node is told; None if the node begins again."""
        decision = self.failed[node]
        if decision is None:
            return RUNNING
        del self.failed[node]
        if decision is Decision.RETRY:
            node.reset_status()
            self.released.add(node)
            return None
        status = SUCCESS if decision is Decision.SKIP else FAILURE
        node.set_status(status)
        if node._up is not None:
            node._up._failed_child = node if status is FAILURE else None
        return status

    # -- time -------------------------------------------------------------------------------------

    def _stop_timers(self) -> None:
        """While an operator thinks and nothing runs, no Timeout around a waiting leaf may end."""
        waits = self.wanting() or self.undecided()
        self.stands = bool(waits) and not any(map(_runs, self.tree.nodes()))
        if self.stands:
            runtime = self.tree.runtime
            self._stopped = runtime.clock(), tuple(runtime._timers)
            for timer in self._stopped[1]:
                timer.deadline += _FAR

    def _let_timers_go(self) -> None:
        since, timers = self._stopped
        if timers:
            self._stopped = 0.0, ()
            waited = self.tree.runtime.clock() - since
            for timer in timers:
                timer.deadline += waited - _FAR

    def close(self) -> None:
        """Let all go."""
        self.begin_at(None)
        self._let_timers_go()


def _is_halted(failed: TreeNode) -> bool:
    """True if a node that has failed waits no more: what is around it was halted meanwhile."""
    node = failed
    while isinstance(node._up, DecoratorNode):  # resets a child that has failed
        node = node._up
    return node.status is IDLE


def _runs(node: TreeNode) -> bool:
    return node.status is RUNNING and isinstance(node, LeafNode) and not isinstance(node, Gosub)
