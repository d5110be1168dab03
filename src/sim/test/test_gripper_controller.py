# SPDX-License-Identifier: Apache-2.0
"""The gripper's controller against a hand that follows perfectly, or is blocked."""

import numpy as np
import pytest

from behavior_sim.control.gripper_controller import GripperController
from behavior_sim.goals import Ending, InvalidGoal
from behavior_sim.worlds.config import WorldConfig

PERIOD = 0.004


@pytest.fixture
def gripper(config: WorldConfig) -> GripperController:
    return GripperController(config.robot.gripper)


def run(gripper: GripperController, duration: float, stop: float = 0.0, t: float = 0.0) -> float:
    """Step with fingers that follow the setpoint but stop at the gap `stop`; the time after."""
    gap = max(gripper.setpoint[0], stop)
    for _ in range(round(duration / PERIOD)):
        before, gap = gap, max(gripper.setpoint[0], stop)
        gripper.step(t, gap, (gap - before) / PERIOD)
        t += PERIOD
    return t


def test_closes_at_its_speed(gripper) -> None:
    goal = gripper.start(0.0, 0.0)
    t = run(gripper, 0.4)
    assert gripper.setpoint[0] == pytest.approx(0.04, abs=0.001)
    assert goal.outcome is None
    run(gripper, 0.6, t=t)
    assert goal.outcome is not None
    assert goal.outcome.ending is Ending.SUCCEEDED
    assert not goal.outcome.stalled


def test_stalls_and_keeps_squeezing(gripper) -> None:
    goal = gripper.start(0.0, 0.0, 25.0)
    run(gripper, 1.0, stop=0.05)
    assert goal.outcome is not None
    assert goal.outcome.stalled
    assert gripper.setpoint == (0.0, 25.0)


def test_force_is_bounded(gripper, config) -> None:
    gripper.start(0.0, 0.02, 500.0)
    assert gripper.setpoint[1] == config.robot.gripper.max_force
    gripper.start(0.0, 0.02)
    assert gripper.setpoint[1] == config.robot.gripper.force


def test_never_hangs(gripper) -> None:
    goal = gripper.start(0.0, 0.0)
    for k in range(2000):
        # Trembling fingers neither arrive nor stand still.
        gripper.step(k * PERIOD, 0.05, 0.05 * (-1) ** k)
    assert goal.outcome is not None
    assert goal.outcome.ending is Ending.TIMEOUT


def test_cancel_stays(gripper) -> None:
    goal = gripper.start(0.0, 0.0)
    t = run(gripper, 0.2)
    gripper.cancel(goal)
    there = gripper.setpoint[0]
    run(gripper, 0.5, t=t)
    assert goal.outcome is not None
    assert goal.outcome.ending is Ending.CANCELLED
    assert gripper.setpoint[0] == there


def test_replace_and_reset(gripper) -> None:
    first = gripper.start(0.0, 0.0)
    second = gripper.start(0.0, 0.05)
    gripper.cancel(first)
    gripper.reset(0.08)
    assert first.outcome is not None
    assert second.outcome is not None
    assert (first.outcome.ending, second.outcome.ending) == (Ending.REPLACED, Ending.RESET)


@pytest.mark.parametrize(
    ("gap", "force"), [(-0.01, 0), (0.1, 0), (np.nan, 0), (0.02, -1), (0.02, np.nan)]
)
def test_invalid_goals(gripper, gap: float, force: float) -> None:
    with pytest.raises(InvalidGoal):
        gripper.start(0.0, gap, force)
