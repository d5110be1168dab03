# SPDX-License-Identifier: Apache-2.0
"""The controllers of bases, one that drives sideways too, on ideal ones and on ones that slip."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_motion.planar_pose import wrapped
from behavior_skills.base.motion import BaseGoal, BaseLimits, BaseMotion
from behavior_skills.base.omnidirectional_motion import OmnidirectionalMotion

DT = 0.05
LIMITS = BaseLimits()
ON_ARRIVAL = {BaseMotion: 1.5, OmnidirectionalMotion: 1.0}
"""What the tolerance grows by once the base was there: turning on the spot may shift it."""


def drive(goal, start=(0.0, 0.0, 0.0), *, kind=BaseMotion, slip=0.0, seconds=120.0):
    """Poses and twists (x, turn, y) until the goal is reached."""
    pose, motion = np.array(start, dtype=float), kind(goal, LIMITS)
    poses, twists = [pose.copy()], [(0.0, 0.0, 0.0)]
    for _ in range(int(seconds / DT)):
        if motion.done(pose):
            return np.array(poses), np.array(twists)
        x, turn, y = (*motion.twist(pose, DT), 0.0)[:3]
        twists.append((x, turn, y))
        c, s = math.cos(pose[2] + turn * DT / 2), math.sin(pose[2] + turn * DT / 2)
        pose = pose + (1.0 - slip) * DT * np.array([c * x - s * y, s * x + c * y, turn])
        poses.append(pose.copy())
    raise AssertionError(f"not within {seconds} s: at {pose}, remaining {motion.remaining(pose)}")


drive_any_way = partial(drive, kind=OmnidirectionalMotion)


@pytest.mark.slow
@given(
    kind=st.sampled_from([*ON_ARRIVAL]),
    x=st.floats(-5, 5),
    y=st.floats(-5, 5),
    yaw=st.floats(-math.pi, math.pi) | st.none(),
    start=st.floats(-math.pi, math.pi),
    slip=st.sampled_from([0.0, 0.2]),
)
@settings(max_examples=200, deadline=None)
def test_every_pose_is_reached_within_the_limits(kind, x, y, yaw, start, slip):
    goal = BaseGoal(np.array([[x, y]]), yaw)
    poses, twists = drive(goal, (0, 0, start), kind=kind, slip=slip)
    end = poses[-1]
    assert np.hypot(*(end[:2] - (x, y))) <= ON_ARRIVAL[kind] * goal.position_tolerance + 1e-9
    if yaw is not None:
        assert abs(wrapped(yaw - end[2])) <= goal.yaw_tolerance
    speeds, changes = (
        np.hypot(rows[:, 0], rows[:, 2]) for rows in (twists, np.diff(twists, axis=0))
    )
    assert speeds.max() <= LIMITS.linear + 1e-9
    assert np.abs(twists[:, 1]).max() <= LIMITS.angular + 1e-9
    assert changes.max(initial=0.0) <= LIMITS.linear_acceleration * DT + 1e-9
    turning = np.abs(np.diff(twists[:, 1]))
    assert turning.max(initial=0.0) <= LIMITS.angular_acceleration * DT + 1e-9


@pytest.mark.parametrize("kind", ON_ARRIVAL)
def test_a_path_that_ends_where_it_begins_is_driven(kind):
    path = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    poses, _ = drive(BaseGoal(path, None), kind=kind)
    for corner in path:
        assert np.hypot(*(poses[:, :2] - corner).T).min() < 0.35
    assert np.hypot(*poses[-1, :2]) <= 0.045


@pytest.mark.parametrize(
    ("kind", "yaw", "cut", "first"),
    [(BaseMotion, None, 0.12, 20), (OmnidirectionalMotion, 0.0, 0.1, 0)],
)
def test_a_path_is_followed(kind, yaw, cut, first):
    angles = np.linspace(0, math.pi, 30)
    path = np.column_stack([np.sin(angles) * 2, 2 - 2 * np.cos(angles)])
    poses, _ = drive(BaseGoal(path, yaw), kind=kind)
    radius = np.hypot(poses[:, 0], poses[:, 1] - 2)
    assert np.abs(radius[first:] - 2).max() < cut
    assert np.hypot(*(poses[-1, :2] - path[-1])) <= 0.045


def test_a_path_is_not_stopped_at_each_point():
    path = np.column_stack([np.linspace(0.5, 4, 8), np.zeros(8)])
    poses, twists = drive(BaseGoal(path, None))
    moving = twists[(poses[:, 0] > 0.6) & (poses[:, 0] < 3.4), 0]
    assert moving.min() > 0.9 * LIMITS.linear


def test_backwards():
    poses, twists = drive(BaseGoal(np.array([[-1.0, 0.0]]), None, backwards=True))
    assert twists[:, 0].min() < -0.3
    assert abs(poses[-1, 2]) < 0.1


def test_turning_on_the_spot_does_not_drive():
    poses, twists = drive(BaseGoal(np.array([[0.0, 0.0]]), 2.0))
    assert np.abs(twists[:, 0]).max() == pytest.approx(0.0, abs=1e-12)
    assert poses[-1, 2] == pytest.approx(2.0, abs=0.05)


def test_the_remaining_way_shrinks_to_nothing():
    goal = BaseGoal(np.array([[1.0, 0.0], [1.0, 1.0]]), None)
    motion = BaseMotion(goal, LIMITS)
    assert motion.remaining(np.zeros(3)) == pytest.approx(2.0)
    poses, _ = drive(goal)
    assert np.hypot(*(poses[-1, :2] - (1, 1))) < 0.05


def test_sideways_it_does_not_turn():
    poses, twists = drive_any_way(BaseGoal(np.array([[0.0, 1.0]]), 0.0))
    assert np.abs(poses[:, 2]).max() < 1e-9
    assert np.abs(poses[:, 0]).max() < 1e-9
    assert np.abs(twists[:, 2]).max() == pytest.approx(LIMITS.linear, abs=0.02)
    # 1 m at 0.5 m/s and 0.8 m/s^2 takes 2.6 s; the last centimetres are gentle.
    assert len(poses) * DT < 4.5


def test_it_drives_and_turns_at_once():
    both, _ = drive_any_way(BaseGoal(np.array([[1.0, 0.0]]), math.pi / 2))
    alone, _ = drive_any_way(BaseGoal(np.array([[1.0, 0.0]]), 0.0))
    assert len(both) <= len(alone) + 10


def test_with_a_free_yaw_it_keeps_its_own():
    poses, _ = drive_any_way(BaseGoal(np.array([[1.0, 1.0]]), None), (0.0, 0.0, 0.7))
    assert np.abs(poses[:, 2] - 0.7).max() < 1e-9


def test_along_an_arc_it_keeps_looking_at_the_centre():
    angles = np.linspace(0, math.pi, 13)
    path = np.column_stack([np.cos(angles), np.sin(angles)])
    goal = BaseGoal(path, 0.0, yaws=angles - math.pi)
    poses, _ = drive_any_way(goal, (1.0, 0.0, -math.pi))
    centre = np.arctan2(-poses[:, 1], -poses[:, 0])
    off = np.array([wrapped(a - b) for a, b in zip(centre, poses[:, 2], strict=True)])
    assert np.abs(off).max() < 0.25
    assert np.abs(np.linalg.norm(poses[:, :2], axis=1) - 1.0).max() < 0.1


def test_it_turns_no_sooner_than_it_drives():
    """A hand that is stretched out sweeps no further aside than it must."""
    poses, _ = drive_any_way(BaseGoal(np.array([[2.0, 0.0]]), 1.0))
    share = poses[:, 0] / 2.0
    assert np.abs(poses[:, 2] - share).max() < 0.1


@pytest.mark.parametrize(("angle", "same"), [(0, 0), (math.pi, math.pi), (7, 7 - 2 * math.pi)])
def test_wrapped(angle, same):
    assert wrapped(angle) == pytest.approx(same)
