# SPDX-License-Identifier: Apache-2.0
"""`TreeRecording`: records a tree that is ticked in this very process, without ROS.

For tests of trees and for programs that have no executor. Files are those that a recorder writes
beside a running stack, with less in them::

    with TreeRecording(Path("run.mcap"), tree, tree_id="main") as recording:
        while recording.tick() is NodeStatus.RUNNING:
            ...
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from behavior_recording import topics as names
from behavior_recording.encoding import encode, record_values, time_values
from behavior_recording.mcap_file import McapFile
from behavior_recording.tree_channels import TreeChannels
from behavior_tree.basic_types import NodeStatus
from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.closing import Closing
from behavior_tree.monitoring.tree_records import RawTreeRecord, RecordKind, TreeRecords
from behavior_tree.monitoring.uid_document import uid_document

STATE_PERIOD = 100
"""Ticks from one full state to the next."""


class TreeRecording(Closing):
    """Records one tree into a file until it is closed.

    Args:
        path: of a file that is not there yet
        tree: what is recorded; tick it by `tick`
        tree_id: ID of its main tree
        action_id: mission that it stands for
        now: wall time since 1970 [ns]
        life: number by which records of one program are told from others; None: its beginning

    Raises:
        RecordingError: the file cannot be written
    """

    def __init__(
        self,
        path: Path,
        tree: Tree,
        *,
        tree_id: str,
        action_id: str = "recorded",
        now: Callable[[], int] = time.time_ns,
        life: int | None = None,
    ) -> None:
        self.tree = tree
        self._tree_id, self._action_id, self._clock = tree_id, action_id, now
        self._time = 0
        self._life = now() if life is None else life
        self._sequence = self._commands = self._ticks = 0
        self._file = McapFile(path)
        self._channels = TreeChannels(self._file)
        self._records = TreeRecords(
            tree, self._write, document=lambda tree: uid_document(tree, tree_id)
        )
        self._open = True

    def tick(self) -> NodeStatus:
        """Tick the tree once and record what it does."""
        self.tree.runtime.hold_time()
        try:
            self._records.before_tick()
            begin = time.monotonic()
            status = self.tree.tick_exactly_once()
        finally:
            self.tree.runtime.release_time()
        self.tree.drain_changes()
        self._records.after_tick(status, time.monotonic() - begin)
        self._ticks += 1
        if self._ticks % STATE_PERIOD == 0:
            self.write_state()
        return status

    def write_state(self) -> None:
        """Write the whole state, so that seeking may begin here."""
        self._write(self._records.state())

    def secure(self) -> None:
        """Put what there is on the disk."""
        self._file.secure()

    def message(self, topic: str, message_type: str, values: Mapping[str, Any]) -> None:
        """Add a message of any topic; see `behavior_recording.encoding.encode`."""
        self._file.add(topic, message_type, encode(message_type, values), log_time=self._now())

    def command(
        self, channel: str, command: str, *, accepted: bool = True, answer: str = ""
    ) -> None:
        """Add something that somebody asked for; see `behavior_msgs/OperatorCommand`."""
        self._commands += 1
        values = {
            "header": {"stamp": time_values(self._now())},
            "life": self._life,
            "sequence": self._commands,
            "channel": channel,
            "command": command,
            "accepted": accepted,
            "answer": answer,
        }
        self.message(names.COMMANDS, names.COMMAND_TYPE, values)

    def mission(self, **values: Any) -> None:
        """Add a message `behavior_msgs/MissionFeedback` with these fields."""
        header = {"stamp": time_values(self._now())}
        fields = {"header": header, "action_id": self._action_id, "name": self._tree_id, **values}
        self.message(names.MISSION_FEEDBACK, names.FEEDBACK_TYPE, fields)

    def close(self, note: str = "") -> None:
        """End the tree's record and complete the file; further calls do nothing.

        Args:
            note: why the tree is not ticked any more
        """
        if self._open:
            self._open = False
            self._records.close(note)
            self._file.finish()

    def _now(self) -> int:
        """Wall time of what comes next; later than what came before where a clock is set back."""
        now = self._clock()
        self._time = now if now >= self._time else self._time + 1
        return self._time

    def _write(self, raw: RawTreeRecord) -> None:
        if raw.kind is not RecordKind.STATE:
            self._sequence += 1
        now = self._now()
        values = record_values(
            raw.written(self.tree.runtime.types.json),
            life=self._life,
            sequence=self._sequence,
            action_id=self._action_id,
            tree_id=self._tree_id,
        )
        data = encode(names.TREE_RECORD_TYPE, values)
        self._channels.add(SimpleNamespace(**values), data, log_time=now)
