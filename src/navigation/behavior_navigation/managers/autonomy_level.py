# SPDX-License-Identifier: Apache-2.0
"""The manager that knows who moves the robot."""

from __future__ import annotations

import math
import time
from typing import Any

from behavior_msgs.msg import AutonomyLevel
from behavior_msgs.srv import SetAutonomyLevel
from rclpy.node import Node
from std_srvs.srv import Trigger

from behavior_executor.missions.mission import Code
from behavior_executor.missions.report import Report
from behavior_executor.missions.statistics import Metric
from behavior_navigation.manager import NavigationManager
from behavior_navigation.managers import autonomy_level_nodes as nodes
from behavior_navigation.operator_input import OPERATOR_PARAMETERS, OperatorInput
from behavior_navigation.rules.nodes import register_by_class
from behavior_navigation.rules.state import Level
from behavior_ros import QOS_LATCHED, read_only
from behavior_tree import BehaviorTreeFactory

REPEAT_PERIOD = 0.25
"""[s] steady time between two publications of an unchanged level."""
CHECKS_PER_TIMEOUT = 10
SLOWEST_CHECK = 0.05
FASTEST_CHECK = 0.002

PARAMETERS = (
    *OPERATOR_PARAMETERS,
    read_only("tx_autonomy_level", "autonomy/level", "topic of the level"),
)


class AutonomyLevelManager(NavigationManager):
    """Publishes the level on every change and at least twice a second.

    Boots in MANUAL. It is toggled by topic and service (``rx_autonomy_mode_toggled``), set by the
    service ``/autonomy/set_level`` and by a tree. Timeouts are judged in steady time, ten times per
    timeout of the deadman switch and more.
    """

    name = "autonomy_level"

    def __init__(self, node: Node) -> None:
        """Subscribe and offer services."""
        super().__init__(node, PARAMETERS)
        self.toggles = 0
        self.halts = 0
        self._published: tuple[Any, ...] = ()
        self._published_at = -math.inf
        self._timer = self.steady_timer(SLOWEST_CHECK, self._settle)
        self._publisher = self.manager_node.create_publisher(
            AutonomyLevel, self.values["tx_autonomy_level"], QOS_LATCHED
        )
        self._operator = OperatorInput(
            self.manager_node, self.values, on_change=self._settle, on_toggle=self.toggle
        )
        self.manager_node.create_service(
            Trigger, self.values["rx_autonomy_mode_toggled"], self._on_toggle
        )
        self.manager_node.create_service(SetAutonomyLevel, "autonomy/set_level", self._on_set)
        self._settle()

    def register_nodes(self, factory: BehaviorTreeFactory) -> None:
        """Register the nodes of :mod:`behavior_navigation.managers.autonomy_level_nodes`."""
        register_autonomy_level_nodes(factory, self)

    def pre_tick(self, now: float) -> None:
        """Judge the timeouts, so that the tree sees what is true now."""
        super().pre_tick(now)
        self._settle()

    def toggle(self) -> Level:
        """Change between manual and autonomous.

        Returns:
            What is selected now.
        """
        self.toggles += 1
        selected = self._operator.machine.toggle()
        self._settle()
        return selected

    def select(self, level: Level) -> None:
        """Select a level.

        Raises:
            ValueError: it cannot be selected.
        """
        self._operator.machine.select(level)
        self._settle()

    def why_halted(self) -> str:
        """Why the deadman switch lets nothing move; empty: it does not."""
        return self._operator.deadman.why_not(time.monotonic())

    def describe(self, report: Report) -> None:
        """Tell the level in force."""
        report.autonomy = int(self.state.autonomy.effective)

    def metrics(self) -> list[Metric]:
        """Level, toggles, halts, and the age of the heartbeat."""
        autonomy = self.state.autonomy
        age = autonomy.heartbeat_age
        return [
            Metric("autonomy_selected", "", float(autonomy.selected)),
            Metric("autonomy_effective", "", float(autonomy.effective)),
            Metric("autonomy_toggles", "", float(self.toggles), is_counter=True),
            Metric("autonomy_halts", "", float(self.halts), is_counter=True),
            Metric("deadman_heartbeat_age", "s", age if math.isfinite(age) else -1.0),
        ]

    def problem(self) -> str:
        """Why the robot is halted."""
        return self.why_halted()

    def _on_toggle(self, request: Trigger.Request, answer: Trigger.Response) -> Trigger.Response:
        selected = self.toggle()
        answer.success = True
        answer.message = f"{selected.name} is selected, {self._in_force()}"
        return answer

    def _on_set(
        self, request: SetAutonomyLevel.Request, answer: SetAutonomyLevel.Response
    ) -> SetAutonomyLevel.Response:
        try:
            level = Level(request.level)
            self.select(level)
        except ValueError as error:
            answer.code, answer.message = int(Code.INVALID_REQUEST), str(error)
        else:
            answer.message = f"{level.name} is selected, {self._in_force()}"
        answer.effective = int(self.state.autonomy.effective)
        return answer

    def _in_force(self) -> str:
        halted = self.why_halted()
        return f"{self.state.autonomy.effective.name} in force" + (f": {halted}" if halted else "")

    def _settle(self) -> None:
        """Judge what is known, and publish it if it changed or its period is over."""
        now, machine, state = time.monotonic(), self._operator.machine, self.state.autonomy
        deadman = machine.deadman
        before = state.effective
        state.selected, state.effective = machine.selected, machine.effective(now)
        state.deadman_enabled, state.deadman_alive = deadman.enabled, deadman.alive(now)
        state.heartbeat_age = deadman.age(now)
        self.halts += state.effective is Level.HALTED and before is not Level.HALTED
        known = (state.selected, state.effective, state.deadman_enabled, state.deadman_alive)
        if known != self._published:
            self.wake_tree()
        if known != self._published or now - self._published_at >= REPEAT_PERIOD:
            self._published, self._published_at = known, now
            self._publish()
        self._set_period(deadman.timeout if deadman.enabled else math.inf)

    def check_period(self) -> float:
        """[s] steady time between two looks at the timeouts."""
        return float(self._timer.timer_period_ns) * 1e-9

    def _set_period(self, timeout: float) -> None:
        period = min(max(timeout / CHECKS_PER_TIMEOUT, FASTEST_CHECK), SLOWEST_CHECK)
        nanoseconds = int(period * 1e9)
        if self._timer.timer_period_ns != nanoseconds:
            self._timer.timer_period_ns = nanoseconds

    def _publish(self) -> None:
        state = self.state.autonomy
        age = state.heartbeat_age
        message = AutonomyLevel(
            selected=int(state.selected),
            effective=int(state.effective),
            deadman_enabled=state.deadman_enabled,
            deadman_alive=state.deadman_alive,
            heartbeat_age=age if math.isfinite(age) else -1.0,
        )
        message.header.stamp = self.stamp()
        self._publisher.publish(message)


def register_autonomy_level_nodes(factory: BehaviorTreeFactory, autonomy: nodes.Autonomy) -> None:
    """Register the nodes that ask who moves the robot.

    Args:
        factory: gets the nodes.
        autonomy: what they act upon; the manager is one.
    """
    register_by_class(
        factory, autonomy, nodes.AutonomyIsEnabled, nodes.DeadmanIsAlive, nodes.SetAutonomyLevel
    )
