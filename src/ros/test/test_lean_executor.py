# SPDX-License-Identifier: Apache-2.0
"""The executor of all processes does what rclpy's does, and less of it in between."""

import threading
from functools import partial

import pytest
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import Int32
from std_srvs.srv import Trigger

from behavior_ros.process import lean_executor
from behavior_ros.process.lean_executor import LeanExecutor
from behavior_ros.testing import until


@pytest.fixture
def context():
    context = rclpy.Context()
    rclpy.init(context=context)
    yield context
    context.try_shutdown()


@pytest.fixture
def executor(context):
    executor = LeanExecutor(context=context)
    yield executor
    executor.shutdown(timeout_sec=0.0)


@pytest.fixture
def node(context, executor):
    node = Node("lean", context=context)
    executor.add_node(node)
    yield node
    node.destroy_node()


def spin(executor, predicate):
    until(lambda: executor.spin_once(timeout_sec=0.5) or predicate())


def test_messages_services_timers_and_guards_are_served(executor, node):
    heard, beats, woken = [], [], []
    node.create_subscription(Int32, "numbers", lambda message: heard.append(message.data), 10)
    publisher = node.create_publisher(Int32, "numbers", 10)
    node.create_service(Trigger, "ask", lambda request, answer: answer)
    client = node.create_client(Trigger, "ask")
    node.create_timer(0.001, lambda: beats.append(1))
    guard = node.create_guard_condition(lambda: woken.append(1))
    spin(executor, lambda: client.service_is_ready() and publisher.get_subscription_count())
    for number in range(5):
        publisher.publish(Int32(data=number))
    answer = client.call_async(Trigger.Request())
    guard.trigger()
    spin(executor, lambda: len(heard) == 5 and answer.done() and len(beats) > 3 and woken)
    assert heard == list(range(5))
    assert woken == [1]


def test_one_callback_at_a_time(executor, node):
    called = []
    for _ in range(3):
        executor.create_task(lambda: called.append(1))
    for number in range(1, 4):
        executor.spin_once(timeout_sec=1.0)
        assert len(called) == number


def test_it_returns_when_the_time_is_over_and_nothing_came(executor, node):
    executor.spin_once(timeout_sec=0.0)
    executor.spin_once(timeout_sec=0.01)


def test_entities_that_come_and_go_while_it_spins(executor, node, context):
    heard = []
    publisher = node.create_publisher(Int32, "late", 10)
    executor.spin_once(timeout_sec=0.0)
    subscription = node.create_subscription(Int32, "late", lambda m: heard.append(m.data), 10)
    spin(executor, publisher.get_subscription_count)
    publisher.publish(Int32(data=1))
    spin(executor, lambda: heard)
    node.destroy_subscription(subscription)
    executor.spin_once(timeout_sec=0.0)
    spin(executor, lambda: not publisher.get_subscription_count())  # really gone
    other = Node("another", context=context)
    beats = []
    other.create_timer(0.001, lambda: beats.append(1))
    executor.add_node(other)
    spin(executor, lambda: beats)
    executor.remove_node(other)
    count = len(beats)
    for _ in range(10):
        executor.spin_once(timeout_sec=0.002)
    assert len(beats) == count
    other.destroy_node()


@pytest.mark.parametrize(
    "end",
    [lambda node, timer: node.destroy_timer(timer), lambda node, timer: timer.cancel()],
    ids=["destroyed", "cancelled"],
)
def test_what_was_ended_in_the_same_round_is_not_called(executor, node, end):
    called = []
    timers = []

    def first():
        called.append(1)
        while timers:
            end(node, timers.pop())

    timers += [node.create_timer(0.0, first) for _ in range(2)]
    spin(executor, lambda: called)
    for _ in range(5):
        executor.spin_once(timeout_sec=0.002)
    assert called == [1]


def test_a_coroutine_waits_without_holding_up_others(executor, node):
    gate, order, beats = Future(), [], []

    async def wait():
        order.append("waits")
        await gate
        order.append("goes on")

    executor.create_task(wait)
    node.create_timer(0.001, lambda: beats.append(1))
    spin(executor, lambda: order and len(beats) > 2)
    assert order == ["waits"]
    gate.set_result(None)
    spin(executor, lambda: len(order) == 2)


def test_a_suspended_callback_keeps_its_group_and_no_other(executor, node):
    """As a service that waits for a journal does."""
    gate, beats = Future(), []

    async def answer(request, response):
        await gate
        response.message = "now"
        return response

    node.create_service(Trigger, "slow", answer)  # in the group of the node, with the timer
    group = rclpy.callback_groups.MutuallyExclusiveCallbackGroup()
    client = node.create_client(Trigger, "slow", callback_group=group)
    node.create_timer(0.001, lambda: beats.append(1))
    free = []
    node.create_timer(0.001, lambda: free.append(1), callback_group=group)
    spin(executor, client.service_is_ready)
    response = client.call_async(Trigger.Request())
    spin(executor, lambda: executor._suspended)
    beats.clear(), free.clear()
    spin(executor, lambda: len(free) > 5)
    assert not beats
    gate.set_result(None)
    spin(executor, lambda: response.done() and beats)
    assert response.result().message == "now"


def test_other_threads_end_the_wait(executor, node):
    """For ever, were they not to: no timeout is given."""
    done = []
    thread = threading.Thread(target=lambda: executor.create_task(lambda: done.append(1)))
    threading.Timer(0.05, thread.start).start()
    while not done:
        executor.spin_once()
    future = Future()
    threading.Timer(0.05, lambda: future.set_result(None)).start()
    executor.spin_until_future_complete(future)
    assert future.done()


def test_an_error_of_a_callback_or_task_reaches_who_spins(executor, node):
    def fail():
        raise ValueError("broken")

    executor.create_task(fail)
    with pytest.raises(ValueError, match="broken"):
        executor.spin_once(timeout_sec=1.0)
    timer = node.create_timer(0.0, fail)
    with pytest.raises(ValueError, match="broken"):
        executor.spin_once(timeout_sec=1.0)
    timer.cancel()
    executor.spin_once(timeout_sec=0.0)  # its group is free again


def test_shutdown_of_the_context_ends_spinning(executor, node, context):
    threading.Timer(0.05, context.try_shutdown).start()
    with pytest.raises(ExternalShutdownException):
        spin(executor, lambda: False)


def test_a_message_costs_one_wait_and_lists_are_kept(executor, node, monkeypatch):
    made, waits = [], []
    make, wait = lean_executor._Waiting.__init__, lean_executor._Waiting.wait
    monkeypatch.setattr(lean_executor._Waiting, "__init__", lambda *a: made.append(1) or make(*a))
    monkeypatch.setattr(
        lean_executor._Waiting, "wait", lambda *a, **k: waits.append(1) or wait(*a, **k)
    )
    heard = []
    node.create_subscription(Int32, "numbers", lambda message: heard.append(message.data), 10)
    publisher = node.create_publisher(Int32, "numbers", 10)
    spin(executor, publisher.get_subscription_count)
    for _ in range(20):  # discovery has its own conditions
        executor.spin_once(timeout_sec=0.01)
    made.clear(), waits.clear()
    for number in range(50):
        publisher.publish(Int32(data=number))
        spin(executor, lambda: len(heard) == number + 1)  # noqa: B023
    assert not made
    assert len(waits) < 90


def test_any_thread_may_shut_it_down_and_nothing_goes_under_the_one_that_waits(context):
    """It crashed the process: what was waited for was destroyed meanwhile."""
    for number in range(25):
        executor, node = LeanExecutor(context=context), Node(f"lean_{number}", context=context)
        executor.add_node(node)
        beats = []
        node.create_timer(0.001, partial(beats.append, 1))
        node.create_subscription(Int32, "numbers", beats.append, 1)
        thread = threading.Thread(target=executor.spin)
        thread.start()
        until(lambda beats=beats, number=number: len(beats) >= number % 5)
        assert executor.shutdown()
        node.destroy_node()
        thread.join(5.0)
        assert not thread.is_alive()


def test_a_shutdown_waits_for_a_callback_as_long_as_it_is_told(executor, node):
    let_go, came = threading.Event(), threading.Event()

    def block() -> None:
        came.set()
        let_go.wait(60.0)

    node.create_timer(0.001, block)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    assert came.wait(60.0)
    assert not executor.shutdown(timeout_sec=0.05)
    let_go.set()
    assert executor.shutdown()
    thread.join(5.0)
    assert not thread.is_alive()
