# SPDX-License-Identifier: Apache-2.0
"""Runs that are over: what was recorded of them, and a tree that runs once more on a record."""

from behavior_tree.rerun.answers import Unanswered
from behavior_tree.rerun.capture import Capture
from behavior_tree.rerun.history import UNKNOWN, RecordedRun, RecordedTick, RecordedWrite
from behavior_tree.rerun.recorded_tree import RecordedNode, RecordedTree
from behavior_tree.rerun.rerun import Parting, Rerun, rerun

__all__ = [
    "UNKNOWN",
    "Capture",
    "Parting",
    "RecordedNode",
    "RecordedRun",
    "RecordedTick",
    "RecordedTree",
    "RecordedWrite",
    "Rerun",
    "Unanswered",
    "rerun",
]
