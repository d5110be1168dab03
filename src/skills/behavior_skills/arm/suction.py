# SPDX-License-Identifier: Apache-2.0
"""Switch a suction cup; the scene is told what it takes and lets go of."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from behavior_motion import Box
from behavior_motion.collision.convex import signed_distance
from behavior_motion.object_state import ObjectState
from behavior_skills.arm.context import Skill
from behavior_skills.arm.execution import shielded, wait_for
from behavior_skills.arm.geometry import carried
from behavior_skills.arm.gripper import GripperMode, GripperOutcome, GripperRequest
from behavior_skills.goal_checks import check_not_negative, invalid
from behavior_skills.interfaces import Array, Cup, FailureCode, HeldObject, ObjectView, SkillFailure

TIMEOUT = 2.0
"""[s]"""
AT_THE_LIP = 0.03
"""[m] by which the surface of what the cup takes may seem to be away from the lip."""


@dataclass
class SuctionSkill(Skill):
    """One switching of the pump; call :meth:`run`."""

    request: GripperRequest
    cup: Cup

    def run(self) -> GripperOutcome:
        """Take hold, or let go.

        Raises:
            SkillFailure: with one of MoveGripper's result codes.
            Cancelled: the client cancelled; a pump that was to take hold is off.
        """
        self._validate()
        if self.request.mode == GripperMode.OPEN:
            self._release()
        else:
            self._grip()
        return GripperOutcome(0.0, self.request.mode == GripperMode.CLOSE)

    def _validate(self) -> None:
        request = self.request
        if request.mode not in (GripperMode.OPEN, GripperMode.CLOSE):
            raise invalid(
                f"mode {request.mode} is none of a suction cup, which has no width; give OPEN=0 or "
                "CLOSE=1"
            )
        check_not_negative(request, "timeout")

    def _grip(self) -> None:
        held = self._has_vacuum()
        try:
            self._switch(True)
            if not self._comes(True):
                raise SkillFailure(
                    FailureCode.TIMED_OUT,
                    f"No vacuum within {self._patience:.1f} s: the cup lies on nothing tightly. "
                    "Bring its lip flat onto a smooth face, or see whether the pump runs.",
                )
            self._attach()
            if not self.cup.vacuum():
                raise SkillFailure(
                    FailureCode.EXECUTION_FAILED,
                    "The vacuum was lost as soon as it was there. See whether the face is smooth "
                    "and the object not too heavy.",
                )
        except BaseException:
            if held and self._has_vacuum():
                raise  # what it has held all the while is not dropped
            # A pump that does not answer may have heard all the same; why it ended is worth more.
            with shielded(self.goal_context), contextlib.suppress(SkillFailure):
                self._switch(False)
                self._report_release()
            raise

    def _attach(self) -> None:
        """Tell the scene what the cup holds, if the scene knows that at all."""
        held = self.hand.held
        if held is not None:
            return
        base_T_tool = self.robot.forward_kinematics(self.arm.state().q)
        obj = at_the_lip(base_T_tool[:3, 3], self.scene.objects().values())
        if obj is not None:
            self.scene.attach(obj.name, self.robot.gripper.link)
            tool_T_object = np.linalg.inv(base_T_tool) @ obj.base_T_object
            self.hand.held = HeldObject(obj.name, tool_T_object, 0.0)

    def _release(self) -> None:
        # From here on the object is as good as released: no cancelling until the scene knows.
        with shielded(self.goal_context):
            self._switch(False)
            if not self._comes(False):
                raise SkillFailure(
                    FailureCode.EXECUTION_FAILED,
                    f"The vacuum is still there {self._patience:.1f} s after the pump was switched "
                    "off. See whether the pump's valve opens.",
                )
            self._report_release()

    def _report_release(self) -> None:
        """The cup holds nothing any more."""
        held = self.hand.held
        if held is not None:
            self.hand.release(f"'{held.name}' was let go when the pump was switched off.")
        attached = {obj.name for obj in carried(self.scene.objects(), self.robot)}
        for name in sorted(attached | ({held.name} if held else set())):
            self.scene.detach(name)

    def _has_vacuum(self) -> bool:
        with contextlib.suppress(SkillFailure):
            return self.cup.vacuum()
        return False

    @property
    def _patience(self) -> float:
        return self.request.timeout or TIMEOUT

    def _switch(self, on: bool) -> None:
        """Switch the pump; raises `SkillFailure` where it does not answer."""
        command = self.cup.switch(on)
        if not wait_for(self.goal_context, lambda: command.done() is not None, self._patience):
            raise SkillFailure(
                FailureCode.SERVER_LOST,
                f"The pump did not answer within {self._patience:.1f} s. Start the robot's driver "
                "or the simulation again.",
            )
        done = command.done()
        if done is not None and not done.ok:
            raise SkillFailure(
                FailureCode.EXECUTION_FAILED,
                f"The pump was not switched: {done.message or 'no reason given'}. See whether it "
                "is ready.",
            )

    def _comes(self, vacuum: bool) -> bool:
        """Wait for the sensor to tell that there is a vacuum, or none; whether it did."""
        return wait_for(
            self.goal_context,
            lambda: self.cup.vacuum() is vacuum,
            self._patience,
            lambda elapsed: self.goal_context.feedback("pump", min(elapsed / self._patience, 1.0)),
        )


def at_the_lip(lip: Array, objects: Iterable[ObjectView]) -> ObjectView | None:
    """The object whose surface is at the lip, a little inside too; None: there is none.

    Args:
        lip: in the base frame [m].
        objects: that there are.
    """
    there = [
        obj
        for obj in objects
        if not obj.is_zone
        and obj.state is not ObjectState.LOST
        and abs(_beyond(obj, lip)) <= AT_THE_LIP
    ]
    return min(there, key=lambda obj: _beyond(obj, lip), default=None)


def _beyond(obj: ObjectView, point: Array) -> float:
    """Distance of a point from the box around a thing, below 0 inside [m]."""
    inside = np.linalg.solve(obj.base_T_object, np.append(point, 1.0))[:3]
    x, y, z = 2.0 * obj.half_extents
    return float(signed_distance(Box((x, y, z)), inside[None])[0])
