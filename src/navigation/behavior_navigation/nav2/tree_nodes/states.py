# SPDX-License-Identifier: Apache-2.0
"""Nav2's nodes that look at the battery and at the odometry."""

from __future__ import annotations

from typing import Any

from nav_msgs.msg import Odometry
from sensor_msgs.msg import BatteryState

from behavior_navigation.nav2.tree_nodes.robot import Robot
from behavior_navigation.rules.nodes import ActsOn, ProblemCondition
from behavior_ros.node.elapsed import Elapsed
from behavior_tree import (
    InputPort,
    NodeConfig,
    NodeStatus,
    StatefulActionNode,
    TreeNode,
    ports_list,
)

BRAKING = -10.0
"""[m/s²] What brakes harder has run into something: Nav2's own limit."""


class BatteryCondition(ActsOn[Any], ProblemCondition):
    """Looks at the newest message of the battery; fails before the first."""

    ports = ports_list(
        InputPort("battery_topic", str, "/battery_status", "topic with sensor_msgs/BatteryState")
    )

    def __init__(self, name: str, config: NodeConfig, robot: Robot | None) -> None:
        """Listen from now on."""
        super().__init__(name, config, robot)
        if robot is not None and self.is_literal("battery_topic"):
            self._newest()

    def problem(self) -> str:
        """Look at the battery."""
        battery = self._newest()
        if battery is None:
            return f"no message on {self.get_input('battery_topic')} yet"
        return self.fault(battery)

    def fault(self, battery: Any) -> str:
        """What is not as it is asked for; empty: nothing."""
        raise NotImplementedError(f"{type(self).__name__} defines no fault()")

    def _newest(self) -> Any:
        return self.subject.newest(BatteryState, self.get_input("battery_topic"))


class IsBatteryLow(BatteryCondition):
    """Succeeds while the battery has no more than `min_battery`."""

    ports = BatteryCondition.ports | ports_list(
        InputPort("min_battery", float, 0.0, "what is low: a share 0..1, or [V]"),
        InputPort("is_voltage", bool, False, "`min_battery` is a voltage"),
    )

    def fault(self, battery: Any) -> str:
        """Compare."""
        volts = self.get_input("is_voltage")
        left = battery.voltage if volts else battery.percentage
        low = left <= float(self.get_input("min_battery"))
        return "" if low else f"the battery has {left:.2f}{' V' if volts else ' of its charge'}"


class IsBatteryCharging(BatteryCondition):
    """Succeeds while the battery is charged."""

    def fault(self, battery: Any) -> str:
        """Look at its state."""
        charging = battery.power_supply_status == battery.POWER_SUPPLY_STATUS_CHARGING
        return "" if charging else "the battery is not charged"


class IsStuck(ActsOn[Any], ProblemCondition):
    """Succeeds while the newest odometry brakes harder than any robot can."""

    def __init__(self, name: str, config: NodeConfig, robot: Robot | None) -> None:
        """Listen from now on."""
        super().__init__(name, config, robot)
        if robot is not None:
            robot.acceleration()

    def problem(self) -> str:
        """Look at the odometry."""
        acceleration = self.subject.acceleration()
        return "" if acceleration < BRAKING else "the robot is free"


class CheckStopStatus(ActsOn[Any], StatefulActionNode):
    """Succeeds when the robot has stood for `duration_stopped`, fails when it moves; before the
    first odometry it waits.
    """

    ports = ports_list(
        InputPort("velocity_threshold", float, 0.01, "what is below is standing [m/s, rad/s]"),
        InputPort("duration_stopped", int, 1000, "how long it must stand [ms]"),
    )

    def __init__(self, name: str, config: NodeConfig, robot: Robot | None) -> None:
        """Listen from now on."""
        super().__init__(name, config, robot)
        self._stood: Elapsed | None = None
        if robot is not None:
            robot.newest(Odometry, "odom")

    def on_start(self) -> NodeStatus:
        """Begin to wait."""
        self._stood = None
        return self.on_running()

    def on_running(self) -> NodeStatus:
        """Look at the odometry."""
        odometry = self.subject.newest(Odometry, "odom")
        if odometry is None:
            return NodeStatus.RUNNING
        twist, limit = odometry.twist.twist, float(self.get_input("velocity_threshold"))
        fastest = max(abs(v) for v in (twist.linear.x, twist.linear.y, twist.angular.z))
        if fastest >= limit:
            self.set_failure_reason(f"the robot moves: {fastest:.3f}, standing is below {limit:g}")
            return NodeStatus.FAILURE
        if self._stood is None:
            self._stood = Elapsed(self._rt.clock)
        enough = self._stood() > self.get_input("duration_stopped") / 1000.0
        return NodeStatus.SUCCESS if enough else NodeStatus.RUNNING


STATE_NODES: dict[str, type[TreeNode]] = {
    each.__name__: each for each in (IsBatteryLow, IsBatteryCharging, IsStuck, CheckStopStatus)
}
