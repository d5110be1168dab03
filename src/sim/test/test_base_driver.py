# SPDX-License-Identifier: Apache-2.0
"""The simulated base: arcs, limits, commands that cease."""

import math

import pytest

from behavior_sim.control.differential_drive import COMMAND_TIMEOUT, DifferentialDrive

DT = 0.02


def drive(base, linear, angular, seconds, start=0.0):
    for k in range(round(seconds / DT)):
        now = start + (k + 1) * DT
        base.command(linear, angular, now)
        base.step(now, DT)
    return start + seconds


def test_a_circle_ends_where_it_began():
    base = DifferentialDrive(linear_acceleration=math.inf, angular_acceleration=math.inf)
    drive(base, 0.5, 2 * math.pi / 10, 10.0)
    assert (base.x, base.y) == pytest.approx((0.0, 0.0), abs=1e-9)
    assert base.yaw == pytest.approx(0.0, abs=1e-9)


def test_a_quarter_circle_has_its_radius():
    base = DifferentialDrive(linear_acceleration=math.inf, angular_acceleration=math.inf)
    drive(base, 0.5, 0.5, math.pi / 2 / 0.5)
    assert (base.x, base.y) == pytest.approx((1.0, 1.0), abs=0.02)


def test_speeds_and_accelerations_are_bounded():
    base = DifferentialDrive()
    now, before = 0.0, 0.0
    for _ in range(100):
        now += DT
        base.command(99.0, -99.0, now)
        base.step(now, DT)
        assert base.linear - before <= base.linear_acceleration * DT + 1e-12
        before = base.linear
    assert base.linear == base.max_linear
    assert base.angular == -base.max_angular


def test_it_stands_when_commands_cease():
    base = DifferentialDrive()
    now = drive(base, 0.5, 0.0, 1.0)
    while now < 1.0 + COMMAND_TIMEOUT + 0.5:
        now += DT
        base.step(now, DT)
    assert base.linear == 0.0
    at = base.x
    base.step(now + DT, DT)
    assert base.x == at


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_command_that_is_no_number_is_a_stop(bad):
    base = DifferentialDrive()
    now = drive(base, 0.5, 0.0, 1.0)
    drive(base, bad, 0.0, 1.0, start=now)
    assert base.linear == 0.0
    assert math.isfinite(base.x)


def test_a_blocked_base_does_not_move():
    base = DifferentialDrive(blocked=True)
    drive(base, 0.5, 0.5, 1.0)
    assert (base.x, base.y, base.yaw) == (0.0, 0.0, 0.0)
