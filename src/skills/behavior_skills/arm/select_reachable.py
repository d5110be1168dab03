# SPDX-License-Identifier: Apache-2.0
"""Which of several ways to grasp or to place can be reached; the arm does not move."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from behavior_motion import PlanOptions
from behavior_skills.arm.context import Skill
from behavior_skills.arm.planning import Final, PlanFailures, checked
from behavior_skills.arm.reaching import reach_of
from behavior_skills.goal_checks import planning_budget
from behavior_skills.interfaces import (
    Array,
    FailureCode,
    SkillFailure,
)
from behavior_skills.placement.selection import Reach, select_placement
from behavior_skills.sentences import sentence

MOST_TARGETS = 200
"""That a request may hold."""
MOST_TOUCHED = 100
"""Names that a request may hold."""


@dataclass(frozen=True, slots=True)
class SelectReachableRequest:
    """What is to be chosen from; tool poses in the base frame, 4x4 [m]."""

    target: tuple[Array, ...]
    """At the end of the approach."""
    pre: tuple[Array, ...] = ()
    """Before the approach, one for each of target; empty: target alone is looked at."""
    plan: bool = False
    """Also ask for whole plans."""
    in_order: bool = False
    """The first that can be reached, whatever the travel."""
    may_touch: tuple[str, ...] = ()
    """Objects that hand and held object may touch."""


@dataclass
class SelectReachableSkill(Skill):
    """One choice; call :meth:`run`."""

    request: SelectReachableRequest
    _why: str = field(default="", init=False)

    def run(self) -> int:
        """Choose.

        Returns:
            Index of the choice.

        Raises:
            SkillFailure: INVALID_REQUEST, UNKNOWN_OBJECT, UNREACHABLE, PLANNING_FAILED or
                PLANNING_TIMED_OUT.
            Cancelled: the client cancelled.
        """
        self._validate()
        self.goal_context.feedback("reach", 0.0)
        held = self.hand.held
        self.world.sync(self.scene.objects(), held)
        state = self.arm.state()
        width = state.width
        links = self.robot.gripper.touch_links
        carried = [held.name] if held is not None else []
        pairs = [(obj, part) for obj in self.request.may_touch for part in [*links, *carried]]
        with self.world.planner.scene.allowing(pairs), planning_budget():
            return self._choose(state.q, width)

    def _validate(self) -> None:
        request, known = self.request, self.scene.objects()
        count = len(request.target)
        if not 1 <= count <= MOST_TARGETS or len(request.may_touch) > MOST_TOUCHED:
            raise SkillFailure(
                FailureCode.INVALID_REQUEST,
                f"Give 1 to {MOST_TARGETS} target poses, not {count}, and at most {MOST_TOUCHED} "
                "names in may_touch.",
            )
        if len(request.pre) not in (0, count):
            raise SkillFailure(
                FailureCode.INVALID_REQUEST,
                f"Give as many pre as target poses, {count} and not {len(request.pre)}, or none.",
            )
        if not all(np.isfinite(pose).all() for pose in (*request.pre, *request.target)):
            raise SkillFailure(
                FailureCode.INVALID_REQUEST,
                "One of the poses holds NaN or a quaternion of a norm other than 1; mend it.",
            )
        unknown = [name for name in request.may_touch if name not in known]
        if unknown:
            raise SkillFailure(
                FailureCode.UNKNOWN_OBJECT,
                f"may_touch names '{unknown[0][:100]}', which is not in the scene. Known are "
                f"{sorted(known)}.",
            )

    def _choose(self, q: Array, width: float) -> int:
        request = self.request
        seeds, pre = [q] * len(request.target), None
        pre_q: list[Array | None] = [None] * len(request.target)
        if request.pre:
            pre, pre_q, why = reach_of(self.world, request.pre, seeds, width)
            self._why = why or self._why
            seeds = [q if found is None else found for found in pre_q]
        target, target_q, why = reach_of(self.world, request.target, seeds, width)
        self._why = why or self._why
        in_a_row = PlanFailures()
        while (index := self._next(target, pre)) is not None:
            if not request.plan or self._has_plan(
                q, pre_q[index], target_q[index], width, in_a_row
            ):
                return index
            target.ok[index] = False
        raise SkillFailure(
            FailureCode.UNREACHABLE,
            f"None of {len(request.target)} ways can be reached; the nearest: "
            f"{sentence(self._why)} Give others, or clear the way.",
        )

    def _next(self, target: Reach, pre: Reach | None) -> int | None:
        if not self.request.in_order:
            return select_placement(target, pre)
        good = target.ok if pre is None else target.ok & pre.ok
        return int(np.argmax(good)) if good.any() else None

    def _has_plan(
        self,
        q: Array,
        q_pre: Array | None,
        q_target: Array | None,
        width: float,
        in_a_row: PlanFailures,
    ) -> bool:
        """Whether there are whole motions to the pose; notes why not. Raises `Final`."""
        assert q_target is not None
        self.goal_context.feedback("plan", 0.5)
        planner, options = self.world.planner, PlanOptions(gripper_width=width)
        try:
            if q_pre is None:
                in_a_row.checked(planner.plan_to_joints(q, q_target, options=options))
                return True
            in_a_row.checked(planner.plan_to_joints(q, q_pre, options=options))
            goal = planner.robot.forward_kinematics(q_target)
            checked(planner.plan_cartesian(q_pre, [goal], options=options))
            return True
        except Final:
            raise
        except SkillFailure as failure:
            self._why = str(failure)
            return False
