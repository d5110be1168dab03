# SPDX-License-Identifier: Apache-2.0
"""The thread that owns the simulation: advances it at the wanted speed and runs others' requests.

Everything that touches the simulation runs in this one thread. Other threads hand in functions;
they run between two chunks of physics, also while the simulation is paused or waits for its pace,
and bring no chunk about.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

_T = TypeVar("_T")
_LOG = logging.getLogger(__name__)
_BEHIND = 0.25
"""[s] of wall time behind its pace, beyond which lost time is not caught up."""


class Stepper:
    """Advances a simulation in a thread of its own.

    Args:
        advance: advances by one chunk and returns the simulated time [s].
        speed: simulated seconds per second; 0: as fast as possible.
        on_error: called in the thread when `advance` raises; the simulation is paused then.
        hold: tells for the simulated time [s] how long [s, wall] to wait for others before the next
            chunk; asked again after that time, and after every `nudge`.
    """

    def __init__(
        self,
        advance: Callable[[], float],
        *,
        speed: float = 1.0,
        on_error: Callable[[Exception], None] | None = None,
        hold: Callable[[float], float] = lambda _: 0.0,
    ) -> None:
        self._hold = hold
        self._advance = advance
        self._speed = speed
        self._on_error = on_error
        self._paused = False
        self._stopping = False
        self._requests: deque[Callable[[], Any]] = deque()
        self._wake = threading.Condition()
        self._repace = True
        self._paced_from = (0.0, 0.0)
        """[s, wall] and [s] from which on the pace is kept."""
        self._thread = threading.Thread(target=self._run, name="simulation", daemon=True)

    @property
    def speed(self) -> float:
        """Simulated seconds per second; 0: as fast as possible. May be set at any time."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        with self._wake:
            self._speed, self._repace = speed, True
            self._wake.notify()

    @property
    def paused(self) -> bool:
        """Whether time stands still. May be set at any time."""
        return self._paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        with self._wake:
            self._paused, self._repace = paused, True
            self._wake.notify()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, timeout: float = 2.0) -> None:
        """End the thread and wait for it [s]."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def post(self, request: Callable[[], Any]) -> None:
        """Have `request` run in the thread, soon."""
        with self._wake:
            self._requests.append(request)
            self._wake.notify()

    def nudge(self) -> None:
        """Ask `hold` again."""
        with self._wake:
            self._wake.notify()

    def call(self, request: Callable[[], _T], timeout: float = 2.0) -> _T:
        """Run `request` in the thread and return its result, or raise what it raises.

        Raises:
            TimeoutError: it did not run within `timeout` [s] of wall time.
        """
        future: Future[_T] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(request())
            except Exception as error:
                future.set_exception(error)

        self.post(run)
        try:
            return future.result(timeout)
        finally:
            # What nobody waits for any more is not to happen later.
            future.cancel()

    def _run(self) -> None:
        now = 0.0
        while True:
            with self._wake:
                while not (self._stopping or self._requests) and (pause := self._pause(now)) > 0.0:
                    self._wake.wait(pause)
                if self._stopping:
                    return
                requests = list(self._requests)
                self._requests.clear()
            for request in requests:
                self._guard(request)
            if not requests or self._is_due(now):
                now = self._guard(self._advance) or now

    def _is_due(self, now: float) -> bool:
        """Whether the next chunk still is, after requests."""
        with self._wake:
            return self._pause(now) <= 0.0

    def _pause(self, now: float) -> float:
        """How long [s, wall] until the next chunk is due, unless something changes; the condition
        is held.
        """
        if self._paused:
            return threading.TIMEOUT_MAX
        wall = time.monotonic()
        if self._repace:
            self._repace, self._paced_from = False, (wall, now)
        pause = self._hold(now)
        if pause > 0.0 or self._speed <= 0.0:
            return pause
        began, begin = self._paced_from
        ahead = began + (now - begin) / self._speed - wall
        self._repace = ahead < -_BEHIND
        return ahead

    def _guard(self, work: Callable[[], _T]) -> _T | None:
        try:
            return work()
        except Exception as error:
            _LOG.exception("the simulation's thread failed and is paused")
            self._paused = True
            if self._on_error is not None:
                self._on_error(error)
            return None
