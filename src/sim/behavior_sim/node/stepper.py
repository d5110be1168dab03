# SPDX-License-Identifier: Apache-2.0
"""The thread that owns the simulation: advances it at the wanted speed and runs others' requests.

Everything that touches the simulation runs in this one thread. Other threads hand in functions;
they run between two chunks of physics, also while the simulation is paused or waits for its pace.
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
        start_wall = start_sim = 0.0
        now = 0.0
        while True:
            with self._wake:
                if self._stopping:
                    return
                requests = list(self._requests)
                self._requests.clear()
            for request in requests:
                self._guard(request)
            if not self._paused:
                now = self._guard(self._advance) or now
            with self._wake:
                if self._repace:
                    self._repace = False
                    start_wall, start_sim = time.monotonic(), now
                self._wait_for_others(now)
                self._wait(start_wall, now - start_sim)

    def _wait_for_others(self, now: float) -> None:
        """Wait as long as `hold` says, or until a request comes; the condition is held."""
        while not (self._requests or self._stopping or self._paused):
            pause = self._hold(now)
            if pause <= 0.0:
                return
            self._wake.wait(pause)

    def _wait(self, start_wall: float, simulated: float) -> None:
        """Wait for the pace, a request, or the end of a pause; the condition is held."""
        if self._paused:
            while self._paused and not self._requests and not self._stopping:
                self._wake.wait()
            return
        if self._speed <= 0.0:
            return
        due = start_wall + simulated / self._speed
        ahead = due - time.monotonic()
        if ahead < -_BEHIND:
            self._repace = True
        while ahead > 0.0 and not (self._stopping or self._repace or self._paused):
            self._wake.wait(ahead)
            if self._requests:
                return
            ahead = due - time.monotonic()

    def _guard(self, work: Callable[[], _T]) -> _T | None:
        try:
            return work()
        except Exception as error:
            _LOG.exception("the simulation's thread failed and is paused")
            self._paused = True
            if self._on_error is not None:
                self._on_error(error)
            return None
