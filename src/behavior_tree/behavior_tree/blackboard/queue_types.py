# SPDX-License-Identifier: Apache-2.0
"""Queues of one item type on the blackboard, which LoopX nodes consume."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar


class SharedQueue(deque[Any]):
    """Items still to be looped over; nodes that share it take items from each other."""

    item_type: ClassVar[Any] = Any


class IntQueue(SharedQueue):
    """Integers."""

    item_type = int


class BoolQueue(SharedQueue):
    """Bools."""

    item_type = bool


class DoubleQueue(SharedQueue):
    """Floats."""

    item_type = float


class StringQueue(SharedQueue):
    """Texts."""

    item_type = str


QUEUE_TYPES: dict[Any, type[SharedQueue]] = {
    queue.item_type: queue for queue in (IntQueue, BoolQueue, DoubleQueue, StringQueue)
}
"""Queue type by item type."""
