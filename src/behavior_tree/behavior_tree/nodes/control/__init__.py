# SPDX-License-Identifier: Apache-2.0
"""Nodes with several children. Semantics are in each class; their upstream oddities in `quirks`."""

from behavior_tree.control.base import ControlNode
from behavior_tree.control.conditional import IfThenElse, WhileDoElse
from behavior_tree.control.fallback import AsyncFallback, Fallback
from behavior_tree.control.manual import Choice, ManualSelector
from behavior_tree.control.parallel import Parallel, ParallelAll
from behavior_tree.control.reactive import ReactiveFallback, ReactiveSequence
from behavior_tree.control.sequence import AsyncSequence, Sequence, SequenceWithMemory
from behavior_tree.control.switch import Switch, switch_class
from behavior_tree.control.try_catch import TryCatch

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
