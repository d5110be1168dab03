# SPDX-License-Identifier: Apache-2.0
"""Starts a worker, gives it episodes, watches its memory, and ends it with all that it started."""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Protocol

from behavior_bringup.errors import BringupError
from behavior_bringup.evaluation.memory import kill_tree, memory_mb
from behavior_bringup.evaluation.record import OVER_MEMORY, Episode, EpisodeRecord
from behavior_bringup.evaluation.schedule import lost_record
from behavior_bringup.evaluation.task import Task
from behavior_bringup.stacks.stack import how_it_ended

_LOOK = 1.0
"""[s] between two looks at the memory, each of which costs some milliseconds per process."""
_START = 300.0
"""[s] for a worker's program to begin; there is a stack's own limit for all that comes after."""
EPISODE_LIMIT = 3600.0
"""[s] of wall time after which an episode hangs: simulated time has limits of its own."""
_FAREWELL = 60.0
"""[s] to bring a stack down."""
_LAST_LINES = 12


class WorkerDiedError(Exception):
    """A worker has ended in the middle of something; the message says how."""


class CannotWorkError(BringupError):
    """A worker cannot do its task, and another one in its place could not either."""


class Worker(Protocol):
    """Runs episodes somewhere, one at a time."""

    def open(self) -> Mapping[str, str]:
        """Wait until it can run episodes; returns the versions that it runs them with.

        Raises:
            CannotWorkError: it never will.
            WorkerDiedError: it ended.
        """

    @property
    def alive(self) -> bool:
        """Whether it can be given another episode."""

    def run(self, episode: Episode) -> EpisodeRecord:
        """Run an episode.

        Raises:
            WorkerDiedError: it did not end.
        """

    def close(self) -> None:
        """End in good order."""

    def abort(self) -> None:
        """End at once, with its episode; another thread calls it than that of `run`."""


class WorkerProcess:
    """A worker on this machine."""

    def __init__(self, task: Task) -> None:
        """Start it."""
        self._task = task
        self._aborted = False
        self._end_by = math.inf
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-m", "behavior_bringup.evaluation.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            # Ctrl-C at the terminal is for us: a worker is ended in good order.
            start_new_session=True,
        )
        self._buffer = b""
        self._peak = 0.0
        self._next_look = 0.0

    def open(self) -> Mapping[str, str]:
        """See `Worker`."""
        self._send(self._task.document())
        versions: Mapping[str, str] = self._answer(_START)["versions"]
        opened = self._answer(_START)
        if "cannot" in opened:
            raise CannotWorkError(opened["cannot"])
        return versions

    def run(self, episode: Episode) -> EpisodeRecord:
        """See `Worker`. A worker that takes too much memory is ended: the record says so."""
        begin = time.monotonic()
        self._peak = self._next_look = 0.0
        self._send(asdict(episode))
        try:
            answer = self._answer(EPISODE_LIMIT, watch=True)
        except _TooMuchMemoryError as error:
            record = lost_record(episode, str(error), OVER_MEMORY)
            wall = round(time.monotonic() - begin, 3)
            return replace(record, wall_time_s=wall, peak_memory_mb=round(self._peak, 1))
        return replace(EpisodeRecord(**answer["record"]), peak_memory_mb=round(self._peak, 1))

    def close(self) -> None:
        """See `Worker`."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        self._exit_code()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()

    def abort(self) -> None:
        """See `Worker`."""
        self._aborted, self._end_by = True, time.monotonic() + _FAREWELL
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)

    @property
    def alive(self) -> bool:
        """Whether it can be given more."""
        return self._process.poll() is None

    def _send(self, document: Any) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(document).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise WorkerDiedError(self._how_it_died()) from error

    def _answer(self, limit: float, *, watch: bool = False) -> dict[str, Any]:
        """The next answer.

        Raises:
            WorkerDiedError: there will be none.
            _TooMuchMemoryError: it was ended.
        """
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        end = time.monotonic() + limit
        while b"\n" not in self._buffer:
            if watch:
                self._watch_memory()
            if time.monotonic() > end:
                self._kill()
                raise WorkerDiedError(f"nothing was heard of it for {limit:g} s")
            if time.monotonic() > self._end_by:  # it hears no signal
                self._kill()
                raise WorkerDiedError(self._how_it_died())
            if select.select([pipe], [], [], _LOOK)[0]:
                chunk = os.read(pipe, 65536)
                if not chunk:
                    raise WorkerDiedError(self._how_it_died())
                self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\n", 1)
        return dict(json.loads(line))

    def _watch_memory(self) -> None:
        if time.monotonic() < self._next_look:
            return
        self._peak = max(self._peak, memory_mb(self._process.pid))
        self._next_look = time.monotonic() + _LOOK
        bound = self._task.memory_mb
        if bound is not None and self._peak > bound:
            self._kill()
            raise _TooMuchMemoryError(
                f"its processes took {self._peak:.0f} MB of memory, more than the {bound:g} MB of"
                " --memory"
            )

    def _how_it_died(self) -> str:
        if self._aborted:
            return "it was ended"
        code = self._exit_code()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").splitlines()[-_LAST_LINES:]
        return "\n".join([f"it {how_it_ended(code)}", *(f"  {line}" for line in lines)])

    def _exit_code(self) -> int:
        """Of the process, which is on its way to its end, and is killed if that takes too long."""
        try:
            return self._process.wait(timeout=_FAREWELL)
        except subprocess.TimeoutExpired:
            return self._kill()

    def _kill(self) -> int:
        """End it with all that it started; returns its exit code.

        It is dead then: one that still dies would be given the next episode, which would be
        counted for the memory of this one.
        """
        kill_tree(self._process.pid)
        return self._process.wait(timeout=_FAREWELL)


class _TooMuchMemoryError(Exception):
    """A worker has been ended because of it."""
