# SPDX-License-Identifier: Apache-2.0
"""A process says how far it has come with what follows from the simulated time."""

import threading

import pytest
from builtin_interfaces.msg import Time
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Header

from behavior_ros.actions.goal_context import GoalContext
from behavior_ros.node.answer_under_way import answer_under_way
from behavior_ros.node.at_work import AtWork, at_work
from behavior_ros.process.clock_follower import follow_clock, followed_topic
from behavior_ros.process.lean_executor import LeanExecutor
from behavior_ros.process.shared_clock import share_clock
from behavior_ros.testing import Spinner, until

SIMULATED = [Parameter("use_sim_time", value=True)]


class Process:
    """Of one node on simulated time, and a simulation that listens to it."""

    def __init__(self, spinner, simulation, *, listens=True):
        self.node = spinner.node("skills", parameter_overrides=SIMULATED)
        self.clock = simulation.create_publisher(Clock, "/clock", 10)
        self.heard = []
        if listens:
            simulation.create_subscription(Header, followed_topic(simulation), self._hear, 10)
        spinner.do(lambda: share_clock([self.node], follow_clock([self.node], spinner.executor)))
        until(self.clock.get_subscription_count)
        if listens:
            until(lambda: self.node.count_subscribers(followed_topic(self.node)))

    def _hear(self, message):
        self.heard.append((message.frame_id, message.stamp.sec))

    def show(self, second):
        """Publish the time until the process shows it, as a clock does."""
        self.clock.publish(Clock(clock=Time(sec=second)))
        until(lambda: self.node.get_clock().now().nanoseconds == second * 10**9)


@pytest.fixture
def simulation(spinner):
    """A node that another thread spins."""
    made, node = Spinner(LeanExecutor()), Node("simulation")
    made.start(node)
    yield node
    made.stop()


def test_idle_it_follows_at_once(spinner, simulation):
    process = Process(spinner, simulation)
    for second in (100, 101):
        process.show(second)
        until(lambda second=second: process.heard[-1:] == [("/skills", second)])


def test_a_worker_that_computes_keeps_the_time_back_and_one_that_waits_does_not(
    spinner, simulation
):
    process = Process(spinner, simulation)
    process.show(100)
    until(lambda: process.heard)
    goal, go_on, ended = GoalContext(process.node, None), threading.Event(), threading.Event()

    def work():
        go_on.wait(60.0)  # computes
        goal.sleep(5.0)
        goal.end_work()
        ended.set()

    goal.begin_work()
    threading.Thread(target=work, daemon=True).start()
    process.show(101)
    assert process.heard[-1] == ("/skills", 100)
    go_on.set()
    until(lambda: process.heard[-1] == ("/skills", 101))
    assert not ended.is_set()
    process.show(106)
    until(ended.is_set)
    until(lambda: process.heard[-1] == ("/skills", 106))


def test_a_callback_keeps_the_time_back(spinner, simulation):
    process = Process(spinner, simulation)
    process.show(100)
    until(lambda: process.heard)
    inside, go_on = threading.Event(), threading.Event()

    def callback():
        inside.set()
        go_on.wait(60.0)

    spinner.executor.create_task(callback)
    assert inside.wait(60.0)
    process.show(101)
    assert process.heard[-1] == ("/skills", 100)
    go_on.set()
    until(lambda: process.heard[-1] == ("/skills", 101))


def test_a_worker_counts_from_the_moment_on_at_which_it_is_woken(spinner):
    node = spinner.node("alone")
    goal, workers = GoalContext(node, None), at_work(node)
    done, woken = threading.Event(), []

    def work():
        goal.wait_until(done.is_set, 60.0)
        goal.end_work()

    goal.begin_work()
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    until(lambda: not workers)
    with goal._condition:  # the worker cannot go on before it is left
        done.set()
        goal._notify()
        woken.append(bool(workers))
    assert woken == [True]
    thread.join(60.0)
    assert not workers


def test_an_answer_under_way_counts_until_the_next_goal_comes(spinner):
    node = spinner.node("server")
    workers, answer = at_work(node), spinner.do(lambda: answer_under_way(node))

    def sent_and_followed():
        answer.begin()
        answer.begin()
        was_at_work = bool(workers)
        answer.end()
        return was_at_work, bool(workers)

    assert spinner.do(sent_and_followed) == (True, False)
    spinner.do(answer.begin)
    until(lambda: not workers)  # none comes


def test_who_is_the_last_to_rest_is_known():
    workers, rested = AtWork(), []
    workers.on_rest = lambda: rested.append(bool(workers))
    workers.begin()
    workers.begin()
    workers.end()
    assert rested == []
    workers.end()
    assert rested == [False]


def test_where_nobody_listens_nothing_is_sent(spinner, simulation, monkeypatch):
    process = Process(spinner, simulation, listens=False)
    topic = followed_topic(process.node)
    publisher = next(p for p in process.node.publishers if p.topic_name == topic)
    sent = []
    monkeypatch.setattr(publisher, "publish", sent.append)
    process.show(100)
    process.show(101)
    assert sent == []


def test_a_robot_with_a_clock_of_its_own_is_followed_beside_it(spinner):
    remapped = ["--ros-args", "-r", "/clock:=clock"]
    assert followed_topic(spinner.node("shared")) == "/clock/followed"
    own = spinner.node("own", namespace="left", cli_args=remapped)
    assert followed_topic(own) == "/left/clock/followed"
