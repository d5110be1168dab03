# SPDX-License-Identifier: Apache-2.0
"""Several workers at once: a thread for each, that gives it episodes until there are none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

from behavior_bringup.errors import BringupError
from behavior_bringup.evaluation.schedule import Schedule
from behavior_bringup.evaluation.versions import Versions, VersionsDifferError, check_same
from behavior_bringup.evaluation.worker_process import CannotWorkError, Worker, WorkerDiedError

_DEATHS = 3
"""Workers of one place that may die in a row before they begin an episode."""
_LOOK = 0.5
"""[s] between two looks at what the threads have met."""


class Crew:
    """Runs the episodes of a schedule."""

    def __init__(
        self,
        schedule: Schedule,
        make: Callable[[], Worker],
        *,
        size: int,
        versions: Versions,
        episodes_each: int = 0,
        notice: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Nothing runs before `run`.

        Args:
            schedule: of the episodes.
            make: starts a worker; may take its time.
            size: workers at once.
            versions: that every worker must have.
            episodes_each: after so many a fresh worker goes on; 0: never.
            notice: is given a sentence when a worker dies; called by any thread.
        """
        self._schedule, self._make, self._size = schedule, make, size
        self._versions, self._episodes_each, self._notice = versions, episodes_each, notice
        self._workers: set[Worker] = set()
        self._lock = threading.Lock()
        self._errors: SimpleQueue[BaseException] = SimpleQueue()
        self._given_up: list[str] = []

    def run(self) -> None:
        """Run all episodes; at the end, and on Ctrl-C, no worker is left.

        Raises:
            BringupError: a record cannot be kept, or no worker can go on; what was done is kept.
            KeyboardInterrupt: it was interrupted; what was done is kept.
        """
        threads = [
            threading.Thread(target=self._guarded_place, name=f"worker {number}", daemon=True)
            for number in range(self._size)
        ]
        try:
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                self._raise_error(_LOOK)
        finally:
            self._end(threads)
        self._raise_error(0.0)
        if self._given_up and not self._schedule.exhausted:
            raise BringupError("; ".join(dict.fromkeys(self._given_up)))

    def _raise_error(self, timeout: float) -> None:
        try:
            raise self._errors.get(timeout=timeout) if timeout else self._errors.get_nowait()
        except Empty:
            pass

    def _end(self, threads: list[threading.Thread]) -> None:
        self._schedule.stop()
        with self._lock:
            workers = list(self._workers)
        if any(thread.is_alive() for thread in threads):
            for worker in workers:
                worker.abort()
        for thread in threads:
            if thread.ident is not None:
                thread.join()

    def _guarded_place(self) -> None:
        """One place for a worker; what it meets is raised by `run`."""
        try:
            self._place()
        except CannotWorkError as error:
            self._give_up(str(error))
        except BaseException as error:
            self._errors.put(error)

    def _place(self) -> None:
        deaths, why = 0, ""
        while self._schedule.wait_for_work():
            worker = self._make()
            try:
                self._open(worker)
                deaths = 0
                self._work(worker)
            except WorkerDiedError as error:
                deaths, why = deaths + 1, str(error)
                self._say_death(why)
            finally:
                self._dismiss(worker)
            if deaths == _DEATHS:
                raise CannotWorkError(f"{deaths} workers in a row died as they began: {why}")

    def _open(self, worker: Worker) -> None:
        with self._lock:
            self._workers.add(worker)
        if self._schedule.stopped:  # before it was among those that are ended then
            worker.abort()
        versions = worker.open()
        try:
            check_same(self._versions, versions, "A worker")
        except VersionsDifferError as error:
            raise CannotWorkError(str(error)) from error

    def _work(self, worker: Worker) -> None:
        """Have a worker run episodes until it shall run no more, or there are none."""
        done = 0
        while worker.alive and not (self._episodes_each and done >= self._episodes_each):
            episode = self._schedule.take()
            if episode is None:
                return
            try:
                record = worker.run(episode)
            except WorkerDiedError as error:
                self._say_death(str(error))
                self._schedule.give_back(episode, str(error))
                return
            self._schedule.finish(record)
            done += 1

    def _dismiss(self, worker: Worker) -> None:
        with self._lock:
            self._workers.discard(worker)
        worker.close()

    def _give_up(self, why: str) -> None:
        self._given_up.append(why)
        self._notice(f"A worker gives up: {why}")

    def _say_death(self, why: str) -> None:
        if self._schedule.is_wanted():
            self._notice(f"A worker has died, another one does its episode: {why}")
