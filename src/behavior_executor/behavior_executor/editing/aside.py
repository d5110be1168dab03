# SPDX-License-Identifier: Apache-2.0
"""Does one thing after the other in a thread, and goes on with the results in the executor's."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node

SWITCH_INTERVAL = 5e-4
"""[s] after which a thread that computes lets another one go on: ticks give up the interpreter at
every message, and would wait a whole interval for each; 5 ms is the default."""


class Aside:
    """One thread for what must not keep ticks waiting.

    Args:
        node: in whose executor's thread results are handed on
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._pool = ThreadPoolExecutor(1, "aside")
        self._done: deque[tuple[Callable[[Any], None], Any]] = deque()
        self._ready = node.create_guard_condition(self._hand_on, ReentrantCallbackGroup())

    def __call__(self, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
        """Call ``work`` in the thread, then ``then`` with what that has returned or raised."""
        sys.setswitchinterval(SWITCH_INTERVAL)
        self._pool.submit(self._run, work, then)

    def close(self) -> None:
        """Wait for what is being done; nothing is handed on any more."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._node.destroy_guard_condition(self._ready)

    def _run(self, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
        try:
            outcome = work()
        except Exception as error:  # whoever asked for it deals with it
            outcome = error
        self._done.append((then, outcome))
        with suppress(InvalidHandle):  # the node is being destroyed
            self._ready.trigger()

    def _hand_on(self) -> None:
        while self._done:
            then, outcome = self._done.popleft()
            then(outcome)
