# SPDX-License-Identifier: Apache-2.0
"""Frames of the robot from its joint states: what is fixed is told once, the rest as it moves."""

import os

import numpy as np
import pytest
import rclpy
from fakes import ROBOT_FILE
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from behavior_ros import QOS_SENSOR, create_transform_buffer, to_time
from behavior_ros.process.lean_executor import LeanExecutor
from behavior_ros.testing import own_domain, until
from behavior_skills.node.robot_file import robot_of
from behavior_skills.node.robot_state_publisher import RobotStatePublisher, parent_frames


@pytest.fixture
def spun(monkeypatch):
    monkeypatch.setitem(os.environ, "ROS_DOMAIN_ID", str(own_domain()))
    rclpy.init()
    robot = Parameter("robot", value=str(ROBOT_FILE))
    nodes = [RobotStatePublisher(parameter_overrides=[robot]), Node("listener")]
    executor = LeanExecutor()
    for node in nodes:
        executor.add_node(node)
    yield executor, nodes[1]
    executor.shutdown(timeout_sec=0.0)
    for node in nodes:
        node.destroy_node()
    rclpy.try_shutdown()


def test_every_link_is_where_the_joints_have_it(spun):
    executor, node = spun
    robot = robot_of(str(ROBOT_FILE))
    buffer = create_transform_buffer(node)
    moving = []
    node.create_subscription(TFMessage, "/tf", lambda m: moving.extend(m.transforms), 10)
    publisher = node.create_publisher(JointState, "/joint_states", QOS_SENSOR)
    executor.spin_once(timeout_sec=0.0)
    until(publisher.get_subscription_count)
    q, width = np.linspace(-0.5, -1.5, len(robot.joint_names)), 0.03
    message = JointState(name=[*robot.joint_names, *robot.gripper.joint_names])
    message.header.stamp = to_time(5.0)
    message.position = [*q, *robot.gripper.joint_positions(width)]
    poses = robot.link_poses(q, width)

    publisher.publish(b"\0\1\0\0what is no joint state")

    def told():
        publisher.publish(message)
        executor.spin_once(timeout_sec=0.1)
        return moving and all(buffer.can_transform(robot.base_frame, name) for name in poses)

    until(told)
    for name, pose in poses.items():
        found = buffer.lookup_matrix(robot.base_frame, name, to_time(5.0))
        np.testing.assert_allclose(found, pose, atol=1e-9)
    # The hand does not move against the flange.
    names = {transform.child_frame_id for transform in moving}
    assert "panda_link7" in names
    assert "panda_hand" not in names


@pytest.mark.slow
def test_wheels_and_all_else_that_is_not_planned_for_have_a_frame():
    # A locked wheel's frame was its own parent, and the publisher looked upwards for ever.
    robot = robot_of(str(ROBOT_FILE.parent / "tiago_pro.yaml"))
    fixed, moving = parent_frames(robot)
    assert {*fixed, *moving} == {*robot.frame_names} - {"base_footprint"}
    assert fixed["wheel_front_left_link"] == "suspension_front_left_link"
    assert moving["arm_left_1_link"] == moving["arm_right_1_link"] == "torso_lift_link"
