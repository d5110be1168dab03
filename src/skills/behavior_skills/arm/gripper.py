# SPDX-License-Identifier: Apache-2.0
"""Open, close or set the gripper; the scene is told when this lets go of an object."""

from __future__ import annotations

import contextlib
import enum
from dataclasses import dataclass

from behavior_ros.node.elapsed import Elapsed
from behavior_skills.arm.context import Skill
from behavior_skills.arm.execution import gave_up, shielded, stillness, stop, wait_for
from behavior_skills.arm.geometry import carried
from behavior_skills.arm.grip import report_release
from behavior_skills.goal_checks import check_not_negative, invalid
from behavior_skills.interfaces import (
    FailureCode,
    SkillFailure,
)
from behavior_tree.shown_text import named

SHUT = 0.002
"""[m] a smaller gap means that nothing is between the fingers."""
RELEASED = 0.002
"""[m] fingers that stand this much wider than before have let go."""
THERE = 0.001
"""[m] fingers whose controller has ended this near to the target are not waited for."""
TIMEOUT = 5.0
"""[s]"""
SETTLE_TIMEOUT = 1.0
"""[s] the controller may report its end a little before the fingers rest."""


MOST_EFFORT = 1000.0
"""[N]"""


class GripperMode(enum.IntEnum):
    """Values as in behavior_msgs/MoveGripper."""

    OPEN = 0
    CLOSE = 1
    WIDTH = 2
    GRIP = 3


@dataclass(frozen=True, slots=True)
class GripperRequest:
    """What the fingers are to do."""

    mode: int
    width: float = 0.0
    """[m] WIDTH only."""
    max_effort: float = 0.0
    """[N]; 0: the default."""
    grip: str = ""
    """Name of a grip of the robot; GRIP only."""
    satisfied_within: float = 0.0
    """[m] fingers that stand this near already are not moved; 0: always move."""
    tolerance: float = 0.0
    """[m] of the gap at the end, where nothing is held; 0: not checked."""
    timeout: float = 0.0
    """[s]; 0: the default."""


@dataclass(frozen=True, slots=True)
class GripperOutcome:
    """Where the fingers stand."""

    width: float
    """[m]"""
    holding: bool
    """Stopped on something before they were shut."""


@dataclass
class GripperSkill(Skill):
    """One motion of the fingers; call :meth:`run`."""

    request: GripperRequest

    def run(self) -> GripperOutcome:
        """Move the fingers.

        Raises:
            SkillFailure: with one of MoveGripper's result codes.
            Cancelled: the client cancelled; the fingers stand.
        """
        target = self._target()
        start = self.arm.state().width
        if abs(start - target) <= self.request.satisfied_within:
            self._report_release(start)
            return GripperOutcome(start, self.hand.held is not None)
        effort = self.request.max_effort or self.robot.gripper.grasp_force
        command = self.gripper.move(target, effort)
        passed = Elapsed(self.goal_context.now)
        try:
            finished = wait_for(
                self.goal_context,
                lambda: command.done() is not None,
                self.request.timeout or TIMEOUT,
                lambda elapsed: self.goal_context.feedback("move", self._progress(start, target)),
            )
            self._settle(target)
        except BaseException:
            stop(self.goal_context, command, self.arm)
            with contextlib.suppress(SkillFailure):  # why it ended is worth more
                self._report_release(start)
            raise
        self._report_release(start)
        done = command.done()
        if not finished or done is None:
            raise SkillFailure(
                FailureCode.TIMED_OUT,
                f"The fingers did not come to rest within {passed():.1f} s. "
                "See whether the gripper's controller runs.",
            )
        if not done.ok and not done.stalled:
            raise gave_up("gripper", done)
        width = self.arm.state().width
        holding = done.stalled and width > SHUT
        self._check_tolerance(width, target, holding)
        return GripperOutcome(width, holding)

    def _settle(self, target: float) -> None:
        """Wait until the fingers stand at the target, or rest wherever something stops them."""
        near = min(self.request.tolerance or THERE, THERE)
        still = stillness(self.arm, self.robot.gripper.still_time)
        wait_for(
            self.goal_context,
            lambda: still() or abs(self.arm.state().width - target) <= near,
            SETTLE_TIMEOUT,
        )

    def _check_tolerance(self, width: float, target: float, holding: bool) -> None:
        tolerance = self.request.tolerance
        if holding or tolerance <= 0.0 or abs(width - target) <= tolerance:
            return
        raise SkillFailure(
            FailureCode.OUT_OF_TOLERANCE,
            f"The gap is {1e3 * width:.1f} mm, not {1e3 * target:.1f} mm within "
            f"{1e3 * tolerance:.1f} mm. See whether something blocks the fingers.",
        )

    def _target(self) -> float:
        request = self.request
        if request.mode not in list(GripperMode):
            raise invalid(
                f"mode {request.mode} is unknown; choose from "
                f"{', '.join(f'{mode.name}={mode.value}' for mode in GripperMode)}"
            )
        check_not_negative(request, "max_effort", "satisfied_within", "tolerance", "timeout")
        if request.max_effort > MOST_EFFORT:
            raise invalid(f"max_effort is {request.max_effort:g} N, give at most {MOST_EFFORT:g}")
        gripper = self.robot.gripper
        if request.mode == GripperMode.OPEN:
            return gripper.open_width
        if request.mode == GripperMode.CLOSE:
            return 0.0
        if request.mode == GripperMode.GRIP:
            if request.grip not in gripper.grips:
                raise invalid(
                    f"grip '{request.grip}' is unknown; choose from {named(gripper.grips)}"
                )
            return gripper.grips[request.grip]
        if not 0.0 <= request.width <= gripper.open_width:
            raise invalid(f"width is {request.width}, give metres in 0..{gripper.open_width}")
        return request.width

    def _progress(self, start: float, target: float) -> float:
        way = abs(target - start)
        return 1.0 if way < 1e-4 else min(abs(self.arm.state().width - start) / way, 1.0)

    def _report_release(self, start: float) -> None:
        """Fingers that opened, or stand open, hold nothing any more.

        What this hand took counts even where the newest snapshot of the scene does not show it yet.
        """
        width, held = self.arm.state().width, self.hand.held
        wide = self.robot.gripper.open_width
        gripped = min(start, wide if held is None else held.width)
        if width < min(gripped + RELEASED, wide - RELEASED):
            return
        if held is not None:
            self.hand.release(f"'{held.name}' was let go when the gripper opened.")
            self.hand.unreported = held.name
        # Cancelled or not, it was let go: the scene is told, now or when it can be.
        with shielded(self.goal_context):
            report_release(self.hand, self.scene)
            for obj in carried(self.scene.objects(), self.robot):
                self.scene.detach(obj.name)
