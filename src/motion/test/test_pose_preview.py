# SPDX-License-Identifier: Apache-2.0
"""A pose's reachability and duration, told within a tenth of a second of processor time."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import LEFT, RIGHT, at, down, joints

from behavior_motion import (
    Box,
    MotionError,
    MotionPlanner,
    PlanOptions,
    create_planner,
    preview_pose,
)
from behavior_motion.planning.embedded import EmbeddedPlanner


def test_the_duration_is_that_of_the_motion_planned_later(table: MotionPlanner) -> None:
    home = table.robot.named["home"]
    for goal in (down(0.45, 0.2, 0.1), down(0.6, -0.1, 0.25, 0.7), [LEFT, RIGHT]):
        found = preview_pose(table, home, goal, options=PlanOptions(seed=2))
        motion = table.plan_to_pose(home, goal, options=PlanOptions(seed=2)).trajectory
        assert found.reachable is True
        assert motion is not None
        assert found.duration == pytest.approx(motion.duration)
        assert found.joints == pytest.approx(motion.positions[-1])
        assert found.message == ""
        assert found.tool[-1] == pytest.approx(table.robot.forward_kinematics(found.joints)[:3, 3])


@pytest.mark.parametrize("goal", [at(1.5, 0.0, 0.5), down(0.5, 0.0, -0.2)])
def test_what_cannot_be_reached_is_told_with_its_reason(
    table: MotionPlanner, goal: np.ndarray
) -> None:
    found = preview_pose(table, table.robot.named["home"], goal)
    assert found.reachable is False
    assert found.message
    assert (found.duration, found.joints, len(found.tool)) == (0.0, None, 0)


def test_no_way_found_in_time_is_not_called_unreachable(planner: MotionPlanner) -> None:
    if not isinstance(planner, EmbeddedPlanner):
        pytest.skip("needs a clock that can be set")
    planner.scene.add_object("wall", Box((0.6, 0.04, 0.5)), at(0.6, 0.0, 0.25))
    start = joints(planner, LEFT)
    ticks = iter(range(10**9))
    planner.clock = lambda: next(ticks) * 0.01  # every look at it costs 10 ms
    found = preview_pose(planner, start, RIGHT)
    assert found.reachable is None
    assert found.message
    planner.clock = lambda: 0.0
    assert preview_pose(planner, start, RIGHT).reachable is True


def test_wrong_questions_are_refused(planner: MotionPlanner) -> None:
    home = planner.robot.named["home"]
    with pytest.raises(MotionError, match="within"):
        preview_pose(planner, home, LEFT, within=0.0)
    with pytest.raises(MotionError):
        preview_pose(planner, home[:3], LEFT)


@pytest.mark.slow
def test_answers_cost_less_than_a_tenth_of_a_second(robot: object) -> None:
    """By the processor time that the planner measures itself, however busy the machine."""
    planner = create_planner(robot)  # type: ignore[arg-type]
    home = planner.robot.named["home"]
    rng = np.random.default_rng(1)
    spent = []
    for _ in range(30):
        x, y, z = rng.uniform([0.3, -0.5, 0.05], [0.7, 0.5, 0.6])
        found = preview_pose(planner, home, down(x, y, z, rng.uniform(-3.0, 3.0)))
        spent.append(found.planning_time)
    assert float(np.median(spent)) < 0.1
