# SPDX-License-Identifier: Apache-2.0
"""A thread that works on the memory, since disks take their time."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from behavior_scene.memory.store import SceneMemory, StorageError

Work = Callable[[SceneMemory], Any]
Done = Callable[[Any, Exception | None], None]
_LONGEST = 1000
"""Pieces of work that may wait; then those that nobody waits for are dropped."""


class MemoryWorker:
    """Does work on one memory, in order. `done` is called in the worker's thread."""

    def __init__(self, path: Path | None, capacity: int) -> None:
        """Open the memory in the thread; see `SceneMemory`."""
        self.problem = ""
        """Why the memory cannot be used, or what went wrong last; empty: nothing."""
        self.dropped = 0
        """Number of pieces of work that were dropped because too much was waiting."""
        self._path, self._capacity = path, capacity
        self._closing = False
        self._queue: queue.Queue[tuple[Work, Done] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._run, name="scene memory", daemon=True)
        self._thread.start()

    def submit(self, work: Work, done: Done) -> None:
        """Have `work` done; `done` gets its result, or the error."""
        if self._closing:
            done(None, StorageError("the scene is closing"))
        else:
            self._queue.put((work, done))

    def note(self, work: Work) -> None:
        """Have `work` done, unless too much waits already."""
        if self._queue.qsize() >= _LONGEST:
            self.dropped += 1
        else:
            self.submit(work, lambda result, error: None)

    def begin_close(self) -> None:
        """Close the memory after what waits."""
        if not self._closing:
            self._closing = True
            self._queue.put(None)

    def closed(self) -> bool:
        """Tell whether all is written and the memory closed."""
        return not self._thread.is_alive()

    def _run(self) -> None:
        memory = self._open()
        while (entry := self._queue.get()) is not None:
            work, done = entry
            if memory is None:
                memory = self._open()
            try:
                if memory is None:
                    raise StorageError(self.problem)
                result = work(memory)
            except Exception as error:
                if isinstance(error, StorageError):
                    self.problem = str(error)
                done(None, error)
            else:
                self.problem = ""
                done(result, None)
        if memory is not None:
            memory.close()

    def _open(self) -> SceneMemory | None:
        try:
            return SceneMemory(self._path, capacity=self._capacity)
        except StorageError as error:
            self.problem = str(error)
            return None
