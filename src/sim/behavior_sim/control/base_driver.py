# SPDX-License-Identifier: Apache-2.0
"""A simulated differential-drive base, without physics: what its driver would offer.

Takes /cmd_vel, publishes /odom and the transform from odom to the base. As real drivers do it
bounds speeds and accelerations and stands when commands cease.
"""

from __future__ import annotations

import math
from typing import Any

from geometry_msgs.msg import TransformStamped, Twist
from nav_msgs.msg import Odometry
from rclpy.node import Node

from behavior_ros import (
    QOS_COMMAND,
    QOS_SENSOR,
    ParameterSpec,
    create_transform_broadcaster,
    declare_all,
    run,
    seconds,
)
from behavior_sim.control.differential_drive import DifferentialDrive


class BaseDriverNode(Node):  # type: ignore[misc] # rclpy has no type information
    """The driver of a simulated base."""

    PARAMETERS = (
        ParameterSpec("odom_frame", "odom", "fixed frame"),
        ParameterSpec("base_frame", "base_link", "frame of the base"),
        ParameterSpec("rate", 50.0, "[Hz] of motion and odometry", range=(1.0, 1000.0)),
        ParameterSpec("blocked", False, "true: something holds the base"),
    )

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(kwargs.pop("node_name", "base_driver"), **kwargs)
        values = declare_all(self, self.PARAMETERS)
        self._frames = (values["odom_frame"], values["base_frame"])
        self._base = DifferentialDrive(blocked=values["blocked"])
        self._odometry = self.create_publisher(Odometry, "odom", QOS_SENSOR)
        self._transforms = create_transform_broadcaster(self)
        self.create_subscription(Twist, "cmd_vel", self._on_command, QOS_COMMAND)
        self._last = self._now()
        self.create_timer(1.0 / values["rate"], self._step)

    def _now(self) -> float:
        return seconds(self.get_clock().now())

    def _on_command(self, message: Twist) -> None:
        self._base.command(message.linear.x, message.angular.z, self._now())

    def _step(self) -> None:
        now = self._now()
        self._base.step(now, min(max(now - self._last, 0.0), 0.5))
        self._last = now
        self._publish()

    def _publish(self) -> None:
        base, stamp = self._base, self.get_clock().now().to_msg()
        transform = TransformStamped()
        transform.header.stamp, transform.header.frame_id = stamp, self._frames[0]
        transform.child_frame_id = self._frames[1]
        transform.transform.translation.x = base.x
        transform.transform.translation.y = base.y
        transform.transform.rotation.z = math.sin(base.yaw / 2.0)
        transform.transform.rotation.w = math.cos(base.yaw / 2.0)
        self._transforms.send([transform])
        odometry = Odometry()
        odometry.header, odometry.child_frame_id = transform.header, self._frames[1]
        odometry.pose.pose.position.x, odometry.pose.pose.position.y = base.x, base.y
        odometry.pose.pose.orientation = transform.transform.rotation
        odometry.twist.twist.linear.x, odometry.twist.twist.angular.z = base.linear, base.angular
        self._odometry.publish(odometry)


def main(args: list[str] | None = None) -> int:
    """Entry point of `base_driver_node`."""
    return int(run([BaseDriverNode], args))


if __name__ == "__main__":
    raise SystemExit(main())
