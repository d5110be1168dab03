# SPDX-License-Identifier: Apache-2.0
"""`TickRecorder`: gives the record of one tree to its readers. They are told

* every 10 ms while the tree is at work, by a thread of the recorder's own
* when a run of the tree ends, if one of them wants its file to be complete then
* when somebody asks (`drain`), for example a monitor, also in the middle of a tick
* before an edit of the tree, and when another thread takes the ticks over
"""

from __future__ import annotations

import threading
import time
import weakref
from queue import SimpleQueue

from behavior_tree.kernel.record import ChangeReader, RecordBatch, TickRecord

_INTERVAL = 0.01
"""Time between two drains while the tree is at work [s]."""
_MOST = 400_000
"""Items after which the ticking thread itself drains: 100 000 entries, 4 MB."""


class TickRecorder:
    """Keeps its thread until closed."""

    def __init__(self) -> None:
        self.record = TickRecord()
        """What nodes write into."""
        self._readers: tuple[ChangeReader, ...] = ()
        self._completes_runs = False
        self._draining = threading.RLock()
        self._drained_at = time.monotonic_ns()
        self._ident = threading.get_ident()
        self._native_id = threading.get_native_id()
        self._at_work = self._awake = False
        # Not an Event: the end of the recorder may be noticed by the garbage collector, in a thread
        # that is just using it.
        self._wake: SimpleQueue[bool] = SimpleQueue()
        self._thread: threading.Thread | None = None

    @property
    def readers(self) -> tuple[ChangeReader, ...]:
        """Who is told."""
        return self._readers

    def add(self, reader: ChangeReader) -> None:
        """Tell a reader of what comes from now on."""
        with self._draining:
            self._set_readers((*self._readers, reader))
        if self._thread is None:
            wake = self._wake
            arguments = (weakref.ref(self, lambda _: wake.put(False)), wake)
            self._thread = threading.Thread(
                target=_work, args=arguments, name="tree-recorder", daemon=True
            )
            self._thread.start()

    def remove(self, reader: ChangeReader) -> None:
        """Tell a reader of what there is, and of no more."""
        with self._draining:
            self._set_readers(tuple(each for each in self._readers if each is not reader))

    def _set_readers(self, readers: tuple[ChangeReader, ...]) -> None:
        self.drain()
        self._readers = readers
        self._completes_runs = any(reader.completes_runs for reader in readers)

    def write_into(self, record: TickRecord) -> None:
        """Let nodes write into another record from now on."""
        with self._draining:
            self.drain()
            self.record = record
            self._time_record()

    def begin(self) -> None:
        """The calling thread goes to work on the tree."""
        self._at_work = True
        if not self._awake:
            self._awake = True
            self._wake.put(True)
        if threading.get_ident() != self._ident:
            self.drain()
            self._ident, self._native_id = threading.get_ident(), threading.get_native_id()

    def end(self, run_ended: bool) -> None:
        """The work is done; ``run_ended`` if the tree is not RUNNING now."""
        self._at_work = False
        if (run_ended and self._completes_runs) or len(self.record) > _MOST:
            self.drain()

    def drain(self) -> None:
        """Tell the readers of everything up to now."""
        with self._draining:
            items, reasons = self.record.drain()
            begun, self._drained_at = self._drained_at, time.monotonic_ns()
            if items or reasons:
                batch = RecordBatch(items, reasons, self._native_id, begun)
                for reader in self._readers:
                    reader.read(batch)
            self._time_record()

    def _time_record(self) -> None:
        timed = False  # no `any` of a generator: this is done after each tick
        for reader in self._readers:
            timed = timed or reader.reads_times
        self.record.timed = timed

    def close(self) -> None:
        """End the thread."""
        self._wake.put(False)
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def work(self) -> None:
        """One turn of the thread."""
        self._awake = False
        self.drain()
        for reader in self._readers:
            reader.on_interval()
        if self._at_work:
            self._awake = True
            self._wake.put(True)


def _work(recorder: weakref.ref[TickRecorder], wake: SimpleQueue[bool]) -> None:
    """The thread; it keeps neither the recorder nor the tree alive."""
    while wake.get():
        time.sleep(_INTERVAL)
        alive = recorder()
        if alive is None:
            return
        alive.work()
        del alive
