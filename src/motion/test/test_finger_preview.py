# SPDX-License-Identifier: Apache-2.0
"""What fingers will touch, hold and push aside, told before they move."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import CUBE, at, down, joints

from behavior_motion import Box, MotionError, MotionPlanner, create_planner, load_robot
from behavior_motion import preview_fingers as preview

TIAGO = Path(__file__).resolve().parents[3] / "config" / "robots" / "tiago_pro.yaml"
PLACE = (0.5, 0.1, 0.3)


@pytest.fixture
def hand(planner: MotionPlanner) -> np.ndarray:
    """Joints with the open hand around a place, fingers along y."""
    return joints(planner, down(*PLACE))


def beside(y: float) -> np.ndarray:
    return at(PLACE[0], PLACE[1] + y, PLACE[2])


@pytest.mark.parametrize("aside", [0.0, 0.01, -0.012])
def test_what_lies_between_the_fingers_is_held_at_its_width(
    planner: MotionPlanner, hand: np.ndarray, aside: float
) -> None:
    planner.scene.add_object("cube", Box((CUBE,) * 3), beside(aside))
    found = preview(planner, hand, 0.0)
    assert found.held == "cube"
    assert found.width == pytest.approx(CUBE, abs=1e-3)
    assert found.touched["cube"] == pytest.approx(CUBE + 2 * abs(aside), abs=1e-3)
    assert found.duration == pytest.approx((0.08 - found.width) / planner.robot.gripper.max_speed)


def test_fingers_that_do_not_come_so_far_hold_nothing(
    planner: MotionPlanner, hand: np.ndarray
) -> None:
    planner.scene.add_object("cube", Box((0.03,) * 3), beside(0.0))
    found = preview(planner, hand, 0.04)
    assert (found.width, found.held, found.touched) == (0.04, "", {})
    assert preview(planner, hand, 0.02, start=0.04).held == "cube"


def test_nothing_is_held_where_nothing_is(planner: MotionPlanner, hand: np.ndarray) -> None:
    found = preview(planner, hand, 0.0)
    assert (found.width, found.held, found.touched) == (0.0, "", {})
    still = preview(planner, hand, 0.03, start=0.03)
    assert (still.width, still.duration, still.touched) == (0.03, 0.0, {})


def test_what_one_finger_meets_when_they_open_is_pushed(
    planner: MotionPlanner, hand: np.ndarray
) -> None:
    planner.scene.add_object("post", Box((0.05, 0.02, 0.05)), beside(0.06))
    shut = preview(planner, hand, 0.08, start=0.0)
    assert (shut.width, shut.held, list(shut.touched)) == (0.08, "", ["post"])
    assert 0.0 < shut.touched["post"] < 0.08


def test_what_is_touched_first_is_named_first(planner: MotionPlanner, hand: np.ndarray) -> None:
    planner.scene.add_object("near", Box((0.02, 0.002, 0.02)), beside(0.03))
    planner.scene.add_object("a_cube", Box((0.03,) * 3), beside(0.0))
    found = preview(planner, hand, 0.0)
    assert list(found.touched) == ["near", "a_cube"]
    assert found.held == "a_cube"


@pytest.mark.slow
def test_each_hand_of_a_robot_of_two_arms() -> None:
    planner = create_planner(load_robot(TIAGO, group="left_arm"))
    robot = planner.robot
    q = robot.named["ready"]
    tool = robot.forward_kinematics(q)
    width = 0.5 * robot.gripper.open_width
    planner.scene.add_object("bar", Box((0.02, 0.02, 0.02)), tool)
    found = preview(planner, q, robot.gripper.closed_width)
    assert found.held == "bar"
    assert found.width == pytest.approx(0.02, abs=6e-3)
    assert found.width < width


@pytest.mark.slow
def test_wrong_questions_are_refused(planner: MotionPlanner, hand: np.ndarray) -> None:
    for width in (-0.01, 0.2, float("nan")):
        with pytest.raises(MotionError, match="width"):
            preview(planner, hand, width)
    with pytest.raises(MotionError, match="start"):
        preview(planner, hand, 0.0, start=1.0)
    with pytest.raises(MotionError, match="joints"):
        preview(planner, hand[:3], 0.0)
    with pytest.raises(MotionError, match="tiago_pro has no fingers"):
        preview(create_planner(load_robot(TIAGO, group="head")), np.zeros(2), 0.0)
