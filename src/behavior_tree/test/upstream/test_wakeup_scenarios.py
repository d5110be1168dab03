# SPDX-License-Identifier: Apache-2.0
"""A node ends the tree's sleep from another thread: the scenario of gtest_wakeup.cpp."""

import threading
import time

import pytest

from behavior_tree import BehaviorTreeFactory, NodeStatus, StatefulActionNode


class Threaded(StatefulActionNode):
    def on_start(self):
        self.thread = threading.Thread(target=self.emit_wake_up)
        self.thread.start()
        return NodeStatus.RUNNING

    def on_running(self):
        self.thread.join()
        return NodeStatus.SUCCESS

    def on_halted(self):
        self.thread.join()


@pytest.mark.upstream("gtest_wakeup.cpp", "WakeUp.BasicTest")
def test_sleep_ends_when_a_node_calls():
    factory = BehaviorTreeFactory()
    factory.register_node_type(Threaded, "Threaded")
    tree = factory.create_tree_from_text(
        '<root BTCPP_format="4"><BehaviorTree ID="M"><Threaded/></BehaviorTree></root>'
    )
    started = time.monotonic()
    status = tree.tick_exactly_once()
    assert status is NodeStatus.RUNNING
    assert tree.sleep(100_000)
    assert time.monotonic() - started < 50
    assert tree.tick_exactly_once() is NodeStatus.SUCCESS


def test_whoever_sleeps_otherwise_has_the_signal():
    """`Tree::wakeUpSignal` of 4.9.1."""
    factory = BehaviorTreeFactory()
    factory.register_node_type(Threaded, "Threaded")
    tree = factory.create_tree_from_text(
        '<root BTCPP_format="4"><BehaviorTree ID="M"><Threaded/></BehaviorTree></root>'
    )
    signal = tree.wake_up_signal()
    assert not signal.wait_for(0)
    assert tree.tick_exactly_once() is NodeStatus.RUNNING
    assert signal.wait_for(60)
    assert not signal.wait_for(0), "each signal counts once"
    signal.emit_signal()
    assert tree.sleep(60_000)
    assert tree.tick_exactly_once() is NodeStatus.SUCCESS
