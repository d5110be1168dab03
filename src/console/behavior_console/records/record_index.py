# SPDX-License-Identifier: Apache-2.0
"""`RecordIndex`: one pass over a recording, after which any moment of it is known soon.

What comes seldom, such as what trees did, is taken in as it would be live, and every so many
messages the channels are kept: a moment is few messages away from one that is known. Of what comes
often, such as joints, only the times are kept: the newest messages of a moment are read from the
file. The pass goes on in steps, and what lies before the one that it has come to can be shown.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from behavior_console.channels import Channels
from behavior_console.records.record_clock import RecordClock
from behavior_console.reducers import TOPICS, Reducers
from behavior_console.reducers.plain import seconds
from behavior_console.source import OF_THE_MOMENT, show_state
from behavior_recording import RecordedMessage, Recording, RecordingError
from behavior_tree.basic_types import NodeStatus
from behavior_tree.monitoring.tree_records import RecordKind

MOST_SPANS, MOST_EVENTS = 200_000, 20_000
"""That a page is sent; of more the newest."""
_BETWEEN = 50
"""Messages between two moments that are kept."""
_TREE_STATE, _TREE_RECORD = "/behavior/tree_state", "/behavior/tree_record"
_JOINTS = "/joint_states"
"""Its stamps are of the same clock, and come while no tree runs too."""
_SPARE = 1_000_000_000
"""[ns] between readings of the clock where there is no better one."""
_TOGETHER = 1_000_000_000
"""[ns] What is not older than that is read in one go."""
_SELDOM = (*(topic for topic, about in TOPICS.items() if not about.newest), _TREE_STATE)
_EXACT = 5e-7
"""[s] Half of what changes of a tick are told by."""
_OF_ONE_MESSAGE = (AttributeError, IndexError, KeyError, TypeError, ValueError, struct.error)
"""What a message of another definition than this version's leads to."""
_FORMATS = ("", "1")
"""Of recordings; those of other programs do not say."""


@dataclass(frozen=True)
class _Kept:
    """What was known after all messages up to a time."""

    wall: int
    """[ns]."""
    state: dict[str, Any]
    taker: _Taker
    changed: float
    """When the tree changed last [s]: a tick has its stamp, and its changes come after it."""


class RecordIndex:
    """What a recording holds.

    Args:
        path: of an MCAP file.

    Raises:
        RecordingError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.channels = Channels(log_lengths={"spans": MOST_SPANS, "events": MOST_EVENTS})
        """Logs and lanes up to where the pass has come; the others once it is complete."""
        # One for the pass and one for moments: threads do not share one.
        self._passed, self._recording = Recording(path), Recording(path)
        self.about = self._recording.about
        if (version := self.about.get("format", "")) not in _FORMATS:
            self.close()
            raise RecordingError(
                f"{path.name} has the format {version[:20]}, of a later version: update this suite"
            )
        self.start, self.end = self._recording.start, self._recording.end
        """Wall time of the first and the last message [ns]."""
        self.clock = RecordClock(start=self.start)
        self.known = self.start - 1
        """Wall time [ns] up to which moments are known."""
        self.time = self.clock.begin
        """[s] The executor's clock there."""
        self._often: dict[str, list[int]] = {}
        lengths = {"spans": 10 * MOST_SPANS, "events": MOST_EVENTS}
        self._now = Channels(log_lengths=lengths)
        """What is where the pass has come to; its logs since the last step."""
        self._open_spans: dict[tuple[int, float], list[Any]] = {}
        self._taker = _Taker(Reducers(self._now))
        self._kept = [self._keep(self.known)]
        self._messages = self._passed.messages([*TOPICS, _TREE_STATE])
        self._ahead = next(self._messages, None)
        self._since_kept = 0
        self._bad: set[str] = set()

    def close(self) -> None:
        """Let go of the file."""
        self._passed.close()
        self._recording.close()

    @property
    def complete(self) -> bool:
        """Whether the pass has come to the end."""
        return self.known >= self.end

    def read(self, seconds: float) -> None:
        """Go on with the pass for a stretch of the recording's wall time."""
        until = min(self.known + round(seconds * 1e9), self.end)
        while self._ahead is not None and self._ahead.time <= until:
            message = self._ahead
            self._take(message)
            self._ahead = next(self._messages, None)
            distinct = self._ahead is None or self._ahead.time > message.time
            if self._since_kept >= _BETWEEN and distinct:
                self._kept.append(self._keep(message.time))
                self._since_kept = 0
        self._hand_on(last=until == self.end)
        self.known = until
        self.time = max(self.clock.time(until), self._taker.changed)

    def moment(self, time: float) -> dict[str, Any]:
        """What the channels of the moment held at a time [s] of the executor's clock.

        It must not be later than what is known.
        """
        wall = min(self.clock.wall_time(time), self.known)
        until = float("inf") if time >= self.time else time
        place = bisect_right(self._kept, wall, key=lambda each: each.wall) - 1
        if self._kept[place].changed > until - _EXACT:
            place = max(0, place - 1)
        kept = self._kept[place]
        channels = Channels()
        show_state(channels, kept.state)
        taker = kept.taker.fork(channels)
        for message in self._recording.messages(_SELDOM, start=kept.wall + 1, end=wall):
            with suppress(*_OF_ONE_MESSAGE):  # the pass has told of it
                taker.take(message, until=until)
        self._take_often(self._recording, taker.reducers, wall)
        return _state(channels)

    # -- within ----------------------------------------------------------------------------------

    def _hand_on(self, *, last: bool) -> None:
        """Give the pages what the step has found."""
        spans: list[list[Any]] = []
        for span in self._now.value("spans"):
            begun = (span[0], span[1])
            if span[2] is None:
                self._open_spans[begun] = span
            else:
                self._open_spans.pop(begun, None)
                spans.append(span)
        if last:
            spans += self._open_spans.values()
            self._take_often(self._passed, self._taker.reducers, self.end)
            self._passed.close()
        with self.channels.lock:
            self.channels.patch("lanes", self._now.value("lanes"))
            self.channels.add("spans", spans)
            self.channels.add("events", self._now.value("events"))
            if last:
                show_state(self.channels, _state(self._now))
        self._now.clear_log("spans")
        self._now.clear_log("events")

    def _keep(self, wall: int) -> _Kept:
        taker = self._taker.fork(Channels())
        return _Kept(wall, _state(self._now), taker, self._taker.changed)

    def _take(self, message: RecordedMessage) -> None:
        if message.topic in TOPICS and TOPICS[message.topic].newest:
            self._often.setdefault(message.topic, []).append(message.time)
            if message.topic == _JOINTS and message.time > self.clock.newest + _SPARE:
                self.clock.add(message.time, seconds(message.value.header.stamp), spare=_SPARE)
            return
        self._since_kept += 1
        try:
            new = self._taker.take(message)
        except _OF_ONE_MESSAGE as error:
            self._note_bad(message, error)
            return
        if new and message.topic in (_TREE_RECORD, _TREE_STATE):
            self.clock.add(message.time, seconds(message.value.header.stamp))

    def _note_bad(self, message: RecordedMessage, error: Exception) -> None:
        """Say once of each topic that its messages are not shown."""
        if message.topic not in self._bad:
            self._bad.add(message.topic)
            text = f"{message.topic} cannot be shown, another version may have recorded it: {error}"
            time = self.clock.time(message.time)
            event = {"t": time, "kind": "log", "text": text, "uid": None, "level": "warning"}
            self.channels.add("events", [event])

    def _take_often(self, recording: Recording, reducers: Reducers, wall: int) -> None:
        """Take the newest messages of what comes often."""
        for message in sorted(self._newest(recording, wall), key=lambda each: each.time):
            with suppress(*_OF_ONE_MESSAGE):
                reducers.take(message.topic, message.value)

    def _newest(self, recording: Recording, wall: int) -> Iterator[RecordedMessage]:
        """Of each topic as many as count, read with as few openings of chunks as can be."""
        near: dict[str, int] = {}
        for topic, times in list(self._often.items()):
            last = bisect_right(times, wall)
            if last == 0:
                continue
            since = times[max(0, last - TOPICS[topic].newest)]
            if since >= wall - _TOGETHER:
                near[topic] = since
            else:
                yield from recording.messages(topic, start=since, end=times[last - 1])
        if near:
            found = recording.messages(near, start=min(near.values()), end=wall)
            yield from (each for each in found if each.time >= near[each.topic])


@dataclass
class _Taker:
    """Takes in what comes seldom."""

    reducers: Reducers
    changed: float = float("-inf")
    """When the tree changed last [s]."""
    _held: tuple[int, int] = field(default=(0, 0))
    """Life and number of the last record of the tree."""
    _stands: bool = False
    """Within a tick: what comes later, be it of the same stamp, has not been yet."""

    def fork(self, channels: Channels) -> _Taker:
        """Another that knows the same, for channels that hold the same."""
        return _Taker(self.reducers.fork(channels), self.changed, self._held)

    def take(self, message: RecordedMessage, *, until: float = float("inf")) -> bool:
        """Whether it was new: a full state may hold the record that follows it.

        Args:
            message: of one of the topics.
            until: [s] the executor's clock; of a tick only what has changed by then is taken.
        """
        value = message.value
        if message.topic not in (_TREE_RECORD, _TREE_STATE):
            self.reducers.take(message.topic, value)
            return True
        life, sequence = self._held
        full = RecordKind(value.kind).full
        if not full and value.life == life and value.sequence <= sequence:
            return False
        if self._stands:
            return False
        self._held = (value.life, value.sequence)
        stamp = seconds(value.header.stamp)
        part = value
        if not full and len(value.times):
            self.changed = stamp + 1e-6 * max(value.times)
            part = value if self.changed < until - _EXACT else _part(value, stamp, until)
        self._stands = part is not value
        self.reducers.take(_TREE_RECORD, part)
        return True


def _part(record: Any, stamp: float, until: float) -> Any:
    """The record of a tick as far as it had come; entries are known at its end only.

    Who fails is halted with all its siblings at once: at that very time it is still seen to fail.
    """
    count = 0
    for time, status in zip(record.times, record.statuses, strict=True):
        ahead = stamp + 1e-6 * time - until
        if ahead > _EXACT or (ahead > -_EXACT and status == NodeStatus.IDLE.value):
            break
        count += 1
    if count == len(record.times):
        return record
    done = set(record.uids[:count])
    failed = [pair for pair in zip(record.failed, record.reasons, strict=True) if pair[0] in done]
    return SimpleNamespace(
        kind=RecordKind.TICK.value,
        header=record.header,
        life=record.life,
        sequence=record.sequence,
        uids=record.uids[:count],
        statuses=record.statuses[:count],
        times=record.times[:count],
        failed=[uid for uid, _ in failed],
        reasons=[reason for _, reason in failed],
        blackboard=[],
    )


def _state(channels: Channels) -> dict[str, Any]:
    """The channels of the moment. Values are replaced, never changed: shallow copies do."""
    return {name: channels.value(name) for name in OF_THE_MOMENT}
