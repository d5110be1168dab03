# SPDX-License-Identifier: Apache-2.0
"""`RecordIndex`: one pass over a recording, after which any moment of it is known soon.

What comes seldom, such as what trees did, is kept as bytes; every so many messages the channels are
kept too, so that a moment is few messages away from one that is known. Of what comes often, such as
joints, only the times are kept: the newest messages of a moment are read from the file.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from behavior_console.channels import CHANNELS, Channels, Kind
from behavior_console.records.record_clock import RecordClock, filled
from behavior_console.reducers import TOPICS, Reducers
from behavior_console.source import OF_THE_MOMENT
from behavior_recording import RecordedMessage, Recording
from behavior_tree.monitoring.tree_records import RecordKind

__all__ = ["MOST_EVENTS", "MOST_SPANS", "RecordIndex"]

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


@dataclass(frozen=True)
class _Kept:
    """What was known after the first so many messages."""

    count: int
    state: dict[str, Any]
    reducers: Reducers


@dataclass
class RecordIndex:
    """What a recording holds.

    Args:
        recording: is read once; afterwards only for what comes often.
    """

    recording: Recording
    channels: Channels = field(init=False)
    """At the end; its logs hold the whole run."""
    clock: RecordClock = field(init=False)
    _often: dict[str, list[int]] = field(init=False, default_factory=dict)
    """Times [ns] of messages by topic."""
    _seldom: list[RecordedMessage] = field(init=False, default_factory=list)
    _times: list[int] = field(init=False, default_factory=list)
    """Of those."""
    _kept: list[_Kept] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.channels = Channels(log_lengths={"spans": 2 * MOST_SPANS, "events": MOST_EVENTS})
        reducers = Reducers(self.channels)
        self._kept.append(_Kept(0, _state(self.channels), reducers.fork(Channels())))
        readings: list[tuple[int, float]] = []
        spare: list[tuple[int, float]] = []
        held: tuple[int, int] = (0, 0)
        for message in self.recording.messages([*TOPICS, _TREE_STATE]):
            if message.topic != _TREE_STATE and TOPICS[message.topic].newest:
                self._often.setdefault(message.topic, []).append(message.time)
                if message.topic == _JOINTS and message.time > _last(spare) + _SPARE:
                    spare.append((message.time, _seconds(message.value.header.stamp)))
                continue
            value = replace(message).value  # of a copy: the value of the message would stay in it
            if message.topic in (_TREE_RECORD, _TREE_STATE):
                if _is_held(value, held):
                    continue
                held = (value.life, value.sequence)
                readings.append((message.time, _seconds(value.header.stamp)))
            reducers.take(_named(message.topic), value)
            self._seldom.append(message)
            self._times.append(message.time)
            if len(self._seldom) % _BETWEEN == 0:
                kept = _Kept(len(self._seldom), _state(self.channels), reducers.fork(Channels()))
                self._kept.append(kept)
        readings = filled(readings, spare, within=_SPARE)
        self.clock = RecordClock(readings, start=self.recording.start, end=self.recording.end)
        _close_spans(self.channels)
        self._take_often(reducers, self.recording.end)

    def moment(self, time: float) -> dict[str, Any]:
        """What the channels of the moment held at a time [s] of the executor's clock."""
        wall = self.clock.wall_time(time)
        count = bisect_right(self._times, wall)
        kept = self._kept[bisect_right(self._kept, count, key=lambda each: each.count) - 1]
        channels = Channels()
        for name, value in kept.state.items():
            if CHANNELS[name] is Kind.MAP:
                channels.restart(name, value)
            else:
                channels.set(name, value)
        reducers = kept.reducers.fork(channels)
        for message in self._seldom[kept.count : count]:
            reducers.take(_named(message.topic), replace(message).value)
        self._take_often(reducers, wall)
        return _state(channels)

    def _take_often(self, reducers: Reducers, wall: int) -> None:
        """Take the newest messages of what comes often."""
        for message in sorted(self._newest(wall), key=lambda each: each.time):
            reducers.take(message.topic, message.value)

    def _newest(self, wall: int) -> Iterator[RecordedMessage]:
        """Of each topic as many as count, read with as few openings of chunks as can be."""
        near: dict[str, int] = {}
        for topic, times in self._often.items():
            last = bisect_right(times, wall)
            if last == 0:
                continue
            since = times[max(0, last - TOPICS[topic].newest)]
            if since >= wall - _TOGETHER:
                near[topic] = since
            else:
                yield from self.recording.messages(topic, start=since, end=times[last - 1])
        if near:
            found = self.recording.messages(near, start=min(near.values()), end=wall)
            yield from (each for each in found if each.time >= near[each.topic])


def _is_held(record: Any, held: tuple[int, int]) -> bool:
    """Whether the full state before it had this record already."""
    full = RecordKind(record.kind).full
    return not full and bool(record.life == held[0] and record.sequence <= held[1])


def _named(topic: str) -> str:
    return _TREE_RECORD if topic == _TREE_STATE else topic


def _last(readings: Sequence[tuple[int, float]]) -> int:
    return readings[-1][0] if readings else 0


def _seconds(stamp: Any) -> float:
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)


def _state(channels: Channels) -> dict[str, Any]:
    """The channels of the moment. Values are replaced, never changed: shallow copies do."""
    return {name: channels.value(name) for name in OF_THE_MOMENT}


def _close_spans(channels: Channels) -> None:
    """Drop beginnings of spans whose ends are known, which is half of the log."""
    spans: Sequence[Any] = channels.value("spans")
    ended = {(span[0], span[1]) for span in spans if span[2] is not None}
    whole = [span for span in spans if span[2] is not None or (span[0], span[1]) not in ended]
    channels.clear_log("spans")
    channels.add("spans", whole[-MOST_SPANS:])
