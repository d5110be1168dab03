# SPDX-License-Identifier: Apache-2.0
"""The viewer's node: hands what the stack publishes to the page, and clicks to the executor.

Messages only change what is remembered; a timer draws at a steady rate of wall time, however fast
the simulation runs.
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import numpy as np
from behavior_msgs.msg import MissionAction, MissionFeedback, SceneObjectArray, TreeStatus
from behavior_msgs.srv import ListMissions
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker, MarkerArray

from behavior_bringup.conversion import boxes_of, mission_action, progress_of
from behavior_bringup.paths import share_dir
from behavior_bringup.robot_description import robot_description
from behavior_bringup.tree_view import TreeLine, tree_html, tree_lines
from behavior_bringup.viewer_page import ViewerPage
from behavior_ros import (
    QOS_EVENT_LOG,
    QOS_LATCHED,
    DiagnosticsPublisher,
    ParameterSpec,
    declare_all,
    run,
)

PARAMETERS = [
    ParameterSpec("port", 8080, "of the page on localhost", range=(1024, 65535), read_only=True),
    ParameterSpec(
        "robot", "", "robot configuration; empty: config/robots/panda.yaml", read_only=True
    ),
    ParameterSpec("rate", 15.0, "[Hz] at which the page changes, wall time", range=(0.5, 60.0)),
]


class ViewerNode(Node):  # type: ignore[misc] # rclpy has no type information
    """Serves the page of a running stack."""

    def __init__(self, node_name: str = "viewer", **kwargs: Any) -> None:
        """Start the server and subscribe."""
        super().__init__(node_name, **kwargs)
        values = declare_all(self, PARAMETERS)
        robot = values["robot"] or share_dir() / "config" / "robots" / "panda.yaml"
        self._missions = self.create_client(ListMissions, "/mission/list")
        self._cancel = self.create_client(Trigger, "/mission/cancel")
        self._start = self.create_publisher(MissionAction, "/mission/action", QOS_EVENT_LOG)
        self._pending: dict[str, Any] = {}
        self._lines: list[TreeLine] = []
        self._statuses: dict[int, int] = {}
        self.page = ViewerPage(
            port=values["port"],
            robot_description=robot_description(Path(robot)),
            on_start=self._on_start,
            on_cancel=self._on_cancel,
        )
        self._subscribe()
        wall = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(1.0 / values["rate"], self._draw, clock=wall)
        self.create_timer(2.0, self._ask_missions, clock=wall)
        self._diagnostics = DiagnosticsPublisher(self, "viewer")
        self.get_logger().info(f"the page is at http://localhost:{self.page.port}")

    def destroy_node(self) -> None:
        """Stop the server."""
        self.page.close()
        super().destroy_node()

    def _subscribe(self) -> None:
        newest = QoSProfile(depth=1)
        self._keep(JointState, "/joint_states", newest)
        self._keep(SceneObjectArray, "/scene/objects", QOS_LATCHED)
        self._keep(MarkerArray, "/motion/planned_path", QOS_LATCHED)
        self._keep(MissionFeedback, "/mission/feedback", QOS_EVENT_LOG)
        self.create_subscription(String, "/behavior/tree_xml", self._take_tree, QOS_LATCHED)
        self.create_subscription(
            TreeStatus, "/behavior/tree_status", self._take_status, QOS_EVENT_LOG
        )

    def _keep(self, kind: Any, topic: str, qos: QoSProfile) -> None:
        """Remember the newest message until the next drawing."""

        def take(message: Any) -> None:
            self._pending[topic] = message

        self.create_subscription(kind, topic, take, qos)

    def _take_tree(self, message: String) -> None:
        self._lines = tree_lines(message.data)
        self._statuses.clear()
        self._pending["tree"] = True

    def _take_status(self, message: TreeStatus) -> None:
        if message.tick <= 1:
            self._statuses.clear()
        self._statuses.update(zip(message.uids, message.statuses, strict=False))
        self._pending["tree"] = True

    def _draw(self) -> None:
        pending, self._pending = self._pending, {}
        if joints := pending.get("/joint_states"):
            self.page.set_joints(dict(zip(joints.name, joints.position, strict=False)))
        if objects := pending.get("/scene/objects"):
            self.page.set_objects(boxes_of(objects))
        if path := pending.get("/motion/planned_path"):
            self.page.set_path(_path_points(path))
        if feedback := pending.get("/mission/feedback"):
            self.page.set_progress(progress_of(feedback, summary="", wall=0.0), feedback.text)
        if "tree" in pending:
            self.page.set_tree(tree_html(self._lines, self._statuses))

    def _ask_missions(self) -> None:
        if self._missions.service_is_ready():
            future = self._missions.call_async(ListMissions.Request())
            future.add_done_callback(lambda done: self.page.set_missions(done.result().names))

    def _on_start(self, name: str) -> None:
        self._start.publish(mission_action(name, uuid.uuid4().hex[:12], {}))

    def _on_cancel(self) -> None:
        self._cancel.call_async(Trigger.Request())


def _path_points(markers: MarkerArray) -> Any:
    """Points of the first line strip, [m], shape (n, 3)."""
    for marker in markers.markers:
        if marker.type == Marker.LINE_STRIP and marker.action == Marker.ADD:
            return np.array([[p.x, p.y, p.z] for p in marker.points]).reshape(-1, 3)
    return np.empty((0, 3))


def main() -> int:
    """Run the viewer alone."""
    return run([ViewerNode])
