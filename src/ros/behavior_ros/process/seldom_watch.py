# SPDX-License-Identifier: Apache-2.0
"""A thread that waits for what comes seldom, so that each other wait need not list it.

The middleware looks at everything that a wait lists, before it and after it. Most of a process are
services, clients and actions, which hear nothing for minutes while images and timers end the wait
many times a second.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from rclpy.context import Context
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.waitable import NumberOfEntities

_FOR_EVER = -1


def wait_set_for(count: NumberOfEntities, context: Context) -> Any:
    """A wait set with room for so many entities."""
    return rclpy_implementation.WaitSet(
        count.num_subscriptions,
        count.num_guard_conditions,
        count.num_timers,
        count.num_clients,
        count.num_services,
        count.num_events,
        context.handle,
    )


class SeldomWatch:
    """Waits for some entities, once each time that it is told to.

    All but `found` is for one thread.

    Args:
        context: of the entities.
        count: of them.
        on_found: called in the watch's thread when one is ready.
    """

    def __init__(
        self, context: Context, count: NumberOfEntities, on_found: Callable[[], None]
    ) -> None:
        self._on_found = on_found
        self._set = wait_set_for(count + NumberOfEntities(num_gcs=1), context)
        self._guard = GuardCondition(callback=None, callback_group=None, context=context)
        self._begin, self._ended = threading.Semaphore(0), threading.Semaphore(0)
        self._waits = self._closing = False
        self._thread: threading.Thread | None = None
        self.found = False
        """Whether one is ready."""

    def begin(self, fill: Callable[[Any], None]) -> None:
        """Wait from now on, if it does not already; it ends with the first that is ready.

        Args:
            fill: puts the entities into a wait set; none of them may be in another one meanwhile
                that keeps its place in it, as actions do.
        """
        if self._waits:
            return
        self._set.clear_entities()
        fill(self._set)
        self._set.add_guard_condition(self._guard.handle)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="seldom_watch", daemon=True)
            self._thread.start()
        self._waits = True
        self._begin.release()

    def end(self) -> None:
        """Wait no more."""
        if self._waits:
            if not self.found:
                self._guard.trigger()
            self._ended.acquire()
            self._waits = self.found = False

    def close(self) -> None:
        """End the thread: nothing lists the entities any more."""
        self.end()
        if self._thread is not None:
            self._closing = True
            self._begin.release()
            self._thread.join()
            self._thread = None
        self._guard.destroy()

    def _run(self) -> None:
        while True:
            self._begin.acquire()
            if self._closing:
                return
            with suppress(Exception):  # the wait that comes next meets it too, and says so
                self._set.wait(_FOR_EVER)
            self.found = True
            self._ended.release()
            self._on_found()
