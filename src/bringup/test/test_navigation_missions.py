# SPDX-License-Identifier: Apache-2.0
"""Missions of the navigation with its whole stack: routes are driven, ends have their own codes."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from behavior_msgs.action import ExecuteMission
from behavior_msgs.msg import AutonomyLevel, LocalizationResult, MissionAction
from behavior_msgs.srv import DisturbNavigation
from geometry_msgs.msg import PoseStamped
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.topic_endpoint_info import TopicEndpointInfo

from behavior_bringup.client import new_context
from behavior_bringup.stacks.session import temporary_stack
from behavior_bringup.stacks.stack import free_stack
from behavior_executor.missions.mission import Code
from behavior_navigation.rules.polyline import Polyline
from behavior_ros import QOS_LATCHED
from behavior_ros.node.closing import destroy_node

pytestmark = pytest.mark.timeout(600)
RVIZ = Path(__file__).parents[3] / "config" / "navigation" / "navigation.rviz"
RVIZ_TYPES = {"Map": "OccupancyGrid"}
"""Message types of the displays whose name is another."""
PROGRESS = 0.1
"""[m] that a robot under way drives, however slowly a busy machine lets it."""
REACH = 0.4
"""[m] within which a place counts as passed: corners are cut."""
Corners = list[tuple[float, float]]


class Operator:
    """Gives missions, and keeps where the robot was."""

    def __init__(self) -> None:
        self._node = Node("operator_of_test", context=new_context())
        self._executor = SingleThreadedExecutor(context=self._node.context)
        self._executor.add_node(self._node)
        self._missions = ActionClient(self._node, ExecuteMission, "/mission/execute")
        self._disturb = self._node.create_client(
            DisturbNavigation, "/simulation/disturb_navigation"
        )
        self.track: Corners = []
        self._seen_at, self._moved_at = (math.inf, math.inf), time.monotonic()
        self.level = -1
        subscribe = self._node.create_subscription
        # A busy machine hears late, but of every place.
        every = QoSProfile(depth=2000, reliability=ReliabilityPolicy.BEST_EFFORT)
        subscribe(LocalizationResult, "/localization/result", self._on_place, every)
        subscribe(AutonomyLevel, "/autonomy/level", self._on_level, QOS_LATCHED)
        self.wait(lambda: self.track and self._missions.server_is_ready(), "robot")
        self.wait(lambda: self.level == AutonomyLevel.AUTONOMOUS, "autonomy")

    def wait(self, condition: Callable[[], Any], what: str, limit: float = 150.0) -> None:
        """Wait as long as the robot gets on; `limit` [s, wall] is for one that stands."""
        begin = time.monotonic()
        while not condition():
            since = time.monotonic() - max(begin, self._moved_at)
            assert since < limit, f"not within {limit:g} s, and nothing moved: {what}"
            self._executor.spin_once(timeout_sec=0.05)

    def drive(self, *corners: tuple[float, float], map_id: str = "") -> tuple[Code, str]:
        """A mission to one place, along several, or to load a map; code and text of its end."""
        mission = MissionAction(type=MissionAction.LOAD_MAP, map_id=map_id)
        if len(corners) == 1:
            mission = MissionAction(type=MissionAction.NAVIGATE_TO_POSE, goal=pose(*corners[0]))
        elif corners:
            mission = MissionAction(type=MissionAction.FOLLOW_ROUTE)
            mission.route.header.frame_id = "map"
            mission.route.poses = [pose(*corner) for corner in corners]
        self.track = self.track[-1:]
        sent = self._missions.send_goal_async(ExecuteMission.Goal(mission=mission))
        self.wait(sent.done, "answer")
        ended = sent.result().get_result_async()
        self.wait(ended.done, f"end of {mission.type} {corners}{map_id}")
        result = ended.result().result
        return Code(result.code), result.message

    def disturb(self, **fields: Any) -> None:
        answer = self._disturb.call_async(DisturbNavigation.Request(**fields))
        self.wait(answer.done, "disturbance")
        assert answer.result().code == 0, answer.result().message

    def is_near(self, x: float, y: float) -> bool:
        return math.dist(self.track[-1], (x, y)) <= REACH

    def publishers(self, topic: str) -> list[TopicEndpointInfo]:
        """Who publishes on a topic, as soon as anybody does."""
        self.wait(lambda: self._node.count_publishers(topic), f"a publisher on {topic}")
        return self._node.get_publishers_info_by_topic(topic)

    def close(self) -> None:
        self._executor.shutdown(timeout_sec=1.0)
        destroy_node(self._node)

    def _on_place(self, message: LocalizationResult) -> None:
        position = message.pose.pose.position
        self.track.append((position.x, position.y))
        if not math.dist(self.track[-1], self._seen_at) < PROGRESS:
            self._seen_at, self._moved_at = self.track[-1], time.monotonic()

    def _on_level(self, message: AutonomyLevel) -> None:
        self.level = message.effective


def pose(x: float, y: float) -> PoseStamped:
    message = PoseStamped()
    message.header.frame_id = "map"
    message.pose.position.x, message.pose.position.y = float(x), float(y)
    message.pose.orientation.w = 1.0
    return message


def passed(track: Corners, corners: Corners) -> float:
    """[m] of a route that a track comes by, one point after the other."""
    # Between two places that were told (a busy machine loses some) the robot drove straight on.
    line, driven, at = Polyline(corners), Polyline(track), 0
    places = np.array([driven.point(float(s)) for s in np.arange(0.0, driven.length, 0.05)])
    for s in np.arange(0.0, line.length, 0.1):
        near = np.hypot(*(places[at:] - line.point(float(s))).T) <= REACH
        if not near.any():
            return float(s)
        at += int(near.argmax())
    return line.length


def test_missions_end_when_and_as_they_should() -> None:
    stack = free_stack("navigation_missions")
    with temporary_stack(stack, world="navigation", arguments={"speed": 8.0, "headless": True}):
        operator = Operator()
        try:
            rviz_shows_what_is_there(operator)
            routes_are_driven(operator)
            bad_requests_change_nothing(operator)
            ends_have_their_codes(operator)
        finally:
            operator.close()


def rviz_shows_what_is_there(operator: Operator) -> None:
    """Every topic of the layout is published, with the display's type and a fitting quality."""
    layout = yaml.safe_load(RVIZ.read_text(encoding="utf-8"))
    for display in layout["Visualization Manager"]["Displays"]:
        if not (topic := display.get("Topic")):
            continue
        kind = display["Class"].rpartition("/")[2]
        publishers = operator.publishers(topic["Value"])
        assert publishers, topic["Value"]
        for publisher in publishers:
            assert publisher.topic_type.rpartition("/")[2] == RVIZ_TYPES.get(kind, kind)
            offered, asked = publisher.qos_profile, topic["Durability Policy"]
            latched = offered.durability is DurabilityPolicy.TRANSIENT_LOCAL
            assert latched or asked == "Volatile", topic["Value"]
            reliable = offered.reliability is ReliabilityPolicy.RELIABLE
            assert reliable or topic["Reliability Policy"] == "Best Effort", topic["Value"]


def routes_are_driven(operator: Operator) -> None:
    for steps in (
        [(0, 0), (3, 0), (0, 0)],
        [(0, 0), (1.4, 0), (1.4, 2.5), (-0.9, 2.5), (-0.9, 0), (0, 0)],
        [(0, 0), (8, 0), (0, 0)],
    ):
        x, y = operator.track[-1]
        corners = [(x + dx, y + dy) for dx, dy in steps]
        assert operator.drive(*corners) == (Code.SUCCESS, "done")
        # The mission's end may be heard before the last places are.
        arrived = functools.partial(operator.is_near, *corners[-1])
        operator.wait(arrived, f"robot at the end of {steps}")
        assert passed(operator.track, corners) == Polyline(corners).length, steps


def bad_requests_change_nothing(operator: Operator) -> None:
    for place, words in (
        ((1e300, 0.0), "on no map"),
        ((50.0, 50.0), "lies outside of the map"),
        ((math.nan, 0.0), "finite"),
    ):
        code, text = operator.drive(place)
        assert (code, words in text) == (Code.INVALID_REQUEST, True), text
    code, text = operator.drive(map_id="moon")
    assert (code, text) == (Code.INVALID_REQUEST, "no tile 'moon': choose among east, west")
    assert operator.drive((3.0, 5.5))[0] is Code.SUCCESS


def ends_have_their_codes(operator: Operator) -> None:
    operator.disturb(kind=DisturbNavigation.Request.FAIL_PLANNER, cause=1, duration=45.0)
    code, text = operator.drive((2.0, 10.5))
    assert (code, "gave up" in text) == (Code.PLANNER_FAILED, True), text
    operator.wait(lambda: operator.drive((2.0, 7.0))[0] is Code.SUCCESS, "recovered planner")
    operator.disturb(kind=DisturbNavigation.Request.LOSE_LOCALIZATION, duration=60.0)
    code, text = operator.drive((2.0, 10.5))
    assert (code, "does not know where it is" in text) == (Code.LOCALIZATION_LOST, True), text
