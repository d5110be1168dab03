# SPDX-License-Identifier: Apache-2.0
"""Ways to tell a localizer to start anew; none of them blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from geometry_msgs.msg import PoseWithCovarianceStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_srvs.srv import Empty, Trigger

from behavior_motion.planar_pose import FramedPose
from behavior_navigation.managers.service_call import ServiceCall, read_success
from behavior_navigation.rules.calls import CallResult
from behavior_ros import upright_pose

POSITION_DEVIATION = 0.5
"""[m] Standard deviation that is told with a pose to start from."""
HEADING_DEVIATION = 0.26
"""[rad] Likewise."""


class LocalizationReset(Protocol):
    """A reset that is asked for, and answered later."""

    def begin(self) -> None:
        """Ask."""

    def answer(self) -> CallResult | None:
        """Whether it was done, and what was said; None: no answer yet."""

    def waits_for(self) -> str:
        """What there is no answer from."""

    def abandon(self) -> None:
        """The answer matters no more."""


class ServiceReset:
    """By a service: ``std_srvs/Trigger``, or ``std_srvs/Empty`` as AMCL's reinitialisation."""

    def __init__(
        self,
        node: Node,
        service_type: type[Trigger] | type[Empty],
        name: str,
        wake: Callable[[Any], None],
    ) -> None:
        """Make the client; `wake` is called when the server has answered."""
        self._type = service_type
        self._client = node.create_client(service_type, name)
        self._wake = wake
        self._call: ServiceCall | None = None

    def begin(self) -> None:
        """Ask as soon as the server is there."""
        self.abandon()
        read = read_success if self._type is Trigger else lambda response: CallResult(True)
        self._call = ServiceCall(self._client, self._type.Request(), read, self._wake)

    def answer(self) -> CallResult | None:
        """What the server said."""
        return None if self._call is None else self._call.poll()

    def waits_for(self) -> str:
        """The service."""
        there = "answers not" if self._client.service_is_ready() else "is not there"
        return f"{self._client.service_name} {there}"

    def abandon(self) -> None:
        """Forget the call; the server may carry it out all the same."""
        if self._call is not None:
            self._call.forget()
            self._call = None


class InitialPoseReset:
    """By a pose to start from, as AMCL takes it on ``/initialpose``: the last one that was trusted.

    A topic gives no answer: the first result after it is the answer. Where no pose was ever trusted
    none is told: the localizer would believe it.
    """

    def __init__(
        self,
        node: Node,
        topic: str,
        pose: Callable[[], FramedPose | None],
        answered: Callable[[], bool],
    ) -> None:
        """Make the publisher.

        Args:
            node: publishes.
            topic: of the pose.
            pose: tells the pose to start from; None: it is not known.
            answered: tells whether a result has arrived since the reset.
        """
        self._node = node
        self._pose = pose
        self._answered = answered
        self._refused = False
        self._publisher = node.create_publisher(
            PoseWithCovarianceStamped, topic, QoSProfile(depth=1)
        )

    def begin(self) -> None:
        """Publish the pose."""
        start = self._pose()
        self._refused = start is None
        if start is None:
            return
        message = PoseWithCovarianceStamped()
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.header.frame_id = start.frame
        message.pose.pose = upright_pose("", start.pose.x, start.pose.y, start.pose.yaw).pose
        covariance = [0.0] * 36
        covariance[0] = covariance[7] = POSITION_DEVIATION**2
        covariance[35] = HEADING_DEVIATION**2
        message.pose.covariance = covariance
        self._publisher.publish(message)

    def answer(self) -> CallResult | None:
        """Done when a result has arrived."""
        if self._refused:
            return CallResult(
                False,
                "nobody knows where the robot is: tell the localizer a pose to start from, such as "
                "by '2D Pose Estimate' of RViz",
            )
        return CallResult(True) if self._answered() else None

    def waits_for(self) -> str:
        """The localizer."""
        return f"no localization result after the pose on {self._publisher.topic_name}"

    def abandon(self) -> None:
        """Nothing is left to forget."""
