# SPDX-License-Identifier: Apache-2.0
"""The skills' `Runtime` in ROS: the clock, feedback and cancellation of one goal."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node

from behavior_ros import GoalContext
from behavior_skills.interfaces import Cancelled, Failure, SkillFailure
from behavior_skills.node.controllers import SILENCE, RobotState

FEEDBACK_PERIOD = 0.2
"""[s] between feedback messages of the same phase."""
_LOOK = 0.1
"""[s] wall time between two looks for cancellation while no joint states arrive."""


class GoalRuntime:
    """Runtime of one goal; used in that goal's thread alone."""

    def __init__(
        self, node: Node, state: RobotState, context: GoalContext, feedback_type: Any
    ) -> None:
        self._node, self._state, self._context = node, state, context
        self._feedback_type = feedback_type
        self._shielded = False
        self._last_feedback = ("", -1e9)
        self.phase = ""
        """The phase that was reported last."""

    def now(self) -> float:
        """Time of the node's clock [s]."""
        return float(self._node.get_clock().now().nanoseconds) * 1e-9

    def tick(self) -> None:
        """Wait for the next joint state; raises `Cancelled` or SERVER_LOST."""
        state = self._state
        with state.condition:
            sequence = state.sequence
            while state.sequence == sequence:
                self.check_cancelled()
                if state.silent:
                    raise SkillFailure(
                        Failure.SERVER_LOST,
                        f"No joint states of the robot arrived for {SILENCE:.0f} s. Start the "
                        "robot's driver or the simulation again.",
                    )
                state.condition.wait(_LOOK)
        self.check_cancelled()

    def check_cancelled(self) -> None:
        """Raise `Cancelled` when the client wants the goal to end, unless shielded."""
        if self._context.cancelled.is_set() and not self._shielded:
            raise Cancelled

    def feedback(self, phase: str, progress: float) -> None:
        """Publish where the skill is, at each new phase and every `FEEDBACK_PERIOD`."""
        now = self.now()
        last_phase, last_time = self._last_feedback
        if phase == last_phase and now - last_time < FEEDBACK_PERIOD:
            return
        self.phase = phase
        self._last_feedback = (phase, now)
        self._context.publish_feedback(self._feedback_type(phase=phase, progress=float(progress)))

    def shield(self, on: bool) -> None:
        """While on, `tick` does not raise `Cancelled`."""
        self._shielded = on
