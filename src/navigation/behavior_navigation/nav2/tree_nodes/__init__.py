# SPDX-License-Identifier: Apache-2.0
"""Nav2's own tree nodes, for trees that were written for its navigator.

Its control nodes and decorators, its conditions, and what works on paths and goals. What the nodes
do is said in their texts; where they differ from Nav2's on purpose, too. Those that ask its servers
are in ``config/nav2_nodes.yaml``.
"""

from __future__ import annotations

from behavior_executor.node.tree_nodes import NodeContext
from behavior_navigation.nav2.tree_nodes import controls, goals, rates
from behavior_navigation.nav2.tree_nodes.conditions import CONDITIONS
from behavior_navigation.nav2.tree_nodes.paths import PATH_NODES
from behavior_navigation.nav2.tree_nodes.pause_resume import PauseResumeController
from behavior_navigation.nav2.tree_nodes.positions import POSITION_NODES
from behavior_navigation.nav2.tree_nodes.robot import SELECTORS, GoalUpdater, Robot, robot_of
from behavior_navigation.nav2.tree_nodes.states import STATE_NODES
from behavior_tree import BehaviorTreeFactory, TreeNode

PLAIN: dict[str, type[TreeNode]] = {
    "PipelineSequence": controls.PipelineSequence,
    "NonblockingSequence": controls.NonblockingSequence,
    "PersistentSequence": controls.PersistentSequence,
    "RecoveryNode": controls.RecoveryNode,
    "RoundRobin": controls.RoundRobin,
    "RateController": rates.RateController,
    "GoalUpdatedController": rates.GoalUpdatedController,
    "SingleTrigger": rates.SingleTrigger,
    "PathLongerOnApproach": rates.PathLongerOnApproach,
    "GoalUpdated": goals.GoalUpdated,
    "GlobalUpdatedGoal": goals.GlobalUpdatedGoal,
    **CONDITIONS,
    **PATH_NODES,
}
"""Nodes that need nothing but their ports, by name."""
ASKING: dict[str, type[TreeNode]] = {
    "GoalUpdater": GoalUpdater,
    "SpeedController": rates.SpeedController,
    "DistanceController": rates.DistanceController,
    **{each.__name__: each for each in SELECTORS},
    **POSITION_NODES,
    **STATE_NODES,
}
"""Those that ask the robot."""


def register(factory: BehaviorTreeFactory, context: NodeContext) -> None:
    """Register Nav2's nodes.

    Args:
        factory: gets the nodes.
        context: has the node that they listen through.
    """
    robot = robot_of(context.node) if context.node is not None else None
    register_for(factory, robot)
    factory.register_node_type(PauseResumeController, "PauseResumeController", context.node)


def register_for(factory: BehaviorTreeFactory, robot: Robot | None) -> None:
    """Register those that need no node.

    Args:
        factory: gets the nodes.
        robot: whom they ask where it is; None where only the nodes' ports are asked for.
    """
    for name, node_class in PLAIN.items():
        factory.register_node_type(node_class, name)
    for name, node_class in ASKING.items():
        factory.register_node_type(node_class, name, robot)
