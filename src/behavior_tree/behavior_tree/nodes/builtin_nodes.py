# SPDX-License-Identifier: Apache-2.0
"""The node types that every factory knows."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.kernel.node import TreeNode
from behavior_tree.nodes import actions, control, decorators

BUILTIN_NODES: dict[str, type[TreeNode]] = {
    "Sequence": control.Sequence,
    "AsyncSequence": control.AsyncSequence,
    "SequenceWithMemory": control.SequenceWithMemory,
    "ReactiveSequence": control.ReactiveSequence,
    "Fallback": control.Fallback,
    "AsyncFallback": control.AsyncFallback,
    "ReactiveFallback": control.ReactiveFallback,
    "Parallel": control.Parallel,
    "ParallelAll": control.ParallelAll,
    "IfThenElse": control.IfThenElse,
    "WhileDoElse": control.WhileDoElse,
    **{f"Switch{cases}": control.switch_class(cases) for cases in range(2, 7)},
    "TryCatch": control.TryCatch,
    "Inverter": decorators.Inverter,
    "RetryUntilSuccessful": decorators.RetryUntilSuccessful,
    "Repeat": decorators.Repeat,
    "KeepRunningUntilFailure": decorators.KeepRunningUntilFailure,
    "Timeout": decorators.Timeout,
    "Delay": decorators.Delay,
    "RunOnce": decorators.RunOnce,
    "ForceSuccess": decorators.ForceSuccess,
    "ForceFailure": decorators.ForceFailure,
    "Precondition": decorators.Precondition,
    "LoopInt": decorators.LoopInt,
    "LoopBool": decorators.LoopBool,
    "LoopDouble": decorators.LoopDouble,
    "LoopString": decorators.LoopString,
    "SkipUnlessUpdated": decorators.SkipUnlessUpdated,
    "WaitValueUpdate": decorators.WaitValueUpdate,
    "AlwaysSuccess": actions.AlwaysSuccess,
    "AlwaysFailure": actions.AlwaysFailure,
    "Script": actions.ScriptNode,
    "SetBlackboard": actions.SetBlackboard,
    "UnsetBlackboard": actions.UnsetBlackboard,
    "Sleep": actions.Sleep,
    "WasEntryUpdated": actions.WasEntryUpdated,
    "ScriptCondition": actions.ScriptCondition,
}


@functools.cache
def builtin_manifests() -> Mapping[str, TreeNodeManifest]:
    """What is known of them, by ID; found out once."""
    return {
        type_id: TreeNodeManifest.of_class(node_class, type_id, builtin=True)
        for type_id, node_class in BUILTIN_NODES.items()
    }
