# SPDX-License-Identifier: Apache-2.0
"""What hears nothing for long is waited for by a thread of its own, and served all the same."""

import threading

import pytest
import rclpy
from behavior_msgs.action import Pick
from rclpy.action import ActionClient, ActionServer
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from std_msgs.msg import Int32
from std_srvs.srv import Trigger

from behavior_ros.process import lean_executor
from behavior_ros.process.lean_executor import LeanExecutor
from behavior_ros.testing import until


@pytest.fixture(autouse=True)
def rests_soon(monkeypatch):
    monkeypatch.setattr(lean_executor, "_LIVELY", 0.05)


@pytest.fixture
def peer(spinner2):
    """A node that another thread spins."""
    return spinner2.node("peer")


def watches():
    return [thread for thread in threading.enumerate() if thread.name == "seldom_watch"]


def rest(executor):
    """Spin until the watch waits; the peer's has a thread as well."""
    until(lambda: executor.spin_once(timeout_sec=0.02) or executor._waiting._seldom._waits)


def greet(request, response):
    response.success, response.message = True, "hello"
    return response


def test_a_service_at_rest_answers(executor, node, peer):
    asked = []
    node.create_service(
        Trigger, "greet", lambda request, response: asked.append(1) or greet(request, response)
    )
    client = peer.create_client(Trigger, "greet")
    until(client.service_is_ready)
    for time in range(3):
        rest(executor)
        answer = client.call_async(Trigger.Request())
        # For ever, did the request not end the wait.
        until(lambda time=time: executor.spin_once(timeout_sec=60.0) or len(asked) > time)
        until(answer.done)
        assert answer.result().message == "hello"


def test_an_answer_reaches_a_client_at_rest(executor, node, peer):
    go_on = threading.Event()

    def slow(request, response):
        assert go_on.wait(60.0)
        return greet(request, response)

    peer.create_service(Trigger, "slow", slow)
    client = node.create_client(Trigger, "slow")
    until(client.service_is_ready)
    answer = client.call_async(Trigger.Request())
    rest(executor)
    go_on.set()
    until(lambda: executor.spin_once(timeout_sec=60.0) or answer.done())


def test_a_goal_reaches_an_action_server_at_rest(executor, node, peer):
    def count(goal):
        goal.succeed()
        return Pick.Result(message=goal.request.object_name)

    server = ActionServer(node, Pick, "count", count)
    client = ActionClient(peer, Pick, "count")
    rest(executor)
    until(lambda: executor.spin_once(timeout_sec=0.02) or client.server_is_ready())
    rest(executor)
    sent = client.send_goal_async(Pick.Goal(object_name="ball"))
    until(lambda: executor.spin_once(timeout_sec=0.5) or sent.done())
    result = sent.result().get_result_async()
    until(lambda: executor.spin_once(timeout_sec=0.5) or result.done())
    assert result.result().result.message == "ball"
    server.destroy()


def test_the_waits_of_others_do_not_list_it(executor, node, monkeypatch):
    node.create_service(Trigger, "greet", greet)
    heard, listed = [], []
    node.create_subscription(Int32, "numbers", heard.append, 10)
    publisher = node.create_publisher(Int32, "numbers", 10)
    until(lambda: executor.spin_once(timeout_sec=0.02) or publisher.get_subscription_count())
    rest(executor)
    add = lean_executor._Waiting._add
    monkeypatch.setattr(
        lean_executor._Waiting,
        "_add",
        lambda self, to, kinds, **k: listed.append(kinds) or add(self, to, kinds, **k),
    )
    for number in range(5):
        publisher.publish(Int32(data=number))
        until(lambda number=number: executor.spin_once(timeout_sec=0.5) or len(heard) > number)
    assert set(listed) == {lean_executor._OFTEN}


def test_what_is_destroyed_at_rest_is_gone(executor, node, peer):
    services = [node.create_service(Trigger, f"greet_{i}", greet) for i in range(2)]
    clients = [peer.create_client(Trigger, f"greet_{i}") for i in range(2)]
    until(lambda: all(client.service_is_ready() for client in clients))
    rest(executor)
    node.destroy_service(services[0])
    executor.spin_once(timeout_sec=0.0)
    until(lambda: not clients[0].service_is_ready())
    rest(executor)
    answer = clients[1].call_async(Trigger.Request())
    until(lambda: executor.spin_once(timeout_sec=0.5) or answer.done())


def test_shutdown_ends_its_thread(executor, node):
    node.create_service(Trigger, "greet", greet)
    rest(executor)
    assert len(watches()) == 1
    executor.shutdown(timeout_sec=0.0)
    assert not watches()


def test_shutdown_of_the_context_ends_its_thread():
    context = rclpy.Context()
    rclpy.init(context=context)
    executor, node = LeanExecutor(context=context), Node("lean", context=context)
    executor.add_node(node)
    node.create_service(Trigger, "greet", greet)
    rest(executor)
    threading.Timer(0.05, context.try_shutdown).start()
    with pytest.raises(ExternalShutdownException):
        until(lambda: executor.spin_once(timeout_sec=60.0))
    executor.shutdown(timeout_sec=0.0)
    assert not watches()
    node.destroy_node()


def test_a_wait_that_fails_leaves_the_services_to_the_executor(executor, node, peer):
    class Broken:
        def __init__(self, wait_set):
            self._wait_set = wait_set

        def __getattr__(self, name):
            return getattr(self._wait_set, name)

        def wait(self, timeout):
            failed.append(timeout)
            raise RuntimeError("broken")

    failed = []
    node.create_service(Trigger, "greet", greet)
    client = peer.create_client(Trigger, "greet")
    until(client.service_is_ready)
    executor.spin_once(timeout_sec=0.0)
    watch = executor._waiting._seldom
    watch._set = Broken(watch._set)
    until(lambda: executor.spin_once(timeout_sec=0.02) or len(failed) > 1)
    answer = client.call_async(Trigger.Request())
    until(lambda: executor.spin_once(timeout_sec=0.5) or answer.done())
