# SPDX-License-Identifier: Apache-2.0
"""`Recording`: reads what was recorded, whole files and torn ones, at any moment of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from mcap.reader import SeekingReader
from mcap.records import Channel, Message, Schema
from mcap.summary import Summary
from mcap_ros2.decoder import DecoderFactory

from behavior_recording import topics as names
from behavior_recording.chunks import Chunks
from behavior_recording.errors import RecordingError
from behavior_recording.moments import (
    RecordedEntry,
    RecordedRecord,
    StatusChange,
    TreeMoment,
)
from behavior_recording.torn_file import BROKEN, TornReader, is_whole
from behavior_recording.tree_document import TreeDocument
from behavior_tree.basic_types import NodeStatus
from behavior_tree.monitoring.closing import Closing
from behavior_tree.monitoring.tree_records import RecordKind

_Read = TypeVar("_Read")
_STATUSES = {status.value: status for status in NodeStatus}
_TREE = (names.TREE_STATE, names.TREE_RECORD)


@dataclass(frozen=True)
class Topic:
    """A topic of a recording."""

    name: str
    type: str
    """Like ``std_msgs/msg/String``."""
    messages: int


@dataclass(frozen=True)
class RecordedMessage:
    """A message of any topic."""

    topic: str
    type: str
    time: int
    """Wall time since 1970 at which it was received [ns]."""
    publish_time: int
    """Wall time since 1970 at which it was sent [ns], where that is known."""
    data: bytes = field(repr=False)
    """In CDR."""
    definition: str = field(repr=False)
    """What its type consists of."""
    _decode: Callable[[bytes], Any] = field(repr=False)

    @cached_property
    def value(self) -> Any:
        """Its fields as attributes; no ROS is needed."""
        return self._decode(self.data)


@dataclass(frozen=True)
class RecordedCommand:
    """What somebody asked the executor for."""

    time: int
    channel: str
    command: str
    accepted: bool
    answer: str
    life: int
    sequence: int


@dataclass(frozen=True)
class Gap:
    """Something is missing in a recording."""

    time: int
    """Wall time since 1970 of what came after it [ns]."""
    what: str
    """In words."""


@dataclass(frozen=True)
class RecordedRun:
    """One tree from its beginning to its end."""

    action_id: str
    tree_id: str
    life: int
    begin: int
    """Wall time since 1970 [ns]; of one that had begun before the recording, of what is first."""
    end: int | None
    """Of one whose executor died before its end, of what is last; None: it went on when the
    recording ended."""
    edits: tuple[RecordedRecord, ...]
    """The records of its edits, in order."""
    whole: bool
    """The recording holds its beginning."""

    def holds(self, record: RecordedRecord) -> bool:
        """Whether a record is of this tree, and of this life of its executor."""
        own = self.life, self.action_id, self.tree_id
        return own == (record.life, record.action_id, record.tree_id)


class Recording(Closing):
    """A recording of a run. Times are wall time since 1970 in nanoseconds.

    Use it in one thread, and read one iterator to its end, or drop it, before the next one.

    Args:
        path: of an MCAP file; one whose writer was killed is read as far as it is whole

    Raises:
        RecordingError: it cannot be read, or holds nothing
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.damage = ""
        """What is damaged where the recording ends now; empty: it has its whole length."""
        try:
            self._stream = self.path.open("rb")
        except OSError as error:
            raise RecordingError(f"{self.path} cannot be read: {error.strerror}") from error
        try:
            self.complete = is_whole(self._stream)
            """False: its writer was killed, or still writes."""
            self._factory = DecoderFactory()
            kind = SeekingReader if self.complete else TornReader
            self._reader = kind(self._stream, decoder_factories=[self._factory])
            summary = self._reader.get_summary()
        except BROKEN as error:
            self.close()
            raise RecordingError(f"{self.path} is damaged: {error}") from error
        except BaseException:
            self.close()
            raise
        if summary is None or not summary.chunk_indexes:
            self.close()
            raise RecordingError(f"{self.path} holds no messages")
        self._summary: Summary = summary
        self._chunks = Chunks(self._stream, summary)

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()

    def leave_out_damage(self) -> None:
        """End before the first damage: see `damage`. It takes as long as reading the whole file.

        Raises:
            RecordingError: nothing lies before it
        """
        chunks = self._summary.chunk_indexes
        chunks.sort(key=lambda each: (each.message_start_time, each.chunk_start_offset))
        for number, index in enumerate(chunks):
            try:
                self._chunks.check(index)
            except BROKEN as error:
                self.damage = f"{self.path} is damaged: {error}"
                del chunks[number:]
                if not chunks:
                    raise RecordingError(self.damage) from error
                return

    # -- any topic -------------------------------------------------------------------------------

    @property
    def start(self) -> int:
        """Time of the first message."""
        return min(chunk.message_start_time for chunk in self._summary.chunk_indexes)

    @property
    def end(self) -> int:
        """Time of the last message."""
        return max(chunk.message_end_time for chunk in self._summary.chunk_indexes)

    @cached_property
    def about(self) -> dict[str, str]:
        """What the recorder wrote of the recording itself.

        Raises:
            RecordingError: the file is damaged there
        """
        try:
            return {k: v for each in self._reader.iter_metadata() for k, v in each.metadata.items()}
        except BROKEN as error:
            raise RecordingError(f"{self.path} is damaged: {error}") from error

    @cached_property
    def topics(self) -> dict[str, Topic]:
        """What is in it, by name."""
        statistics = self._summary.statistics
        counts = statistics.channel_message_counts if statistics else {}
        found: dict[str, Topic] = {}
        for channel in self._summary.channels.values():
            schema = self._summary.schemas.get(channel.schema_id)
            before = found.get(channel.topic)
            found[channel.topic] = Topic(
                channel.topic,
                schema.name if schema else "",
                counts.get(channel.id, 0) + (before.messages if before else 0),
            )
        return found

    def messages(
        self,
        topics: Iterable[str] | str | None = None,
        *,
        start: int | None = None,
        end: int | None = None,
        reverse: bool = False,
    ) -> Iterator[RecordedMessage]:
        """Messages in the order of their times.

        Args:
            topics: names; None: all
            start: of the first one [ns]
            end: of the last one, included [ns]
            reverse: the last one first

        Raises:
            RecordingError: the file is damaged there; what came before has been handed on
        """
        chosen = {topics} if isinstance(topics, str) else None if topics is None else set(topics)
        if start is not None and end is not None and start > end:
            return
        found = self._chunks.messages(chosen, start=start, end=end, reverse=reverse)
        try:
            for schema, channel, message in found:
                yield self._message(schema, channel, message)
        except BROKEN as error:
            raise RecordingError(f"{self.path} is damaged: {error}") from error

    def last(self, topic: str, time: int) -> RecordedMessage | None:
        """The newest message of a topic at a time; None: there was none yet."""
        return next(self.messages(topic, end=time, reverse=True), None)

    @cached_property
    def _definitions(self) -> dict[int, str]:
        """By number of the schema; of one that is no text a decoder has told already."""
        return {
            number: schema.data.decode(errors="replace")
            for number, schema in self._summary.schemas.items()
        }

    def _message(
        self, schema: Schema | None, channel: Channel, message: Message
    ) -> RecordedMessage:
        try:
            decoder = self._factory.decoder_for(channel.message_encoding, schema)
        except Exception as error:  # the library's parser raises what it likes
            raise RecordingError(
                f"{self.path} is damaged: what {channel.topic} consists of cannot be read: {error}"
            ) from error
        return RecordedMessage(
            channel.topic,
            schema.name if schema else "",
            message.log_time,
            message.publish_time,
            message.data,
            self._definitions[schema.id] if schema else "",
            partial(_decoded, self.path, channel.topic, decoder),
        )

    # -- trees -----------------------------------------------------------------------------------

    def records(
        self, *, start: int | None = None, end: int | None = None, reverse: bool = False
    ) -> Iterator[RecordedRecord]:
        """Everything that trees did, in order; states are among it.

        Raises:
            RecordingError: the file is damaged there; what came before has been handed on
        """
        for message in self.messages(_TREE, start=start, end=end, reverse=reverse):
            yield self._record(message)

    def _record(self, message: RecordedMessage) -> RecordedRecord:
        return self._taken_apart(_record, message, "a record of the tree")

    def _taken_apart(
        self, read: Callable[[RecordedMessage], _Read], message: RecordedMessage, what: str
    ) -> _Read:
        try:
            return read(message)
        except RecordingError:
            raise
        except Exception as error:  # as of `_message`: some is found only when it is taken apart
            raise RecordingError(
                f"{self.path}: {what} cannot be read: it is damaged, or another version has"
                f" recorded it: {error}"
            ) from error

    def moments(self, *, start: int | None = None, end: int | None = None) -> Iterator[TreeMoment]:
        """The state of the tree after each record between two times."""
        moment = None if start is None else self.moment(start - 1)
        for record in self.records(start=start, end=end):
            following = _following(moment, record)
            if following is not None and following is not moment:
                moment = following
                yield moment

    def moment(self, time: int) -> TreeMoment | None:
        """State of the tree at a time; None: no tree was known yet.

        It takes as long as reading what happened since the last full state, some seconds of the
        run, wherever that is.
        """
        state = self.last(names.TREE_STATE, time)
        if state is None:
            return None
        # A full state need not be the first message of its time.
        moment: TreeMoment | None = TreeMoment.full(self._record(state))
        for record in self.records(start=state.time, end=time):
            moment = _following(moment, record)
        return moment

    @cached_property
    def runs(self) -> Sequence[RecordedRun]:
        """The trees that ran, in order."""
        return list(_runs(self.records()))

    def tree(self, time: int) -> TreeDocument | None:
        """The tree at a time, with its edits so far; None: no tree was known yet."""
        state = self.last(names.TREE_STATE, time)
        return None if state is None else TreeDocument.read(self._record(state).xml)

    def gaps(self) -> list[Gap]:
        """Records and commands that never reached the recorder; empty: nothing is missing."""
        records = (each for each in self.records() if each.kind is not RecordKind.STATE)
        found = _gaps(((r.time, r.life, r.sequence) for r in records), "records of the tree")
        found += _gaps(((c.time, c.life, c.sequence) for c in self.commands()), "commands")
        return sorted(found, key=lambda gap: gap.time)

    # -- missions and operators ------------------------------------------------------------------

    def missions(self) -> Iterator[RecordedMessage]:
        """The messages `behavior_msgs/MissionFeedback`, in order."""
        return self.messages(names.MISSION_FEEDBACK)

    def commands(self) -> Iterator[RecordedCommand]:
        """What was asked of the executor, in order: missions, commands of operators, reloads."""
        for message in self.messages(names.COMMANDS):
            yield self._taken_apart(_command, message, "a command")


def _command(message: RecordedMessage) -> RecordedCommand:
    value = message.value
    return RecordedCommand(
        message.time,
        value.channel,
        value.command,
        value.accepted,
        value.answer,
        value.life,
        value.sequence,
    )


def _following(moment: TreeMoment | None, record: RecordedRecord) -> TreeMoment | None:
    """The state after a record; None while no full one has come, the same for one it holds."""
    if record.kind.full:
        return moment.after(record) if moment is not None else TreeMoment.full(record)
    if moment is None:
        return None
    held = moment.record.life == record.life and record.sequence <= moment.record.sequence
    return moment if held else moment.after(record)


def _record(message: RecordedMessage) -> RecordedRecord:
    value = message.value
    kind = RecordKind(value.kind)
    statuses = [_STATUSES[number] for number in value.statuses]
    changes: tuple[StatusChange, ...] = ()
    if not kind.full:
        previous = [_STATUSES[number] for number in value.previous]
        columns = zip(value.uids, value.times, previous, statuses, strict=True)
        changes = tuple(StatusChange(u, value.begun + 1000 * t, b, a) for u, t, b, a in columns)
    stamp = value.header.stamp
    return RecordedRecord(
        time=message.time,
        stamp=stamp.sec * 1_000_000_000 + stamp.nanosec,
        life=value.life,
        sequence=value.sequence,
        kind=kind,
        action_id=value.action_id,
        tree_id=value.tree_id,
        tick=value.tick,
        status=_STATUSES[value.status],
        duration=value.duration,
        ticked=tuple(value.ticked),
        changes=changes,
        statuses=dict(zip(value.uids, statuses, strict=True)) if kind.full else {},
        reasons=tuple(zip(value.failed, value.reasons, strict=True)),
        entries=tuple(
            RecordedEntry(e.board, e.key, e.type, e.value, e.removed) for e in value.blackboard
        ),
        xml=value.xml,
        note=value.note,
    )


def _runs(records: Iterable[RecordedRecord]) -> Iterator[RecordedRun]:
    open_run: RecordedRun | None = None
    last = 0
    for record in records:
        if open_run is None or not open_run.holds(record) or record.kind is RecordKind.BEGIN:
            if open_run is not None:
                yield replace(open_run, end=last)
            open_run = RecordedRun(
                record.action_id,
                record.tree_id,
                record.life,
                record.time,
                None,
                (),
                record.kind is RecordKind.BEGIN,
            )
        if record.kind is RecordKind.EDIT:
            open_run = replace(open_run, edits=(*open_run.edits, record))
        last = record.time
        if record.kind is RecordKind.END:
            yield replace(open_run, end=record.time)
            open_run = None
    if open_run is not None:
        yield open_run


def _gaps(numbers: Iterable[tuple[int, int, int]], what: str) -> list[Gap]:
    found = []
    last: tuple[int, int] | None = None
    for time, life, sequence in numbers:
        if last is not None and life == last[0] and sequence > last[1] + 1:
            found.append(Gap(time, f"{sequence - last[1] - 1} {what} are missing"))
        last = life, sequence
    return found


def _decoded(path: Path, topic: str, decoder: Callable[[bytes], Any] | None, data: bytes) -> Any:
    if decoder is None:
        raise RecordingError(f"{path}: {topic} is in an encoding that is not read here")
    try:
        return decoder(data)
    except Exception as error:  # as of `Recording._message`
        raise RecordingError(
            f"{path} is damaged: a message of {topic} cannot be read: {error}"
        ) from error
