# SPDX-License-Identifier: Apache-2.0
"""Tells what becomes of the action, collected from all managers."""

from __future__ import annotations

from behavior_msgs.msg import MissionFeedback
from rclpy.node import Node

from behavior_executor.conversion import feedback_message
from behavior_executor.missions.mission import Code, Mission, MissionRequest, State
from behavior_executor.missions.report import Report
from behavior_executor.missions.statistics import Metric
from behavior_executor.running.feedback import FeedbackGate, progress_of
from behavior_executor.running.tree_run import Activity
from behavior_navigation.manager import NavigationManager, navigation_managers
from behavior_ros import QOS_EVENT_LOG, read_only

PARAMETERS = (
    read_only(
        "tx_action_feedback",
        "behavior/action_feedback",
        "topic (behavior_msgs/MissionFeedback) of what becomes of the action",
    ),
    read_only(
        "feedback_period",
        0.5,
        "[s] node time between two reports while nothing changes",
        range=(0.01, 3600.0),
    ),
)


class FeedbackCollector(NavigationManager):
    """After every tick asks the managers, and publishes on each change and once per period.

    It sees an action as the managers see it: each step of a sequence is one of its own. What the
    executor tells on ``/mission/feedback`` is about whole missions, waiting ones included.
    """

    name = "feedback_collector"

    def __init__(self, node: Node) -> None:
        """Advertise."""
        super().__init__(node, PARAMETERS)
        self._host = node
        self.published = 0
        """Messages published."""
        self._mission: Mission | None = None
        self._gate = FeedbackGate(period=self.values["feedback_period"])
        self._publisher = self.manager_node.create_publisher(
            MissionFeedback, self.values["tx_action_feedback"], QOS_EVENT_LOG
        )

    def mission_started(self, request: MissionRequest) -> None:
        """Another action."""
        now = self.state.now
        self._mission = Mission(request, accepted_at=now)
        self._mission.advance(State.INITIALIZING, now)
        self._mission.advance(State.RUNNING, now)
        self._gate = FeedbackGate(period=self.values["feedback_period"])

    def mission_paused(self) -> None:
        """It stands still."""
        self._change(State.PAUSED)

    def mission_resumed(self) -> None:
        """It goes on."""
        self._change(State.RUNNING)

    def mission_ended(self, code: Code) -> None:
        """It is over: one last report, at once."""
        mission, self._mission = self._mission, None
        if mission is not None:
            otherwise = "done" if code is Code.SUCCESS else code.name.lower().replace("_", " ")
            mission.end(code, self.state.action.text or otherwise, self.state.now)
            self._publish(mission)

    def post_tick(self, now: float) -> None:
        """Tell what changed."""
        if self._mission is not None:
            self._publish(self._mission)

    def metrics(self) -> list[Metric]:
        """Messages published."""
        return [Metric("feedback_messages", "", float(self.published), is_counter=True)]

    def _change(self, state: State) -> None:
        if self._mission is not None:
            self._mission.advance(state, self.state.now)
            self._publish(self._mission)

    def _publish(self, mission: Mission) -> None:
        report = Report()
        for manager in navigation_managers(self._host):
            manager.describe(report)
        now = self.state.now
        progress = progress_of(mission, Activity(), now, report)
        if self._gate.lets_through(progress, now):
            message = feedback_message(progress)
            message.header.stamp = self.stamp()
            self._publisher.publish(message)
            self.published += 1
