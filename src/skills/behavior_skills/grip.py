# SPDX-License-Identifier: Apache-2.0
"""What the gripper holds: known, watched, let go, or lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from behavior_skills.execution import wait_for
from behavior_skills.interfaces import (
    Arm,
    Failure,
    Gripper,
    Hand,
    HeldObject,
    ObjectState,
    ObjectView,
    Runtime,
    SceneView,
    SkillFailure,
)
from behavior_skills.planning import PlanningWorld

LEAST_GAP = 0.002
"""[m] fingers closer than this hold nothing."""


@dataclass(frozen=True, slots=True)
class GripParameters:
    """How the gripper is judged and moved."""

    width_tolerance: float = 0.008
    """[m] by which the gap may become smaller than it was when the object was grasped."""
    max_width: float = 0.08
    """[m]"""
    effort: float = 40.0
    """[N]"""
    release_timeout: float = 2.0
    """[s]"""


@dataclass(slots=True)
class Grip:
    """The held object during one goal."""

    runtime: Runtime
    arm: Arm
    gripper: Gripper
    scene: SceneView
    world: PlanningWorld
    hand: Hand
    parameters: GripParameters

    def held(self, wanted: str = "") -> tuple[HeldObject, ObjectView]:
        """What the gripper holds, checked against the fingers.

        Args:
            wanted: name that it must have; empty: any.

        Raises:
            SkillFailure: NOT_HELD.
        """
        objects = self.scene.objects()
        attached = [o for o in objects.values() if o.state is ObjectState.ATTACHED]
        if not attached or (wanted and attached[0].name != wanted):
            holds = f"'{attached[0].name}'" if attached else "nothing"
            raise SkillFailure(
                Failure.NOT_HELD,
                f"The gripper holds {holds}, not {repr(wanted) if wanted else 'an object'}. Pick "
                "the object first.",
            )
        thing, state = attached[0], self.arm.state()
        held = self.hand.held
        if held is None or held.name != thing.name:
            # Picked before this process started: the scene knows where it sits.
            base_T_tool = self.world.planner.robot.forward_kinematics(state.q)
            pose = np.linalg.inv(base_T_tool) @ thing.base_T_object
            held = self.hand.held = HeldObject(thing.name, pose, state.width)
        if state.width < max(held.width - self.parameters.width_tolerance, LEAST_GAP):
            self.drop(held)
            raise SkillFailure(
                Failure.NOT_HELD,
                f"The fingers are shut ({1e3 * state.width:.1f} mm): '{held.name}' is not between "
                "them any more. Pick it again.",
            )
        return held, thing

    def check(self, held: HeldObject) -> None:
        """Raises `SkillFailure` OBJECT_LOST when the object is in the hand no more."""
        width = self.arm.state().width
        if width < held.width - self.parameters.width_tolerance:
            raise SkillFailure(
                Failure.OBJECT_LOST,
                f"'{held.name}' left the fingers on the way (gap {1e3 * width:.1f} mm). Pick it "
                "again.",
            )
        seen = self.scene.objects().get(held.name)
        if seen is None or seen.state is not ObjectState.ATTACHED:
            raise SkillFailure(
                Failure.OBJECT_LOST,
                f"'{held.name}' is seen away from the gripper. Pick it again.",
            )

    def drop(self, held: HeldObject) -> None:
        """The object is lost: the scene follows its detections, shut fingers open."""
        self.hand.held = None
        self.runtime.shield(True)
        try:
            self.scene.detach(held.name)
        finally:
            self.runtime.shield(False)
        if self.arm.state().width < held.width - self.parameters.width_tolerance:
            self.open_wide()

    def release(self, held: HeldObject, width: float) -> float:
        """Open the fingers to a gap of `width` [m] and tell the scene.

        Returns:
            When the object was free [s].

        Raises:
            SkillFailure: EXECUTION_FAILED, the fingers did not open.
        """
        # From here on the object is as good as released: no cancelling until the scene knows.
        self.runtime.shield(True)
        try:
            self.gripper.move(width, self.parameters.effort)
            free = held.width + 0.5 * (width - held.width)
            # Measured, not believed: a controller may call an opening ended that has just begun.
            if not wait_for(
                self.runtime,
                lambda: self.arm.state().width >= free,
                self.parameters.release_timeout,
            ):
                raise SkillFailure(
                    Failure.EXECUTION_FAILED,
                    f"The fingers did not open (gap {1e3 * self.arm.state().width:.1f} mm). "
                    f"'{held.name}' is still held; see whether the gripper's controller runs.",
                )
            released_at = self.runtime.now()
            self.scene.detach(held.name)
            self.hand.held = None
        finally:
            self.runtime.shield(False)
        return released_at

    def open_wide(self) -> None:
        """Begin to open the fingers as far as they go."""
        self.gripper.move(self.parameters.max_width, self.parameters.effort)
