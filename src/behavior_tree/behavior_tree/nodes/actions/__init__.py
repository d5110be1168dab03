# SPDX-License-Identifier: Apache-2.0
"""Built-in leaves."""

from behavior_tree.nodes.actions.basic import (
    AlwaysFailure,
    AlwaysSuccess,
    ScriptCondition,
    ScriptNode,
    Sleep,
)
from behavior_tree.nodes.actions.blackboard import SetBlackboard, UnsetBlackboard, WasEntryUpdated
from behavior_tree.nodes.actions.queue import PopFromQueue, QueueSize

__all__ = [
    "AlwaysFailure",
    "AlwaysSuccess",
    "PopFromQueue",
    "QueueSize",
    "ScriptCondition",
    "ScriptNode",
    "SetBlackboard",
    "Sleep",
    "UnsetBlackboard",
    "WasEntryUpdated",
]
