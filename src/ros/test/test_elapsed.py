# SPDX-License-Identifier: Apache-2.0
"""Waits on a clock that is set back, as by a simulation that starts anew."""

import threading

import pytest
from rclpy.clock import ClockType
from rclpy.parameter import Parameter
from rclpy.time import Time

from behavior_ros.actions.goal_context import GoalContext, WaitTimeout
from behavior_ros.node.at_work import at_work
from behavior_ros.node.elapsed import Elapsed
from behavior_ros.testing import until


class Simulated:
    """A goal whose worker waits on a clock that the test sets."""

    def __init__(self, spinner, wait):
        simulated = [Parameter("use_sim_time", value=True)]
        self.node = spinner.node("simulated", parameter_overrides=simulated)
        self.workers = spinner.do(lambda: at_work(self.node))
        self.goal = spinner.do(lambda: GoalContext(self.node, None))
        self.ended = threading.Event()
        self.show(1000)
        self.goal.begin_work()
        threading.Thread(target=self._work, args=(wait,), daemon=True).start()
        until(lambda: not self.workers, what="the worker waits")

    def show(self, second):
        time = Time(seconds=second, clock_type=ClockType.ROS_TIME)
        self.node.get_clock().set_ros_time_override(time)

    def _work(self, wait):
        wait(self.goal)
        self.goal.end_work()
        self.ended.set()


def never(goal):
    with pytest.raises(WaitTimeout, match="within 5 s"):
        goal.wait_until(lambda: False, 5.0)


@pytest.mark.parametrize("wait", [lambda goal: goal.sleep(5.0), never])
def test_a_worker_waits_no_longer_than_it_would_have_from_then_on(spinner, wait):
    simulated = Simulated(spinner, wait)
    simulated.show(0)
    until(lambda: not simulated.workers, what="the worker has seen that")
    assert not simulated.ended.is_set()
    simulated.show(5)
    assert simulated.ended.wait(60.0)


def test_a_worker_counts_from_the_moment_on_at_which_its_time_has_come(spinner):
    simulated = Simulated(spinner, lambda goal: goal.sleep(5.0))
    with simulated.goal._condition:  # the worker cannot go on before it is left
        simulated.show(1005)
        assert simulated.workers
    assert simulated.ended.wait(60.0)
    assert not simulated.workers


def test_feedback_goes_on(spinner):
    node, told, times = spinner.node("teller"), [], [1000.0, 1000.1, 0.0, 0.1, 0.3]
    goal = spinner.do(lambda: GoalContext(node, None, told.append))
    goal.now = lambda: times.pop(0)
    for progress in range(5):
        goal.feedback("moving", progress)
    assert [each["progress"] for each in told] == [0.0, 2.0, 4.0]


def test_what_has_passed_goes_on_from_where_the_clock_is_set_back_to():
    times = [1000.0, 1001.5, 2.0, 4.0]
    passed = Elapsed(lambda: times.pop(0))
    assert passed.end(3.0) == 1003.0
    assert passed() == 1.5
    assert passed() == 1.5
    assert passed.end(3.0) == 3.5
    assert passed() == 3.5
