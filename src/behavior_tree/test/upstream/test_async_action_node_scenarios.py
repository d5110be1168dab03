# SPDX-License-Identifier: Apache-2.0
"""An action that works in a thread of its own: the scenarios of gtest_async_action_node.cpp.

The engine has no class for this: a stateful action starts the thread, looks at it, and waits for
its end when halted.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from behavior_tree import NodeExecutionError, NodeStatus, StatefulActionNode

covers = partial(pytest.mark.upstream, "gtest_async_action_node.cpp")
PATIENCE_S = 60


class Threaded(StatefulActionNode):
    """Runs ``work(node)`` in a thread; its result is the node's, its exception the tick's."""

    def __init__(self, name, config, work):
        super().__init__(name, config)
        self.work = work
        self.future = None
        self.pool = ThreadPoolExecutor(1)

    def on_start(self):
        self.future = self.pool.submit(self.work, self)
        self.future.add_done_callback(lambda _: self.emit_wake_up())
        return NodeStatus.RUNNING

    def on_running(self):
        return self.future.result() if self.future.done() else NodeStatus.RUNNING

    def on_halted(self):
        self.future.result(PATIENCE_S)


@pytest.fixture
def threaded(mended):
    """Build a tree of one threaded action around a function; gives the tree's node."""

    def build(work):
        mended.factory.register_node_type(Threaded, "Threaded", work)
        return mended.load("<Threaded/>").tree.root_node()

    return build


def spin(node):
    """Tick until the node is done, waiting for the thread in between."""
    status = node.execute_tick()
    while status is NodeStatus.RUNNING:
        threading.Event().wait(0.001)
        status = node.execute_tick()
    return status


@covers("NodeStatusFixture.normal_routine")
@pytest.mark.parametrize("result", [NodeStatus.SUCCESS, NodeStatus.FAILURE])
def test_result_of_the_thread(threaded, result):
    assert spin(threaded(lambda _: result)) is result


@covers("MockedThreadedActionFixture.no_halt")
def test_halt_before_the_start(threaded):
    node = threaded(lambda _: NodeStatus.SUCCESS)
    node.halt()
    assert node.is_halt_requested()
    assert spin(node) is NodeStatus.SUCCESS
    assert not node.is_halt_requested()


@covers("MockedThreadedActionFixture.halt")
def test_halt_waits_for_the_thread(threaded):
    release = threading.Event()

    def work(_):
        assert release.wait(PATIENCE_S)
        return NodeStatus.SUCCESS

    node = threaded(work)
    assert node.execute_tick() is NodeStatus.RUNNING
    halting = threading.Thread(target=node.halt)
    halting.start()
    halting.join(0.02)
    assert halting.is_alive()
    assert node.status is NodeStatus.RUNNING
    assert node.is_halt_requested()
    release.set()
    halting.join(PATIENCE_S)
    assert node.status is NodeStatus.IDLE


@covers("MockedThreadedActionFixture.exception")
def test_exception_of_the_thread_is_raised_by_the_tick(threaded):
    results = iter([ValueError("this is not good"), NodeStatus.SUCCESS])

    def work(_):
        result = next(results)
        if isinstance(result, Exception):
            raise result
        return result

    node = threaded(work)
    with pytest.raises(NodeExecutionError, match="this is not good"):
        spin(node)
    node.reset_status()
    assert spin(node) is NodeStatus.SUCCESS
