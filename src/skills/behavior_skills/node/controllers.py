# SPDX-License-Identifier: Apache-2.0
"""Clients of the robot's controllers: the skills' `Arm` and `Gripper` in ROS."""

from __future__ import annotations

import math
from collections.abc import Callable

from control_msgs.action import FollowJointTrajectory, GripperCommand
from rclpy.node import Node
from sensor_msgs.msg import JointState as JointStateMsg

from behavior_motion import RobotModel, Trajectory
from behavior_ros import (
    QOS_SENSOR,
    End,
    GoalContext,
    GoalOutcome,
    RemoteGoal,
    ServerLost,
    remote_actions,
    seconds,
)
from behavior_ros.background import create_background_subscription
from behavior_ros.joint_state_wire import read_joint_state
from behavior_ros.silence import Silence
from behavior_skills.interfaces import Command, Done, FailureCode, JointState, SkillFailure
from behavior_skills.node import conversion

SILENCE = 2.5
"""[s] without joint states, on the node's clock and the wall's, after which the robot is lost."""
STANDSTILL = 4
"""So many times as long where the node's clock stands still: that of a simulation that has died, or
that a busy machine keeps waiting."""


class RobotState:
    """Newest joint state."""

    def __init__(self, node: Node, robot: RobotModel, topic: str = "/joint_states") -> None:
        self._robot = robot
        self._topic = topic
        self._logger = node.get_logger()
        self._state: JointState | None = None
        self._silence = Silence(
            lambda: seconds(node.get_clock().now()), SILENCE, standstill=STANDSTILL
        )
        self._sequence = 0
        self._waiting: set[GoalContext] = set()
        create_background_subscription(node, JointStateMsg, topic, self._on_message, QOS_SENSOR)

    def _on_message(self, data: bytes) -> None:
        try:
            state = conversion.joint_state(read_joint_state(data), self._robot)
        except ValueError as error:
            self._logger.warning(f"joint state ignored: {error}", throttle_duration_sec=5.0)
            return
        if state is None:
            return
        self._state = state
        self._silence.end()
        self._sequence += 1
        for context in tuple(self._waiting):
            context.wake()

    @property
    def silent(self) -> bool:
        """No joint states for longer than `SILENCE`."""
        return self._state is None or self._silence.too_long

    def get(self) -> JointState:
        """Newest joint state; raises `SkillFailure` SERVER_LOST."""
        state = self._state
        if state is None or self.silent:
            raise SkillFailure(FailureCode.SERVER_LOST, self._lost())
        return state

    def await_next(self, context: GoalContext) -> None:
        """Wait for the next joint state on behalf of a goal.

        Raises:
            Cancelled: the goal is to end.
            SkillFailure: SERVER_LOST, none has arrived for `SILENCE`.
        """
        sequence = self._sequence
        self._waiting.add(context)
        try:
            context.wait_until(lambda: self._sequence != sequence, math.inf, lost=self._reason)
        except ServerLost as lost:
            raise SkillFailure(FailureCode.SERVER_LOST, str(lost)) from None
        finally:
            self._waiting.discard(context)

    def _reason(self) -> str | None:
        return self._lost() if self.silent else None

    def _lost(self) -> str:
        return (
            f"No joint states of the robot arrive on {self._topic}. Start the robot's driver or "
            "the simulation again."
        )


class _Command:
    """A goal of a controller, as the skills' `Command`."""

    def __init__(self, goal: RemoteGoal, read: Callable[[GoalOutcome], Done]) -> None:
        self._goal, self._read = goal, read

    def done(self) -> Done | None:
        """How the goal ended, or None; raises `SkillFailure` SERVER_LOST."""
        ended = self._goal.outcome
        if ended is None:
            return None
        if ended.end is End.LOST:
            raise controller_lost(self._goal.action.name, ended)
        return Done(False, ended.message) if ended.result is None else self._read(ended)

    def cancel(self) -> None:
        """Cancel the goal, as soon as it is accepted."""
        self._goal.cancel_soon()


def controller_lost(name: str, ended: GoalOutcome) -> SkillFailure:
    """What a skill fails with when a controller is lost."""
    return SkillFailure(
        FailureCode.SERVER_LOST,
        f"The controller {name} does not answer: {ended.message}. Start the robot's driver or "
        "the simulation again.",
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
        self._state = state
        self._on_start, self._on_end = on_start, on_end
        self._action = remote_actions(node).action(FollowJointTrajectory, action)

    def state(self) -> JointState:
        """Newest joint state; raises `SkillFailure` SERVER_LOST."""
        return self._state.get()

    def execute(self, trajectory: Trajectory) -> Command:
        """Send a trajectory to the controller."""
        goal = self._action.send(
            conversion.trajectory_goal(trajectory),
            from_worker=True,
            on_accept=lambda: self._on_start(trajectory),
            on_end=lambda _: self._on_end(),
        )
        return _Command(goal, _trajectory_outcome)


class GripperClient:
    """The skills' `Gripper`."""

    def __init__(self, node: Node, action: str) -> None:
        self._action = remote_actions(node).action(GripperCommand, action)

    def move(self, width: float, effort: float) -> Command:
        """Send a gap [m] and effort [N] to the controller."""
        goal = self._action.send(conversion.gripper_goal(width, effort), from_worker=True)
        return _Command(goal, _gripper_outcome)


def _trajectory_outcome(ended: GoalOutcome) -> Done:
    result: FollowJointTrajectory.Result = ended.result
    ok = ended.succeeded and result.error_code == result.SUCCESSFUL
    return Done(ok, result.error_string or f"{ended.end.value}, error {result.error_code}")


def _gripper_outcome(ended: GoalOutcome) -> Done:
    return Done(
        ended.succeeded, "" if ended.succeeded else ended.end.value, stalled=ended.result.stalled
    )
