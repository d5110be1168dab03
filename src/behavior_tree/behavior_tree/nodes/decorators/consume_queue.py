# SPDX-License-Identifier: Apache-2.0
"""ConsumeQueue: the child runs once for each item of a queue that several nodes share."""

from __future__ import annotations

from typing import Any, ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.ports import InputPort, OutputPort, PortInfo, ports_list
from behavior_tree.kernel.node import FAILURE, RUNNING, SUCCESS, NodeConfig
from behavior_tree.nodes.decorators.base import DecoratorNode
from behavior_tree.nodes.queues import shared_queue


class ConsumeQueue(DecoratorNode):
    """Take items from ``queue`` and run the child with each, all in one tick unless it is RUNNING.

    FAILURE of the child ends it; else the result of the last run, SUCCESS if there was none. After
    a halt the child runs again with the item that it had. Upstream discourages it since `Loop`
    exists; it is not registered unless asked for.
    """

    restorable = ("_child_runs",)

    item_type: ClassVar[Any] = Any
    """A subclass may say what the items are."""

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        return ports_list(
            InputPort("queue", Any, description="entry of a deque, which is taken from"),
            OutputPort("popped_item", cls.item_type, description="the current item"),
        )

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._child_runs = False

    def tick(self) -> NodeStatus:
        result = SUCCESS
        if self._child_runs:
            result = self._run_child()
            if result is RUNNING or self._ends(result):
                return result
        while self._take():
            self._start()
            result = self._run_child()
            if result is RUNNING or result is FAILURE:
                break
        return result

    def _ends(self, result: NodeStatus) -> bool:
        return result is FAILURE and not self._rt.quirks.consume_queue_forgets_failure

    def _take(self) -> bool:
        queue = shared_queue(self)
        try:
            item = queue.popleft() if queue is not None else None
        except IndexError:
            return False
        if queue is not None:
            self.set_output("popped_item", item)
        return queue is not None

    def _run_child(self) -> NodeStatus:
        status = self._tick_child()
        self._child_runs = status is RUNNING
        if status is not RUNNING:
            self.reset_child()
        return status
