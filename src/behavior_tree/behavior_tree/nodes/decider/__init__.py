# SPDX-License-Identifier: Apache-2.0
"""Nodes of decider networks: reactive decisions with atomic parts.

`behavior_tree.decider` registers them, and writes networks in Python.
"""

from behavior_tree.kernel.node import TreeNode
from behavior_tree.nodes.decider.action import Action
from behavior_tree.nodes.decider.atomic import Atomic, Lock
from behavior_tree.nodes.decider.decider import Case, Decider, Decision
from behavior_tree.nodes.decider.locks import force_unlock, holders
from behavior_tree.nodes.decider.modes import Compat, LockScope, OnDone
from behavior_tree.nodes.decider.monitors import Monitors
from behavior_tree.nodes.decider.rlds import RLDS, Rd
from behavior_tree.nodes.decider.run_for import RunFor
from behavior_tree.nodes.decider.session import Session
from behavior_tree.nodes.decider.state_machine import State, StateMachine, Transition
from behavior_tree.nodes.decider.write_context import WriteContext

__all__ = [
    "DECIDER_NODES",
    "RLDS",
    "Action",
    "Atomic",
    "Case",
    "Compat",
    "Decider",
    "Decision",
    "Lock",
    "LockScope",
    "Monitors",
    "OnDone",
    "Rd",
    "RunFor",
    "Session",
    "State",
    "StateMachine",
    "Transition",
    "WriteContext",
    "force_unlock",
    "holders",
]

DECIDER_NODES: dict[str, type[TreeNode]] = {
    each.__name__: each
    for each in (
        *(Decider, Case, RLDS, Rd, Atomic, Lock, Monitors, RunFor),
        *(StateMachine, State, Transition, WriteContext),
    )
}
"""Node types by ID."""
