# SPDX-License-Identifier: Apache-2.0
"""What editors of a shared tree and the executor say to each other. No ROS.

One exchange does everything: it may carry an edit, and its answer carries what the peer lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from behavior_tree.sharing.edits import Answer

CHUNK = 256 * 1024
"""[bytes] of an update in one message."""


@dataclass(frozen=True)
class ExchangeRequest:
    """What a peer asks for; as behavior_msgs/srv/EditTree has it."""

    tree: str = ""
    editor: str = ""
    number: int = 0
    edit: str = ""
    document: str = ""
    state: bytes = b""
    offset: int = 0


@dataclass(frozen=True)
class ExchangeAnswer:
    """What it is answered."""

    answer: Answer
    tree: str = ""
    document: str = ""
    revision: int = 0
    last_number: int = 0
    ticks: bool = False
    editors: tuple[str, ...] = ()
    update: bytes = b""
    offset: int = 0
    size: int = 0


@dataclass(frozen=True)
class TreeNews:
    """What all are told; as behavior_msgs/msg/TreeUpdate has it."""

    tree: str
    document: str
    revision: int
    editors: tuple[str, ...]
    editor: str
    """Whose edit was looked at; empty: only the editors or what ticks have changed."""
    number: int
    answer: Answer
    update: bytes


Reply = Callable[[ExchangeAnswer], None]
"""Sends the one answer to a request."""
