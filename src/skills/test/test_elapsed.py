# SPDX-License-Identifier: Apache-2.0
"""Limits of time where the clock is set back, as by a simulation that starts anew."""

from types import SimpleNamespace

import numpy as np
import pytest

from behavior_motion import Trajectory
from behavior_ros.node.elapsed import Elapsed
from behavior_skills.arm.execution import STOP_TIMEOUT, follow, stop, wait_for
from behavior_skills.base.drive import BaseMode, DriveRequest, DriveSkill
from behavior_skills.base.motion import BaseLimits
from behavior_skills.interfaces import FailureCode, JointState, SkillFailure

STEP, MOST_TICKS = 0.1, 1000


class Goal:
    """A clock that is set back by 1000 s after 1 s, and all that stands meanwhile."""

    def __init__(self):
        self.ticks, self.time = 0, 2000.0

    def now(self):
        return self.time

    def tick(self):
        self.ticks += 1
        assert self.ticks < MOST_TICKS, "it waits for the old time"
        self.time += STEP - (1000.0 if self.ticks == 10 else 0.0)

    def sleep(self, duration):
        self.tick()

    def feedback(self, phase, progress, **more):
        assert 0.0 <= progress <= 1.0

    def shield(self, on):
        pass

    @property
    def passed(self):
        """[s]"""
        return STEP * self.ticks


class StandingArm:
    """Does nothing of what it is told, and turns a little for ever."""

    def __init__(self):
        self.command = SimpleNamespace(done=lambda: None, cancel=lambda: None)

    def state(self):
        return JointState(np.zeros(1), np.ones(1), 0.0, 0.0)

    def pace(self):
        return 1.0

    def execute(self, trajectory):
        return self.command


class StandingBase(Goal):
    def pose(self):
        return np.zeros(3)

    def command(self, linear, angular, lateral=0.0):
        pass


def test_what_has_passed_grows_though_the_clock_is_set_back():
    goal = Goal()
    passed = Elapsed(goal.now)
    seen = []
    for _ in range(20):
        goal.tick()
        seen.append(passed())
    assert np.all(np.diff(seen) >= 0.0)
    assert seen[-1] == pytest.approx(20 * STEP, abs=2 * STEP)


def test_a_wait_ends():
    goal = Goal()
    assert not wait_for(goal, lambda: False, 3.0)
    assert goal.passed == pytest.approx(3.0, abs=3 * STEP)


def test_a_motion_that_does_not_go_on_ends():
    goal, still = Goal(), np.zeros((2, 1))
    trajectory = Trajectory(("joint",), np.array([0.0, 1.0]), still, still, still)
    with pytest.raises(SkillFailure) as caught:
        follow(goal, StandingArm(), trajectory, allowance=1.0)
    assert caught.value.failure is FailureCode.TIMED_OUT
    assert goal.passed == pytest.approx(2.0 + STOP_TIMEOUT, abs=5 * STEP)


def test_stopping_ends():
    goal, arm = Goal(), StandingArm()
    stop(goal, arm.command, arm)
    assert goal.passed == pytest.approx(STOP_TIMEOUT, abs=3 * STEP)


def test_a_base_that_stands_is_found_blocked():
    base = StandingBase()
    with pytest.raises(SkillFailure) as caught:
        DriveSkill(
            base, base, BaseLimits(), DriveRequest(int(BaseMode.STRAIGHT), distance=1.0)
        ).run()
    assert caught.value.failure is FailureCode.BLOCKED


def test_waiting_takes_its_time():
    pytest.importorskip("behavior_msgs.action")
    from behavior_skills.node.wait_node import wait

    goal = Goal()
    assert wait(goal, 3.0).code == 0
    assert goal.passed == pytest.approx(3.0, abs=3 * STEP)
