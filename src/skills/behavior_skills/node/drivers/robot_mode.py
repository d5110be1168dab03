# SPDX-License-Identifier: Apache-2.0
"""Driver `robot_mode`: a topic of franka_msgs/FrankaRobotState.

It comes up to 1000 times a second with thousands of bytes, so it is received beside the executor
and read a few times a second.
"""

from __future__ import annotations

import time
from typing import Any

from rclpy.serialization import deserialize_message

from behavior_ros import QOS_SENSOR
from behavior_ros.actions.remote_action import resolve_action_name
from behavior_ros.messages.interfaces import load_interface
from behavior_ros.topics.background import create_background_subscription
from behavior_skills.node.drivers.driver import Driver, DriverParts, Options, Role
from behavior_skills.node.drivers.stop_topic import unheard

READ_PERIOD = 0.05
"""[s] wall time between two messages that are read."""
REMEDIES = {
    "ROBOT_MODE_GUIDING": "it is guided by hand. Let go of the guiding button",
    "ROBOT_MODE_REFLEX": (
        "it stopped itself{errors}. Clear what it ran into, then recover it: ros2 action send_goal "
        "{recovery} franka_msgs/action/ErrorRecovery '{{}}', and activate its controller again"
    ),
    "ROBOT_MODE_USER_STOPPED": (
        "the user stop or the enabling device stopped it. Release it, and recover the robot: ros2 "
        "action send_goal {recovery} franka_msgs/action/ErrorRecovery '{{}}'"
    ),
    "ROBOT_MODE_AUTOMATIC_ERROR_RECOVERY": "it recovers from an error. Wait until it is over",
    "ROBOT_MODE_OTHER": "it is not ready. See Desk: brakes, FCI, end effector",
}


class RobotModeOptions(Options):
    """The topic, and the action that clears errors, which is told to whoever has to."""

    topic: str = "franka_robot_state_broadcaster/robot_state"
    recovery: str = "action_server/error_recovery"


class RobotModeState:
    """What the robot said last."""

    def __init__(self, parts: DriverParts, options: RobotModeOptions) -> None:
        self._type, _ = load_interface("franka_msgs/msg/FrankaRobotState", "msg")
        kind = self._type
        prefix = "ROBOT_MODE_"
        self._modes = {getattr(kind, n): n for n in dir(kind) if n.startswith(prefix)}
        self._mode: str | None = None
        self._errors: list[str] = []
        self._read = -READ_PERIOD
        self._subscription = create_background_subscription(
            parts.node, kind, options.topic, self._on_message, QOS_SENSOR
        )
        self._recovery = resolve_action_name(parts.node, options.recovery)

    def _on_message(self, data: bytes) -> None:
        now = time.monotonic()
        if now - self._read >= READ_PERIOD:
            self._read = now
            self.take(deserialize_message(data, self._type))

    def take(self, message: Any) -> None:
        """Take in a message."""
        fields = message.current_errors.get_fields_and_field_types()
        self._errors = [name for name in fields if getattr(message.current_errors, name)]
        self._mode = self._modes.get(message.robot_mode, f"mode {message.robot_mode}")

    def heard(self) -> bool:
        """Whether the robot has told."""
        return self._mode is not None

    def trouble(self) -> str | None:
        """Why the robot cannot be moved, or None."""
        if self._mode is None:
            return unheard(self._subscription.topic_name)
        if self._mode in ("ROBOT_MODE_IDLE", "ROBOT_MODE_MOVE"):
            return None
        remedy = REMEDIES.get(self._mode, f"it is in {self._mode}. See Desk")
        errors = f" ({', '.join(self._errors)})" if self._errors else ""
        said = remedy.format(errors=errors, recovery=self._recovery)
        return f"The robot cannot be moved: {said}."

    def pace(self) -> float:
        """Always 1: it goes at its speed, or not at all."""
        return 1.0


ROBOT_MODE = Driver(role=Role.STATE, options=RobotModeOptions, make=RobotModeState)
