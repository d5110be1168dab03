# SPDX-License-Identifier: Apache-2.0
"""Driver `safety_mode`: the topics of ur_dashboard_msgs' SafetyMode and RobotMode, and whether the
robot's own program runs, which obeys this computer.

A protective or emergency stop pauses that program, and whoever resumes it resumes the motion. So a
motion that one of them ends is cancelled. A safeguard stop ends nothing: the controller goes on.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from std_msgs.msg import Bool, Float64

from behavior_ros import QOS_LATCHED, QOS_SENSOR
from behavior_ros.messages.interfaces import constant_name, load_interface
from behavior_skills.node.drivers.driver import Driver, DriverParts, Options, Role
from behavior_skills.node.drivers.stop_topic import unheard

FINE = ("NORMAL", "REDUCED")
HELD_UP = ("SAFEGUARD_STOP", "AUTOMATIC_MODE_SAFEGUARD_STOP", "SYSTEM_THREE_POSITION_ENABLING_STOP")
"""Safety modes in which the controller waits, and goes on by itself when they are over."""
REMEDIES = {
    "PROTECTIVE_STOP": (
        "Clear what the robot ran into, then unlock it at the teach pendant or by the service "
        "unlock_protective_stop of the dashboard client, and start its program again"
    ),
    "RECOVERY": "Move the joints back into their limits by hand (freedrive)",
    "SYSTEM_EMERGENCY_STOP": "Release the emergency stop, switch the robot on, start its program",
    "ROBOT_EMERGENCY_STOP": "Release the emergency stop, switch the robot on, start its program",
    "VIOLATION": "See the teach pendant's log, then restart the safety system",
    "FAULT": "See the teach pendant's log, then restart the safety system",
}
"""What to do, by the safety mode's name; for all others the teach pendant tells."""
SEE_THE_PENDANT = "See what the teach pendant says"


class SafetyModeOptions(Options):
    """The topics; empty ones are not listened to."""

    safety_mode: str = "io_and_status_controller/safety_mode"
    robot_mode: str = "io_and_status_controller/robot_mode"
    program_running: str = "io_and_status_controller/robot_program_running"
    speed_scaling: str = "speed_scaling_state_broadcaster/speed_scaling"
    """std_msgs/Float64 [%], by which the controller goes through trajectories more slowly."""


class SafetyModeState:
    """What the topics said last."""

    def __init__(self, parts: DriverParts, options: SafetyModeOptions) -> None:
        self._options = options
        self._said: dict[str, Any] = {}
        self._speed = 1.0
        safety_mode, robot_mode = (
            load_interface(f"ur_dashboard_msgs/msg/{name}", "msg")[0]
            for name in ("SafetyMode", "RobotMode")
        )
        self._topics: dict[str, str] = {}
        """Resolved names by those of the options."""
        for kind, topic, take in (
            (safety_mode, options.safety_mode, self._on_mode),
            (robot_mode, options.robot_mode, self._on_mode),
            (Bool, options.program_running, self._on_program),
        ):
            if topic:
                self._topics[topic] = parts.node.resolve_topic_name(topic)
                parts.node.create_subscription(kind, topic, partial(take, topic), QOS_LATCHED)
        if options.speed_scaling:
            parts.node.create_subscription(
                Float64, options.speed_scaling, self._on_speed, QOS_SENSOR
            )

    def _on_mode(self, topic: str, message: Any) -> None:
        self._said[topic] = constant_name(message, message.mode) or f"mode {message.mode}"

    def _on_program(self, topic: str, message: Bool) -> None:
        self._said[topic] = message.data

    def _on_speed(self, message: Float64) -> None:
        if math.isfinite(message.data):
            self._speed = min(max(message.data / 100.0, 0.0), 1.0)

    def heard(self) -> bool:
        """Whether the robot has told."""
        return all(topic in self._said for topic in self._topics)

    def trouble(self) -> str | None:
        """Why the robot cannot be moved, or None."""
        said, options = self._said, self._options
        if silent := [name for topic, name in self._topics.items() if topic not in said]:
            return unheard(silent[0])
        safety = said.get(options.safety_mode, FINE[0])
        if safety not in (*FINE, *HELD_UP):
            remedy = REMEDIES.get(safety, SEE_THE_PENDANT)
            return f"The robot is stopped: its safety mode is {safety}. {remedy}."
        mode = said.get(options.robot_mode, "RUNNING")
        if mode != "RUNNING":
            return (
                f"The robot is in mode {mode}. Switch it on and release its brakes, at the teach "
                "pendant or by the service brake_release of the dashboard client."
            )
        if not said.get(options.program_running, True):
            return (
                "The robot's program does not run, which obeys this computer. Press play at the "
                "teach pendant, or call play of the dashboard client (headless: "
                "/io_and_status_controller/resend_robot_program)."
            )
        return None

    def pace(self) -> float:
        """Part of its speed at which the controller goes through a trajectory."""
        held_up = self._said.get(self._options.safety_mode) in HELD_UP
        return 0.0 if held_up else self._speed


SAFETY_MODE = Driver(role=Role.STATE, options=SafetyModeOptions, make=SafetyModeState)
