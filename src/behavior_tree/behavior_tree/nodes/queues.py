# SPDX-License-Identifier: Apache-2.0
"""Queues on the blackboard that several nodes share: `collections.deque` objects.

A deque is taken from in place, by every node that reads its entry; ``append`` and ``popleft`` are
atomic, so other threads may fill it while the tree takes from it, without a lock.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from behavior_tree.blackboard.ports import pointer_key
from behavior_tree.errors import PortError
from behavior_tree.kernel.node import TreeNode


def shared_queue(node: TreeNode) -> deque[Any] | None:
    """The queue behind the port `queue`; None if nobody has written the entry yet.

    Raises:
        PortError: the port has a literal, or the entry holds something else
    """
    text = node.raw_port("queue") or ""
    if pointer_key(text, "queue") is None:
        raise PortError(
            f"port [queue] of '{node.full_path()}' is the literal \"{text}\": name the entry of a "
            'queue, queue="{key}"'
        )
    queue = node.get_input("queue", None)
    if queue is None or isinstance(queue, deque):
        return queue
    raise PortError(
        f"port [queue] of '{node.full_path()}' reads {text}, which holds a "
        f"{type(queue).__name__}: it needs a collections.deque, which is taken from in place"
    )
