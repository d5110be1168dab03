# SPDX-License-Identifier: Apache-2.0
"""PopFromQueue, QueueSize: leaves for queues that several nodes share.

Not registered unless asked for, as upstream::

    factory.register_node_type(PopFromQueue, "PopFromQueue")

`behavior_tree.nodes.decorators.Loop` does the same with less XML.
"""

from __future__ import annotations

from typing import Any, ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.ports import InputPort, OutputPort, PortInfo, ports_list
from behavior_tree.kernel.leaf import SyncActionNode
from behavior_tree.kernel.node import FAILURE, SUCCESS
from behavior_tree.nodes.queues import shared_queue


class PopFromQueue(SyncActionNode):
    """Move the first item of ``queue`` to ``popped_item``; FAILURE if there is none."""

    item_type: ClassVar[Any] = Any
    """A subclass may say what the items are."""

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        return ports_list(
            InputPort("queue", Any, description="entry of a deque, which is taken from"),
            OutputPort("popped_item", cls.item_type, description="the item taken"),
        )

    def tick(self) -> NodeStatus:
        queue = shared_queue(self)
        try:
            item = queue.popleft() if queue is not None else None
        except IndexError:
            queue = None
        if queue is None:
            self.set_failure_reason("the queue is empty")
            return FAILURE
        self.set_output("popped_item", item)
        return SUCCESS


class QueueSize(SyncActionNode):
    """Write the number of items in ``queue`` to ``size``; FAILURE if there is none."""

    ports = ports_list(
        InputPort("queue", Any, description="entry of a deque"),
        OutputPort("size", int, description="number of items, at least 1"),
    )

    def tick(self) -> NodeStatus:
        queue = shared_queue(self)
        if not queue:
            self.set_failure_reason("the queue is empty")
            return FAILURE
        self.set_output("size", len(queue))
        return SUCCESS
