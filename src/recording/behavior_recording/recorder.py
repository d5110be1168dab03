# SPDX-License-Identifier: Apache-2.0
"""`Recorder`: decides what becomes of each message that is heard. No ROS.

Times never step back within a recording. Numbers of records and commands are looked at as they
come, so that what is lost is known at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from behavior_recording import topics as names
from behavior_recording.mcap_file import McapFile, Safe
from behavior_recording.tree_channels import MessageSink, TreeChannels
from behavior_tree.monitoring.tree_records import RecordKind

MOST_KEPT_RECORDS = 5_000
"""Records since the last full one that another file can begin with."""

Decode = Callable[[bytes], Any]


class Target(MessageSink, Protocol):
    """A file, or a black box."""

    def secure(self) -> Safe:
        """Put everything on the disk."""

    def finish(self) -> None:
        """Complete it."""


@dataclass(frozen=True)
class Standing:
    """How a recording stands."""

    safe: Safe = field(default_factory=Safe)
    life: int = 0
    """Of the newest tree record that is safe."""
    sequence: int = 0
    lost: int = 0
    """Records and commands that never came."""


class Recorder:
    """Takes messages and hands them on to a target.

    Args:
        target: gets all of them
        decode_record: makes a `behavior_msgs/TreeRecord` of its bytes
        decode_command: likewise `behavior_msgs/OperatorCommand`
        decode_frames: likewise `tf2_msgs/TFMessage`
        now: wall time since 1970 [ns]
    """

    def __init__(
        self,
        target: Target,
        *,
        decode_record: Decode,
        decode_command: Decode,
        decode_frames: Decode,
        now: Callable[[], int],
    ) -> None:
        self._target = target
        self._decode_record, self._decode_command = decode_record, decode_command
        self._decode_frames = decode_frames
        self._now = now
        self._time = 0
        self._tree = TreeChannels(target)
        self._counters = {names.TREE_RECORD: _Counter(), names.COMMANDS: _Counter()}
        self._latched: dict[tuple[str, frozenset[str]], tuple[str, bytes]] = {}
        """By topic and, of fixed frames, which these are."""
        self._recent: deque[tuple[Any, bytes, int]] = deque(maxlen=MOST_KEPT_RECORDS)
        self.standing = Standing()
        """As it was when everything was put on the disk last."""

    def take(
        self,
        topic: str,
        message_type: str,
        data: bytes,
        *,
        publish_time: int = 0,
        latched: bool = False,
    ) -> None:
        """A message was heard.

        Args:
            topic: absolute name
            message_type: like ``std_msgs/msg/String``
            data: in CDR
            publish_time: wall time since 1970 at which it was sent [ns]; 0: not known
            latched: it is told once and for all, so every file must hold it

        Raises:
            RecordingError: it cannot be written
        """
        self._time = time = max(self._time + 1, self._now())
        if topic == names.TREE_RECORD:
            self._take_record(data, time, publish_time)
            return
        if topic == names.COMMANDS:
            command = self._decode_command(data)
            self._counters[topic].count(command.life, command.sequence)
        elif latched:
            self._keep_latched(topic, message_type, data)
        self._target.add(topic, message_type, data, log_time=time, publish_time=publish_time)

    def secure(self) -> Standing:
        """Put everything on the disk, and tell how the recording stands.

        Raises:
            RecordingError: that is not possible
        """
        counter = self._counters[names.TREE_RECORD]
        self.standing = Standing(
            self._target.secure(),
            counter.life,
            counter.sequence,
            sum(each.lost for each in self._counters.values()),
        )
        return self.standing

    def begin_file(self, file: McapFile, time: int) -> None:
        """Write what another file begins with: what is told once, and the state of the tree."""
        for (topic, _), (message_type, data) in self._latched.items():
            file.add(topic, message_type, data, log_time=time)
        channels = TreeChannels(file)
        for record, data, when in self._recent:
            channels.add(record, data, log_time=min(when, time))

    def _keep_latched(self, topic: str, message_type: str, data: bytes) -> None:
        """What other files begin with too: the newest of a topic; of fixed frames, that of each."""
        frames: frozenset[str] = frozenset()
        if topic == names.FIXED_FRAMES:
            transforms = self._decode_frames(data).transforms
            frames = frozenset(each.child_frame_id for each in transforms)
        for key in [key for key in self._latched if key[0] == topic and key[1] <= frames]:
            del self._latched[key]
        self._latched[topic, frames] = message_type, data

    def _take_record(self, data: bytes, time: int, publish_time: int) -> None:
        record = self._decode_record(data)
        if record.kind != RecordKind.STATE:
            self._counters[names.TREE_RECORD].count(record.life, record.sequence)
        self._tree.add(record, data, log_time=time, publish_time=publish_time)
        if RecordKind(record.kind).full:
            self._recent.clear()
        self._recent.append((record, data, time))


@dataclass
class _Counter:
    """Looks at the numbers of what comes."""

    life: int = 0
    sequence: int = 0
    lost: int = 0

    def count(self, life: int, sequence: int) -> None:
        if life == self.life:
            self.lost += max(0, sequence - self.sequence - 1)
        self.life, self.sequence = life, sequence
