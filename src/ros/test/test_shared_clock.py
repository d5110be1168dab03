# SPDX-License-Identifier: Apache-2.0
"""Nodes of one process hear the clock once."""

import threading

import rclpy
from builtin_interfaces.msg import Time
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock

from behavior_ros.process.lean_executor import LeanExecutor
from behavior_ros.process.shared_clock import share_clock
from behavior_ros.testing import own_domain, until

SIMULATED = [Parameter("use_sim_time", value=True)]


def test_one_subscription_sets_all_simulated_clocks(spinner):
    first, second = (
        spinner.node(name, parameter_overrides=SIMULATED) for name in ("first", "second")
    )
    other = spinner.node("on_the_systems_clock")
    publisher = other.create_publisher(Clock, "/clock", 1)
    until(lambda: publisher.get_subscription_count() == 2)
    spinner.do(share_clock, [other, first, second])
    until(lambda: publisher.get_subscription_count() == 1)
    publisher.publish(Clock(clock=Time(sec=100)))
    until(lambda: second.get_clock().now().nanoseconds == 100 * 10**9)
    assert first.get_clock().now().nanoseconds == 100 * 10**9
    assert other.get_clock().now().nanoseconds > 10**18
    heard = []
    spinner.do(second.create_timer, 5.0, lambda: heard.append(second.get_clock().now().nanoseconds))
    publisher.publish(Clock(clock=Time(sec=105)))
    until(lambda: heard)
    assert heard == [105 * 10**9]


def test_time_goes_on_beside_a_callback_and_jumps_back_between_two():
    """What a jump back has forgotten belongs to callbacks."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=own_domain())
    executor = LeanExecutor(context=context)
    node = Node("simulated", context=context, parameter_overrides=SIMULATED)
    executor.add_node(node)
    share_clock([node])
    publisher = node.create_publisher(Clock, "/clock", 10)
    threads, clock = [], node.get_clock()
    back = JumpThreshold(min_forward=None, min_backward=Duration(seconds=-1), on_clock_change=False)
    handle = clock.create_jump_callback(
        back, post_callback=lambda jump: threads.append(threading.current_thread())
    )

    def second():
        return clock.now().nanoseconds // 10**9

    try:
        executor.spin_once(timeout_sec=0.0)
        until(publisher.get_subscription_count)
        publisher.publish(Clock(clock=Time(sec=100)))
        until(lambda: second() == 100)
        publisher.publish(Clock(clock=Time(sec=50)))
        publisher.publish(Clock(clock=Time(sec=51)))
        until(lambda: executor.spin_once(timeout_sec=1.0) or second() == 51)
        assert threads == [threading.current_thread()]
        publisher.publish(Clock(clock=Time(sec=52)))
        until(lambda: second() == 52)
    finally:
        handle.unregister()
        executor.shutdown(timeout_sec=0.0)
        node.destroy_node()
        context.try_shutdown()


def test_it_does_nothing_where_no_node_is_simulated(spinner):
    spinner.do(share_clock, [spinner.node("alone")])
