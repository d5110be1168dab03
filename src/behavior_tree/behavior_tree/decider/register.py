# SPDX-License-Identifier: Apache-2.0
"""`register_decider_nodes`."""

from __future__ import annotations

from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.nodes.decider import DECIDER_NODES


def register_decider_nodes(factory: BehaviorTreeFactory) -> None:
    """Let a factory know the nodes of decider networks; nothing happens if it does already.

    BehaviorTree.CPP has none of them, and programs may use their names for nodes of their own, so
    a plain factory does not.

    Raises:
        NodeTypeTakenError: another node type has the name of one of them
    """
    factory.register_node_types(DECIDER_NODES)
