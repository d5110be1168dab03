# SPDX-License-Identifier: Apache-2.0
"""The base's controller on an ideal differential drive, and on one that slips."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_motion.planar_pose import wrapped
from behavior_skills.base.motion import BaseGoal, BaseLimits, BaseMotion

DT = 0.05
LIMITS = BaseLimits()


def drive(goal, start=(0.0, 0.0, 0.0), *, slip=0.0, seconds=120.0):
    """Poses and twists until the goal is reached."""
    pose, motion = np.array(start, dtype=float), BaseMotion(goal, LIMITS)
    poses, twists = [pose.copy()], [(0.0, 0.0)]
    for _ in range(int(seconds / DT)):
        if motion.done(pose):
            return np.array(poses), np.array(twists)
        v, w = motion.twist(pose, DT)
        twists.append((v, w))
        heading = pose[2] + w * DT / 2
        pose = pose + (1.0 - slip) * np.array(
            [v * DT * math.cos(heading), v * DT * math.sin(heading), w * DT]
        )
        poses.append(pose.copy())
    raise AssertionError(f"not within {seconds} s: at {pose}, remaining {motion.remaining(pose)}")


@pytest.mark.slow
@given(
    x=st.floats(-5, 5),
    y=st.floats(-5, 5),
    yaw=st.floats(-math.pi, math.pi) | st.none(),
    start=st.floats(-math.pi, math.pi),
    slip=st.sampled_from([0.0, 0.2]),
)
@settings(max_examples=150, deadline=None)
def test_every_pose_is_reached_within_the_limits(x, y, yaw, start, slip):
    goal = BaseGoal(np.array([[x, y]]), yaw)
    poses, twists = drive(goal, (0, 0, start), slip=slip)
    end = poses[-1]
    assert np.hypot(*(end[:2] - (x, y))) <= 1.5 * goal.position_tolerance + 1e-9
    if yaw is not None:
        assert abs(wrapped(yaw - end[2])) <= goal.yaw_tolerance
    assert np.abs(twists[:, 0]).max() <= LIMITS.linear + 1e-9
    assert np.abs(twists[:, 1]).max() <= LIMITS.angular + 1e-9
    changes = np.abs(np.diff(twists, axis=0))
    assert changes[:, 0].max(initial=0.0) <= LIMITS.linear_acceleration * DT + 1e-9
    assert changes[:, 1].max(initial=0.0) <= LIMITS.angular_acceleration * DT + 1e-9


def test_a_path_that_ends_where_it_begins_is_driven():
    path = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    poses, _ = drive(BaseGoal(path, None), (0, 0, 0))
    for corner in path:
        assert np.hypot(*(poses[:, :2] - corner).T).min() < 0.35
    assert np.hypot(*poses[-1, :2]) <= 0.045


def test_a_path_is_followed():
    angles = np.linspace(0, math.pi, 30)
    path = np.column_stack([np.sin(angles) * 2, 2 - 2 * np.cos(angles)])
    poses, _ = drive(BaseGoal(path, None))
    radius = np.hypot(poses[:, 0], poses[:, 1] - 2)
    assert np.abs(radius[20:] - 2).max() < 0.12
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


@pytest.mark.parametrize(("angle", "same"), [(0, 0), (math.pi, math.pi), (7, 7 - 2 * math.pi)])
def test_wrapped(angle, same):
    assert wrapped(angle) == pytest.approx(same)
