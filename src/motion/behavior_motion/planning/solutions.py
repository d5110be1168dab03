# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics as asked for: candidates, collision filter, choice, measures of quality."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from behavior_motion.checks import Matrix, Vector
from behavior_motion.collision.reports import CollisionReport
from behavior_motion.collision.world import CollisionWorld
from behavior_motion.errors import ErrorCode
from behavior_motion.kinematics.inverse import InverseKinematics
from behavior_motion.planning.goals import out_of_reach, reaching
from behavior_motion.planning.options import IkOptions, IkPreference
from behavior_motion.planning.planner import IkResult

FIRST_TRIES = 6
"""A few start vectors nearly always do; the rest is for the awkward targets."""


@dataclass(frozen=True, eq=False)
class IkTask:
    """One request for one or many targets."""

    ik: InverseKinematics
    options: IkOptions
    posture: Vector | None
    """``options.posture``, checked."""
    world: CollisionWorld | None
    """None: collisions do not count."""
    seed: int
    """Of all random choices."""

    def solve(self, target: Matrix, near: Vector) -> IkResult:
        """The preferred solution for one target, seeded at ``near``."""
        report = CollisionReport()
        reached = False
        best: IkResult | None = None
        for q in self._candidates(target, near):
            reached = True
            if self.world is not None and self.world.collides(q):
                report = self.world.report(q) if report.ok else report
                continue
            result = IkResult(
                q,
                joint_limit_margin=self.ik.joint_limit_margin(q),
                manipulability=self.ik.manipulability(q),
            )
            if self.options.preference is IkPreference.NEAREST:
                return result
            if best is None or self._quality(result) > self._quality(best):
                best = result
        if best is not None:
            return best
        if not reached:
            message = out_of_reach([target], self.ik.robot.base_frame)
            return IkResult(None, message, ErrorCode.NO_IK_SOLUTION)
        return IkResult(
            None,
            f"every solution collides: {report.text}; choose another target or let the pair touch",
            ErrorCode.GOAL_IN_COLLISION,
        )

    def _quality(self, result: IkResult) -> float:
        if self.options.preference is IkPreference.MANIPULABILITY:
            return result.manipulability
        return result.joint_limit_margin

    def _candidates(self, target: Matrix, near: Vector) -> Iterator[Vector]:
        """Joints that reach the target, the nearest first, in two helpings."""
        ik, posture = self.ik, self.posture
        rng = np.random.default_rng([self.seed, 3])
        for tries in (min(self.options.attempts, FIRST_TRIES), self.options.attempts - FIRST_TRIES):
            if tries < 1:
                return
            found = [candidate.q for candidate in reaching(ik, [target], near, tries, rng)]
            if posture is not None:
                found = [ik.settled(target, q, posture) for q in found]
                found.sort(key=lambda q: float(ik.travel(q, posture)))
            yield from found
