# SPDX-License-Identifier: Apache-2.0
"""Nodes of one process hear the transforms once."""

import pytest
from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

from behavior_ros.process.shared_clock import share_clock
from behavior_ros.testing import until
from behavior_ros.topics.qos import QOS_STATIC_TRANSFORMS, QOS_TRANSFORMS
from behavior_ros.transforms.builtin_transforms import BuiltinTransformBuffer, share_transforms

SIMULATED = [Parameter("use_sim_time", value=True)]


def shifted(x, sec=10):
    transform = TransformStamped(header=Header(frame_id="map", stamp=Time(sec=sec)))
    transform.child_frame_id, transform.transform.translation.x = "robot", x
    return TFMessage(transforms=[transform])


def x_of(buffer):
    return float(buffer.lookup_matrix("map", "robot")[0, 3])


@pytest.fixture
def sender(spinner):
    node = spinner.node("sender")
    return node.create_publisher(TFMessage, "/tf", QOS_TRANSFORMS)


def test_one_subscription_fills_all_buffers(spinner, sender):
    static = spinner.node("sender_of_static").create_publisher(
        TFMessage, "/tf_static", QOS_STATIC_TRANSFORMS
    )
    nodes = [spinner.node(name) for name in ("first", "second", "third")]
    buffers = [BuiltinTransformBuffer(node) for node in nodes for _ in range(2)]
    until(lambda: sender.get_subscription_count() == static.get_subscription_count() == 6)
    spinner.do(share_transforms, nodes)
    until(lambda: sender.get_subscription_count() == static.get_subscription_count() == 1)
    sender.publish(shifted(2.0))
    until(lambda: buffers[-1].can_transform("map", "robot"))
    assert [x_of(buffer) for buffer in buffers] == [2.0] * 6


def test_what_is_heard_elsewhere_or_kept_for_longer_is_not_shared(spinner, sender):
    nodes = [spinner.node("first"), spinner.node("remapped", cli_args=["-r", "/tf:=/other/tf"])]
    here, elsewhere = (BuiltinTransformBuffer(node) for node in nodes)
    longer = BuiltinTransformBuffer(nodes[0], cache_time=30.0)
    spinner.do(share_transforms, nodes)
    until(lambda: sender.get_subscription_count() == 2)
    sender.publish(shifted(2.0))
    until(lambda: here.can_transform("map", "robot") and longer.can_transform("map", "robot"))
    assert not elsewhere.can_transform("map", "robot")


def test_a_jump_back_of_simulated_time_empties_what_all_look_at(spinner, sender):
    real, simulated = spinner.node("real"), spinner.node("simulated", parameter_overrides=SIMULATED)
    clock = real.create_publisher(Clock, "/clock", 10)
    buffers = [BuiltinTransformBuffer(node) for node in (real, simulated)]

    def share():
        share_clock([real, simulated])
        share_transforms([real, simulated])

    spinner.do(share)
    until(lambda: sender.get_subscription_count() == clock.get_subscription_count() == 1)
    clock.publish(Clock(clock=Time(sec=100)))
    until(lambda: simulated.get_clock().now().nanoseconds == 100 * 10**9)
    sender.publish(shifted(2.0, sec=100))
    until(lambda: buffers[0].can_transform("map", "robot"))
    clock.publish(Clock(clock=Time(sec=1)))
    until(lambda: not buffers[0].can_transform("map", "robot"))
    sender.publish(shifted(3.0, sec=1))
    until(lambda: buffers[1].can_transform("map", "robot"))
    assert [x_of(buffer) for buffer in buffers] == [3.0, 3.0]
