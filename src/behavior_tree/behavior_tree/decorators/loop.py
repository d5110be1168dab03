# SPDX-License-Identifier: Apache-2.0
"""LoopInt, LoopBool, LoopDouble, LoopString, ConsumeQueue: the child runs once per item of a
queue.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.decorators.base import SelfResettingDecorator
from behavior_tree.errors import LogicError
from behavior_tree.node import FAILURE, IDLE, RUNNING, SUCCESS, NodeConfig
from behavior_tree.ports import (
    BidirectionalPort,
    InputPort,
    OutputPort,
    PortInfo,
    pointer_key,
    ports_list,
)

__all__ = ["Loop", "LoopBool", "LoopDouble", "LoopInt", "LoopString"]


class Loop(SelfResettingDecorator):
    """Write the next item of ``queue`` to ``value`` and tick the child, until the queue is empty.

    A `collections.deque` on the blackboard is shared: items are taken out of it. A list is copied
    when the node starts. A literal is ``1;2;3``.
    """

    item_type: Any = Any

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        return ports_list(
            BidirectionalPort(
                "queue", Any, description="items: a deque (consumed), a list, or 1;2;3"
            ),
            InputPort("if_empty", NodeStatus, NodeStatus.SUCCESS, "result when no item is left"),
            OutputPort("value", cls.item_type, description="the current item"),
        )

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._queue: deque[Any] | None = None
        self._child_runs = False

    def tick(self) -> NodeStatus:
        if self.status is IDLE:
            self._queue = None
            self._child_runs = False
        if not self._child_runs:
            taken, item = self._take()
            if not taken:
                self._failed_child = None
                self._reason = "the queue is empty"
                result: NodeStatus = self.get_input("if_empty")
                return result
            self.set_output("value", item)
        self._start()
        status = self._tick_child()
        self._child_runs = status is RUNNING
        if status is FAILURE:
            self.reset_child()
            return FAILURE
        if status is SUCCESS:
            self.reset_child()
        return RUNNING

    def _take(self) -> tuple[bool, Any]:
        """Whether there was an item, and the item."""
        key = pointer_key(self.raw_port("queue") or "", "queue")
        shared = None if key is None else self._bb.get(key, None)
        if isinstance(shared, deque):  # looked at each time: somebody may have put another one
            self._queue = shared
        elif self._queue is None:
            self._queue = self._open_queue()
        try:
            return True, self._queue.popleft()
        except IndexError:
            return False, None

    def _open_queue(self) -> deque[Any]:
        text = self.raw_port("queue") or ""
        key = pointer_key(text, "queue")
        if key is None:
            return deque(self._rt.types.from_text(text, list[self.item_type]))  # type: ignore[name-defined]
        value = self._bb.get(key, None)
        if value is None and self._rt.quirks.loop_empty_entry_raises:
            raise LogicError(
                f"Any::cast failed because it is empty: nobody has written the queue [{key}] yet"
            )
        if value is None:
            return deque()
        if isinstance(value, str):
            return deque(self._rt.types.from_text(value, list[self.item_type]))  # type: ignore[name-defined]
        if isinstance(value, Iterable):
            return deque(value)
        raise LogicError(
            f"[queue] {{{key}}} holds a {type(value).__name__}, it needs a list or a deque"
        )


class LoopInt(Loop):
    """Loop over integers."""

    item_type = int


class LoopBool(Loop):
    """Loop over bools."""

    item_type = bool


class LoopDouble(Loop):
    """Loop over floats."""

    item_type = float


class LoopString(Loop):
    """Loop over texts."""

    item_type = str
