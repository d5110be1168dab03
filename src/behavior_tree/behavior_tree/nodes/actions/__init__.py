# SPDX-License-Identifier: Apache-2.0
"""Built-in leaves."""

from behavior_tree.actions.basic import (
    AlwaysFailure,
    AlwaysSuccess,
    ScriptCondition,
    ScriptNode,
    Sleep,
)
from behavior_tree.actions.blackboard import SetBlackboard, UnsetBlackboard, WasEntryUpdated
from behavior_tree.actions.queue import PopFromQueue, QueueSize

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
