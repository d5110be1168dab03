# SPDX-License-Identifier: Apache-2.0
"""The modules that may be switched on and off, as lifecycle nodes."""

from __future__ import annotations

from typing import Any

from behavior_msgs.msg import (
    LocalizationResult,
    PathPlannerHealth,
    PlannerOperationMode,
    TrajectoryStatus,
)
from behavior_msgs.msg import Maneuver as ManeuverMessage
from geometry_msgs.msg import Twist
from nav_msgs.msg import OccupancyGrid, Path
from rclpy.qos import QoSProfile
from std_msgs.msg import Float32
from std_srvs.srv import Trigger

from behavior_ros import QOS_COMMAND, QOS_EVENT_LOG, QOS_LATCHED
from behavior_sim.navigation import messages
from behavior_sim.navigation.host import EntityNode, Host
from behavior_sim.navigation.localizer import Localization
from behavior_sim.navigation.path_planner import Mode, Plan
from behavior_sim.navigation.system import Command, SpeedLimit
from behavior_sim.navigation.tracker import Tracking
from behavior_sim.navigation.world import Scan


class LocalizerNode(EntityNode):
    """Tells where the robot is: ``/localization/result`` and the transform from map to odom."""

    def __init__(self, host: Host) -> None:
        super().__init__("localizer", host)
        self._results = self.create_publisher(
            LocalizationResult, "localization/result", QOS_COMMAND
        )
        self.create_service(Trigger, "localization/reset", self._on_reset)
        host.system.on(Localization, self._publish)

    def _publish(self, event: Localization) -> None:
        host = self.host
        host.send(messages.transform(host.now, messages.MAP, messages.ODOM, event.correction))
        self._results.publish(messages.localization_result(host.now, event))

    def _on_reset(self, _request: Any, response: Any) -> Any:
        with self.host.lock:
            response.success = self.host.system.reset_localization()
        response.message = (
            "searching the map" if response.success else "the localizer is off: activate it first"
        )
        return response


class EvidenceNode(EntityNode):
    """The evidence grid map: what was seen that the map does not show, on ``/egm/obstacles``."""

    def __init__(self, host: Host) -> None:
        super().__init__("egm", host)
        self._obstacles = self.create_publisher(OccupancyGrid, "egm/obstacles", QOS_LATCHED)
        self._shown: object = None
        self._watchers = 0
        host.system.on(Scan, self._publish)

    def _publish(self, _: Scan) -> None:
        grid = self.host.system.evidence.grid
        watchers, before = self._obstacles.get_subscription_count(), self._watchers
        # Who has just come is told too: a grid of which nothing changes would never reach him.
        news = watchers > before or (watchers and grid is not self._shown)
        if grid is not None and news:
            self._shown = grid
            self._obstacles.publish(messages.occupancy(self.host.now, grid))
            self._watchers = watchers
        self._watchers = min(watchers, self._watchers)


class PathPlannerNode(EntityNode):
    """The regional path planner: ``/maneuver`` and mode in, ``/plan`` and health out."""

    def __init__(self, host: Host) -> None:
        super().__init__("rpp", host)
        self._health = self.create_publisher(
            PathPlannerHealth, "path_planner/health", QOS_EVENT_LOG
        )
        self._plans = self.create_publisher(Path, "plan", QoSProfile(depth=1))
        self.create_subscription(ManeuverMessage, "maneuver", self._on_maneuver, QOS_COMMAND)
        self.create_subscription(
            PlannerOperationMode, "planner_operation_mode", self._on_mode, QOS_LATCHED
        )
        host.system.on(Plan, self._publish)

    def _publish(self, plan: Plan) -> None:
        self._plans.publish(messages.plan_path(self.host.now, plan))
        self._health.publish(messages.health(self.host.now, plan))

    def _on_maneuver(self, message: ManeuverMessage) -> None:
        with self.host.lock:
            self.host.system.set_maneuver(messages.maneuver_from(message))

    def _on_mode(self, message: PlannerOperationMode) -> None:
        known = message.mode in set(Mode)
        with self.host.lock:
            self.host.system.set_mode(Mode(message.mode) if known else Mode.IDLE)


class SpeedDecisionNode(EntityNode):
    """The speed decision maker: ``/speed_limit`` [m/s]."""

    def __init__(self, host: Host) -> None:
        super().__init__("sdm", host)
        self._limits = self.create_publisher(Float32, "speed_limit", QOS_COMMAND)
        host.system.on(SpeedLimit, self._publish)

    def _publish(self, event: SpeedLimit) -> None:
        self._limits.publish(Float32(data=event.limit))


class TrajectoryPlannerNode(EntityNode):
    """The trajectory planner: ``/cmd_vel_nav`` and solver status."""

    def __init__(self, host: Host) -> None:
        super().__init__("tp", host)
        self._commands = self.create_publisher(Twist, "cmd_vel_nav", QOS_COMMAND)
        self._status = self.create_publisher(
            TrajectoryStatus, "trajectory_planner/status", QOS_EVENT_LOG
        )
        host.system.on(Command, self._publish_command)
        host.system.on(Tracking, self._publish_status)

    def _publish_command(self, event: Command) -> None:
        self._commands.publish(messages.twist(event.linear, event.angular))

    def _publish_status(self, event: Tracking) -> None:
        self._status.publish(messages.trajectory_status(self.host.now, event))
