# SPDX-License-Identifier: Apache-2.0
"""`open_history`: a run that is over, whatever kind of file it is in.

`Recording` is such a history. A ``.btlog``, which holds one tree and its changes of status and
nothing else, becomes one here.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from behavior_recording.errors import RecordingError
from behavior_recording.moments import RecordedRecord, StatusChange, TreeMoment
from behavior_recording.recording import RecordedCommand, RecordedMessage, RecordedRun, Recording
from behavior_recording.torn_file import MAGIC
from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.monitoring.loggers.btlog import BtLog, read_btlog
from behavior_tree.monitoring.tree_records import RecordKind

_BTLOG = b"BTCPP4-FileLogger"
_EVERY = 256
"""Records of a log between two moments that are kept: reading on from one takes no time."""
_WRAPPED = 1 << 48
"""Times of a log are counted in this many numbers [us]."""


class History(Protocol):
    """What replay asks of a file. Times are wall time since 1970 in nanoseconds."""

    path: Path
    damage: str
    """What is damaged, where it ends before the file does; empty: nothing."""

    @property
    def start(self) -> int:
        """Time of the first message."""

    @property
    def end(self) -> int:
        """Time of the last message."""

    @property
    def runs(self) -> Sequence[RecordedRun]:
        """The trees that ran, in order."""

    def records(
        self, *, start: int | None = None, end: int | None = None, reverse: bool = False
    ) -> Iterator[RecordedRecord]:
        """Everything that trees did, in order."""

    def moment(self, time: int) -> TreeMoment | None:
        """State of the tree at a time; None: no tree was known yet."""

    def missions(self) -> Iterator[RecordedMessage]:
        """The messages `behavior_msgs/MissionFeedback`, in order."""

    def commands(self) -> Iterator[RecordedCommand]:
        """What was asked of the executor, in order."""

    def close(self) -> None:
        """Let go of the file."""


def open_history(path: Path) -> History:
    """The history in a file; of one that is damaged, what lies before the damage.

    Raises:
        RecordingError: it cannot be read, is neither an MCAP file nor a ``.btlog``, or no tree ran
            in it
    """
    try:
        with path.open("rb") as stream:
            head = stream.read(len(_BTLOG))
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {error.strerror}") from error
    if head.startswith(MAGIC):
        return _recording(path)
    if head == _BTLOG or path.suffix == ".btlog":
        try:
            return BtLogHistory(path, read_btlog(path))
        except BehaviorTreeError as error:
            raise RecordingError(str(error)) from error
        except RecordingError as error:
            raise RecordingError(f"{path}: {error}") from error
    raise RecordingError(f"{path} is neither an MCAP file nor a .btlog")


def _recording(path: Path) -> Recording:
    history = Recording(path)
    try:
        if _before_damage(history).runs:
            return history
        raise RecordingError(
            f"{path}: no tree ran in this recording: record while a mission runs, with "
            f"`behavior record`"
        )
    except RecordingError:
        history.close()
        raise


def _before_damage(history: Recording) -> Recording:
    try:
        _ = history.runs
    except RecordingError:
        history.leave_out_damage()
        if not history.damage:
            raise
    return history


class BtLogHistory:
    """A ``.btlog``: each change is a record of its own; what was only ticked is not known.

    Args:
        path: of the file, for messages
        log: its contents
    """

    def __init__(self, path: Path, log: BtLog) -> None:
        self.path, self.damage = path, ""
        self._records = list(_records(log))
        self._times = [each.time for each in self._records]
        self._moments = [TreeMoment.full(self._records[0])]
        """After each `_EVERY` records, as far as somebody has looked."""

    @property
    def start(self) -> int:
        """When the log was opened."""
        return self._times[0]

    @property
    def end(self) -> int:
        """Time of the last change."""
        return self._times[-1]

    @property
    def runs(self) -> Sequence[RecordedRun]:
        """The one tree."""
        first = self._records[0]
        return [RecordedRun("", first.tree_id, first.life, self.start, None, (), True)]

    def records(
        self, *, start: int | None = None, end: int | None = None, reverse: bool = False
    ) -> Iterator[RecordedRecord]:
        """The tree, then one record for each change."""
        low = 0 if start is None else bisect_left(self._times, start)
        high = len(self._times) if end is None else bisect_right(self._times, end)
        found = self._records[low:high]
        return reversed(found) if reverse else iter(found)

    def moment(self, time: int) -> TreeMoment | None:
        """State of the tree at a time; None: before the log was opened."""
        last = bisect_right(self._times, time) - 1
        if last < 0:
            return None
        place = min(last // _EVERY, len(self._moments) - 1)
        moment = self._moments[place]
        for number in range(place * _EVERY + 1, last + 1):
            moment = moment.after(self._records[number])
            if number == len(self._moments) * _EVERY:
                self._moments.append(moment)
        return moment

    def missions(self) -> Iterator[RecordedMessage]:
        """None: such a file holds the tree alone."""
        return iter(())

    def commands(self) -> Iterator[RecordedCommand]:
        """None, likewise."""
        return iter(())

    def close(self) -> None:
        """Nothing is open."""


def _records(log: BtLog) -> Iterator[RecordedRecord]:
    def record(number: int, time: int, kind: RecordKind, **fields: object) -> RecordedRecord:
        values: dict[str, object] = {
            "time": 1000 * time,
            "stamp": 1000 * time,
            "life": 1,
            "sequence": number + 1,
            "kind": kind,
            "action_id": "",
            "tree_id": "",
            "tick": number,
            "status": NodeStatus.IDLE,
            "duration": 0.0,
            "ticked": (),
            "changes": (),
            "statuses": {},
            "reasons": (),
            "entries": (),
            "xml": "",
            "note": "",
            **fields,
        }
        return RecordedRecord(**values)  # type: ignore[arg-type]

    begin = record(0, log.start, RecordKind.BEGIN, xml=log.xml)
    tree = TreeMoment.full(begin).tree
    root = next(iter(tree.nodes), 0)
    statuses = dict.fromkeys(tree.nodes, NodeStatus.IDLE)
    yield record(0, log.start, RecordKind.BEGIN, xml=log.xml, statuses=dict(statuses))
    time = log.start
    for number, each in enumerate(log.transitions, 1):
        # BehaviorTree.CPP counts by a clock that may be set back, also to before the beginning.
        elapsed = each.timestamp - log.start
        time = max(time, log.start + elapsed - (_WRAPPED if 2 * elapsed >= _WRAPPED else 0))
        before = statuses.get(each.uid, NodeStatus.IDLE)
        statuses[each.uid] = each.status
        change = StatusChange(each.uid, 1000 * time, before, each.status)
        yield record(
            number,
            time,
            RecordKind.TICK,
            status=statuses.get(root, NodeStatus.IDLE),
            ticked=(each.uid,) if each.status is not NodeStatus.IDLE else (),
            changes=(change,),
        )
