# SPDX-License-Identifier: Apache-2.0
"""Nodes of one process hear the clock once."""

from builtin_interfaces.msg import Time
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock

from behavior_ros.shared_clock import share_clock
from behavior_ros.testing import until

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


def test_it_does_nothing_where_no_node_is_simulated(spinner):
    spinner.do(share_clock, [spinner.node("alone")])
