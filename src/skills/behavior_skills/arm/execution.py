# SPDX-License-Identifier: Apache-2.0
"""Running controller commands: wait with a watch, stop on trouble, never leave motion behind."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np

from behavior_motion import Trajectory
from behavior_ros.node.elapsed import Elapsed
from behavior_skills.interfaces import (
    Arm,
    Command,
    Done,
    FailureCode,
    GoalContext,
    SkillFailure,
)

LATE_ALLOWANCE = 4.0
"""[s] by which a motion may take longer than its trajectory. Generous: a simulation that runs many
times faster than real time stretches the way of messages in its own time."""
STILL_RANGE = 5e-4
"""[m] fingers that have moved less than this for their `still_time` rest."""
REST_SPEED = 0.02
"""[rad/s] a joint slower than this rests."""
STOP_TIMEOUT = 3.0
"""[s] in which a cancelled motion must have stopped."""


def follow(
    goal_context: GoalContext,
    arm: Arm,
    trajectory: Trajectory,
    watch: Callable[[float], None] = lambda elapsed: None,
    meanwhile: Callable[[], None] = lambda: None,
    *,
    allowance: float = LATE_ALLOWANCE,
) -> None:
    """Execute a trajectory to its end.

    Args:
        goal_context: time, feedback and cancellation of the goal.
        arm: that moves.
        trajectory: to follow; it starts where the arm is.
        watch: called at every tick with the time of the trajectory [s], which goes as fast
            as the arm's driver does; what it raises stops the arm and is raised on.
        meanwhile: called once, right after the start; planning ahead costs no time here.
        allowance: [s] that it may take longer than the trajectory at the driver's pace.

    Raises:
        SkillFailure: EXECUTION_FAILED, TIMED_OUT or SERVER_LOST; the arm is stopped.
        Cancelled: the client cancelled; the arm is stopped.
    """
    command = arm.execute(trajectory)
    passed, last, elapsed = Elapsed(goal_context.now), 0.0, 0.0
    try:
        meanwhile()
        while (done := command.done()) is None:
            goal_context.tick()
            now = passed()
            elapsed, last = elapsed + arm.pace() * (now - last), now
            watch(elapsed)
            if elapsed > trajectory.duration + allowance:
                raise SkillFailure(
                    FailureCode.TIMED_OUT,
                    f"The arm did not finish a motion of {trajectory.duration:.1f} s in "
                    f"{now:.1f} s. See whether something blocks it.",
                )
    except BaseException:
        stop(goal_context, command, arm)
        raise
    if not done.ok:
        raise gave_up("arm", done)


def gave_up(part: Literal["arm", "gripper"], done: Done) -> SkillFailure:
    """What a skill fails with when a controller has ended a command without success."""
    remedy = (
        done.remedy
        or {
            "arm": "Clear what blocks the arm and try again.",
            "gripper": "See whether something blocks the fingers.",
        }[part]
    )
    return SkillFailure(
        FailureCode.EXECUTION_FAILED,
        f"The {part}'s controller gave up: {done.message or 'no reason given'}. {remedy}",
    )


def stop(goal_context: GoalContext, command: Command, arm: Arm) -> None:
    """Cancel a command and wait until the arm rests; raises nothing.

    A controller may call a goal cancelled when it begins to brake, so the joints are looked at.
    """

    def rests() -> bool:
        return command.done() is not None and float(np.abs(arm.state().qd).max()) < REST_SPEED

    # A controller that is gone cannot be waited for: the caller reports why.
    with shielded(goal_context), contextlib.suppress(SkillFailure):
        command.cancel()
        passed = Elapsed(goal_context.now)
        while not rests() and passed() < STOP_TIMEOUT:
            goal_context.tick()


@contextlib.contextmanager
def shielded(goal_context: GoalContext) -> Iterator[None]:
    """A block that no cancellation ends: the robot is being brought to rest, or told of."""
    goal_context.shield(True)
    try:
        yield
    finally:
        goal_context.shield(False)


def wait_for(
    goal_context: GoalContext,
    condition: Callable[[], bool],
    timeout: float,
    watch: Callable[[float], None] = lambda elapsed: None,
) -> bool:
    """Tick until the condition holds; False when it does not within `timeout` [s]."""
    passed = Elapsed(goal_context.now)
    while not condition():
        elapsed = passed()
        if elapsed > timeout:
            return False
        watch(elapsed)
        goal_context.tick()
    return True


def stillness(arm: Arm, still_time: float) -> Callable[[], bool]:
    """A condition for `wait_for`: the fingers have not moved for `still_time` [s].

    Times are those of the measurements: the clock goes on while joint states are under way, and
    the fingers with it.
    """
    history: list[tuple[float, float]] = []

    def still() -> bool:
        state = arm.state()
        now = state.measured
        if history and now < history[-1][0]:
            history.clear()  # the driver's clock was set back
        if not history or now > history[-1][0]:
            history.append((now, state.width))
        while len(history) > 2 and now - history[1][0] >= still_time:
            history.pop(0)
        widths = [width for _, width in history]
        return now - history[0][0] >= still_time and max(widths) - min(widths) < STILL_RANGE

    return still
