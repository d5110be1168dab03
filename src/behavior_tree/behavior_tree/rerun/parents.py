# SPDX-License-Identifier: Apache-2.0
"""Control nodes and decorators whose program is not here: they tick the children that they ticked
in the record, and come to what they came to.
"""

from __future__ import annotations

from collections.abc import Callable, Set

from behavior_tree.basic_types import NodeStatus
from behavior_tree.kernel.node import TreeNode
from behavior_tree.nodes.control.base import ControlNode
from behavior_tree.nodes.decorators.base import DecoratorNode
from behavior_tree.nodes.parent import ParentNode
from behavior_tree.rerun.answers import Answers

Nodes = Set[TreeNode]


class RecordedParent(ParentNode):
    """A node with children that asks `Answers`."""

    def follow(
        self,
        answers: Answers,
        doings: Callable[[], tuple[Nodes, Nodes]],
        moment: Callable[[], float],
    ) -> None:
        """Do what the record says from now on.

        Args:
            answers: results of this node, by moment
            doings: gives the nodes that were ticked in the tick that is under way, and those that
                became IDLE
            moment: tells the time by which these are asked [s]
        """
        self._answers, self._doings, self._moment = answers, doings, moment

    def tick(self) -> NodeStatus:
        status, reason, _ = self._answers.ask(self._moment(), self.status)
        ticked, idle = self._doings()
        for child in self.children:
            if child in ticked:
                child._run(child)
        for child in self.children:
            if child in idle:
                self._reset(child)
        if reason:
            self.set_failure_reason(reason)
        return status


class RecordedControl(RecordedParent, ControlNode):
    """Stands for a control node."""


class RecordedDecorator(RecordedParent, DecoratorNode):
    """Stands for a decorator."""
