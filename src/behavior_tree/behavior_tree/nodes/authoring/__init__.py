# SPDX-License-Identifier: Apache-2.0
"""Nodes for authors of behaviors that run as fast as their slowest chain of dependencies.

`behavior_tree.authoring` registers them.
"""

from behavior_tree.kernel.node import TreeNode
from behavior_tree.nodes.authoring.attempt import Catch, Then, Try
from behavior_tree.nodes.authoring.concurrent import ConcurrentSequence, OnFailure, Step
from behavior_tree.nodes.authoring.jumps import Checkpoint, Gosub, Goto

__all__ = [
    "AUTHORING_NODES",
    "Catch",
    "Checkpoint",
    "ConcurrentSequence",
    "Gosub",
    "Goto",
    "OnFailure",
    "Step",
    "Then",
    "Try",
]

AUTHORING_NODES: dict[str, type[TreeNode]] = {
    each.__name__: each for each in (ConcurrentSequence, Step, Try, Catch, Goto, Gosub, Checkpoint)
}
"""Node types by ID."""
