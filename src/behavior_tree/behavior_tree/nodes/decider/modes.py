# SPDX-License-Identifier: Apache-2.0
"""Choices that the ports of decider nodes offer."""

from __future__ import annotations

import enum

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.ports import InputPort, PortInfo


class OnDone(enum.IntEnum):
    """What a node does when what it runs has succeeded."""

    end = 0
    """SUCCESS."""
    restart = 1
    """Stay RUNNING, and run it again in the next tick."""
    idle = 2
    """Stay RUNNING, and rest until something else is chosen or the node is halted."""


class LockScope(enum.IntEnum):
    """How far up a lock keeps nodes from deciding."""

    tree = 0
    """Up to the root."""
    local = 1
    """Up to the next SubTree, RunFor or State: a network inside a network keeps its locks."""


class Compat(enum.IntEnum):
    """Whose semantics."""

    mended = 0
    cortex = 1
    """Of Isaac Sim's Cortex, with its defects; see ``docs/decider_networks.md``."""


def on_done_port(what: str) -> PortInfo:
    """Port ``on_done``; not given: end, or idle as the reference does."""
    text = f"when {what} has succeeded: end, restart or idle; default: end (compat cortex: idle)"
    return InputPort("on_done", OnDone, None, text)


def on_none_port() -> PortInfo:
    """Port ``on_none``."""
    text = "result while nothing can run: RUNNING, FAILURE or SUCCESS"
    return InputPort("on_none", NodeStatus, NodeStatus.RUNNING, text)


def compat_port() -> PortInfo:
    """Port ``compat``."""
    return InputPort("compat", Compat, Compat.mended, "cortex: with the defects of the reference")
