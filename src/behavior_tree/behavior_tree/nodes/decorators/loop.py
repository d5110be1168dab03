# SPDX-License-Identifier: Apache-2.0
"""LoopInt, LoopBool, LoopDouble, LoopString, ConsumeQueue: the child runs once per item of a
queue.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.ports import (
    BidirectionalPort,
    InputPort,
    OutputPort,
    PortInfo,
    braced_key,
    pointer_key,
    ports_list,
)
from behavior_tree.blackboard.queue_types import QUEUE_TYPES
from behavior_tree.errors import LogicError, NodeExecutionError, PortError
from behavior_tree.kernel.node import FAILURE, IDLE, RUNNING, SUCCESS, NodeConfig, stores_status
from behavior_tree.nodes.decorators.base import SelfResettingDecorator

_FIXED = (int, bool, float, str)
"""Types of items that nobody can change."""


class Loop(SelfResettingDecorator):
    """Write the next item of ``queue`` to ``value`` and tick the child, until the queue is empty.

    A `collections.deque` on the blackboard is shared: items are taken out of it. A list is copied
    when the node starts. A literal is ``1;2;3``.
    """

    restorable = ("_queue", "_child_runs")

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
        self._read_keys()
        self._literal: tuple[Any, ...] | None = None
        """Items that the XML gives."""
        self._typed = self._rt.quirks.loop_queues_typed
        if self._typed and self.raw_port("queue") is None:
            raise LogicError("[queue] not found: give it in the XML")

    def port_changed(self, name: str) -> None:
        super().port_changed(name)
        self._read_keys()
        self._literal = None

    def _read_keys(self) -> None:
        self._key = pointer_key(self.raw_port("queue") or "", "queue")
        self._item_key = pointer_key(self.raw_port("value") or "", "value")

    @stores_status
    def tick(self) -> NodeStatus:
        before, stores = self.status, self._stores  # as the kernel was when it ticked this node
        if before is not RUNNING:
            self._reason = ""
            self._failed_child = None
        try:
            if before is IDLE:
                self._begin()
            if self._child_runs or self._next_item():
                if before is not RUNNING and (before is IDLE or not self._typed):
                    self._start()
                child = self._child
                run = child._run
                status = run(child)
                self._child_runs = status is RUNNING
                if status is SUCCESS or status is FAILURE:
                    self._reset(child)
                status = FAILURE if status is FAILURE else RUNNING
            else:
                status = self._at_end()
        except NodeExecutionError:
            raise
        except Exception as error:
            raise self._execution_error(error) from error
        if status is RUNNING:
            if self.status is not RUNNING:  # a leaf has halted the tree
                self._start()
            return status
        return self._store(before, status) if stores else status

    def _begin(self) -> None:
        self._child_runs = False
        if not self._typed:
            self._queue = None
        elif braced_key(text := self.raw_port("queue") or "") is None:
            self._queue = self._rt.types.from_text(text, QUEUE_TYPES[self.item_type])

    def _next_item(self) -> bool:
        """Write the next item, if there is one."""
        if self._typed:
            self._look_as_4_8()
        elif self._key is not None or self._queue is None:
            self._look()
        try:
            item = self._queue.popleft()  # type: ignore[union-attr]
        except (AttributeError, IndexError):
            return False
        if self._item_key is not None:
            self._bb.set(self._item_key, item)
            return True
        try:
            self.set_output("value", item)
        except PortError:
            if not self._rt.quirks.unreadable_ports_ignored:
                raise
        return True

    def _at_end(self) -> NodeStatus:
        """Result when no item is left."""
        self._reset_completed_child()  # one that an error has left
        self._failed_child = None
        result: NodeStatus = self.get_input("if_empty")
        if result is FAILURE:
            self.set_failure_reason("the queue is empty")
        return result

    def _look(self) -> None:
        shared = None if self._key is None else self._bb.get(self._key, None)
        if isinstance(shared, deque):  # looked at each time: somebody may have put another one
            self._queue = shared
        elif self._queue is None:
            self._queue = self._open_queue()

    def _look_as_4_8(self) -> None:
        """Only queues of the right type; when an entry is gone, the queue is kept."""
        text = self.raw_port("queue") or ""
        if braced_key(text) is None:
            return  # a literal, copied when the node started
        key = pointer_key(text, "queue") or ""
        entry = self._bb.entry(key)
        if entry is None:
            return
        if not isinstance(entry.value, QUEUE_TYPES[self.item_type]):
            raise LogicError(f"the queue [{key}] has not been written, or holds something else")
        self._queue = entry.value

    def _open_queue(self) -> deque[Any]:
        text = self.raw_port("queue") or ""
        key = pointer_key(text, "queue")
        if key is None:
            if self._literal is None or self.item_type not in _FIXED:
                items = self._rt.types.from_text(text, list[self.item_type])  # type: ignore[name-defined]
                self._literal = tuple(items)
            return deque(self._literal)
        value = self._bb.get(key, None)
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
