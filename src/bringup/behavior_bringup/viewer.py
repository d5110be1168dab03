# SPDX-License-Identifier: Apache-2.0
"""The viewer's node: hands what the stack publishes to the page, and clicks to the executor.

Messages only change what is remembered; a timer draws at a steady rate of wall time, however fast
the simulation runs.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from behavior_msgs.msg import (
    LocalizationResult,
    MissionAction,
    MissionFeedback,
    Route,
    SceneObjectArray,
    TreeStatus,
)
from behavior_msgs.srv import ListMissions
from nav_msgs.msg import OccupancyGrid
from nav_msgs.msg import Path as PathMessage
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from behavior_bringup.conversion import (
    TERMINAL_STATES,
    control_action,
    ground_map_of,
    line_points,
    mission_action,
    path_points,
    progress_of,
    sequence_action,
    shown_objects,
)
from behavior_bringup.mission_offers import Offer, offers_of
from behavior_bringup.mission_steps import Place, Step
from behavior_bringup.robot_description import robot_description
from behavior_bringup.state import StackState
from behavior_bringup.tree_view import TreeLine, tree_html, tree_lines
from behavior_bringup.viewer_access import ADDRESS_FILE, kept_token
from behavior_bringup.viewer_controls import Commands
from behavior_bringup.viewer_page import ViewerPage
from behavior_motion.planar_pose import yaw_of
from behavior_packages.folders import node_file
from behavior_ros import (
    QOS_COMMAND,
    QOS_EVENT_LOG,
    QOS_LATCHED,
    DiagnosticsPublisher,
    ParameterSpec,
    declare_all,
    read_only,
    run,
)
from behavior_ros.web_access import WebAccess, new_token, write_private
from behavior_scene.derived import ContainerInterior
from behavior_scene.library import load_library
from behavior_scene.objects.definitions import definitions_from

PARAMETERS = [
    read_only("port", 8080, "of the page on localhost", range=(1024, 65535)),
    read_only("robot", "", "robot configuration; empty: no arm"),
    read_only("library", "", "of the scene: which objects are containers"),
    read_only("world", "", "name of the stack, whose missions are offered; empty: all"),
    read_only("mission", "", "which one is offered first"),
    read_only(
        "address_file",
        "",
        "where the address with the right to act is written, for this user alone; empty: in the "
        "runtime folder",
    ),
    ParameterSpec("rate", 15.0, "[Hz] at which the page changes, wall time", range=(0.5, 60.0)),
]


class ViewerNode(Node):  # type: ignore[misc] # rclpy has no type information
    """Serves the page of a running stack."""

    def __init__(self, node_name: str = "viewer", **kwargs: Any) -> None:
        """Start the server and subscribe."""
        super().__init__(node_name, **kwargs)
        values = declare_all(self, PARAMETERS)
        self._containers = _containers(values["library"]) if values["library"] else {}
        self._missions = self.create_client(ListMissions, "mission/list")
        self._actions = self.create_publisher(MissionAction, "mission/action", QOS_EVENT_LOG)
        self._pending: dict[str, Any] = {}
        self._tree = _Tree()
        self._world, self._known = values["world"], list[str]()
        self._file = file = node_file(values["address_file"], self.get_namespace(), ADDRESS_FILE)
        access = WebAccess(token=kept_token(file) or new_token())
        self.page = ViewerPage(
            port=values["port"],
            access=access,
            title=values["world"] or "Behavior suite",
            mission=values["mission"],
            robot_description=robot_description(Path(values["robot"])) if values["robot"] else "",
            commands=Commands(
                start=self._on_start,
                pause=partial(self._control, MissionAction.PAUSE),
                resume=partial(self._control, MissionAction.RESUME),
                cancel=partial(self._control, MissionAction.CANCEL),
                drive=self._drive,
            ),
        )
        write_private(file, access.url(self.page.port) + "\n")
        self._subscribe()
        wall = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(1.0 / values["rate"], self._draw, clock=wall)
        self.create_timer(2.0, self._ask_missions, clock=wall)
        self._diagnostics = DiagnosticsPublisher(self, "viewer")
        self.get_logger().info(
            f"the page is at http://localhost:{self.page.port}, to look at;"
            f" the address with the right to act is in {file}"
        )

    def destroy_node(self) -> None:
        """Stop the server."""
        self.page.close()
        super().destroy_node()

    def _subscribe(self) -> None:
        newest = QoSProfile(depth=1)
        self._keep(JointState, "joint_states", newest)
        self._keep(SceneObjectArray, "scene/objects", QOS_LATCHED)
        self._keep(MarkerArray, "motion/planned_path", QOS_LATCHED)
        self._keep(MarkerArray, "preview/path", QOS_LATCHED)
        self._keep(OccupancyGrid, "map", QOS_LATCHED)
        self._keep(Route, "route", QOS_COMMAND)
        self._keep(PathMessage, "plan", newest)
        self._keep(LocalizationResult, "localization/result", newest)
        self._keep(MissionFeedback, "mission/feedback", QOS_EVENT_LOG)
        self.create_subscription(String, "behavior/tree_xml", self._tree.take_xml, QOS_LATCHED)
        self.create_subscription(
            TreeStatus, "behavior/tree_status", self._tree.take_status, QOS_EVENT_LOG
        )
        self.create_subscription(
            MissionFeedback, "mission/feedback", self._tree.take_feedback, QOS_EVENT_LOG
        )

    def _keep(self, kind: Any, topic: str, qos: QoSProfile) -> None:
        """Remember the newest message until the next drawing."""

        def take(message: Any) -> None:
            self._pending[topic] = message

        self.create_subscription(kind, topic, take, qos)

    def _draw(self) -> None:
        pending, self._pending = self._pending, {}
        self._draw_manipulation(pending)
        self._draw_navigation(pending)
        if feedback := pending.get("mission/feedback"):
            self.page.set_progress(progress_of(feedback, summary="", wall=0.0), feedback.text)
            if feedback.state in TERMINAL_STATES:
                for name in self.page.paths:
                    self.page.set_path(name, line_points(MarkerArray()))
        if self._tree.changed:
            self.page.set_tree(self._tree.html())

    def _draw_manipulation(self, pending: Mapping[str, Any]) -> None:
        if joints := pending.get("joint_states"):
            self.page.set_joints(dict(zip(joints.name, joints.position, strict=False)))
        if objects := pending.get("scene/objects"):
            self.page.set_objects(shown_objects(objects, self._containers))
        if path := pending.get("motion/planned_path"):
            self.page.set_path("planned_path", line_points(path))
        if ghost := pending.get("preview/path"):
            self.page.set_path("preview", line_points(ghost))

    def _draw_navigation(self, pending: Mapping[str, Any]) -> None:
        if grid := pending.get("map"):
            self.page.set_map(ground_map_of(grid))
        if route := pending.get("route"):
            self.page.set_path("route", path_points(route.path))
        if plan := pending.get("plan"):
            self.page.set_path("plan", path_points(plan))
        if found := pending.get("localization/result"):
            pose = found.pose.pose
            turn = pose.orientation
            yaw = yaw_of(turn.x, turn.y, turn.z, turn.w)
            self.page.set_base(pose.position.x, pose.position.y, yaw)

    def _ask_missions(self) -> None:
        if self._missions.service_is_ready():
            future = self._missions.call_async(ListMissions.Request())
            future.add_done_callback(lambda done: self._offer(done.result().names))

    def _offer(self, names: list[str]) -> None:
        """Offer, of the missions that the executor knows, those that this world can run."""
        if names != self._known:
            self._known = names
            here = {name: offer for name, offer in self._offers().items() if name in names}
            self.page.set_missions(
                {name: offer.parameter_texts() for name, offer in here.items()}
                if self._world
                else {name: [] for name in names}
            )

    def _offers(self) -> dict[str, Offer]:
        """What this world can run."""
        if not self._world:
            return {}
        log_dir = str(self._file.parent)
        stack = StackState(supervisor_pid=0, domain=0, world=self._world, log_dir=log_dir)
        return {offer.name: offer for offer in offers_of(stack) if not offer.why_not}

    def _on_start(self, name: str, parameters: dict[str, str]) -> None:
        self._actions.publish(mission_action(name, uuid.uuid4().hex[:12], parameters))

    def _drive(self, x: float, y: float) -> None:
        action = sequence_action([Step(navigate=Place(x=x, y=y))])
        action.action_id = uuid.uuid4().hex[:12]
        self._actions.publish(action)

    def _control(self, kind: int) -> None:
        """Pause, resume or cancel the mission that is shown."""
        self._actions.publish(control_action(kind, self._tree.action_id))


class _Tree:
    """The tree of the mission that runs, or of the last one."""

    def __init__(self) -> None:
        self.action_id = ""
        """Of the mission that was told of last."""
        self.changed = False
        """Since it was drawn."""
        self._lines: list[TreeLine] = []
        self._statuses: dict[int, int] = {}
        self._runs = ""
        self._halted = False

    def take_xml(self, message: String) -> None:
        self._lines = tree_lines(message.data)
        self._statuses.clear()
        self.changed = True

    def take_status(self, message: TreeStatus) -> None:
        if message.tick <= 1 or message.action_id != self._runs:
            self._statuses.clear()
            self._halted = False
        self._runs = message.action_id
        self._statuses.update(zip(message.uids, message.statuses, strict=False))
        self.changed = True

    def take_feedback(self, message: MissionFeedback) -> None:
        """A mission that ended leaves nothing running, also when it was ended from outside."""
        self.action_id = message.action_id
        if message.state in TERMINAL_STATES and message.action_id == self._runs:
            self._halted = self.changed = True

    def html(self) -> str:
        """The tree as it is now."""
        self.changed = False
        return tree_html(self._lines, self._statuses, halted=self._halted)


def _containers(library: str) -> dict[str, tuple[float, float]]:
    """Objects of a scene's library that have an interior, with their walls and floor [m]."""
    definitions = definitions_from(load_library(library).objects, library)
    return {
        definition.container: (definition.wall, definition.floor)
        for definition in definitions.values()
        if isinstance(definition, ContainerInterior)
    }


def main() -> int:
    """Run the viewer alone."""
    return run([ViewerNode])
