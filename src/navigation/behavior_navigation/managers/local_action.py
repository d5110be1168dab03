# SPDX-License-Identifier: Apache-2.0
"""Turns a route that the robot made itself into an action, where there is no cloud."""

from __future__ import annotations

import math

from behavior_msgs.msg import MissionAction, Route
from rclpy.node import Node

from behavior_executor.managers.manager_node import input_parameters
from behavior_executor.missions.mission import Kind, Policy
from behavior_executor.missions.statistics import Metric
from behavior_navigation.manager import NavigationManager
from behavior_ros import QOS_COMMAND, AgeSince, read_only, seconds

PARAMETERS = (
    *input_parameters("rx_route", "local_route", 5.0, "routes made on board"),
    read_only("tx_action", "mission/action", "topic of mission actions"),
    read_only(
        "policy",
        "replace",
        "what happens to a mission that runs when a route arrives",
        choices=("reject", "queue", "replace"),
    ),
)


class LocalActionGenerator(NavigationManager):
    """One action FOLLOW_ROUTE for each new route.

    Left out are: answers to route requests, routes without points, routes older than the newest
    one, repeated ones, and those that were too old on arrival.
    """

    name = "local_action"

    def __init__(self, node: Node) -> None:
        """Subscribe and advertise."""
        super().__init__(node, PARAMETERS)
        self.generated = 0
        """Actions published."""
        self.ignored = 0
        """Routes left out."""
        self._heard = self._newest = -math.inf
        self._last_id = ""
        self._policy = Policy[self.values["policy"].upper()]
        self.input(
            "rx_route",
            Route,
            age_since=AgeSince.ARRIVAL,
            qos=QOS_COMMAND,
            callback=self._on_route,
        )
        self._actions = self.manager_node.create_publisher(
            MissionAction, self.values["tx_action"], QOS_COMMAND
        )

    def metrics(self) -> list[Metric]:
        """Actions, routes left out, and those of the input."""
        return [
            Metric("local_actions", "", float(self.generated), is_counter=True),
            Metric("ignored_routes", "", float(self.ignored), is_counter=True),
            *self.input_metrics(),
        ]

    def _on_route(self, message: Route) -> None:
        stamp = seconds(message.header.stamp)
        now = seconds(self.manager_node.get_clock().now())
        if now < self._heard:  # the clock was set back
            self._newest, self._last_id = -math.inf, ""
        self._heard = now
        if stamp > now:  # their clock is ahead
            self._newest = min(self._newest, now)
        late = stamp <= self._newest or now - stamp > self.values["rx_route.max_timeout"]
        repeated = bool(message.route_id) and message.route_id == self._last_id
        if message.request_id or not message.path.poses or late or repeated:
            self.ignored += 1
            return
        self._newest, self._last_id = stamp, message.route_id
        self.generated += 1
        self._actions.publish(self._action(message, stamp))

    def _action(self, message: Route, stamp: float) -> MissionAction:
        action = MissionAction(
            action_id=f"local-{message.route_id or self.generated}-{stamp:.3f}",
            type=int(Kind.FOLLOW_ROUTE),
            name="local route",
            policy=int(self._policy),
            route=message.path,
        )
        action.header = message.header
        action.route.header.frame_id = message.path.header.frame_id or message.header.frame_id
        return action
