# SPDX-License-Identifier: Apache-2.0
"""For tests with nodes: a ROS domain for each test; nodes that spin in a thread, or on a bench.

A package's ``conftest.py`` makes the fixtures known::

    from behavior_ros.testing import ros, spinner  # noqa: F401
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, TypeVar

import pytest
import rclpy
from rcl_interfaces.srv import SetParameters
from rclpy.context import Context
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.task import Future

from behavior_ros.fake_servers import FakeServer, FakeServers, FakeTopic
from behavior_ros.node.closing import destroy_node
from behavior_ros.node.companions import with_companions
from behavior_ros.process.domains import DOMAINS, used_domains

__all__ = [
    "Bench",
    "FakeServer",
    "FakeServers",
    "FakeTopic",
    "Spinner",
    "own_domain",
    "ros",
    "spinner",
    "until",
]

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

_NodeT = TypeVar("_NodeT", bound=Node)

_CLAIMS = Path(tempfile.gettempdir()) / f"behavior_test_domains_{os.getuid()}"
# Whoever claims a fourth domain is done with the first, or has participants in it, which show.
_held: deque[IO[str]] = deque(maxlen=3)


def own_domain() -> int:
    """A ROS domain that no other test of this machine uses, whoever runs it.

    It is the one that was claimed longest ago: a killed process haunts its domain for 20 s.
    """
    _CLAIMS.mkdir(mode=0o700, exist_ok=True)
    used = used_domains() or set()
    files = {domain: _CLAIMS / str(domain) for domain in DOMAINS if domain not in used}
    claimed = {domain: f.stat().st_mtime_ns if f.exists() else 0 for domain, f in files.items()}
    for domain in sorted(claimed, key=lambda domain: (claimed[domain], domain)):
        file = files[domain].open("a", encoding="ascii")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            continue
        os.utime(file.fileno())
        if len(_held) == _held.maxlen:
            _held.popleft().close()
        _held.append(file)
        return domain
    raise RuntimeError("all ROS domains of this machine are used")


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

    def do(self, function: Callable[..., Any], *args: Any, timeout: float = 90.0) -> Any:
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
        if self._thread.ident is not None:  # it was started
            self.executor.create_task(lambda: None)  # wakes it
            self._thread.join(60.0)
        for node in self.nodes:
            destroy_node(node)
        self.executor.shutdown(timeout_sec=0.0)
        assert self.error is None, f"a callback raised {self.error!r}"


class Bench:
    """Nodes in a ROS domain of their own, which spin only while the test waits for something.

    The node `peer` plays whatever is around the nodes under test.
    """

    def __init__(self, domain: int | None = None) -> None:
        """Take a domain, or claim one; always `close` it."""
        self.context = Context()
        rclpy.init(context=self.context, domain_id=own_domain() if domain is None else domain)
        self.executor = SingleThreadedExecutor(context=self.context)
        self._nodes: list[Node] = []
        self.peer = self.add(Node("peer", context=self.context))

    def add(self, node: _NodeT) -> _NodeT:
        """Spin a node of this context, and its companions."""
        for each in with_companions([node]):
            self._nodes.append(each)
            self.executor.add_node(each)
        return node

    def make(self, made: Callable[..., _NodeT], **parameters: Any) -> _NodeT:
        """Make a node of this class with these parameters, and spin it."""
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        return self.add(made(context=self.context, parameter_overrides=overrides))

    def until(
        self, condition: Callable[[], Any], what: str = "condition", timeout: float = 90.0
    ) -> None:
        """Spin until a condition holds, and fail after the timeout [s]."""
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, f"{what} did not come true within {timeout} s"
            self.executor.spin_once(timeout_sec=0.05)

    def answer(self, future: Future, timeout: float = 90.0) -> Any:
        """What a future brings."""
        self.until(future.done, "an answer", timeout)
        return future.result()

    def call(self, kind: Any, service: str, request: Any = None, /, **fields: Any) -> Any:
        """What a service answers to a request, or to one of these fields."""
        client = self.peer.create_client(kind, service)
        self.until(client.service_is_ready, f"the service {service}")
        response = self.answer(client.call_async(request or kind.Request(**fields)))
        self.peer.destroy_client(client)
        return response

    def set_parameter(self, node: Node, name: str, value: Any) -> Any:
        """Ask a node to take a parameter; returns its SetParametersResult."""
        asked = [Parameter(name, value=value).to_parameter_msg()]
        service = f"{node.get_fully_qualified_name()}/set_parameters"
        return self.call(SetParameters, service, parameters=asked).results[0]

    def close(self) -> None:
        """Destroy all nodes; a second call does nothing."""
        if not self.context.ok():
            return
        self.executor.shutdown(timeout_sec=1.0)
        for node in reversed(self._nodes):
            destroy_node(node)
        rclpy.shutdown(context=self.context)


def until(predicate: Callable[[], Any], timeout: float = 90.0, what: str = "condition") -> Any:
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
    monkeypatch.setenv("ROS_DOMAIN_ID", str(own_domain()))
    rclpy.init()
    yield
    rclpy.try_shutdown()


@pytest.fixture
def spinner(ros: None) -> Iterator[Spinner]:
    """Spins nodes, and destroys them after the test."""
    made = Spinner()
    yield made
    made.stop()
