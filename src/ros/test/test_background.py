# SPDX-License-Identifier: Apache-2.0
"""Subscriptions of the background are received beside callbacks, by a thread of the executor."""

import threading
from collections import defaultdict

import pytest
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import qos_profile_sensor_data
from rclpy.serialization import deserialize_message
from std_msgs.msg import Int32

from behavior_ros.testing import Spinner, until
from behavior_ros.topics.background import (
    create_background_subscription,
    share_subscriptions,
)


@pytest.fixture
def publisher(node):
    return node.create_publisher(Int32, "numbers", 10)


def subscribe(node, callback):
    return create_background_subscription(node, Int32, "numbers", callback, 10)


def readers():
    return [thread for thread in threading.enumerate() if thread.name == "background_reader"]


def test_messages_come_although_nobody_spins(executor, node, publisher):
    heard, threads = [], []

    def hear(data):
        heard.append(deserialize_message(data, Int32).data)
        threads.append(threading.current_thread())

    subscribe(node, hear)
    executor.spin_once(timeout_sec=0.0)  # has the thread started
    until(publisher.get_subscription_count)
    for number in range(3):
        publisher.publish(Int32(data=number))
    until(lambda: len(heard) == 3)
    assert heard == [0, 1, 2]
    assert set(threads) == set(readers())
    executor.shutdown(timeout_sec=0.0)
    assert not readers()


def test_they_end_no_wait_of_the_executor(executor, node, publisher):
    heard, others = [], []
    subscribe(node, heard.append)
    node.create_subscription(Int32, "others", others.append, 10)
    other = node.create_publisher(Int32, "others", 10)
    executor.spin_once(timeout_sec=0.0)
    until(lambda: publisher.get_subscription_count() and other.get_subscription_count())
    publisher.publish(Int32())
    until(lambda: heard)
    other.publish(Int32())
    until(lambda: executor.spin_once(timeout_sec=1.0) or others)
    assert (len(heard), len(others)) == (1, 1)


def test_a_subscription_that_is_destroyed_is_gone(executor, node, publisher):
    first, second = (subscribe(node, lambda data: None) for _ in range(2))
    executor.spin_once(timeout_sec=0.0)
    until(lambda: publisher.get_subscription_count() == 2)
    for left, subscription in ((1, first), (0, second)):
        node.destroy_subscription(subscription)
        executor.spin_once(timeout_sec=0.0)
        until(lambda left=left: publisher.get_subscription_count() == left)
        assert len(readers()) == left


def test_nothing_is_lost_when_another_subscription_comes_meanwhile(executor, node, publisher):
    heard, entered, go_on = [], threading.Event(), threading.Event()

    def hear(data):
        heard.append(deserialize_message(data, Int32).data)
        entered.set()
        go_on.wait(60.0)

    subscribe(node, hear)
    executor.spin_once(timeout_sec=0.0)
    until(publisher.get_subscription_count)
    for number in range(3):
        publisher.publish(Int32(data=number))
    assert entered.wait(60.0)
    create_background_subscription(node, Int32, "others", lambda data: None, 10)
    (reader,) = readers()
    spinning = threading.Thread(target=executor.spin_once, args=(0.0,))
    spinning.start()
    until(lambda: executor._background._closing)
    go_on.set()
    spinning.join(60.0)
    assert not reader.is_alive()
    until(lambda: heard == [0, 1, 2])


def test_one_that_is_made_while_the_executor_spins_is_taken_over(executor, node, monkeypatch):
    wake = executor.wake

    def wake_and_spin():  # as a thread does that spins at once
        wake()
        executor.spin_once(timeout_sec=0.0)

    monkeypatch.setattr(executor, "wake", wake_and_spin)
    subscribe(node, lambda data: None)
    assert readers()


def test_what_a_callback_raises_is_raised_where_the_executor_spins(executor, node, publisher):
    def fail(data):
        raise KeyError("broken")

    subscribe(node, fail)
    executor.spin_once(timeout_sec=0.0)
    until(publisher.get_subscription_count)
    publisher.publish(Int32())
    with pytest.raises(KeyError, match="broken"):
        until(lambda: executor.spin_once(timeout_sec=1.0))


def test_other_executors_receive_them_themselves():
    spinner, heard = Spinner(SingleThreadedExecutor()), []
    spinner.start()
    try:
        node = spinner.node("ordinary")
        spinner.do(subscribe, node, heard.append)
        publisher = node.create_publisher(Int32, "numbers", 10)
        until(publisher.get_subscription_count)
        publisher.publish(Int32())
        until(lambda: heard)
        assert not readers()
    finally:
        spinner.stop()


def test_what_lasts_is_received_once_for_all_nodes_of_a_process(spinner):
    heard = defaultdict(list)

    def subscribed(node, name, **kind):
        create_background_subscription(node, Int32, "numbers", heard[name].append, **kind)

    first, second = spinner.node("first"), spinner.node("second")
    remapped = spinner.node("remapped", cli_args=["-r", "numbers:=others"])
    sender = spinner.node("sender")
    numbers, others = (sender.create_publisher(Int32, name, 10) for name in ("numbers", "others"))
    subscribed(first, "shallow", qos=1, lasting=True)
    subscribed(second, "deep", qos=100, lasting=True)
    subscribed(second, "as sensors", qos=qos_profile_sensor_data, lasting=True)
    subscribed(second, "for a while", qos=10)
    subscribed(remapped, "elsewhere", qos=10, lasting=True)
    until(lambda: (numbers.get_subscription_count(), others.get_subscription_count()) == (4, 1))
    spinner.do(share_subscriptions, [first, second, remapped])
    until(lambda: (numbers.get_subscription_count(), others.get_subscription_count()) == (3, 1))
    depths = [
        each.qos_profile.depth for each in second.subscriptions if each.topic_name == "/numbers"
    ]
    assert sorted(depths) == [5, 10, 100]
    for number in range(3):
        numbers.publish(Int32(data=number))
    until(lambda: all(len(heard[name]) == 3 for name in ("shallow", "deep", "as sensors")))
    until(lambda: len(heard["for a while"]) == 3)
    assert heard["shallow"] == heard["deep"]
    assert not heard["elsewhere"]
