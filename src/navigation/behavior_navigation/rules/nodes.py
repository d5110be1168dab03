# SPDX-License-Identifier: Apache-2.0
"""What the tree nodes of the navigation have in common."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from behavior_tree import (
    BehaviorTreeFactory,
    ConditionNode,
    NodeConfig,
    NodeStatus,
    SyncActionNode,
    TreeNode,
)

T = TypeVar("T")


class ActsOn(TreeNode, Generic[T]):
    """A node that is made with what it looks at or acts upon: its `subject`."""

    def __init__(self, name: str, config: NodeConfig, subject: T) -> None:
        """Make the node, as the factory does."""
        super().__init__(name, config)
        self.subject = subject


class ProblemCondition(ConditionNode):
    """Holds while there is no problem; otherwise the problem is the reason of its failure."""

    def problem(self) -> str:
        """What is wrong, in plain words; empty: nothing."""
        raise NotImplementedError(f"{type(self).__name__} defines no problem()")

    def tick(self) -> NodeStatus:
        """Look whether there is one."""
        return ended(self, self.problem())


class ProblemAction(SyncActionNode):
    """Does something within one tick; what kept it from that is the reason of its failure."""

    def act(self) -> str:
        """Do it; returns why that cannot be done, empty: it is done."""
        raise NotImplementedError(f"{type(self).__name__} defines no act()")

    def tick(self) -> NodeStatus:
        """Do it."""
        return ended(self, self.act())


def ended(node: TreeNode, problem: str) -> NodeStatus:
    """SUCCESS without a problem; otherwise FAILURE, and the problem is its reason."""
    if not problem:
        return NodeStatus.SUCCESS
    node.set_failure_reason(problem)
    return NodeStatus.FAILURE


def register_by_class(
    factory: BehaviorTreeFactory, subject: object, *node_classes: type[ActsOn[Any]]
) -> None:
    """Register nodes under the names of their classes, which begin small in a tree.

    Args:
        factory: gets the nodes.
        subject: what they act upon.
        node_classes: the nodes.
    """
    for node_class in node_classes:
        name = node_class.__name__
        factory.register_node_type(node_class, name[0].lower() + name[1:], subject)
