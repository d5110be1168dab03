# SPDX-License-Identifier: Apache-2.0
"""The manager that carries out navigation actions: routes in, maneuvers out."""

from __future__ import annotations

import math
import time

from behavior_msgs.msg import LoadTileRequest, Route, RouteRequest, SemanticRegionArray
from behavior_msgs.msg import Maneuver as ManeuverMsg
from rclpy.node import Node
from std_srvs.srv import Trigger

from behavior_executor.managers.manager_node import input_parameters, pose_tree, pose_tree_parameter
from behavior_executor.missions.mission import Code, MissionRequest
from behavior_executor.missions.report import Report
from behavior_executor.missions.statistics import Metric
from behavior_motion.planar_pose import Pose2D, yaw_of
from behavior_navigation.manager import NavigationManager
from behavior_navigation.managers.action_messages import (
    broken_regions,
    maneuver_message,
    region_index,
    route_answer,
    route_request,
)
from behavior_navigation.managers.action_parameters import (
    RULE_PARAMETERS,
    USE_TILE_LOADER,
    action_rules,
)
from behavior_navigation.managers.service_call import ServiceCall, read_success
from behavior_navigation.rules.action_core import ActionCore
from behavior_navigation.rules.action_nodes import register_action_nodes
from behavior_navigation.rules.calls import Call
from behavior_navigation.rules.maneuver import Maneuver
from behavior_navigation.rules.route_exchange import RouteQuestion
from behavior_navigation.rules.state import ActionPhase
from behavior_ros import (
    QOS_COMMAND,
    QOS_LATCHED,
    AgeSince,
    TransformError,
    declare,
    read_only,
    seconds,
)
from behavior_tree import BehaviorTreeFactory, Cause
from behavior_tree.shown_text import visible

SILENCE = 1.0
"""[s] A frame whose transform has not been published for so long is not known any more."""

PARAMETERS = (
    *input_parameters("route", "route", 10.0, "routes"),
    *input_parameters("semantic_regions", "semantic_regions", math.inf, "regions of the map"),
    pose_tree_parameter(),
    read_only("robot_frame", "base_link", "frame of the robot"),
    read_only("goal_frame", "", "frame of goals that name none; empty: omap_frame"),
    read_only("omap_frame", "map", "frame of routes and maneuvers"),
    read_only("tx_route_request", "route_request", "topic of route requests"),
    read_only(
        "tx_reset_route_planner",
        "route_planner/reset",
        "service (std_srvs/Trigger) that resets the route planner; empty: it has none",
    ),
    read_only("tx_maneuver", "maneuver", "topic of maneuvers"),
    read_only(
        "tx_tile_load_request",
        "map/load_tile_request",
        "topic on which tiles are asked for; empty: never",
    ),
    *RULE_PARAMETERS,
)


class ActionManager(NavigationManager):
    """Gives the rules of :class:`ActionCore` their eyes and hands."""

    name = "action"

    def __init__(self, node: Node) -> None:
        """Subscribe and advertise.

        Raises:
            ParameterError: a rule that cannot be.
        """
        super().__init__(node, PARAMETERS)
        own, values = self.manager_node, self.values
        self.core = ActionCore(
            self.state,
            self,
            action_rules(
                own.get_fully_qualified_name(),
                values,
                use_tiles=bool(declare(node, USE_TILE_LOADER)),
            ),
            # Answers to an earlier life of this process must not be taken for ours.
            first_request_id=time.time_ns() // 1_000_000,
        )
        self.state.tiles = tuple(self.core.rules.tiles.names)
        self.stale_routes = 0
        """Routes that were too old when they arrived."""
        self._frame: str = values["omap_frame"]
        self._transforms = pose_tree(node, values["pose_tree"])
        self._routes = self.input(
            "route",
            Route,
            age_since=AgeSince.ARRIVAL,
            qos=QOS_COMMAND,
            callback=self._on_route,
        )
        self._regions = self.input(
            "semantic_regions",
            SemanticRegionArray,
            age_since=AgeSince.ARRIVAL,
            qos=QOS_LATCHED,
            callback=self._on_regions,
        )
        self._new_regions: SemanticRegionArray | None = None
        self._requests = own.create_publisher(RouteRequest, values["tx_route_request"], QOS_COMMAND)
        self._maneuvers = own.create_publisher(ManeuverMsg, values["tx_maneuver"], QOS_COMMAND)
        topic = values["tx_tile_load_request"]
        self._tiles = own.create_publisher(LoadTileRequest, topic, QOS_COMMAND) if topic else None
        service = values["tx_reset_route_planner"]
        self._reset = own.create_client(Trigger, service) if service else None

    # -- what takes part in missions ---------------------------------------------------------------

    def register_nodes(self, factory: BehaviorTreeFactory) -> None:
        """Register the nodes of :mod:`behavior_navigation.rules.action_nodes`."""
        register_action_nodes(factory, self.core)

    def pre_tick(self, now: float) -> None:
        """Take in what arrived since the last tick."""
        super().pre_tick(now)
        self._new_regions = self._regions.consume_new() or self._new_regions
        if self._new_regions is not None:
            index = region_index(self._new_regions, self.frame_in_map)
            if index is not None:
                self.core.regions, self._new_regions = index, None
        self.core.pre_tick(now)

    def refusal(self, request: MissionRequest) -> str:
        """Tiles that do not exist, and goals that lie on no map."""
        return self.core.refusal(request)

    def mission_started(self, request: MissionRequest) -> None:
        """A navigation is the new action."""
        self.core.mission_started(request)

    def mission_paused(self) -> None:
        """No maneuver from now on."""
        self.core.mission_paused()

    def mission_resumed(self) -> None:
        """Go on."""
        self.core.mission_resumed()

    def mission_ended(self, code: Code) -> None:
        """The action is over."""
        self.core.mission_ended(code)

    def failure(self) -> Cause | None:
        """Why the action failed."""
        return self.core.failure()

    # -- what the rules need -----------------------------------------------------------------------

    def frame_in_map(self, frame: str) -> Pose2D | None:
        """Where a frame is in the frame of routes now; None: unknown."""
        frame = frame or self.values["goal_frame"] or self._frame
        if frame == self._frame:
            return Pose2D()
        if frame == self.values["robot_frame"]:
            return self.state.localization.pose
        try:
            found = self._transforms.lookup_transform(self._frame, frame)
        except TransformError:
            return None
        stamp = seconds(found.header.stamp)
        if stamp and self.state.now - stamp > SILENCE:
            return None
        t, q = found.transform.translation, found.transform.rotation
        return Pose2D(t.x, t.y, yaw_of(q.x, q.y, q.z, q.w))

    def request_route(self, question: RouteQuestion) -> None:
        """Publish a route request."""
        self._requests.publish(route_request(question, self._frame, self.stamp()))

    def publish_maneuver(self, maneuver: Maneuver) -> None:
        """Publish a maneuver."""
        number = self.core.maneuvers + 1
        self._maneuvers.publish(maneuver_message(maneuver, number, self._frame, self.stamp()))

    def request_tile(self, tile: str) -> None:
        """Ask for a tile."""
        if self._tiles is not None:
            message = LoadTileRequest(id=time.time_ns(), tile_id=tile)
            message.header.stamp = self.stamp()
            self._tiles.publish(message)

    def reset_route_planner(self) -> Call | None:
        """Have the route planner forget everything; None: there is nothing to reset."""
        if self._reset is None:
            return None
        return ServiceCall(self._reset, Trigger.Request(), read_success, self.wake)

    # -- reports -----------------------------------------------------------------------------------

    def describe(self, report: Report) -> None:
        """Tell the way that remains, and how often another one was asked for."""
        action = self.state.action
        if action.phase is ActionPhase.IDLE:
            return
        report.distance_remaining = action.distance_remaining
        report.reroutes = action.reroutes
        report.progress = self.core.progress
        report.detail = action.text or action.phase.name.lower().replace("_", " ")

    def metrics(self) -> list[Metric]:
        """Actions, requests, maneuvers, and those of the inputs."""
        core = self.core
        counts = {
            "actions_executed": core.executed,
            "actions_completed": core.completed,
            "route_requests": core.exchange.sent,
            "maneuvers": core.maneuvers,
            "stale_routes": self.stale_routes,
        }
        return [
            *(Metric(name, "", float(count), is_counter=True) for name, count in counts.items()),
            *self.input_metrics(),
        ]

    def problem(self) -> str:
        """Why there is no route, while one is waited for."""
        if self.state.action.phase is not ActionPhase.WAIT_ROUTE:
            return ""
        return f"waits for a route: {self.core.exchange.refusal or 'no answer yet'}"

    def _on_regions(self, message: SemanticRegionArray) -> None:
        if broken := broken_regions(message):
            self.manager_node.get_logger().error(
                f"semantic regions {visible(', '.join(broken), 200)} have corners that are no "
                "numbers, or fewer than three: they may enclose less than they were meant to",
                throttle_duration_sec=5.0,
            )

    def _on_route(self, message: Route) -> None:
        stamp = seconds(message.header.stamp)
        now = seconds(self.manager_node.get_clock().now())
        if stamp and now - stamp > self.values["route.max_timeout"]:
            self.stale_routes += 1
            return
        self.core.take_route(route_answer(message, self.frame_in_map))
