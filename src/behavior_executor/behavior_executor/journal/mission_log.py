# SPDX-License-Identifier: Apache-2.0
"""What the executor writes down of its missions, and what becomes of it when that fails. No ROS.

**Many at once.** `MissionLog.accepted` and `changed` do not wait for the disk: what they are given
while one write is under way goes to the disk together in the next. So nothing is promised when they
return: whatever tells a client of a mission goes through `when_kept`, and a mission is started when
`is_kept` says so. `collect_writes` carries the news from the disk and has to be called often.

**Trouble.** What cannot be written is tried again every second, with what has come to it since.
Until all of it is on disk no mission is accepted, and clients hear of nothing that is not. Where
missions are to run without that, `required` is false: clients hear at once, also that it is not
written.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

from behavior_executor.journal.journal import JournalError, MissionJournal, room_for
from behavior_executor.journal.mission_row import MissionRow
from behavior_executor.missions.mission import Code, Mission, MissionError

RETRY = 1.0
"""[s] wall time between attempts to write."""
_BURST = 64 * 2**10
"""[bytes] of room that are made at once when a burst of missions has used up what there was."""


def open_log(
    path: Path | None,
    *,
    capacity: int,
    required: bool,
    warn: Callable[[str], None],
    wake: Callable[[], None] = lambda: None,
) -> MissionLog:
    """Open a journal; one that cannot be used is replaced by one in memory, and that is told.

    Args:
        path: the file; None: in memory.
        capacity: missions that are kept after they have ended.
        required: refuse missions that cannot be written down.
        warn: is given each problem, for the log.
        wake: is called in another thread when `collect_writes` has something to do.
    """
    try:
        journal, problem = MissionJournal(path, capacity=capacity), ""
    except JournalError as error:
        journal, problem = MissionJournal(capacity=capacity), str(error)
    return MissionLog(
        journal,
        required=required,
        warn=warn,
        problem=problem,
        wake=wake,
        in_background=journal.path is not None,
    )


class MissionLog:
    """Takes down what happens to missions; used by one thread, closed at the end."""

    def __init__(
        self,
        journal: MissionJournal,
        *,
        required: bool = True,
        warn: Callable[[str], None] = lambda text: None,
        problem: str = "",
        wake: Callable[[], None] = lambda: None,
        in_background: bool = False,
        wall: Callable[[], float] = time.monotonic,
    ) -> None:
        """Write to a journal.

        Args:
            journal: takes the records; is closed with the log.
            required: refuse missions that cannot be written down, instead of running them anyway.
            warn: is given each new problem, for the log.
            problem: one that lasts, such as a file that could not be opened.
            wake: is called in another thread when `collect_writes` has something to do.
            in_background: write in a thread of its own, rather than within the calls.
            wall: monotonic wall time [s].
        """
        self.journal = journal
        self._lasting = problem
        self._trouble = ""
        """Why something is not on disk; empty: everything is."""
        self._required = required
        self._warn = warn
        self._wake = wake
        self._wall = wall
        self._retry_at = 0.0
        self._numbers = itertools.count(journal.last_number + 1)
        self._missions: dict[int, Mission] = {}
        """Those that have not ended on disk, by number."""
        self._number: dict[int, int] = {}
        """Of these, by ``id``: two may have the same identifier, one of which has ended."""
        self._rows: dict[int, MissionRow] = {}
        """The newest ones that are not on disk."""
        self._given: list[MissionRow] = []
        """Those that are being written."""
        self._callbacks: dict[int, list[Callable[[], None]]] = {}
        self._demands: dict[int, int] = {}
        """[bytes] of room that accepted missions need which are not on disk."""
        self._demand = 0
        """Their sum."""
        self._refused: list[tuple[Mission, str]] = []
        self._pool = ThreadPoolExecutor(1, "journal") if in_background else None
        self._writing: Future[None] | None = None
        for text in (problem, journal.damage):
            if text:
                warn(text)
        self._write()  # finds out whether the disk takes anything

    @property
    def problem(self) -> str:
        """What is wrong, for diagnostics; empty: nothing."""
        unwritten = f"not written down yet: {len(self._rows)} missions" if self._trouble else ""
        texts = (self._lasting, self._trouble, unwritten, self.journal.damage)
        return "; ".join(text for text in texts if text)

    def unfinished(self) -> list[Mission]:
        """Missions that the last executor left unfinished, in the order in which they shall run."""
        found = self.journal.unfinished()
        for number, mission in found:
            self._know(number, mission)
        return [mission for _, mission in found]

    def accepted(self, mission: Mission) -> None:
        """Take a mission down, before anybody is told.

        Raises:
            MissionError: BUSY; it cannot be written, and that is required.
        """
        row = MissionRow.of(mission, next(self._numbers))
        demand = room_for(row)
        trouble = self._lasting or self._trouble
        if not trouble and not self._has_room(demand):
            trouble = f"no space left for the mission journal {self.journal.path}: free some"
        if trouble and self._required:
            raise MissionError(Code.BUSY, f"missions are not accepted: {trouble}")
        if trouble:
            mission.text = _warning(trouble)
        self._know(row.number, mission)
        self._demands[row.number] = demand
        self._demand += demand
        self._put(row)
        if row.number not in self._missions:  # written here and now, and it failed
            _, why = self._refused.pop()
            raise MissionError(Code.BUSY, why)

    def changed(self, mission: Mission) -> None:
        """Take down what has become of a mission; one that was never accepted is passed over."""
        number = self._number.get(id(mission), 0)
        row = self._rows.get(number) or self.journal.row(number)
        if row is None:
            return
        new = row.updated(mission)
        if new.essence != row.essence:
            self._put(new)

    def is_kept(self, mission: Mission) -> bool:
        """Whether everything is on disk that this log was told of a mission."""
        return not self._is_held(self._number.get(id(mission), 0))

    def is_ending(self, action_id: str) -> bool:
        """Whether a mission of this identifier has ended of which clients must not hear yet."""
        return any(
            mission.is_final and mission.action_id == action_id and self._is_held(number)
            for number, mission in self._missions.items()
        )

    def when_kept(self, mission: Mission, callback: Callable[[], None]) -> None:
        """Call back as soon as `is_kept`: at once, or within a later `collect_writes`, in order."""
        number = self._number.get(id(mission), 0)
        if self._is_held(number):
            self._callbacks.setdefault(number, []).append(callback)
        else:
            callback()

    def collect_writes(self) -> list[tuple[Mission, str]]:
        """Do what the disk has made possible; to be called often, it does not wait.

        Returns:
            missions that turned out not to be acceptable, and why: they have to end with BUSY.
        """
        if self._writing is not None and self._writing.done():
            self._finish(self._writing)
        if self._trouble and self._wall() >= self._retry_at:
            self._write()
        refused, self._refused = self._refused, []
        return refused

    def flush(self, timeout: float = 2.0) -> None:
        """Wait until all is on disk, or cannot be written, at most `timeout` seconds."""
        end = time.monotonic() + timeout
        self._retry_at = 0.0
        if self._trouble:
            self._write()
        while self._writing is not None:
            wait([self._writing], max(0.0, end - time.monotonic()))
            if not self._writing.done():
                return
            self._finish(self._writing)

    def close(self) -> None:
        """Write what is left if that is possible, and close the journal."""
        self.flush()
        if self._pool is not None:
            self._pool.shutdown()
        self.journal.close()

    def _is_held(self, number: int) -> bool:
        """Whether clients must not hear of a mission yet."""
        return number in self._rows and (self._required or not self._trouble)

    def _has_room(self, demand: int) -> bool:
        """Whether the journal has room for one more mission."""
        if self.journal.is_broken:
            return True  # who writes will see
        if self._demand + demand > self.journal.room:
            self.journal.make_room(self._demand + demand + _BURST)
        return self._demand + demand <= self.journal.room

    def _know(self, number: int, mission: Mission) -> None:
        self._missions[number], self._number[id(mission)] = mission, number

    def _forget(self, number: int) -> None:
        del self._number[id(self._missions.pop(number))]

    def _put(self, row: MissionRow) -> None:
        self._rows[row.number] = row
        self._write()

    def _write(self) -> None:
        """Begin to write everything that is not on disk, unless a write is under way."""
        if self._writing is not None:
            return
        self._given = list(self._rows.values())
        if self._pool is not None:
            self._writing = self._pool.submit(self.journal.write, self._given)
            self._writing.add_done_callback(lambda done: self._wake())
            return
        self._writing = Future()
        try:
            self.journal.write(self._given)
        except JournalError as error:
            self._writing.set_exception(error)
        else:
            self._writing.set_result(None)
        self._finish(self._writing)

    def _finish(self, writing: Future[None]) -> None:
        """Deal with the outcome of a write that is done, and begin the next one."""
        error = writing.exception()
        left = error.left if isinstance(error, JournalError) else self._given if error else ()
        missing = {row.number for row in left}
        self._writing = None
        for row in self._given:
            if row.number not in missing:
                self._kept(row)
        if error is not None:
            self._failed(str(error), left)
            return
        if self._trouble:
            self._trouble = ""
            self._warn("the mission journal is written again")
        if self._rows:
            self._write()

    def _kept(self, row: MissionRow) -> None:
        """A row is on disk: tell of it, unless there is a newer one already."""
        self._demand -= self._demands.pop(row.number, 0)
        if self._rows.get(row.number) is not row:
            return
        del self._rows[row.number]
        if row.is_final:
            self._forget(row.number)
        self._release(row.number)

    def _failed(self, trouble: str, left: Sequence[MissionRow]) -> None:
        """Rows are not on disk; they are tried again later, or refused."""
        if trouble != self._trouble:
            self._warn(trouble)
        self._trouble = trouble
        self._retry_at = self._wall() + RETRY
        for number in [row.number for row in left if row.number in self._demands]:
            if self._required:
                self._refuse(number)
            else:
                self._missions[number].text = _warning(trouble)
        if not self._required:
            for number in list(self._callbacks):
                self._release(number)

    def _refuse(self, number: int) -> None:
        """Drop a mission of which nobody has heard yet."""
        mission = self._missions[number]
        self._refused.append((mission, f"missions are not accepted: {self._trouble}"))
        self._forget(number)
        del self._rows[number]
        self._callbacks.pop(number, None)
        self._demand -= self._demands.pop(number)

    def _release(self, number: int) -> None:
        for callback in self._callbacks.pop(number, ()):
            callback()


def _warning(trouble: str) -> str:
    """Text of a mission that runs without being written down."""
    return f"not written down, it would be lost if the executor stopped: {trouble}"
