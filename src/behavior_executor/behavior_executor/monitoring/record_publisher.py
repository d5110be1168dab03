# SPDX-License-Identifier: Apache-2.0
"""The topic ``/behavior/tree_record``: all that the running tree does, for whoever records it.

While nobody listens it costs the tick a look at a number. While somebody does, the tick only puts
together what the nodes have written down anyway; messages are made and sent by a thread of their
own. What that thread cannot keep up with is left out, which readers see by the numbers of records.
"""

from __future__ import annotations

import threading
import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from behavior_msgs.msg import BlackboardEntry, TreeRecord
from rclpy.clock import Clock, ClockType
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node

from behavior_executor.running.tree_run import TreeRun
from behavior_ros import QOS_REQUESTS, to_time
from behavior_tree import BehaviorTreeError
from behavior_tree.errors import ConversionError
from behavior_tree.monitoring.tree_records import RawTreeRecord, RecordKind, TreeRecords

STATE_PERIOD = 10.0
"""[s] wall time from one full state to the next, while ticks go on."""
MOST_WAITING = 2_000
"""Records that wait to be sent."""
_PAUSE = 0.3
"""[s] from the news of a listener to the state that it is sent: it must have heard of us too."""
_GATHER = 0.03
"""[s] from what was sent last for which the thread that sends waits for more."""
_REST_OF_TICK = 0.003
"""[s] for which a record waits at least: the tick that made it goes on, and would be disturbed."""
_MOST_ITEMS = 2_000
"""Of a field of a message; a longer one is not written out."""


class RecordPublisher:
    """Follows the running tree while somebody listens. Use it in the executor's thread."""

    def __init__(self, node: Node, *, life: int, warn: Callable[[str], None]) -> None:
        """Offer the topic.

        Args:
            node: through which it is published.
            life: number by which this executor's records are told from others' [ns].
            warn: is given what goes wrong, for the log.
        """
        self._node = node
        self._life = life
        self._warn = warn
        self._sequence = 0
        self._run: TreeRun | None = None
        self._action_id = ""
        self._records: TreeRecords | None = None
        self._state_due = 0.0
        self._queue: SimpleQueue[tuple[RawTreeRecord, int, str, TreeRun] | None] = SimpleQueue()
        self._timer = node.create_timer(
            _PAUSE, self.welcome, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        self._timer.cancel()
        self._publisher = node.create_publisher(
            TreeRecord,
            "behavior/tree_record",
            QOS_REQUESTS,
            event_callbacks=PublisherEventCallbacks(matched=self._on_matched),
        )
        self._thread = threading.Thread(target=self._send_all, name="tree_records", daemon=True)
        self._thread.start()

    def begin(self, run: TreeRun, action_id: str) -> None:
        """A tree was loaded, and is not ticked yet."""
        self._run, self._action_id, self._records = run, action_id, None
        if self.listeners:
            self._follow(begins=True)

    def after_tick(self, run: TreeRun, duration: float) -> None:
        """The tree was ticked; ``duration`` in seconds of wall time."""
        records = self._records
        if records is None or run is not self._run:
            return
        records.after_tick(run.status, duration)
        if time.monotonic() >= self._state_due:
            if self.listeners:
                self._emit_state(records)
            else:
                self.leave()

    def destroy(self) -> None:
        """Offer the topic no more."""
        self._node.destroy_timer(self._timer)
        self.leave()
        self._run = None
        self._queue.put(None)
        self._thread.join(2.0)
        self._node.destroy_publisher(self._publisher)

    @property
    def follows(self) -> bool:
        """Whether the running tree is written down."""
        return self._records is not None

    @property
    def listeners(self) -> int:
        """How many hear the topic."""
        return int(self._publisher.get_subscription_count())

    def _on_matched(self, change: Any) -> None:
        if change.current_count_change > 0:
            self._timer.reset()

    def welcome(self) -> None:
        """Somebody has come: send the whole state, if a tree is there."""
        self._timer.cancel()
        if self._run is None or self._run.closed:
            return
        if self._records is None:
            self._follow(begins=False)
        if self._records is not None:
            self._emit_state(self._records)

    def _follow(self, *, begins: bool) -> None:
        assert self._run is not None
        run = self._run
        self._state_due = time.monotonic() + STATE_PERIOD
        try:
            self._records = TreeRecords(
                run.tree,
                self._emit,
                document=lambda _: run.xml,
                begins=begins,
                ticks=run.ticks,
                status=run.status,
            )
        except BehaviorTreeError as error:
            self._warn(f"tree '{run.tree_id}' cannot be recorded: {error}")
            return
        run.records = self._records

    def leave(self) -> None:
        """Nobody listens: write nothing down until somebody comes."""
        if self._records is not None:
            self._records.stop()
        if self._run is not None:
            self._run.records = None
        self._records = None

    def _emit_state(self, records: TreeRecords) -> None:
        self._state_due = time.monotonic() + STATE_PERIOD
        self._emit(records.state())

    def _emit(self, raw: RawTreeRecord) -> None:
        """Hand a record over to the thread that sends it."""
        run = self._run
        assert run is not None
        if raw.kind is not RecordKind.STATE:
            self._sequence += 1
        if self._queue.qsize() < MOST_WAITING:  # else readers see that its number is missing
            self._queue.put((raw, self._sequence, self._action_id, run))
        if raw.kind is RecordKind.END:
            self._records = None

    # -- in a thread of its own ------------------------------------------------------------------

    def _send_all(self) -> None:
        gathering = Gathering()
        while (item := self._queue.get()) is not None:
            time.sleep(gathering.pause(time.monotonic(), more=not self._queue.empty()))
            try:
                self._publisher.publish(record_message(*item, self._life))
            except Exception as error:  # whatever is wrong with one record, others shall come
                self._warn(f"a record of tree '{item[3].tree_id}' is lost: {error}")


@dataclass
class Gathering:
    """How long the thread that sends waits for more.

    A record of ticks at 20 Hz goes as soon as its tick has ended. Of ticks that follow each other
    closely rather many go at once than one in the midst of each.
    """

    _until: float = float("-inf")

    def pause(self, now: float, *, more: bool) -> float:
        """[s] to wait before a record is sent.

        Args:
            now: [s].
            more: whether others wait behind it.
        """
        if more:
            return 0.0
        pause = max(_REST_OF_TICK, self._until - now)
        self._until = now + pause + _GATHER
        return pause


def record_message(
    raw: RawTreeRecord, sequence: int, action_id: str, run: TreeRun, life: int
) -> TreeRecord:
    """A record as a message.

    Args:
        raw: what the tree did.
        sequence: number of the record.
        action_id: mission of the tree.
        run: whose tree it is.
        life: of the executor.
    """
    record = raw.written(run.tree.runtime.types.json, message_values)
    message = TreeRecord(
        life=life,
        sequence=sequence,
        kind=int(record.kind),
        action_id=action_id,
        tree_id=run.tree_id,
        tick=record.tick,
        status=record.status,
        duration=record.duration,
        begun=record.begun,
        ticked=record.ticked,
        uids=record.uids,
        previous=record.previous,
        statuses=record.statuses,
        times=record.times,
        failed=record.failed,
        reasons=record.reasons,
        blackboard=[
            BlackboardEntry(board=board, key=key, type=kind, value=value, removed=removed)
            for board, key, kind, value, removed in record.blackboard
        ],
        xml=record.xml,
        note=record.note,
    )
    message.header.stamp = to_time(record.clock)
    return message


def message_values(value: Any) -> Any:
    """A ROS message as plain data with its type, for entries that hold one.

    Raises:
        ConversionError: it is none.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if hasattr(value, "get_fields_and_field_types"):
        names = value.get_fields_and_field_types()
        fields = {name: message_values(getattr(value, name)) for name in names}
        return {"__type": "/".join(_type_parts(type(value))), **fields}
    if getattr(value, "ndim", None) == 0:  # a number of numpy
        return message_values(value.tolist())
    if isinstance(value, list | tuple | array) or hasattr(value, "tolist"):
        if len(value) > _MOST_ITEMS:
            return {"__omitted": f"{len(value)} items"}
        return [message_values(each) for each in getattr(value, "tolist", lambda: value)()]
    if isinstance(value, bytes):
        return {"__omitted": f"{len(value)} bytes"}
    raise ConversionError(f"{type(value).__name__} is no message")


def _type_parts(kind: type) -> tuple[str, str]:
    return kind.__module__.partition(".")[0], kind.__name__
