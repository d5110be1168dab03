# SPDX-License-Identifier: Apache-2.0
"""Clients of the robot's controllers: the skills' `Arm` and `Gripper` in ROS."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from control_msgs.action import FollowJointTrajectory, GripperCommand
from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import JointState as JointStateMsg

from behavior_motion import RobotModel, Trajectory
from behavior_ros import QOS_SENSOR, GoalExchange, GoalOutcome
from behavior_skills.interfaces import Done, Failure, JointState, SkillFailure
from behavior_skills.node import conversion

ACCEPT_TIMEOUT = 2.0
"""[s] wall time for a controller to answer a goal."""
SILENCE = 2.5
"""[s] wall time without joint states after which the robot counts as lost.

Wall time: simulated time stands still when the simulation dies."""
LOOK = 0.5
"""[s] wall time between two looks at whether a server is there."""


class RobotState:
    """Newest joint state, and a condition to wait for the next one."""

    def __init__(self, node: Node, robot: RobotModel, topic: str = "/joint_states") -> None:
        self._robot = robot
        self._topic = topic
        self._state: JointState | None = None
        self._arrived = 0.0
        self.sequence = 0
        self.condition = threading.Condition()
        """Notified at every joint state, and by whoever has news for a skill."""
        node.create_subscription(JointStateMsg, topic, self._on_message, QOS_SENSOR)

    def _on_message(self, message: JointStateMsg) -> None:
        state = conversion.joint_state(message, self._robot)
        if state is None:
            return
        with self.condition:
            self._state, self._arrived = state, time.monotonic()
            self.sequence += 1
            self.condition.notify_all()

    @property
    def silent(self) -> bool:
        """No joint states for longer than `SILENCE`."""
        return self._state is None or time.monotonic() - self._arrived > SILENCE

    def get(self) -> JointState:
        """Newest joint state; raises `SkillFailure` SERVER_LOST."""
        state = self._state
        if state is None or self.silent:
            raise SkillFailure(
                Failure.SERVER_LOST,
                f"No joint states of the robot arrive on {self._topic}. Start the robot's driver "
                "or the simulation again.",
            )
        return state


class ControllerCommand:
    """A goal of a controller, as the skills' `Command`.

    The goal is sent by the executor's thread: rclpy's action client is not safe against an answer
    that arrives while another thread still books the request.
    """

    def __init__(
        self,
        node: Node,
        client: ActionClient,
        name: str,
        goal: Any,
        *,
        outcome: Callable[[GoalOutcome], Done],
        wake: Callable[[], None],
        on_accept: Callable[[], None] = lambda: None,
    ) -> None:
        self._node, self._client, self._name = node, client, name
        self._outcome, self._wake, self._on_accept = outcome, wake, on_accept
        self._exchange: GoalExchange | None = None
        self._cancelled = False
        self._sent = self._looked = time.monotonic()
        self._in_executor(lambda: self._send(goal))

    def done(self) -> Done | None:
        """How the goal ended, or None; raises `SkillFailure` SERVER_LOST."""
        ended = self._exchange.outcome if self._exchange is not None else None
        if ended is None:
            self._check_server()
            return None
        return Done(False, ended.message) if ended.result is None else self._outcome(ended)

    def cancel(self) -> None:
        """Cancel the goal, as soon as it is accepted."""
        self._cancelled = True
        if self._exchange is not None:
            self._in_executor(self._exchange.cancel)

    def _in_executor(self, work: Callable[[], Any]) -> None:
        executor = self._node.executor
        if executor is None:
            raise SkillFailure(Failure.SERVER_LOST, "This node is shutting down.")
        executor.create_task(work)

    def _send(self, goal: Any) -> None:
        self._exchange = GoalExchange(
            self._client, goal, on_accept=self._on_accept, on_end=lambda _: self._wake()
        )
        if self._cancelled:
            self._exchange.cancel()

    def _check_server(self) -> None:
        now = time.monotonic()
        accepted = self._exchange is not None and self._exchange.accepted
        if not accepted and now - self._sent > ACCEPT_TIMEOUT:
            raise self._lost("does not answer")
        if now - self._looked > LOOK:
            self._looked = now
            if not self._client.server_is_ready():
                raise self._lost("is gone")

    def _lost(self, how: str) -> SkillFailure:
        return SkillFailure(
            Failure.SERVER_LOST,
            f"The controller {self._name} {how}. Start the robot's driver or the simulation again.",
        )


class ArmClient:
    """The skills' `Arm`: joint states and the trajectory controller."""

    def __init__(
        self,
        node: Node,
        state: RobotState,
        action: str,
        on_start: Callable[[Trajectory], None] = lambda trajectory: None,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        """Both are called in the executor's thread: with a trajectory that starts, and at its end,
        however it ends.
        """
        self._node, self._state, self._action = node, state, action
        self._on_start, self._on_end = on_start, on_end
        self._client = ActionClient(node, FollowJointTrajectory, action)

    def state(self) -> JointState:
        """Newest joint state; raises `SkillFailure` SERVER_LOST."""
        return self._state.get()

    def execute(self, trajectory: Trajectory) -> ControllerCommand:
        """Send a trajectory to the controller."""
        return ControllerCommand(
            self._node,
            self._client,
            self._action,
            conversion.trajectory_goal(trajectory),
            outcome=_trajectory_outcome,
            wake=self._ended,
            on_accept=lambda: self._on_start(trajectory),
        )

    def _ended(self) -> None:
        self._on_end()
        _notify(self._state.condition)


class GripperClient:
    """The skills' `Gripper`."""

    def __init__(self, node: Node, state: RobotState, action: str) -> None:
        self._node, self._state, self._action = node, state, action
        self._client = ActionClient(node, GripperCommand, action)

    def move(self, width: float, effort: float) -> ControllerCommand:
        """Send a gap [m] and effort [N] to the controller."""
        return ControllerCommand(
            self._node,
            self._client,
            self._action,
            conversion.gripper_goal(width, effort),
            outcome=_gripper_outcome,
            wake=lambda: _notify(self._state.condition),
        )


def _trajectory_outcome(ended: GoalOutcome) -> Done:
    result: FollowJointTrajectory.Result = ended.result
    ok = ended.succeeded and result.error_code == result.SUCCESSFUL
    return Done(ok, result.error_string or f"{ended.end.value}, error {result.error_code}")


def _gripper_outcome(ended: GoalOutcome) -> Done:
    return Done(
        ended.succeeded, "" if ended.succeeded else ended.end.value, stalled=ended.result.stalled
    )


def _notify(condition: threading.Condition) -> None:
    with condition:
        condition.notify_all()
