# SPDX-License-Identifier: Apache-2.0
"""What rests costs nothing while simulated time goes on."""

import pytest
from behavior_msgs.action import Wait
from rclpy.clock import ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.time import Time

from behavior_ros import WorkerActionServer
from behavior_ros.node.resting_timer import RestingTimer
from behavior_ros.process.lean_executor import LeanExecutor

STEPS = 10


class Counting(LeanExecutor):
    waits = 0

    def _wait(self, seconds):
        self.waits += 1
        super()._wait(seconds)


@pytest.fixture
def spun():
    node = Node("resting", parameter_overrides=[Parameter("use_sim_time", value=True)])
    executor = Counting()
    executor.add_node(node)
    yield executor, node
    executor.shutdown(timeout_sec=0.0)
    node.destroy_node()


def set_time(node, seconds):
    node.get_clock().set_ros_time_override(Time(seconds=seconds, clock_type=ClockType.ROS_TIME))


def test_it_calls_again_and_again_between_start_and_rest(spun):
    executor, node = spun
    called = []
    timer = RestingTimer(node, 2.0, lambda: called.append(1))
    for second, start, rest, count in (
        (1, False, False, 0),
        (10, True, False, 0),
        (12, False, False, 1),
        (13, False, False, 1),
        (14, False, True, 2),
        (100, False, False, 2),
        (101, True, False, 2),
        (103, False, False, 3),
    ):
        set_time(node, second)
        for _ in range(3):
            executor.spin_once(timeout_sec=0.0)
        assert len(called) == count, second
        if start:
            timer.start()
        if rest:
            timer.rest()
        assert timer.resting == (second < 10 or 14 <= second <= 100)


def test_time_that_goes_on_ends_no_wait_for_timers_and_servers_at_rest(spun):
    executor, node = spun
    set_time(node, 1)
    RestingTimer(node, 0.1, lambda: None)
    server = WorkerActionServer(node, Wait, "/nothing", lambda context: Wait.Result())
    for _ in range(5):
        executor.spin_once(timeout_sec=0.0)
    executor.waits = 0
    for step in range(STEPS):
        set_time(node, 10 * (step + 1))
        executor.spin_once(timeout_sec=0.05)
    # One for each that ends by its time; the graph may add a few.
    assert executor.waits < 1.5 * STEPS
    assert server is not None
