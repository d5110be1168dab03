# SPDX-License-Identifier: Apache-2.0
"""The simulation waits for those that follow its time, no longer than a robot would."""

import pytest

from behavior_sim.node.followers import ANSWER, PATIENCE, Followers
from behavior_tree.testing import SimulatedClock

STEP = 0.02
"""[s] simulated."""


def followers(pace=1.0, expected=1):
    wall = SimulatedClock()
    made = Followers(pace, wall)
    made.expected = expected
    made.begin_step(5.0)
    return made, wall


def test_nobody_is_waited_for_without_a_pace():
    made, _ = followers(pace=0.0)
    assert made.wait(5.0 + STEP) == 0.0


def test_while_somebody_computes_time_goes_at_the_pace_of_a_robot():
    made, wall = followers(pace=2.0)
    made.follow("/skills", 5.0)
    wall.now += 0.004
    assert made.wait(5.0 + STEP) == pytest.approx(STEP / 2.0 - 0.004)
    wall.now += 0.006
    assert made.wait(5.0 + STEP) == 0.0


def test_it_goes_on_at_once_when_all_have_done_what_there_was_to_do():
    made, _ = followers(expected=2)
    made.follow("/skills", 5.0 + STEP)
    made.follow("/executor", 5.0)
    assert made.wait(5.0 + STEP) > 0.0
    made.follow("/executor", 5.0 + STEP)
    assert made.wait(5.0 + STEP) == 0.0
    made.begin_step(5.0 + STEP)
    assert made.wait(5.0 + 2 * STEP) == pytest.approx(STEP)


def test_followers_may_be_a_little_behind():
    made, _ = followers()
    made.follow("/skills", 5.0)
    assert made.wait(5.0 + STEP, ahead=STEP) == 0.0
    made.begin_step(5.0 + STEP)
    assert made.wait(5.0 + 2 * STEP, ahead=STEP) == pytest.approx(STEP)
    made.follow("/skills", 5.0 + STEP)
    assert made.wait(5.0 + 2 * STEP, ahead=STEP) == 0.0
    assert made.wait(5.0 + 2 * STEP) > 0.0


def test_before_all_are_heard_somebody_may_compute():
    made, _ = followers(expected=2)
    assert made.wait(5.0 + STEP) == pytest.approx(STEP)
    made.follow("/skills", 5.0 + STEP)
    assert made.wait(5.0 + STEP) == pytest.approx(STEP)


def test_who_tells_nothing_any_more_is_gone():
    made, wall = followers()
    made.follow("/gone", 5.0)
    wall.now += 1.1 * PATIENCE
    made.follow("/skills", 5.0 + STEP)
    made.begin_step(5.0)
    assert made.wait(5.0 + STEP) == 0.0


def test_stamps_are_whole_nanoseconds():
    made, _ = followers()
    made.follow("/skills", 1e-9 * round(1e9 * (5.0 + STEP)) - 4e-10)
    assert made.wait(5.0 + STEP) == 0.0


def test_after_the_end_of_a_motion_what_follows_is_waited_for():
    """Its result is on its way to a process that has nothing to do until then."""
    made, wall = followers(pace=0.1)
    made.follow("/skills", 5.0 + STEP)
    made.tell_end()
    wall.now += 0.2 * ANSWER
    assert made.wait(5.0 + STEP) == pytest.approx(0.8 * ANSWER)
    assert made.wait(5.0 + STEP, ahead=STEP) == 0.0, "other motions go on meanwhile"
    made.tell_beginning()
    assert made.wait(5.0 + STEP) == 0.0


def test_nothing_needs_to_follow_the_end_of_a_motion():
    made, wall = followers(pace=0.1)
    long = 5.0 * ANSWER
    made.follow("/skills", 5.0 + long)
    made.tell_end()
    wall.now += 1.01 * ANSWER
    assert made.wait(5.0 + long) == 0.0


def test_the_end_of_a_motion_is_waited_for_no_longer_than_by_a_robot():
    made, wall = followers(pace=10.0)
    made.follow("/skills", 5.0 + STEP)
    made.tell_end()
    assert made.wait(5.0 + STEP) == pytest.approx(STEP / 10.0)
    wall.now += STEP / 10.0
    assert made.wait(5.0 + STEP) == 0.0
