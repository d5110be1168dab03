# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_motion import (
    JointLimits,
    RobotModel,
    Trajectory,
    stop_trajectory,
    time_straight,
)
from behavior_motion.trajectories import paths
from behavior_motion.trajectories.timing import stop_states, time_curve


def derivatives_agree(trajectory: Trajectory) -> None:
    t = np.linspace(0.01, trajectory.duration - 0.01, 101)
    h = 1e-5
    before, here, after = (trajectory.sample_many(t + d) for d in (-h, 0, h))
    np.testing.assert_allclose((after[0] - before[0]) / (2 * h), here[1], atol=1e-4)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * h), here[2], atol=1e-2)


def within(trajectory: Trajectory, limits: JointLimits) -> None:
    fine = np.linspace(0, trajectory.duration, 10 * len(trajectory.times))
    _, qd, qdd = trajectory.sample_many(fine)
    assert np.all(np.abs(qd) <= limits.velocity * (1 + 1e-3))
    assert np.all(np.abs(qdd) <= limits.acceleration * (1 + 1e-3))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), scale=st.floats(0.01, 1.0))
def test_curves_keep_the_limits(robot: RobotModel, seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 9))
    path = rng.uniform(robot.lower, robot.upper, (count, robot.dof)) * scale
    limits = JointLimits.of(robot, 1.0, 1.0)
    curve = paths.rounded(path, paths.corner_radii(path, 1.0))
    trajectory = time_curve(curve, limits)
    within(trajectory, limits)
    derivatives_agree(trajectory)
    np.testing.assert_allclose(trajectory.positions[[0, -1]], path[[0, -1]], atol=1e-9)
    np.testing.assert_allclose(trajectory.velocities[[0, -1]], 0, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), scale=st.floats(1e-4, 1.0))
def test_straight_lines_keep_the_limits_and_the_line(
    robot: RobotModel, seed: int, scale: float
) -> None:
    rng = np.random.default_rng(seed)
    start = robot.random_configuration(rng)
    goal = start + scale * (robot.random_configuration(rng) - start)
    limits = JointLimits.of(robot, 1.0, 1.0)
    trajectory = time_straight(start, goal, limits)
    within(trajectory, limits)
    way = (goal - start) / np.linalg.norm(goal - start)
    off = (trajectory.positions - start) - np.outer((trajectory.positions - start) @ way, way)
    assert np.abs(off).max() < 1e-9
    np.testing.assert_allclose(trajectory.positions[-1], goal, atol=1e-9)
    jerk = np.abs(np.diff(trajectory.accelerations, axis=0)) / np.diff(trajectory.times)[:, None]
    assert np.all(jerk <= limits.jerk * 1.01)


@pytest.mark.parametrize("joint", range(7))
@pytest.mark.parametrize("turn", [1.0, -1.0])
def test_lines_on_which_phases_of_the_motion_vanish_are_timed(
    robot: RobotModel, joint: int, turn: float
) -> None:
    """Where full acceleration, or full speed, is reached for a moment only, ruckig finds none."""
    limits = JointLimits.of(robot)
    start, way = np.array(robot.named["home"]), turn * np.eye(7)[joint]
    v, a = limits.velocity[joint], limits.acceleration[joint]
    jerk = limits.shaping_jerk[joint]
    for length in (2 * a**3 / jerk**2, v * (v / a + a / jerk)):
        trajectory = time_straight(start, start + length * way, limits)
        within(trajectory, limits)
        np.testing.assert_allclose(trajectory.positions[-1], start + length * way, atol=1e-12)


def test_straight_lines_are_fast(robot: RobotModel) -> None:
    limits = JointLimits.of(robot, 1.0, 1.0)
    start = np.array(robot.named["home"])
    goal = start.copy()
    goal[0] += 1.5
    v, a = limits.velocity[0], limits.acceleration[0]
    trapezoid = 1.5 / v + v / a
    assert trapezoid < time_straight(start, goal, limits).duration < trapezoid + 0.06


def test_stop(robot: RobotModel) -> None:
    q = np.array(robot.named["home"])
    qd = np.array([1.0, -0.5, 0, 0, 0.2, 2.0, 0])
    trajectory = stop_trajectory(q, qd, robot)
    within(trajectory, JointLimits.of(robot, 1.0, 1.0))
    np.testing.assert_allclose(trajectory.velocities[0], qd, atol=1e-9)
    np.testing.assert_allclose(trajectory.velocities[-1], 0, atol=1e-9)
    assert trajectory.duration < 0.3
    assert stop_trajectory(q, np.zeros(7), robot).duration == 0.0
    with pytest.raises(ValueError, match="qd"):
        stop_trajectory(q, [np.nan] * 7, robot)


def test_states_of_a_stop_are_those_of_its_trajectory(robot: RobotModel) -> None:
    limits = JointLimits.of(robot, 1.0, 1.0)
    q, qd = np.array(robot.named["home"]), np.array([1.0, -0.5, 0, 0, 0.2, 2.0, 0])
    qdd = np.array([0.0, 1.0, 0, -1.0, 0, 0, 0])
    whole = stop_trajectory(q, qd, limits, qdd=qdd, together=False)
    states = stop_states(q, qd, limits, qdd=qdd, count=4)
    wanted = whole.sample_many(np.linspace(0.0, whole.duration, 4))[0]
    np.testing.assert_allclose(states, wanted, atol=1e-9)
    still = stop_states(q, np.zeros(7), limits, qdd=np.zeros(7), count=3)
    np.testing.assert_allclose(still, [q, q, q])


def test_parts_and_wholes(robot: RobotModel) -> None:
    limits = JointLimits.of(robot)
    home, ready = robot.named["home"], robot.named["ready"]
    there, back = time_straight(home, ready, limits), time_straight(ready, home, limits)
    both = there.concatenate(back)
    assert both.duration == pytest.approx(there.duration + back.duration)
    derivatives_agree(both)
    reverse = there.reversed()
    np.testing.assert_allclose(reverse.positions[0], ready)
    derivatives_agree(reverse)
    rest = both.from_time(0.3)
    for t in np.linspace(0, rest.duration, 20):
        np.testing.assert_allclose(rest.sample(t)[0], both.sample(t + 0.3)[0], atol=1e-5)
    slow = there.scaled(2.0)
    np.testing.assert_allclose(slow.sample(1.0)[0], there.sample(0.5)[0], atol=1e-9)
    q, qd, qdd = there.sample(there.duration + 1.0)
    np.testing.assert_allclose(q, ready, atol=1e-9)
    assert not qd.any()
    assert not qdd.any()
    with pytest.raises(ValueError, match="starts"):
        there.concatenate(there)
    with pytest.raises(ValueError, match="times"):
        Trajectory(there.joint_names, there.times[::-1], *(there.positions,) * 3)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_rounding_stays_close(seed: int) -> None:
    rng = np.random.default_rng(seed)
    path = rng.uniform(-1, 1, (int(rng.integers(3, 7)), 3))
    radii = paths.corner_radii(path, 0.3)
    curve = paths.rounded(path, radii)
    u = np.linspace(curve.x[0], curve.x[-1], 2000)
    points = curve(u)
    np.testing.assert_allclose(points[[0, -1]], path[[0, -1]], atol=1e-9)
    line = paths.densify(path, 1e-3)
    distance = np.min(np.linalg.norm(points[::20, None] - line[None], axis=2), axis=1)
    assert distance.max() <= 3 / 16 * 0.3 * 2 + 2e-3
    for order, tolerance in ((1, 1e-6), (2, 1e-4)):
        slope = curve.derivative(order)
        for x in curve.x[1:-1]:
            np.testing.assert_allclose(slope(x - 1e-9), slope(x + 1e-9), atol=tolerance)
