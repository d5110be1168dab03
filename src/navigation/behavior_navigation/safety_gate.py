# SPDX-License-Identifier: Apache-2.0
"""The node between whoever commands velocities and the base; a process of its own.

It passes on the commands of whoever may move the robot (:mod:`behavior_navigation.rules.safety`)
and stops it otherwise, whatever the executor and its tree do. Signs of life are judged in steady
time; the age of a localization is judged in node time, by its stamp.

Subscribes to ``/cmd_vel_nav``, ``/cmd_vel_teleop``, the operator's switch and toggle,
``/localization/result``, ``/autonomy/level``, ``/planner_operation_mode`` and ``/odom``; publishes
``/cmd_vel``, ``/safety/status``, ``/behavior/metrics`` and ``/diagnostics``.
"""

from __future__ import annotations

import math
import re
import sys
import time
from typing import Any

from behavior_msgs.msg import (
    AutonomyLevel,
    Metrics,
    PlannerOperationMode,
    SafetyStatus,
)
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from behavior_executor.conversion import metrics_message
from behavior_executor.missions.statistics import Histogram, Metric
from behavior_navigation.localization_input import LOCALIZATION_PARAMETERS, LocalizationInput
from behavior_navigation.operator_input import OPERATOR_PARAMETERS, OperatorInput
from behavior_navigation.realtime import prefer_this_process
from behavior_navigation.rules.safety import SafetyRule, Verdict
from behavior_navigation.rules.state import Level, PlannerMode
from behavior_navigation.velocity import (
    VELOCITY_TYPES,
    components,
    is_finite,
    is_zero,
    twist_of,
    velocity_parameter,
)
from behavior_ros import (
    OK,
    QOS_COMMAND,
    QOS_EVENT_LOG,
    QOS_LATCHED,
    QOS_SENSOR,
    WARN,
    AgeSince,
    DiagnosticsPublisher,
    MessageCache,
    declare_all,
    read_only,
    run,
)

STANDSTILL = 0.01
"""[m/s, rad/s] below which the base stands."""
ODOMETRY_MAX_AGE = 0.5
"""[s] steady time for which an odometry says whether the base stands."""

EVERY_LEVEL = QoSProfile(
    depth=10,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""The newest level, however long ago it was told, and all that follow: each may answer a toggle."""

PARAMETERS = (
    *OPERATOR_PARAMETERS,
    *LOCALIZATION_PARAMETERS,
    read_only("rx_autonomous", "cmd_vel_nav", "topic of the autonomy's velocity commands"),
    velocity_parameter("autonomous_message", "the autonomy's commands"),
    read_only("tx_velocity", "cmd_vel", "topic of the base's commands"),
    velocity_parameter("velocity_message", "the base's commands"),
    read_only("base_frame", "base_link", "frame of stamped commands"),
    read_only(
        "command_timeout_s",
        0.25,
        "[s] steady time without a command after which the base is stopped",
        range=(0.01, 10.0),
    ),
    read_only(
        "executor_timeout_s",
        0.25,
        "[s] steady time without the planner's mode after which the executor counts as gone",
        range=(0.02, 10.0),
    ),
    read_only(
        "realtime_priority",
        0,
        "priority of the process over ordinary ones (SCHED_FIFO, 1..99); 0: none. On a machine "
        "whose processors are busy, reactions in time need one",
        range=(0, 99),
    ),
    read_only(
        "check_rate",
        100.0,
        "[Hz] steady rate at which timeouts are judged, and at which a stop is repeated",
        range=(50.0, 1000.0),
    ),
)


class SafetyGate(Node):  # type: ignore[misc]
    """Passes on velocity commands, or stops the base."""

    def __init__(self, *, node_name: str = "safety_gate", **kwargs: Any) -> None:
        """Make the node; nothing passes until everything is known.

        Args:
            node_name: name of the node.
            kwargs: for ``rclpy.node.Node``.

        Raises:
            ParameterError: a parameter that must not be.
        """
        super().__init__(node_name, **kwargs)
        self._values = values = declare_all(self, PARAMETERS)
        self.reactions = Histogram()
        """[s] from what made it stop to the stop command."""
        self.stops = 0
        self._source = Level.HALTED
        self._moves = False
        """The newest command that was published is not zero."""
        self._commanded_at = -math.inf
        self._starved = False
        """The base was stopped because commands ceased."""
        self._checked_at = time.monotonic()
        self._published: tuple[Any, ...] = ()
        self._reaction = -1.0
        self._make_outputs(values)
        operator = OperatorInput(
            self,
            values,
            on_change=self._on_event,
            on_toggle=self._on_toggle,
            on_sticks=lambda m: self._on_command(m, (Level.MANUAL, Level.TELEOPERATION)),
        )
        self.rule = SafetyRule(
            operator.machine,
            values["executor_timeout_s"],
            localization_needed=bool(values["localization_result.rx_message"]),
        )
        self._make_inputs(values)
        problem = prefer_this_process(values["realtime_priority"])
        if problem:
            self.get_logger().warning(problem)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(1.0 / values["check_rate"], self._check, clock=steady)
        self.create_timer(1.0, self._report, clock=steady)
        self._check()

    def _make_outputs(self, values: dict[str, Any]) -> None:
        self._type = VELOCITY_TYPES[values["velocity_message"]]
        self._velocity = self.create_publisher(self._type, values["tx_velocity"], QOS_COMMAND)
        self._status = self.create_publisher(SafetyStatus, "safety/status", QOS_LATCHED)
        self._metrics = self.create_publisher(Metrics, "behavior/metrics", QOS_EVENT_LOG)
        self._diagnostics = DiagnosticsPublisher(self, "gate")

    def _make_inputs(self, values: dict[str, Any]) -> None:
        self.create_subscription(AutonomyLevel, "autonomy/level", self._on_level, EVERY_LEVEL)
        self.create_subscription(
            PlannerOperationMode, "planner_operation_mode", self._on_mode, QOS_COMMAND
        )
        self.create_subscription(
            VELOCITY_TYPES[values["autonomous_message"]],
            values["rx_autonomous"],
            lambda message: self._on_command(message, (Level.AUTONOMOUS,)),
            QOS_SENSOR,
        )
        self._odometry: MessageCache[Odometry] = MessageCache(
            self,
            Odometry,
            "odom",
            max_age=ODOMETRY_MAX_AGE,
            age_since=AgeSince.HEARTBEAT,
        )
        self._localizer: LocalizationInput | None = None
        if values["localization_result.rx_message"]:
            self._localizer = LocalizationInput(self, values, lambda estimate: self._on_event())

    # -- inputs ----------------------------------------------------------------------------------

    def _on_level(self, message: AutonomyLevel) -> None:
        now = time.monotonic()
        try:
            halted = Level(message.effective) is Level.HALTED
            self.rule.select(Level(message.selected), now, halted=halted)
        except ValueError as error:
            self.get_logger().error(f"autonomy/level: {error}", throttle_duration_sec=5.0)
        self._judge(now, event=now)

    def _on_mode(self, message: PlannerOperationMode) -> None:
        now = time.monotonic()
        try:
            self.rule.set_mode(PlannerMode(message.mode), message.reason, now)
        except ValueError as error:
            self.get_logger().error(f"planner_operation_mode: {error}", throttle_duration_sec=5.0)
        self._judge(now, event=now)

    def _on_toggle(self) -> None:
        now = time.monotonic()
        self.rule.toggle(now)
        self._judge(now, event=now)

    def _on_event(self) -> None:
        now = time.monotonic()
        self._judge(now, event=now)

    def _on_command(self, message: Any, levels: tuple[Level, ...]) -> None:
        """Pass on a command of whoever may move the robot."""
        now, twist = time.monotonic(), twist_of(message)
        if self._judge(now, event=now).source not in levels:
            return
        if not is_finite(twist):
            self.get_logger().error("command that is no number", throttle_duration_sec=5.0)
            self._stop(now)
            return
        self._commanded_at, self._starved = now, False
        self._moves = not is_zero(twist)
        self._publish(twist)

    # -- judgement -------------------------------------------------------------------------------

    def _check(self) -> None:
        """Judge all timeouts, and repeat a stop until the base stands."""
        now = time.monotonic()
        verdict = self._judge(now, event=self._checked_at)
        if self._moves and now - self._commanded_at > self._values["command_timeout_s"]:
            self._starved = True
            self._stop(self._cause(now, self._checked_at))
            self._publish_status(verdict)
        elif not self._moves and not self._stands():
            self._publish(Twist())
        self._checked_at = now

    def _judge(self, now: float, *, event: float) -> Verdict:
        """Stop the base if who may move it has changed.

        Args:
            now: [s] steady time.
            event: when that happened which may have changed it.
        """
        self._judge_localization()
        verdict = self.rule.verdict(now)
        if verdict.source is not self._source:
            self._source = verdict.source
            self._starved = False
            self._stop(self._cause(now, event))
        self._publish_status(verdict)
        return verdict

    def _judge_localization(self) -> None:
        if self._localizer is not None:
            self.rule.localization_reason = self._localizer.why_not()
            self.rule.localization_good = not self.rule.localization_reason

    def _cause(self, now: float, event: float) -> float:
        """When the first of the timeouts since the last check ran out; the event, if none did."""
        deadlines = [
            self.rule.autonomy.deadman.deadline(),
            self.rule.mode_at + self._values["executor_timeout_s"],
            self._commanded_at + self._values["command_timeout_s"],
        ]
        if self._localizer is not None:
            cache = self._localizer.cache
            deadlines.append(now - (cache.age() - cache.max_age))
        passed = [deadline for deadline in deadlines if self._checked_at < deadline <= now]
        return min(passed, default=event)

    def _stop(self, cause: float) -> None:
        """Command standstill, at once."""
        self._publish(Twist())
        if self._moves:
            self.stops += 1
            self._reaction = time.monotonic() - cause
            self.reactions.add(self._reaction)
        self._moves = False

    def _stands(self) -> bool:
        """Whether the base is known to stand."""
        odometry = self._odometry.latest()
        if odometry is None:
            return False
        return all(abs(value) < STANDSTILL for value in components(odometry.twist.twist))

    # -- outputs ---------------------------------------------------------------------------------

    def _publish(self, twist: Twist) -> None:
        message: Twist | TwistStamped = twist
        if self._type is TwistStamped:
            message = TwistStamped(twist=twist)
            message.header.stamp = self.get_clock().now().to_msg()
            message.header.frame_id = self._values["base_frame"]
        self._velocity.publish(message)

    def _publish_status(self, verdict: Verdict) -> None:
        """Publish the status if it changed; the figures in the reasons always do."""
        reasons = verdict.reasons
        if self._starved:
            reasons += (f"no command from {verdict.source.name}",)
        state = (verdict.source, tuple(re.sub(r"[\d.]+", "", text) for text in reasons), self.stops)
        if state == self._published:
            return
        self._published = state
        message = SafetyStatus(
            moving_allowed=not verdict.stopped,
            reasons=list(reasons),
            source=int(verdict.source),
            reaction_time=self._reaction,
        )
        message.header.stamp = self.get_clock().now().to_msg()
        self._status.publish(message)

    def _report(self) -> None:
        verdict = self.rule.verdict(time.monotonic())
        reactions = self.reactions.summary()
        message = metrics_message(
            self.get_name(),
            [
                Metric("stops", "", float(self.stops), is_counter=True),
                Metric("reaction_time", "s", reactions),
            ],
        )
        message.header.stamp = self.get_clock().now().to_msg()
        self._metrics.publish(message)
        self._diagnostics.set(
            WARN if verdict.stopped else OK,
            "; ".join(verdict.reasons) or f"{verdict.source.name} moves the robot",
            stops=self.stops,
            reaction_p99_ms=1e3 * reactions.p99,
            reaction_max_ms=1e3 * reactions.maximum,
        )


def main(args: list[str] | None = None) -> int:
    """Entry point of `safety_gate`."""
    return int(run([SafetyGate], args))


if __name__ == "__main__":
    sys.exit(main())
