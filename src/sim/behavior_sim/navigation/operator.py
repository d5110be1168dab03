# SPDX-License-Identifier: Apache-2.0
"""The operator, as a node: holds the deadman switch, and lets the autonomy drive."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

from behavior_msgs.msg import AutonomyLevel, SafetyStatus
from behavior_msgs.srv import SetAutonomyLevel
from rclpy.clock import Clock, ClockType
from rclpy.task import Future
from std_msgs.msg import Empty
from std_srvs.srv import SetBool

from behavior_ros import QOS_COMMAND, QOS_LATCHED
from behavior_sim.navigation.host import Host, WorldNode

HEARTBEAT_RATE = 20.0
"""[Hz] of wall time."""
_PUZZLED = 1.0
"""[s] for which the switch is held in vain before it is pressed anew."""
_RELEASED = 1.5
"""[s] for which it is released then."""


@dataclass(frozen=True, kw_only=True)
class Habits:
    """How the operator behaves."""

    holds: bool = True
    """The deadman switch is held from the beginning."""
    chooses_autonomous: bool = False
    """Chooses once that the autonomy drives, when the choice is offered."""
    presses_again: bool = False
    """Releases a switch that is held in vain, and presses it again: losing it latches."""


class OperatorNode(WorldNode):
    """Sends ``/deadman/heartbeat`` while the switch is held; ``/operator/hold`` says whether."""

    def __init__(self, host: Host, habits: Habits) -> None:
        super().__init__("operator", host)
        self._habits = habits
        self._holds = habits.holds
        self._choice = self.create_client(SetAutonomyLevel, "autonomy/set_level")
        self._chosen: Future | None = None
        self._in_vain_since = math.inf
        self._released_until = -math.inf
        self._heartbeat = self.create_publisher(Empty, "deadman/heartbeat", QOS_COMMAND)
        self.create_service(SetBool, "operator/hold", self._on_hold)
        self._alive = {"level": True, "gate": True}
        self.create_subscription(AutonomyLevel, "autonomy/level", self._on_level, QOS_LATCHED)
        self.create_subscription(SafetyStatus, "safety/status", self._on_gate, QOS_LATCHED)
        # A hand knows no simulated time.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(1.0 / HEARTBEAT_RATE, self._beat, clock=steady)

    def _beat(self) -> None:
        now = time.monotonic()
        if self._habits.presses_again:
            self._look(now)
        if self._holds and now >= self._released_until:
            self._heartbeat.publish(Empty())
        choose = self._habits.chooses_autonomous and self._chosen is None
        if choose and self._choice.service_is_ready():
            self._chosen = self._choice.call_async(
                SetAutonomyLevel.Request(level=AutonomyLevel.AUTONOMOUS)
            )

    def _look(self, now: float) -> None:
        """Release a switch that is held in vain for a while."""
        if all(self._alive.values()) or not self._holds or now < self._released_until:
            self._in_vain_since = math.inf
            return
        self._in_vain_since = min(self._in_vain_since, now)
        if now - self._in_vain_since > _PUZZLED:
            self._released_until = now + _RELEASED

    def _on_level(self, message: AutonomyLevel) -> None:
        self._alive["level"] = not message.deadman_enabled or message.deadman_alive

    def _on_gate(self, message: SafetyStatus) -> None:
        self._alive["gate"] = not any("deadman" in reason for reason in message.reasons)

    def _on_hold(self, request: Any, response: Any) -> Any:
        self._holds = bool(request.data)
        response.success = True
        response.message = "the switch is held" if self._holds else "the switch is released"
        return response
