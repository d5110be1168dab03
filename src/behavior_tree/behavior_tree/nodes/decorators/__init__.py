# SPDX-License-Identifier: Apache-2.0
"""Nodes with one child. Semantics are in each class; their upstream oddities in `quirks`."""

from behavior_tree.nodes.decorators.base import DecoratorNode, SimpleDecoratorNode
from behavior_tree.nodes.decorators.consume_queue import ConsumeQueue
from behavior_tree.nodes.decorators.force import (
    ForceFailure,
    ForceSuccess,
    Inverter,
    KeepRunningUntilFailure,
    RunOnce,
)
from behavior_tree.nodes.decorators.loop import Loop, LoopBool, LoopDouble, LoopInt, LoopString
from behavior_tree.nodes.decorators.precondition import Precondition
from behavior_tree.nodes.decorators.repeat import Repeat, RetryUntilSuccessful
from behavior_tree.nodes.decorators.subtree import SubTreeNode
from behavior_tree.nodes.decorators.timing import Delay, Timeout
from behavior_tree.nodes.decorators.updated import SkipUnlessUpdated, WaitValueUpdate

__all__ = [
    "ConsumeQueue",
    "DecoratorNode",
    "Delay",
    "ForceFailure",
    "ForceSuccess",
    "Inverter",
    "KeepRunningUntilFailure",
    "Loop",
    "LoopBool",
    "LoopDouble",
    "LoopInt",
    "LoopString",
    "Precondition",
    "Repeat",
    "RetryUntilSuccessful",
    "RunOnce",
    "SimpleDecoratorNode",
    "SkipUnlessUpdated",
    "SubTreeNode",
    "Timeout",
    "WaitValueUpdate",
]
