# SPDX-License-Identifier: Apache-2.0
"""OMPL's RRT-Connect behind one function."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from behavior_motion.checks import Matrix, Vector
from behavior_motion.interruption import Deadline

if TYPE_CHECKING:
    import ompl.base as ob

# OMPL draws the seed of every sampler from one generator of the process. Setting that generator
# before each search, with no other search in between, makes equal calls give equal paths.
_ompl_lock = threading.Lock()


@dataclass(frozen=True)
class SearchLimits:
    """When to give up."""

    deadline: Deadline
    checks: int
    """Number of states checked: a bound that does not depend on the machine's speed."""
    resolution: float = 0.005
    """Distance between checked states as a fraction of the space's diagonal."""


def connect(
    start: Vector,
    goals: list[Vector],
    *,
    lower: Vector,
    upper: Vector,
    blocked: Callable[[Vector], bool],
    limits: SearchLimits,
    seed: int,
) -> Matrix | None:
    """Corners of a path from ``start`` to one of ``goals``, (N, dof); None where none was found.

    Args:
        start: Joints, (dof,).
        goals: Joints, each (dof,).
        lower: Bounds of the search, (dof,).
        upper: Bounds of the search, (dof,).
        blocked: True for joints that may not be passed; must not keep its argument.
        limits: When to give up.
        seed: Of all random choices.
    """
    # Imported here: who plans by MoveIt may do without it.
    import ompl.base as ob
    import ompl.geometric as og
    import ompl.util as ou

    ou.setLogLevel(ou.LogLevel.LOG_NONE)
    dof = len(start)
    space = ob.RealVectorStateSpace(dof)
    bounds = ob.RealVectorBounds(dof)
    for i in range(dof):
        bounds.setLow(i, float(lower[i]))
        bounds.setHigh(i, float(upper[i]))
    space.setBounds(bounds)
    checks = 0
    interruption: BaseException | None = None
    buffer = np.empty(dof)
    indices = range(dof)

    def check(state: ob.State) -> bool:
        nonlocal checks, interruption
        if interruption is not None:
            return False
        checks += 1
        for i in indices:
            buffer[i] = state[i]
        try:
            return not blocked(buffer)
        except BaseException as raised:  # handed on below: it must not pass through OMPL
            interruption = raised
            return False

    def give_up() -> bool:
        if interruption is not None or checks > limits.checks:
            return True
        return limits.deadline.passed

    with _ompl_lock:
        ou.RNG.setSeed(1 + seed % (2**31 - 2))
        information = ob.SpaceInformation(space)
        information.setStateValidityChecker(check)
        information.setStateValidityCheckingResolution(limits.resolution)
        information.setup()
        problem = ob.ProblemDefinition(information)
        # OMPL copies what it is given, so one state carries them all.
        carrier = space.allocState()
        problem.addStartState(_fill(carrier, start))
        wanted = ob.GoalStates(information)
        for goal in goals:
            wanted.addState(_fill(carrier, goal))
        problem.setGoal(wanted)
        planner = og.RRTConnect(information)
        planner.setProblemDefinition(problem)
        planner.setup()
        planner.solve(ob.PlannerTerminationCondition(give_up))
        if interruption is not None:
            try:
                raise interruption
            finally:
                interruption = None  # its traceback holds this frame
        if not problem.hasExactSolution():
            return None
        path = problem.getSolutionPath()
        return np.array(
            [[path.getState(k)[i] for i in indices] for k in range(path.getStateCount())]
        )


def _fill(state: ob.State, q: Vector) -> ob.State:
    for i, value in enumerate(q):
        state[i] = float(value)
    return state
