# SPDX-License-Identifier: Apache-2.0
"""The drive of a base that takes a while to come to rest."""

import numpy as np
import pytest

from behavior_skills.base.drive import BaseMode, DriveRequest, DriveSkill
from behavior_skills.base.motion import BaseLimits

STEP = 0.02
BRAKING = 0.8
"""[m/s^2]"""


class CoastingBase:
    """Clock and base of one goal: speeds follow what is commanded no faster than it brakes."""

    def __init__(self, push=0.0):
        self.time, self.way, self.speed, self.wanted = 0.0, 0.0, 0.0, 0.0
        self.push = push
        """[m/s] that somebody keeps it moving with, whatever is commanded."""

    def now(self):
        return self.time

    def tick(self):
        self.time += STEP
        step = BRAKING * STEP
        self.speed += float(np.clip(self.wanted - self.speed, -step, step))
        self.way += STEP * (self.speed + self.push)

    def feedback(self, phase, progress, **more):
        pass

    def pose(self):
        return np.array([self.way, 0.0, 0.0])

    def command(self, linear, angular, lateral=0.0):
        self.wanted = linear


def drive(base):
    """Drive 1 m straight on, and tell where the skill says that the base is then."""
    request = DriveRequest(int(BaseMode.STRAIGHT), distance=1.0, position_tolerance=0.1)
    return DriveSkill(base, base, BaseLimits(), request).run()


def test_it_ends_when_the_base_stands():
    """What is planned next is planned from there: a can was put down as far off as it coasted."""
    base = CoastingBase()
    told = drive(base)
    ended = base.time
    assert told[0] > 0.9
    for _ in range(100):
        base.tick()
    assert base.pose()[0] == pytest.approx(told[0], abs=2e-3)
    assert ended < 6.0


def test_a_base_that_never_stands_is_not_waited_for():
    base = CoastingBase(push=0.1)
    drive(base)
    assert base.time < 6.0
