# SPDX-License-Identifier: Apache-2.0
"""Nodes for tests, in a ROS domain of their own."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import pytest
import rclpy
from rclpy.node import Node

from behavior_ros.process.lean_executor import LeanExecutor
from behavior_ros.testing import Spinner, own_domain

HERE = Path(__file__).parent


class Process:
    """A process that hosts nodes of hosted_nodes.py."""

    def __init__(self, *arguments):
        environment = dict(os.environ, PYTHONPATH=f"{HERE}:{os.environ.get('PYTHONPATH', '')}")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "behavior_ros.process.host", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def wait_for(self, text, stream=None):
        """Return the line of a stream, by default of what it prints, that has this text."""
        timer = threading.Timer(240.0, self.process.kill)
        timer.start()
        try:
            for line in stream or self.process.stdout:
                if text in line:
                    return line
        finally:
            timer.cancel()
        raise AssertionError(f"{text!r} never came; stderr: {self.process.stderr.read()}")

    def stop(self, number):
        """Return exit code, output, errors and how long it took."""
        begin = time.monotonic()
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=240)
        return self.process.returncode, out, err, time.monotonic() - begin


@pytest.fixture(scope="session", autouse=True)
def context():
    os.environ["ROS_DOMAIN_ID"] = str(own_domain())
    rclpy.init()
    yield
    rclpy.try_shutdown()


def _spinning():
    """In the executor of the suite's own processes."""
    made = Spinner(LeanExecutor())
    made.start()
    yield made
    made.stop()


@pytest.fixture
def spinner():
    yield from _spinning()


@pytest.fixture
def spinner2():
    """Return a second process, as it were."""
    yield from _spinning()


@pytest.fixture
def executor():
    executor = LeanExecutor()
    yield executor
    executor.shutdown(timeout_sec=0.0)


@pytest.fixture
def node(executor):
    node = Node("lean")
    executor.add_node(node)
    yield node
    executor.shutdown(timeout_sec=0.0)
    node.destroy_node()


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
