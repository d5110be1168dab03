# SPDX-License-Identifier: Apache-2.0
"""For tests with nodes: a ROS domain for each test, and nodes that spin in a thread.

A package's ``conftest.py`` makes the fixtures known::

    from behavior_ros.testing import ros, spinner  # noqa: F401
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import rclpy
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node

from behavior_ros.closing import destroy_actions

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

# Each test has a domain of its own: a killed process haunts its domain for 20 s. Who tests beside
# others on one machine chooses the domains by BEHAVIOR_TEST_DOMAINS, first and last.
_FIRST, _LAST = map(int, os.environ.get("BEHAVIOR_TEST_DOMAINS", "40 49").split())
DOMAINS = itertools.cycle(range(_FIRST, _LAST + 1))
"""Hands out the domains, one after the other."""
for _ in range(os.getpid() % (_LAST + 1 - _FIRST)):
    next(DOMAINS)


class Spinner:
    """Nodes in one executor that spins in a thread of its own."""

    def __init__(self, executor: Executor | None = None) -> None:
        """Take an executor, or make rclpy's; it spins from `start` on."""
        self.executor = executor or SingleThreadedExecutor()
        self.nodes: list[Node] = []
        self.error: BaseException | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._spin, daemon=True)

    def start(self, *nodes: Node) -> None:
        """Spin these nodes; `stop` destroys them."""
        for node in nodes:
            self._add(node)
        self._thread.start()

    def node(self, name: str, **kwargs: Any) -> Node:
        """Make one more node that spins."""
        made = Node(name, **kwargs)
        self._add(made)
        return made

    def do(self, function: Callable[..., Any], *args: Any, timeout: float = 20.0) -> Any:
        """Call a function in the executor's thread and return what it returns, or raise that."""
        done = threading.Event()
        value: Any = None
        error: BaseException | None = None

        def call() -> None:
            nonlocal value, error
            try:
                value = function(*args)
            except BaseException as raised:
                error = raised
            done.set()

        self.executor.create_task(call)
        assert done.wait(timeout), "the executor is blocked"
        if error is not None:
            raise error
        return value

    def _add(self, node: Node) -> None:
        self.nodes.append(node)
        self.executor.add_node(node)

    def _spin(self) -> None:
        while not self._stopped.is_set():
            try:
                self.executor.spin_once(timeout_sec=0.1)
            except BaseException as error:
                self.error = error
                raise

    def stop(self) -> None:
        """Spin no more; fails if a callback raised."""
        self._stopped.set()
        self._thread.join(5.0)
        for node in self.nodes:
            node.destroy_node()
            destroy_actions(node)
        self.executor.shutdown(timeout_sec=0.0)
        assert self.error is None, f"a callback raised {self.error!r}"


def until(predicate: Callable[[], Any], timeout: float = 30.0, what: str = "condition") -> Any:
    """Wait until a predicate holds, and fail after the timeout [s]; returns its value."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        value = predicate()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(f"{what} did not come true within {timeout} s")


@pytest.fixture
def ros(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """ROS in a domain of this test's own."""
    monkeypatch.setenv("ROS_DOMAIN_ID", str(next(DOMAINS)))
    rclpy.init()
    yield
    rclpy.try_shutdown()


@pytest.fixture
def spinner(ros: None) -> Iterator[Spinner]:
    """Spins nodes, and destroys them after the test."""
    made = Spinner()
    yield made
    made.stop()
