# SPDX-License-Identifier: Apache-2.0
"""Parameters, message caches, diagnostics and transforms on real topics."""

import importlib.util

import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PointStamped, TransformStamped
from rclpy.context import Context
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Header, Int32
from tf2_msgs.msg import TFMessage

from behavior_ros import (
    OK,
    QOS_COMMAND,
    WARN,
    AgeSince,
    DiagnosticsPublisher,
    MessageCache,
    ParameterError,
    ParameterSpec,
    TransformError,
    create_static_transform_broadcaster,
    create_transform_broadcaster,
    create_transform_buffer,
    declare,
    declare_all,
    matrix_to_transform,
    to_time,
)
from behavior_ros.process.lean_executor import LeanExecutor
from behavior_ros.testing import until
from behavior_ros.topics.qos import QOS_TRANSFORMS
from behavior_ros.transforms.builtin_transforms import BuiltinTransformBuffer

HAS_TF2 = importlib.util.find_spec("tf2_ros") is not None
NEEDS_TF2 = pytest.mark.skipif(not HAS_TF2, reason="tf2_ros is not importable here")


class TestParameters:
    SPEC = ParameterSpec("rate", 20.0, "tick rate [Hz]", range=(1.0, 100.0))

    def node(self, spinner, *overrides):
        return spinner.node("parameters", parameter_overrides=list(overrides))

    def test_default_description_and_range(self, spinner):
        node = self.node(spinner)
        assert declare(node, self.SPEC) == 20.0
        described = node.describe_parameter("rate")
        assert described.description == "tick rate [Hz]"
        assert described.floating_point_range[0].to_value == 100.0
        assert declare(node, self.SPEC) == 20.0

    def test_integer_for_a_float_is_taken(self, spinner):
        value = declare(self.node(spinner, Parameter("rate", value=30)), self.SPEC)
        assert value == 30.0
        assert isinstance(value, float)
        array = ParameterSpec("home", [0.0, 0.0], "home [rad]")
        node = spinner.node("other", parameter_overrides=[Parameter("home", value=[1, 2])])
        assert list(declare(node, array)) == [1.0, 2.0]

    @pytest.mark.parametrize(
        ("spec", "value", "text"),
        [
            (SPEC, 1000.0, "from 1.0 to 100.0"),
            (SPEC, "fast", "must be a number like 20.0, not 'fast'"),
            (ParameterSpec("rate", "a", "x", choices=("a", "b")), "c", "one of a, b"),
            (ParameterSpec("rate", 3, "x", range=(1, 5)), 9, "from 1 to 5"),
            (ParameterSpec("rate", [0.5], "x", range=(0.0, 1.0)), [0.1, 2.0], "rate is 2.0"),
        ],
    )
    def test_wrong_values_at_start(self, spinner, spec, value, text):
        with pytest.raises(ParameterError, match=text):
            declare(self.node(spinner, Parameter("rate", value=value)), spec)

    def test_wrong_values_later(self, spinner):
        node = self.node(spinner)
        declare_all(
            node,
            [
                self.SPEC,
                ParameterSpec("mode", "a", "mode", choices=("a", "b")),
                ParameterSpec("fixed", 1, "fixed", read_only=True),
            ],
        )

        def change(name, value):
            return node.set_parameters([Parameter(name, value=value)])[0]

        assert change("rate", 50.0).successful
        assert not change("rate", 500.0).successful
        refused = change("mode", "c")
        assert (refused.successful, "one of a, b" in refused.reason) == (False, True)
        assert not change("fixed", 2).successful

    def test_all_problems_at_once(self, spinner):
        node = self.node(spinner, Parameter("rate", value=0.0), Parameter("mode", value="c"))
        with pytest.raises(ParameterError) as info:
            declare_all(node, [self.SPEC, ParameterSpec("mode", "a", "mode", choices=("a", "b"))])
        assert "rate" in str(info.value)
        assert "mode" in str(info.value)


def test_message_cache(spinner):
    node = spinner.node("cache")
    heard = []
    cache = spinner.do(
        lambda: MessageCache(node, Int32, "/n", max_age=0.2, qos=QOS_COMMAND, callback=heard.append)
    )
    assert cache.latest() is None
    assert cache.age() == float("inf")
    publisher = node.create_publisher(Int32, "/n", QOS_COMMAND)
    until(lambda: publisher.get_subscription_count() == 1)
    publisher.publish(Int32(data=1))
    until(lambda: cache.sequence == 1)
    assert cache.latest().data == 1
    assert cache.consume_new().data == 1
    assert cache.consume_new() is None
    until(lambda: not cache.fresh())
    assert cache.latest() is None
    assert cache.newest().data == 1
    assert [m.data for m in heard] == [1]
    cache.clear()
    assert cache.newest() is None


@pytest.mark.parametrize("wrong", [0, -1.0, float("nan")])
def test_message_cache_refuses_a_bad_age(spinner, wrong):
    with pytest.raises(ValueError, match=f"/n is {wrong} s"):
        MessageCache(spinner.node("cache"), Int32, "/n", max_age=wrong)


def simulated_time(spinner, name):
    """Return a node on simulated time, and what sets it [s]."""
    node = spinner.node(name, parameter_overrides=[Parameter("use_sim_time", value=True)])
    clock = node.create_publisher(Clock, "/clock", 10)
    until(lambda: clock.get_subscription_count() >= 1)

    def set_time(now):
        clock.publish(Clock(clock=to_time(now)))
        until(lambda: node.get_clock().now().nanoseconds == round(now * 1e9))

    return node, set_time


def publish_point(publisher, stamp):
    header = Header(stamp=to_time(stamp))
    publisher.publish(PointStamped(header=header))


def test_message_cache_by_stamps(spinner):
    node, set_time = simulated_time(spinner, "stamps")
    heard = []
    cache = spinner.do(
        lambda: MessageCache(
            node,
            PointStamped,
            "/stamps",
            max_age=1.0,
            qos=QOS_COMMAND,
            age_since=AgeSince.STAMP,
            callback=heard.append,
        )
    )
    publisher = node.create_publisher(PointStamped, "/stamps", QOS_COMMAND)
    until(lambda: publisher.get_subscription_count() == 1)
    set_time(100.0)
    for stamp in (99.5, 99.2, 99.5, 99.75):
        publish_point(publisher, stamp)
    until(lambda: cache.sequence == 2)
    until(lambda: (cache.late, cache.duplicates) == (1, 1))
    assert len(heard) == 2
    assert cache.age() == 0.25
    set_time(100.75)
    assert cache.fresh()
    set_time(100.76)
    assert not cache.fresh()
    set_time(5.0)
    until(lambda: cache.newest() is None)
    assert cache.consume_new() is None
    publish_point(publisher, 5.0)
    until(lambda: cache.fresh())
    spinner.do(cache.destroy)
    until(lambda: publisher.get_subscription_count() == 0)


def test_heartbeats_age_in_steady_time(spinner):
    node, set_time = simulated_time(spinner, "heartbeats")
    cache = spinner.do(
        lambda: MessageCache(
            node, Int32, "/beat", max_age=0.05, qos=QOS_COMMAND, age_since=AgeSince.HEARTBEAT
        )
    )
    publisher = node.create_publisher(Int32, "/beat", QOS_COMMAND)
    until(lambda: publisher.get_subscription_count() == 1)
    set_time(100.0)
    publisher.publish(Int32(data=1))
    until(lambda: cache.sequence == 1)
    # Simulated time stands still and then jumps back: neither makes it younger nor forgets it.
    until(lambda: not cache.fresh())
    set_time(5.0)
    assert cache.newest().data == 1


def test_diagnostics(spinner):
    node = spinner.node("component")
    heard = []
    node.create_subscription(DiagnosticArray, "/diagnostics", heard.append, 10)
    diagnostics = spinner.do(lambda: DiagnosticsPublisher(node, "controller", "arm"))
    until(lambda: diagnostics._publisher.get_subscription_count() == 1)
    diagnostics._timer.cancel()  # what comes now was published at once
    diagnostics.set(OK, "working", rate=19.987654321, goals=3)
    until(lambda: heard)
    status = heard[-1].status[0]
    assert (status.name, status.level, status.hardware_id) == ("component: controller", OK, "arm")
    assert {v.key: v.value for v in status.values} == {"rate": "19.9877", "goals": "3"}
    diagnostics.set(WARN, "slow")
    until(lambda: heard[-1].status[0].level == WARN)
    count = len(heard)
    diagnostics._timer.reset()
    until(lambda: len(heard) > count, what="the periodic report")


def stamped(parent, child, x, second):
    matrix = np.eye(4)
    matrix[0, 3] = x
    message = TransformStamped(child_frame_id=child, transform=matrix_to_transform(matrix))
    message.header.frame_id = parent
    message.header.stamp = to_time(second)
    return message


@pytest.fixture(params=["builtin", pytest.param("tf2_ros", marks=NEEDS_TF2)])
def transforms(request, spinner, spinner2):
    """Return buffer and broadcasters of one implementation, on two nodes."""
    override = [Parameter("transform_implementation", value=request.param)]
    listener = spinner.node("listener", parameter_overrides=override)
    sender = spinner2.node("sender", parameter_overrides=override)
    buffer = spinner.do(lambda: create_transform_buffer(listener))
    moving = spinner2.do(lambda: create_transform_broadcaster(sender))
    static = spinner2.do(lambda: create_static_transform_broadcaster(sender))
    until(lambda: sender.count_subscribers("/tf") == 1)
    return buffer, moving, static


def test_transforms_over_topics(transforms):
    buffer, moving, static = transforms
    static.send([stamped("world", "base", 1.0, 0.0)])
    static.send([stamped("base", "camera", 10.0, 0.0)])
    moving.send([stamped("base", "hand", 0.0, 5.0)])
    moving.send_poses(6 * 10**9, [("base", "hand")], [(2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)])
    until(lambda: buffer.can_transform("world", "hand", to_time(6.0)))
    until(lambda: buffer.can_transform("world", "camera"))
    found = buffer.lookup_transform("world", "hand", to_time(5.5))
    assert found.transform.translation.x == pytest.approx(2.0)
    assert (found.header.frame_id, found.child_frame_id) == ("world", "hand")
    assert found.header.stamp == to_time(5.5)
    assert buffer.lookup_matrix("hand", "camera")[0, 3] == pytest.approx(8.0)
    assert not buffer.can_transform("world", "nowhere")
    with pytest.raises(TransformError, match="nowhere"):
        buffer.lookup_matrix("world", "nowhere")
    with pytest.raises(TransformError, match="extrapolation"):
        buffer.lookup_matrix("world", "hand", to_time(7.0))
    for frame in ("camera", "hand"):
        with pytest.raises(TransformError, match="no time of a clock"):
            buffer.lookup_transform("world", frame, to_time(-0.5))
        assert not buffer.can_transform("world", frame, to_time(-0.5))


def test_a_transform_of_before_time_began_is_ignored(spinner, spinner2):
    """As of a sender that takes its latency from a simulation's first milliseconds."""
    buffer = spinner.do(lambda: create_transform_buffer(spinner.node("listener")))
    sender = spinner2.node("sender")
    moving = spinner2.do(lambda: create_transform_broadcaster(sender))
    until(lambda: sender.count_subscribers("/tf") == 1)
    moving.send([stamped("world", "base", 1.0, -0.05), stamped("world", "hand", 2.0, 0.02)])
    until(lambda: buffer.can_transform("world", "hand"))
    assert buffer.lookup_transform("world", "hand").header.stamp == to_time(0.02)
    assert not buffer.can_transform("world", "base")


def test_a_busy_process_does_not_fall_behind():
    """Everything that waits is taken in at once, though rclpy hands out one message per wait."""
    context = Context()
    rclpy.init(context=context)
    executor = LeanExecutor(context=context)
    listener, sender = (Node(name, context=context) for name in ("busy", "sender"))
    executor.add_node(listener)
    buffer = BuiltinTransformBuffer(listener)
    publisher = sender.create_publisher(TFMessage, "/tf", QOS_TRANSFORMS)
    try:
        until(lambda: publisher.get_subscription_count() == 1)
        for second in range(1, 26):
            message = stamped("world", "base", float(second), float(second))
            publisher.publish(TFMessage(transforms=[message]))
        assert publisher.wait_for_all_acked(Duration(seconds=20))
        while not buffer.can_transform("world", "base"):
            executor.spin_once(timeout_sec=1.0)
        assert buffer.lookup_matrix("world", "base")[0, 3] == 25.0
    finally:
        executor.shutdown()
        listener.destroy_node()
        sender.destroy_node()
        rclpy.shutdown(context=context)


def test_late_listeners_get_static_transforms(spinner, spinner2):
    sender = spinner2.do(lambda: create_static_transform_broadcaster(spinner2.node("sender")))
    for index in range(3):
        sender.send([stamped("world", f"frame{index}", float(index), 0.0)])
    buffer = spinner.do(lambda: create_transform_buffer(spinner.node("late")))
    for index in range(3):
        frame = f"frame{index}"
        until(lambda frame=frame: buffer.can_transform("world", frame))


@NEEDS_TF2
def test_both_implementations_agree():
    import tf2_ros
    from rclpy.time import Time

    from behavior_ros import TransformTree
    from behavior_ros.messages.conversions import transform_to_matrix

    rng = np.random.default_rng(0)
    ours, theirs = TransformTree(), tf2_ros.BufferCore()
    for child in range(1, 6):
        parent = int(rng.integers(0, child))
        for second in (1, 2, 3):
            quaternion = rng.normal(size=4)
            quaternion /= np.linalg.norm(quaternion)
            position = rng.normal(size=3)
            message = TransformStamped(child_frame_id=f"f{child}")
            message.header.frame_id = f"f{parent}"
            message.header.stamp = to_time(second)
            t, r = message.transform.translation, message.transform.rotation
            t.x, t.y, t.z = position
            r.x, r.y, r.z, r.w = quaternion
            theirs.set_transform(message, "test")
            ours.set(f"f{parent}", f"f{child}", second * 10**9, tuple(position), tuple(quaternion))
    for _ in range(100):
        a, b = rng.integers(0, 6, size=2)
        stamp = int(rng.uniform(1.0, 3.0) * 1e9)
        expected = theirs.lookup_transform_core(f"f{a}", f"f{b}", Time(nanoseconds=stamp))
        got, _ = ours.lookup(f"f{a}", f"f{b}", stamp)
        np.testing.assert_allclose(got, transform_to_matrix(expected.transform), atol=1e-9)
