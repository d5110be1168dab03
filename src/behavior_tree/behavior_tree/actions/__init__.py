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

__all__ = [
    "AlwaysFailure",
    "AlwaysSuccess",
    "ScriptCondition",
    "ScriptNode",
    "SetBlackboard",
    "Sleep",
    "UnsetBlackboard",
    "WasEntryUpdated",
]
