# SPDX-License-Identifier: Apache-2.0
"""Conditions that say what is wrong when they do not hold."""

from __future__ import annotations

from behavior_tree import ConditionNode, NodeStatus


class ProblemCondition(ConditionNode):
    """Holds while there is no problem; otherwise the problem is the reason of its failure."""

    def problem(self) -> str:
        """What is wrong, in plain words; empty: nothing."""
        raise NotImplementedError(f"{type(self).__name__} defines no problem()")

    def tick(self) -> NodeStatus:
        """Look whether there is one."""
        problem = self.problem()
        if not problem:
            return NodeStatus.SUCCESS
        self.set_failure_reason(problem)
        return NodeStatus.FAILURE
