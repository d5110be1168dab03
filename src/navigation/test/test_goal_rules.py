# SPDX-License-Identifier: Apache-2.0
"""When a goal is reached, and when it has moved or is lost."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_motion.planar_pose import Pose2D
from behavior_navigation.rules.goal_check import GoalCheck, GoalRule, SpeedEstimate
from behavior_navigation.rules.goal_watch import GoalFrameRule, GoalWatch

GOAL = Pose2D(5.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("rule", "robot", "speed", "final", "reached"),
    [
        (GoalRule(0.25, ticks=1), Pose2D(4.75, 0.0), 0.0, True, True),  # on the threshold
        (GoalRule(0.25, ticks=1), Pose2D(4.74, 0.0), 0.0, True, False),
        (GoalRule(0.25, ticks=1), Pose2D(5.0, 0.0, 3.0), 0.0, True, True),  # any heading
        (GoalRule(0.25, 0.2, ticks=1), Pose2D(5.0, 0.0, 0.19), 0.0, True, True),
        (GoalRule(0.25, 0.2, ticks=1), Pose2D(5.0, 0.0, 0.21), 0.0, True, False),
        (GoalRule(0.25, 0.2, ticks=1), Pose2D(5.0, 0.0, math.tau - 0.1), 0.0, True, True),
        (GoalRule(0.25, ticks=1, speed=0.1), GOAL, 0.11, True, False),
        (GoalRule(0.25, ticks=1, speed=0.1), GOAL, 0.1, True, True),
        (GoalRule(0.25, ticks=1), GOAL, 0.0, False, False),
        (GoalRule(0.25, ticks=1, require_final_maneuver=False), GOAL, 0.0, False, True),
        (GoalRule(0.0, ticks=1), GOAL, 0.0, True, True),
    ],
)
def test_reached(rule: GoalRule, robot: Pose2D, speed: float, final: bool, reached: bool) -> None:
    assert GoalCheck(rule).update(robot, GOAL, speed, final) is reached


def test_it_must_hold_for_some_ticks_in_a_row() -> None:
    check = GoalCheck(GoalRule(ticks=3))
    there, away = (GOAL, GOAL, 0.0, True), (Pose2D(), GOAL, 0.0, True)
    seen = [check.update(*where) for where in (there, there, away, there, there, there, there)]
    assert seen == [False, False, False, False, False, True, True]
    check.reset()
    assert not check.update(*there)


@pytest.mark.parametrize("numbers", [{"translation": -0.1}, {"ticks": 0}, {"speed": -1.0}])
def test_a_goal_that_nothing_reaches_is_refused(numbers: dict) -> None:
    with pytest.raises(ValueError, match="goal"):
        GoalRule(**numbers)


def test_speed_is_taken_over_a_time_so_that_noise_counts_little() -> None:
    rng = random.Random(1)
    estimate, worst = SpeedEstimate(window=0.5), 0.0
    for i in range(200):
        speed = estimate.update(0.05 * i, Pose2D(rng.gauss(0.0, 0.01), rng.gauss(0.0, 0.01)))
        worst = max(worst, speed) if i > 10 else worst
    assert worst < 0.1  # differences of neighbours would reach 0.8
    for i in range(20):
        speed = estimate.update(10.0 + 0.05 * i, Pose2D(0.05 * i, 0.0))
    assert speed == pytest.approx(1.0, rel=0.05)


def test_speed_without_a_past() -> None:
    estimate = SpeedEstimate()
    assert estimate.update(1.0, Pose2D()) == math.inf
    assert estimate.update(1.0, Pose2D(1.0)) == math.inf  # the same moment again
    assert estimate.update(1.1, Pose2D()) == math.inf  # two looks at one measurement
    assert estimate.update(1.5, Pose2D()) == 0.0
    assert estimate.update(0.5, Pose2D()) == math.inf  # the clock was set back
    estimate.reset()
    assert estimate.update(0.6, Pose2D()) == math.inf


RULE = GoalFrameRule(translation=0.2, rotation=0.3, ticks=3, period=1.0, max_timeout=2.0)


def watch_at(goal: Pose2D) -> GoalWatch:
    watch = GoalWatch(RULE, 0.0)
    watch.update(0.0, goal)
    return watch


@given(st.lists(st.floats(-0.199, 0.199), min_size=5, max_size=60))
@settings(max_examples=60, deadline=None)
def test_jitter_below_the_threshold_changes_nothing(offsets: list[float]) -> None:
    watch = watch_at(Pose2D())
    for i, offset in enumerate(offsets):
        watch.update(2.0 + 0.1 * i, Pose2D(offset, 0.0, 1.4 * offset))
        assert not watch.changed


def test_a_goal_that_moved_counts_after_some_ticks() -> None:
    watch = watch_at(Pose2D())
    for i, expected in enumerate((False, False, True, True)):
        watch.update(5.0 + 0.1 * i, Pose2D(0.3))
        assert watch.changed is expected
    assert watch.pursued == Pose2D()
    assert watch.accept() == Pose2D(0.3)
    assert not watch.changed
    watch.update(7.0, Pose2D(0.3))
    assert not watch.changed


def test_a_turn_counts_too() -> None:
    watch = watch_at(Pose2D())
    for i in range(3):
        watch.update(5.0 + 0.1 * i, Pose2D(0.0, 0.0, 0.31))
    assert watch.changed


def test_hysteresis() -> None:
    """Between release and threshold the count rests; below, it starts anew."""
    watch = watch_at(Pose2D())
    for i, x in enumerate((0.25, 0.18, 0.25, 0.18)):
        watch.update(5.0 + 0.1 * i, Pose2D(x))
        assert not watch.changed
    watch.update(5.5, Pose2D(0.25))
    assert watch.changed
    watch = watch_at(Pose2D())
    for i, x in enumerate((0.25, 0.25, 0.1, 0.25, 0.25)):
        watch.update(5.0 + 0.1 * i, Pose2D(x))
        assert not watch.changed


def test_changes_are_limited_in_rate() -> None:
    watch, accepted = watch_at(Pose2D()), 0
    for i in range(1, 101):  # 10 s, moving 1 m/s
        watch.update(0.1 * i, Pose2D(0.1 * i))
        if watch.changed:
            watch.accept()
            accepted += 1
    assert 8 <= accepted <= 10


def test_a_frame_may_be_unknown_for_a_while() -> None:
    watch = watch_at(Pose2D(1.0))
    watch.update(1.9, None)
    assert not watch.lost
    watch.update(2.0, None)
    assert not watch.lost
    watch.update(2.1, None)
    assert watch.lost
    assert watch.pursued == Pose2D(1.0)
    watch.update(2.2, Pose2D(1.0))
    assert not watch.lost


def test_a_frame_that_was_never_known_is_lost_too() -> None:
    watch = GoalWatch(RULE, 10.0)
    watch.update(12.0, None)
    assert not watch.lost
    assert watch.pursued is None
    watch.update(12.1, None)
    assert watch.lost


def test_a_clock_that_is_set_back_loses_nothing() -> None:
    watch = watch_at(Pose2D())
    watch.update(100.0, Pose2D())
    watch.update(5.0, None)
    assert not watch.lost
    watch.update(7.1, None)
    assert watch.lost
    for i in range(3):
        watch.update(8.0 + 0.1 * i, Pose2D(3.0))
    assert watch.changed
