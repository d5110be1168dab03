# SPDX-License-Identifier: Apache-2.0
"""Nodes with several children. Semantics are in each class; their upstream oddities in `quirks`."""

from behavior_tree.nodes.control.base import ControlNode
from behavior_tree.nodes.control.conditional import IfThenElse, WhileDoElse
from behavior_tree.nodes.control.fallback import AsyncFallback, Fallback
from behavior_tree.nodes.control.manual import Choice, ManualSelector
from behavior_tree.nodes.control.parallel import Parallel, ParallelAll
from behavior_tree.nodes.control.reactive import ReactiveFallback, ReactiveSequence
from behavior_tree.nodes.control.sequence import AsyncSequence, Sequence, SequenceWithMemory
from behavior_tree.nodes.control.switch import Switch, switch_class
from behavior_tree.nodes.control.try_catch import TryCatch

__all__ = [
    "AsyncFallback",
    "AsyncSequence",
    "Choice",
    "ControlNode",
    "Fallback",
    "IfThenElse",
    "ManualSelector",
    "Parallel",
    "ParallelAll",
    "ReactiveFallback",
    "ReactiveSequence",
    "Sequence",
    "SequenceWithMemory",
    "Switch",
    "TryCatch",
    "WhileDoElse",
    "switch_class",
]
