# SPDX-License-Identifier: Apache-2.0
"""The goals that Nav2's nodes look at: ports `goal` and `goals`, or the entries of these names."""

from __future__ import annotations

from typing import Any

from behavior_tree import (
    ConditionNode,
    InputPort,
    NodeConfig,
    NodeStatus,
    TreeNode,
    ports_list,
)

GOAL_PORTS = (
    InputPort("goal", Any, None, "pose to drive to; not given: the entry 'goal'"),
    InputPort("goals", Any, None, "poses to drive to; not given: the entry 'goals'"),
)


class Goals:
    """Remembers which goals a node has seen.

    Args:
        node: with `GOAL_PORTS`
    """

    def __init__(self, node: TreeNode) -> None:
        self._node = node
        self._seen: tuple[Any, Any] = (None, None)

    def changed(self) -> bool:
        """Whether they are others than at the last call."""
        now = (self._now("goal"), self._now("goals"))
        before, self._seen = self._seen, now
        return now != before

    def _now(self, port: str) -> Any:
        if self._node.raw_port(port) is not None:
            return self._node.get_input(port, None)
        return self._node.config().blackboard.get(port, None)


class GoalUpdated(ConditionNode):
    """Succeeds when a goal is another one than in the tick before; in its first tick it fails."""

    ports = ports_list(*GOAL_PORTS)

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._goals = Goals(self)

    def tick(self) -> NodeStatus:
        """Look at the goals."""
        begins = self.status in (NodeStatus.IDLE, NodeStatus.SKIPPED)
        if self._goals.changed() and not begins:
            return NodeStatus.SUCCESS
        self.set_failure_reason("the goal is the same")
        return NodeStatus.FAILURE


class GlobalUpdatedGoal(GoalUpdated):
    """Succeeds when a goal is another one than when it was last asked, however long ago, and the
    first time.
    """

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._asked = False

    def tick(self) -> NodeStatus:
        """Look at the goals."""
        first, self._asked = not self._asked, True
        if self._goals.changed() or first:
            return NodeStatus.SUCCESS
        self.set_failure_reason("the goal is the same")
        return NodeStatus.FAILURE
