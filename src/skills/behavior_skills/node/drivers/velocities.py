# SPDX-License-Identifier: Apache-2.0
"""Drivers of bases that take velocities: `cmd_vel` and `cmd_vel_stamped`."""

from __future__ import annotations

from geometry_msgs.msg import Twist, TwistStamped

from behavior_ros import QOS_COMMAND
from behavior_skills.node.drivers.driver import Driver, DriverParts, Options, Role


class CmdVelOptions(Options):
    """The topic."""

    topic: str = "cmd_vel"


class CmdVel:
    """A topic of geometry_msgs/Twist."""

    def __init__(self, parts: DriverParts, options: CmdVelOptions) -> None:
        self._publisher = parts.node.create_publisher(Twist, options.topic, QOS_COMMAND)

    def command(self, linear: float, angular: float, lateral: float = 0.0) -> None:
        """Drive with a speed along x [m/s], about z [rad/s] and along y [m/s]."""
        self._publisher.publish(_twist(linear, angular, lateral))


class CmdVelStampedOptions(CmdVelOptions):
    """The topic, and the frame that its messages name."""

    frame: str = "base_link"


class CmdVelStamped:
    """A topic of geometry_msgs/TwistStamped: the newer controllers of ros2_control, and Nav2's with
    enable_stamped_cmd_vel.
    """

    def __init__(self, parts: DriverParts, options: CmdVelStampedOptions) -> None:
        self._node, self._frame = parts.node, options.frame
        self._publisher = parts.node.create_publisher(TwistStamped, options.topic, QOS_COMMAND)

    def command(self, linear: float, angular: float, lateral: float = 0.0) -> None:
        """Drive with a speed along x [m/s], about z [rad/s] and along y [m/s]."""
        message = TwistStamped(twist=_twist(linear, angular, lateral))
        message.header.frame_id = self._frame
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)


def _twist(linear: float, angular: float, lateral: float) -> Twist:
    message = Twist()
    message.linear.y = float(lateral)
    message.linear.x, message.angular.z = float(linear), float(angular)
    return message


CMD_VEL = Driver(role=Role.BASE, options=CmdVelOptions, make=CmdVel)
CMD_VEL_STAMPED = Driver(role=Role.BASE, options=CmdVelStampedOptions, make=CmdVelStamped)
