# SPDX-License-Identifier: Apache-2.0
"""What the gripper holds: known, watched, let go, or lost."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from behavior_motion.object_state import ObjectState
from behavior_skills.arm.context import Skill
from behavior_skills.arm.execution import shielded, wait_for
from behavior_skills.arm.geometry import carried
from behavior_skills.interfaces import (
    FailureCode,
    Hand,
    HeldObject,
    ObjectView,
    SceneView,
    SkillFailure,
)
from behavior_skills.sentences import sentence

LEAST_GAP = 0.002
"""[m] fingers closer than this hold nothing."""


WIDTH_TOLERANCE = 0.008
"""[m] by which the gap may become smaller than it was when the object was grasped."""
RELEASE_TIMEOUT = 2.0
"""[s]"""


@dataclass
class Grip(Skill):
    """The held object during one goal."""

    def held(self, wanted: str = "") -> tuple[HeldObject, ObjectView]:
        """What the gripper holds, checked against the fingers.

        Args:
            wanted: name that it must have; empty: any.

        Raises:
            SkillFailure: NOT_HELD.
        """
        report_release(self.hand, self.scene)
        objects = self.scene.objects()
        attached = carried(objects, self.robot)
        if not attached and self.hand.held is not None:
            self.hand.release(
                f"'{self.hand.held.name}' was picked, but the scene has it in the gripper no more."
            )
        if not attached or (wanted and attached[0].name != wanted):
            holds = f"'{attached[0].name}'" if attached else "nothing"
            why = "" if attached else f" {self.hand.emptied}"
            raise SkillFailure(
                FailureCode.NOT_HELD,
                f"The gripper holds {holds}, not {repr(wanted) if wanted else 'an object'}.{why} "
                "Pick the object first.",
            )
        obj, state = attached[0], self.arm.state()
        held = self.hand.held
        if held is None or held.name != obj.name:
            # Picked before this process started: the scene knows where it sits.
            base_T_tool = self.robot.forward_kinematics(state.q)
            pose = np.linalg.inv(base_T_tool) @ obj.base_T_object
            held = self.hand.held = HeldObject(obj.name, pose, state.width)
        if state.width < max(held.width - WIDTH_TOLERANCE, LEAST_GAP):
            why = (
                f"The fingers are shut ({1e3 * state.width:.1f} mm): '{held.name}' is not between "
                "them any more."
            )
            self.drop(held, why)
            raise SkillFailure(FailureCode.NOT_HELD, f"{why} Pick it again.")
        return held, obj

    def check(self, held: HeldObject) -> None:
        """Raises `SkillFailure` OBJECT_LOST when the object is in the hand no more."""
        width = self.arm.state().width
        if width < held.width - WIDTH_TOLERANCE:
            raise SkillFailure(
                FailureCode.OBJECT_LOST,
                f"'{held.name}' left the fingers on the way (gap {1e3 * width:.1f} mm). Pick it "
                "again.",
            )
        seen = self.scene.objects().get(held.name)
        if seen is None or seen.state is not ObjectState.ATTACHED:
            raise SkillFailure(
                FailureCode.OBJECT_LOST,
                f"'{held.name}' is seen away from the gripper. Pick it again.",
            )

    def drop(self, held: HeldObject, why: str) -> None:
        """The object is lost: the scene follows its detections, shut fingers open."""
        self.hand.release(why)
        with shielded(self.goal_context):
            self.scene.detach(held.name)
        if self.arm.state().width < held.width - WIDTH_TOLERANCE:
            self.open_wide()

    def release(self, held: HeldObject, width: float) -> float:
        """Open the fingers to a gap of `width` [m] and tell the scene.

        Returns:
            When the object was free [s].

        Raises:
            SkillFailure: EXECUTION_FAILED, the fingers did not open.
        """
        # From here on the object is as good as released: no cancelling until the scene knows.
        with shielded(self.goal_context):
            self.gripper.move(width, self.robot.gripper.grasp_force)
            free = held.width + 0.5 * (width - held.width)
            # Measured, not believed: a controller may call an opening ended that has just begun.
            if not wait_for(
                self.goal_context,
                lambda: self.arm.state().width >= free,
                RELEASE_TIMEOUT,
            ):
                raise SkillFailure(
                    FailureCode.EXECUTION_FAILED,
                    f"The fingers did not open (gap {1e3 * self.arm.state().width:.1f} mm). "
                    f"'{held.name}' is still held; see whether the gripper's controller runs.",
                )
            released_at = self.goal_context.now()
            base_T_tool = self.robot.forward_kinematics(self.arm.state().q)
            x, y, z = (base_T_tool @ held.tool_T_object)[:3, 3]
            self.hand.release(
                f"'{held.name}' was let go at x {x:.3f}, y {y:.3f}, z {z:.3f} m in the base frame."
            )
            self.hand.unreported = held.name
            with self.after_release():
                report_release(self.hand, self.scene)
        return released_at

    @contextlib.contextmanager
    def after_release(self) -> Iterator[None]:
        """Within the block every failure says that the object was let go, and where."""
        try:
            yield
        except SkillFailure as failure:
            raise SkillFailure(
                failure.failure, f"{sentence(str(failure))} {self.hand.emptied}"
            ) from failure

    def open_wide(self) -> None:
        """Begin to open the fingers as far as they go."""
        self.gripper.move(self.robot.gripper.open_width, self.robot.gripper.grasp_force)


def report_release(hand: Hand, scene: SceneView) -> None:
    """Tell the scene of an object that was let go, if it does not know; raises `SkillFailure`."""
    if hand.unreported:
        scene.detach(hand.unreported)
        hand.unreported = ""
