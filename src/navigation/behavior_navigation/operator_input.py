# SPDX-License-Identifier: Apache-2.0
"""What comes from the operator: heartbeats of the deadman switch, and commands of the sticks.

The autonomy level manager and the safety gate listen each for itself, by the same rules.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import Joy
from std_msgs.msg import Empty

from behavior_navigation.rules.autonomy import AutonomyMachine
from behavior_navigation.rules.deadman import Deadman
from behavior_navigation.velocity import (
    VELOCITY_TYPES,
    is_finite,
    is_zero,
    twist_of,
    velocity_parameter,
)
from behavior_ros import QOS_COMMAND, QOS_SENSOR, ParameterSpec, read_only

ATTENTION = 0.5
"""Part of the switch's timeout without a look at it after which its owner was deaf."""
TIMEOUT = "deadman_switch_timeout_s"

OPERATOR_PARAMETERS = (
    read_only(
        "rx_autonomy_mode_toggled",
        "autonomy/toggle",
        "topic (std_msgs/Empty) on which every message changes between manual and autonomous",
    ),
    read_only(
        "rx_deadman_switch_heartbeat",
        "deadman/heartbeat",
        "topic of the deadman switch's heartbeats, best effort",
    ),
    ParameterSpec(
        TIMEOUT,
        0.5,
        "[s] steady time without a heartbeat after which the switch counts as lost; zero or less: "
        "there is no switch",
        range=(-math.inf, 60.0),
    ),
    read_only(
        "deadman_latch",
        True,
        "a switch that was lost must be released and pressed again before the robot moves",
    ),
    read_only(
        "deadman_message",
        "empty",
        "type of the heartbeats: std_msgs/Empty, sent while the switch is held, or "
        "sensor_msgs/Joy, whose button tells",
        choices=("empty", "joy"),
    ),
    read_only("deadman_button", 0, "index of the switch in Joy.buttons", range=(0, 255)),
    read_only(
        "deadman_release_time_s",
        1.0,
        "[s] steady time without a heartbeat that counts as a release, if they are Empty",
        range=(0.0, 600.0),
    ),
    read_only("rx_teleoperation", "cmd_vel_teleop", "topic of the sticks' velocity commands"),
    velocity_parameter("teleoperation_message", "the sticks' commands"),
    read_only(
        "teleoperation_timeout_s",
        0.5,
        "[s] steady time for which the sticks override the autonomy after a command that is not "
        "zero",
        range=(0.0, 60.0),
    ),
)
"""Parameters of whoever listens to the operator."""


class OperatorInput:
    """Feeds an :class:`AutonomyMachine` with heartbeats and commands; toggles are the owner's."""

    def __init__(
        self,
        node: Node,
        values: dict[str, Any],
        *,
        on_change: Callable[[], object],
        on_toggle: Callable[[], object],
        on_sticks: Callable[[Any], object] | None = None,
    ) -> None:
        """Subscribe.

        Args:
            node: has declared OPERATOR_PARAMETERS.
            values: of the parameters.
            on_change: called after everything that may change the level in force.
            on_toggle: called when the operator toggles.
            on_sticks: called with every command of the sticks.
        """
        empty = values["deadman_message"] == "empty"
        self.machine = AutonomyMachine(
            Deadman(
                values[TIMEOUT],
                latch=values["deadman_latch"],
                release_time=values["deadman_release_time_s"] if empty else math.inf,
                attention=ATTENTION,
            ),
            values["teleoperation_timeout_s"],
        )
        self._logger = node.get_logger()
        self._warn_of_latch()
        self._button: int = values["deadman_button"]
        self._on_change = on_change
        self._on_sticks = on_sticks
        heartbeat = values["rx_deadman_switch_heartbeat"]
        node.create_subscription(
            Empty if empty else Joy,
            heartbeat,
            self._on_empty if empty else self._on_joy,
            QOS_SENSOR,
        )
        node.create_subscription(
            Empty, values["rx_autonomy_mode_toggled"], lambda _: on_toggle(), QOS_COMMAND
        )
        node.create_subscription(
            VELOCITY_TYPES[values["teleoperation_message"]],
            values["rx_teleoperation"],
            self._on_command,
            QOS_SENSOR,
        )
        node.add_post_set_parameters_callback(self._on_parameters)

    @property
    def deadman(self) -> Deadman:
        """The switch."""
        return self.machine.deadman

    def _on_empty(self, message: Empty) -> None:
        self.deadman.beat(time.monotonic())
        self._on_change()

    def _on_joy(self, message: Joy) -> None:
        pressed = self._button < len(message.buttons) and bool(message.buttons[self._button])
        (self.deadman.beat if pressed else self.deadman.release)(time.monotonic())
        self._on_change()

    def _on_command(self, message: Any) -> None:
        twist = twist_of(message)
        if is_finite(twist) and not is_zero(twist):
            self.machine.touch(time.monotonic())
            self._on_change()
        if self._on_sticks is not None:
            self._on_sticks(message)

    def _on_parameters(self, parameters: list[Parameter]) -> None:
        for parameter in parameters:
            if parameter.name == TIMEOUT:
                self.deadman.timeout = parameter.value
                self._warn_of_latch()
                self._on_change()

    def _warn_of_latch(self) -> None:
        if self.deadman.latch_is_void:
            self._logger.warning(
                f"deadman_latch means nothing: after {TIMEOUT} ({self.deadman.timeout:g} s) of "
                "silence the next heartbeat sets the robot in motion, as deadman_release_time_s "
                f"({self.deadman.release_time:g} s) is no longer; give a longer one"
            )
