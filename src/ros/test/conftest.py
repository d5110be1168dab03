# SPDX-License-Identifier: Apache-2.0
"""Nodes for tests, in a ROS domain of their own."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

os.environ["ROS_DOMAIN_ID"] = str(10 + os.getpid() % 10)
os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import pytest
import rclpy
from rclpy.node import Node

from behavior_ros.lean_executor import LeanExecutor

HERE = Path(__file__).parent


class Process:
    """A process that hosts nodes of hosted_nodes.py."""

    def __init__(self, *arguments):
        environment = dict(os.environ, PYTHONPATH=f"{HERE}:{os.environ.get('PYTHONPATH', '')}")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "behavior_ros.host", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def wait_for(self, text):
        timer = threading.Timer(15.0, self.process.kill)
        timer.start()
        try:
            for line in self.process.stdout:
                if text in line:
                    return line
        finally:
            timer.cancel()
        raise AssertionError(f"{text!r} never came; stderr: {self.process.stderr.read()}")

    def stop(self, number):
        """Return exit code, output, errors and how long it took."""
        begin = time.monotonic()
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=10.0)
        return self.process.returncode, out, err, time.monotonic() - begin


class Spinner:
    """Nodes in one executor that spins in a thread of its own."""

    def __init__(self):
        self.executor = LeanExecutor()
        self.nodes = []
        self.stopped = threading.Event()
        self.error = None
        self.thread = threading.Thread(target=self._spin, daemon=True)
        self.thread.start()

    def _spin(self):
        while not self.stopped.is_set():
            try:
                self.executor.spin_once(timeout_sec=0.1)
            except BaseException as error:
                self.error = error
                raise

    def node(self, name, **kwargs):
        node = Node(name, **kwargs)
        self.nodes.append(node)
        self.executor.add_node(node)
        return node

    def do(self, function, *args, timeout=20.0):
        """Call a function in the executor's thread and return what it returns."""
        done = threading.Event()
        box = []

        def call():
            try:
                box.append((function(*args), None))
            except BaseException as error:
                box.append((None, error))
            done.set()

        self.executor.create_task(call)
        assert done.wait(timeout), "the executor is blocked"
        value, error = box[0]
        if error is not None:
            raise error
        return value

    def stop(self):
        self.stopped.set()
        self.thread.join(5.0)
        for node in self.nodes:
            node.destroy_node()
        self.executor.shutdown(timeout_sec=0.0)


def until(predicate, timeout=20.0, what="condition"):
    """Wait until a predicate holds, and fail after the timeout."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        value = predicate()
        if value:
            return value
        time.sleep(0.005)
    raise AssertionError(f"{what} did not come true within {timeout} s")


@pytest.fixture(scope="session", autouse=True)
def context():
    rclpy.init()
    yield
    rclpy.try_shutdown()


@pytest.fixture
def spinner():
    made = Spinner()
    yield made
    made.stop()
    assert made.error is None, f"a callback raised {made.error!r}"


@pytest.fixture
def spinner2():
    """Return a second process, as it were."""
    made = Spinner()
    yield made
    made.stop()
    assert made.error is None, f"a callback raised {made.error!r}"


@pytest.fixture
def start():
    started = []

    def make(*arguments):
        started.append(Process(*arguments))
        return started[-1]

    yield make
    for entry in started:
        if entry.process.poll() is None:
            entry.process.kill()
        entry.process.communicate()
