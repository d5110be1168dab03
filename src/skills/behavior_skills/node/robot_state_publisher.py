# SPDX-License-Identifier: Apache-2.0
"""Frames of the robot's links from its joint states, for machines without a ROS distribution.

Where the distribution's robot_state_publisher is there, start that one instead: it publishes the
same frames and the same latched `/robot_description`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.qos import QoSProfile, QoSReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from behavior_motion import RobotModel
from behavior_ros import (
    QOS_LATCHED,
    ParameterSpec,
    create_static_transform_broadcaster,
    create_transform_broadcaster,
    declare_all,
    run,
)
from behavior_ros.messages.conversions import transform_messages
from behavior_ros.messages.joint_state_wire import WireJointState, read_joint_state
from behavior_ros.node.silence import Moment, moment
from behavior_ros.topics.background import create_background_subscription
from behavior_skills.node.joint_states import ARM, JointStates, Untaken
from behavior_skills.node.robot_file import ROBOT, robot_of

QOS_EVERY_JOINT_STATE = QoSProfile(depth=200, reliability=QoSReliabilityPolicy.BEST_EFFORT)
"""Deep: while the process is busy planning, joint states wait. Were they dropped, the frames of
that time would be interpolated over a gap, centimetres off in fast motion."""

RESTS = 1e-7
"""[rad or m] A robot whose joints are as near as that to where they were has the same frames."""

PARAMETERS = [
    ROBOT,
    ParameterSpec("publish_rate", 20.0, "[Hz] of the frames", range=(0.1, 1000.0)),
    ParameterSpec("publish_description", True, "publish the URDF on /robot_description"),
]


class RobotStatePublisher(Node):  # type: ignore[misc] # rclpy has no type information
    """Publishes the robot's frames on /tf, those that are fixed to another on /tf_static."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(kwargs.pop("node_name", "robot_state_publisher"), **kwargs)
        values = declare_all(self, PARAMETERS)
        self._robot = robot_of(values["robot"])
        fixed, self._frames = map(_pairs, parent_frames(self._robot))
        self._joints = JointStates(self._robot)
        self._untaken = Untaken(self._take)
        self._told: list[str] = []
        """Parts that the newest message tells of."""
        self._period = 1.0 / values["publish_rate"]
        self._published = -np.inf
        self._at: NDArray[np.float64] | None = None
        """Joints and the gripper's width, of `_poses`."""
        self._poses: list[tuple[float, ...]] = []
        """Of the frames that move."""
        self._broadcaster = create_transform_broadcaster(self)
        self._static_broadcaster = create_static_transform_broadcaster(self)
        poses = self._robot.poses_above(fixed, np.zeros(len(self._robot.joint_names)))
        self._static_broadcaster.send(transform_messages(0, fixed, poses))
        if values["publish_description"]:
            self._description = self.create_publisher(String, "robot_description", QOS_LATCHED)
            self._description.publish(String(data=self._robot.urdf))
        create_background_subscription(
            self, JointState, "joint_states", self._on_joints, QOS_EVERY_JOINT_STATE, lasting=True
        )

    def _take(self, message: WireJointState, when: Moment) -> None:
        self._told = self._joints.take(message)

    def _on_joints(self, data: bytes) -> None:
        try:
            message = read_joint_state(data)
        except ValueError as error:
            self.get_logger().warning(f"joint state ignored: {error}", throttle_duration_sec=5.0)
            return
        self._untaken.hear(message, moment(1e-9 * message.stamp))
        if 0.0 <= 1e-9 * message.stamp - self._published < 0.99 * self._period:
            return
        self._untaken.take()
        # Fingers may be told of by others than the arm, whose frames are to be of the stamp's time.
        state = self._joints.state() if ARM in self._told else None
        if state is None:
            return
        self._published = 1e-9 * message.stamp
        at = np.append(state.q, state.width)
        if self._at is None or np.abs(at - self._at).max() > RESTS:
            self._at = at
            self._poses = self._robot.poses_above(self._frames, state.q, state.width)
        self._broadcaster.send_poses(message.stamp, self._frames, self._poses)


def _pairs(parents: Mapping[str, str]) -> list[tuple[str, str]]:
    """Parent and child of each."""
    return [(parent, child) for child, parent in parents.items()]


def parent_frames(robot: RobotModel) -> tuple[dict[str, str], dict[str, str]]:
    """Parent link of every link and frame but the base: of those that never move against it, and
    of the others.
    """
    # Of the URDF: where pinocchio locks a joint, such as a wheel's, its frame is its own parent.
    above = {
        child.get("link", ""): parent.get("link", "")
        for joint in ElementTree.fromstring(robot.urdf).iterfind("joint")
        for child, parent in zip(joint.iterfind("child"), joint.iterfind("parent"), strict=True)
    }
    model = robot.pin_model
    moved_by = {frame.name: frame.parentJoint for frame in model.frames}
    fixed: dict[str, str] = {}
    moving: dict[str, str] = {}
    for name in robot.frame_names:
        if name in above and name != robot.base_frame:
            parents = fixed if moved_by[name] == moved_by[above[name]] else moving
            parents[name] = above[name]
    return fixed, moving


def main(args: list[str] | None = None) -> int:
    """Entry point of `robot_state_publisher_node`."""
    return int(run([RobotStatePublisher], args))


if __name__ == "__main__":
    raise SystemExit(main())
