# SPDX-License-Identifier: Apache-2.0
"""Decider networks: reactive decisions with atomic parts, in XML or written in Python.

In XML their nodes are node types like any other::

    factory = BehaviorTreeFactory()
    register_decider_nodes(factory)

In Python a `Network` is put together from `decider`, `rlds`, `atomic` and the like, whose
conditions and actions may be functions, or classes derived from `Decider`, `Rd` and `Action`; it
writes the same XML. See ``docs/decider_networks.md``.
"""

from behavior_tree.decider.network import Network
from behavior_tree.decider.parts import (
    Part,
    action,
    atomic,
    call,
    case,
    decider,
    lock,
    node,
    rd,
    repeat,
    rlds,
    run_for,
    sequence,
    state,
    state_machine,
    transition,
    wait,
    write_context,
)
from behavior_tree.decider.register import register_decider_nodes
from behavior_tree.nodes.decider import (
    RLDS,
    Action,
    Atomic,
    Case,
    Compat,
    Decider,
    Decision,
    Lock,
    LockScope,
    Monitors,
    OnDone,
    Rd,
    RunFor,
    Session,
    State,
    StateMachine,
    Transition,
    WriteContext,
    force_unlock,
    holders,
)

__all__ = [
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
    "Network",
    "OnDone",
    "Part",
    "Rd",
    "RunFor",
    "Session",
    "State",
    "StateMachine",
    "Transition",
    "WriteContext",
    "action",
    "atomic",
    "call",
    "case",
    "decider",
    "force_unlock",
    "holders",
    "lock",
    "node",
    "rd",
    "register_decider_nodes",
    "repeat",
    "rlds",
    "run_for",
    "sequence",
    "state",
    "state_machine",
    "transition",
    "wait",
    "write_context",
]
