# SPDX-License-Identifier: Apache-2.0
"""The manager through which a navigation uses the robot's other abilities, such as its arms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from behavior_msgs.action import ExecuteMission
from behavior_msgs.msg import MissionAction
from diagnostic_msgs.msg import KeyValue
from rclpy.node import Node

from behavior_executor.missions.statistics import Metric
from behavior_navigation.manager import NavigationManager
from behavior_navigation.rules.behavior_call import (
    BehaviorProgress,
    register_behavior_nodes,
)
from behavior_navigation.rules.calls import CallResult
from behavior_ros import (
    Need,
    RemoteAction,
    action_need,
    code_text,
    read_only,
    remote_actions,
)
from behavior_tree import BehaviorTreeFactory

PARAMETERS = (
    read_only(
        "tx_behavior",
        "manipulation/execute",
        "action (behavior_msgs/ExecuteMission) of the executor that runs the behaviors",
    ),
    read_only(
        "server_timeout",
        2.0,
        "[s] wall time without a sign of life after which that executor counts as lost",
        range=(0.1, 60.0),
    ),
)


class LocoManipulationManager(NavigationManager):
    """Runs missions of another executor.

    It must be another one: an executor runs one mission at a time, so a mission that waits for a
    second one of its own executor would wait for ever.
    """

    name = "loco_manipulation"

    def __init__(self, node: Node) -> None:
        """Make the client."""
        super().__init__(node, PARAMETERS)
        self.started = 0
        """Behaviors started."""
        actions = remote_actions(self.manager_node)
        self._action = actions.action(ExecuteMission, self.values["tx_behavior"])

    def register_nodes(self, factory: BehaviorTreeFactory) -> None:
        """Register the node runBehavior."""
        register_behavior_nodes(factory, self.run, lambda: self.state.now)

    def needs(self) -> Mapping[str, Sequence[Need]]:
        """The other executor, for whoever runs a behavior."""
        return {"runBehavior": [action_need(self._action)]}

    def run(self, name: str, parameters: Mapping[str, str]) -> RemoteBehavior:
        """Start a behavior."""
        self.started += 1
        action = MissionAction(
            name=name,
            type=MissionAction.RUN_BEHAVIOR,
            parameters=[KeyValue(key=key, value=value) for key, value in parameters.items()],
        )
        action.header.stamp = self.stamp()
        goal = ExecuteMission.Goal(mission=action)
        return RemoteBehavior(self._action, goal, self.values["server_timeout"], self.wake)

    def metrics(self) -> list[Metric]:
        """Behaviors started."""
        return [Metric("behaviors_started", "", float(self.started), is_counter=True)]


class RemoteBehavior:
    """One mission of another executor; sent once it is there and no earlier one is closing."""

    def __init__(
        self,
        action: RemoteAction,
        goal: ExecuteMission.Goal,
        patience: float,
        wake: Callable[..., None],
    ) -> None:
        """Send it, or wait with that for `patience` [s] of wall time; `wake` is called at news."""
        self.progress = BehaviorProgress()
        self._wake = wake
        self._goal = action.send(
            goal,
            server_timeout=patience,
            patient=True,
            on_feedback=self._take_feedback,
            on_end=wake,
        )

    def poll(self) -> CallResult | None:
        """How it ended; None: it runs."""
        outcome = self._goal.outcome
        if outcome is None:
            return None
        result = outcome.result
        if result is None:
            return CallResult(False, outcome.message)
        success = outcome.succeeded and result.code == 0
        return CallResult(
            success, result.message or f"ended with {code_text(type(result), result.code)}"
        )

    def cancel(self) -> None:
        """Cancel it."""
        self._goal.cancel()

    def _take_feedback(self, message: ExecuteMission.Feedback) -> None:
        feedback = message.feedback
        self.progress = BehaviorProgress(feedback.progress, feedback.detail or feedback.phase)
        self._wake()
