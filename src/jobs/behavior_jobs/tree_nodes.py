# SPDX-License-Identifier: Apache-2.0
"""The tree nodes of the suite's own jobs."""

from __future__ import annotations

from behavior_executor.node.tree_nodes import NodeContext
from behavior_jobs import bins_nodes
from behavior_jobs.block_network.nodes import MONITORS, RaiseTool
from behavior_jobs.insertion import InsertionPose
from behavior_jobs.sorting_nodes import DropPose, ObserveSorting
from behavior_jobs.tower_nodes import (
    BelongsOnTop,
    ChooseBlock,
    ObserveTower,
    ReviewChoice,
    SampleFreeSpot,
    TowerPlace,
)
from behavior_tree import BehaviorTreeFactory


def register(factory: BehaviorTreeFactory, context: NodeContext) -> None:
    """Register them where there is a scene to look at.

    Args:
        factory: gets the nodes.
        context: has the scene.
    """
    if context.scene is None:
        return
    tower = (ObserveTower, ChooseBlock, TowerPlace, SampleFreeSpot)
    for node_class in (ObserveSorting, DropPose, *tower, *MONITORS):
        factory.register_node_type(node_class, node_class.__name__, context.scene)
    for node_class in (bins_nodes.ObserveBins, bins_nodes.WaitForBin, bins_nodes.ConfirmBin):
        factory.register_node_type(node_class, node_class.__name__, context.scene)
    for plain_class in bins_nodes.NODES:
        factory.register_node_type(plain_class, plain_class.__name__)
    factory.register_node_type(RaiseTool, "RaiseTool")
    factory.register_node_type(InsertionPose, "InsertionPose")
    factory.register_node_type(ReviewChoice, "ReviewChoice")
    factory.register_node_type(BelongsOnTop, "BelongsOnTop")
