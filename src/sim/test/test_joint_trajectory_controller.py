# SPDX-License-Identifier: Apache-2.0
"""Splines are exact, tolerances are watched, stops are smooth."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_sim.control.joint_trajectory_controller import (
    JointTrajectoryController,
    Tolerances,
    TrajectoryPoints,
)
from behavior_sim.control.splines import JointSpline, Setpoints
from behavior_sim.goals import Ending, InvalidGoal
from behavior_sim.worlds.config import WorldConfig

N = 7
PERIOD = 0.004


@pytest.fixture
def controller(config: WorldConfig) -> JointTrajectoryController:
    arm = dataclasses.replace(config.robot.arm, home=(0.0,) * N)
    return JointTrajectoryController(arm, np.full(N, -3.0), np.full(N, 3.0), period=PERIOD)


def points(config: WorldConfig, times, positions, **others) -> TrajectoryPoints:
    return TrajectoryPoints(
        joints=config.robot.arm.joints,
        times=np.asarray(times, dtype=float),
        positions=np.asarray(positions, dtype=float),
        **others,
    )


def line(*values: float) -> np.ndarray:
    """One row of equal joint values for each number."""
    return np.tile(np.array(values)[:, None], N)


def follow(controller: JointTrajectoryController, t: float, until: float, offset: float = 0.0):
    """Step with a robot that follows at a constant offset; all setpoints, and the time."""
    rows = []
    position, velocity = controller.setpoint
    while t < until - 1e-9:
        position, velocity = controller.step(t, position + offset, velocity)
        rows.append((t, position.copy(), velocity.copy()))
        t += PERIOD
    return rows, t


@pytest.mark.slow
@given(
    coefficients=st.lists(st.floats(-1, 1), min_size=6, max_size=6),
    cuts=st.lists(st.floats(0.05, 1.0), min_size=2, max_size=5),
    degree=st.sampled_from([3, 5]),
)
@settings(max_examples=50, deadline=None)
def test_splines_reproduce_polynomials(coefficients, cuts, degree: int) -> None:
    polynomial = np.polynomial.Polynomial(coefficients[: degree + 1])
    times = np.concatenate([[0.0], np.cumsum(cuts)])
    columns = [line(*polynomial(times))]
    columns += [line(*polynomial.deriv(k)(times)) for k in (1, 2)]
    spline = JointSpline(times, columns[0], columns[1], columns[2] if degree == 5 else None)
    for t in np.linspace(0.0, times[-1], 37):
        position, velocity = spline.sample(float(t))
        assert position == pytest.approx(np.full(N, polynomial(t)), abs=1e-9)
        assert velocity == pytest.approx(np.full(N, polynomial.deriv()(t)), abs=1e-7)


def test_positions_alone_make_a_smooth_path_at_rest_at_both_ends() -> None:
    times = np.array([0.0, 0.5, 1.0, 2.0])
    spline = JointSpline(times, line(0.0, 0.3, 0.2, 1.0))
    assert spline.sample(0.5)[0] == pytest.approx(0.3)
    assert spline.sample(0.0)[1] == pytest.approx(0.0)
    assert spline.sample(2.0)[1] == pytest.approx(0.0, abs=1e-9)
    for knot in times[1:-1]:
        before, after = spline.sample(knot - 1e-6)[1], spline.sample(knot + 1e-6)[1]
        assert before == pytest.approx(after, abs=1e-4)


@given(jumps=st.lists(st.sampled_from([1, 1, 1, 2, 15, 16, 40, -3, 0.37]), max_size=60))
def test_setpoints_are_samples_of_the_spline_whatever_times_they_are_asked_for(jumps) -> None:
    spline = JointSpline(np.array([0.0, 0.2, 0.5]), line(0.0, 0.3, 0.2))
    setpoints, t = Setpoints(spline, PERIOD), -2 * PERIOD
    for jump in jumps:
        t = round(t + jump * PERIOD, 9)
        for got, wanted in zip(setpoints.at(t), spline.sample(t), strict=True):
            assert got == pytest.approx(wanted, abs=1e-8)


def test_goal_is_followed_and_succeeds(controller, config) -> None:
    goal = controller.start(1.0, points(config, [1.0, 2.0], line(0.5, 1.0)))
    rows, _ = follow(controller, 1.0, 3.1)
    assert rows[0][1] == pytest.approx(0.0)
    positions = np.array([row[1][0] for row in rows])
    assert np.abs(np.diff(positions)).max() < 1.0 * PERIOD
    assert positions[-1] == pytest.approx(1.0)
    assert goal.outcome is not None
    assert goal.outcome.ending is Ending.SUCCEEDED
    assert not controller.moving


def test_joints_may_come_in_any_order(controller, config) -> None:
    joints = list(reversed(config.robot.arm.joints))
    target = np.arange(N) / 10.0
    controller.start(0.0, dataclasses.replace(points(config, [1.0], [target]), joints=joints))
    follow(controller, 0.0, 1.1)
    assert controller.setpoint[0] == pytest.approx(target[::-1])


def test_start_in_the_future_is_waited_for(controller, config) -> None:
    controller.start(5.0, points(config, [1.0], line(0.5)))
    rows, _ = follow(controller, 4.0, 5.0)
    assert all((row[1] == 0.0).all() for row in rows)
    follow(controller, 5.0, 6.1)
    assert controller.setpoint[0] == pytest.approx(0.5)


def test_path_tolerance(controller, config) -> None:
    goal = controller.start(0.0, points(config, [1.0], line(0.5)))
    follow(controller, 0.0, 0.5, offset=0.09)
    assert goal.outcome is None
    follow(controller, 0.5, 0.6, offset=0.11)
    assert goal.outcome is not None
    assert goal.outcome.ending is Ending.PATH_TOLERANCE
    assert "rad off its path (tolerance 0.100)" in goal.outcome.message
    assert not controller.moving


def test_an_arm_that_is_held_off_while_it_stands_starts_where_it_is(config) -> None:
    """A leaf leans on it: by its setpoint every motion planned from there would be refused."""
    arm = dataclasses.replace(config.robot.arm, home=(0.0,) * N)
    limits = np.full(N, -3.0), np.full(N, 3.0)
    there = np.full(N, 0.4)
    controller = JointTrajectoryController(arm, *limits, period=PERIOD, where=lambda: there)
    controller.start(0.0, points(config, [0.0, 1.0], line(0.4, 0.0)))
    position, _ = controller.step(0.0, there, np.zeros(N))
    assert position == pytest.approx(there)
    with pytest.raises(InvalidGoal, match="plan from the current joint state"):
        controller.start(0.1, points(config, [0.0, 1.0], line(-0.4, 0.0)))


def test_a_start_from_where_a_leaning_arm_is_may_be_off_the_setpoint(config) -> None:
    """It was held off a little more when the trajectory was planned."""
    arm = dataclasses.replace(config.robot.arm, home=(0.0,) * N)
    limits = np.full(N, -3.0), np.full(N, 3.0)
    there = np.full(N, 0.09)
    controller = JointTrajectoryController(arm, *limits, period=PERIOD, where=lambda: there)
    goal = controller.start(0.0, points(config, [0.0, 1.0], line(0.12, 0.5)))
    position, _ = controller.step(0.0, there, np.zeros(N))
    assert position == pytest.approx(0.12)
    with pytest.raises(InvalidGoal, match="plan from the current joint state"):
        controller.start(0.1, points(config, [0.0, 1.0], line(0.3, 0.5)))
    assert goal.outcome is None


def test_a_joint_that_was_pressed_beyond_its_range_comes_back(config) -> None:
    arm = dataclasses.replace(config.robot.arm, home=(-1.0,) * N)
    there = np.full(N, -1.05)
    controller = JointTrajectoryController(
        arm, np.full(N, -1.0), np.full(N, 1.0), period=PERIOD, where=lambda: there
    )
    controller.start(0.0, points(config, [0.0, 1.0], line(-1.05, 0.0)))
    for farther in (line(-1.05, -1.1), line(-1.05, 1.1)):
        with pytest.raises(InvalidGoal, match=r"its range is -1\.000 to 1\.000"):
            controller.start(0.0, points(config, [0.0, 1.0], farther))


def test_tolerances_of_the_goal_win(controller, config) -> None:
    names = config.robot.arm.joints
    wide = Tolerances(path=dict.fromkeys(names, np.inf), goal=dict.fromkeys(names, 1.0))
    goal = controller.start(0.0, points(config, [0.5], line(0.4)), wide)
    for step in range(200):
        controller.step(step * PERIOD, np.full(N, 0.8), np.zeros(N))
    assert goal.outcome is not None
    assert goal.outcome.ending is Ending.SUCCEEDED


def test_goal_tolerance(controller, config) -> None:
    goal = controller.start(0.0, points(config, [1.0], line(0.5)), Tolerances(goal_time=0.3))
    _, t = follow(controller, 0.0, 1.29, offset=0.02)
    assert goal.outcome is None
    follow(controller, t, 1.4, offset=0.02)
    assert goal.outcome is not None
    assert goal.outcome.ending is Ending.GOAL_TOLERANCE


def test_cancel_brakes_smoothly(controller, config) -> None:
    goal = controller.start(0.0, points(config, [2.0], line(1.5)))
    _, t = follow(controller, 0.0, 1.0)
    speed = controller.setpoint[1][0]
    controller.cancel(t, goal)
    assert goal.outcome is not None
    assert goal.outcome.ending is Ending.CANCELLED
    rows, _ = follow(controller, t, t + 1.0)
    velocities = np.array([speed, *(row[2][0] for row in rows)])
    limit = min(config.robot.arm.acceleration)
    assert np.abs(np.diff(velocities)).max() <= limit * PERIOD * 1.001
    assert velocities[-1] == 0.0
    assert not controller.moving
    assert rows[-1][0] - t < 1.0
    positions = np.array([row[1][0] for row in rows])
    assert (np.diff(positions) >= -1e-12).all(), "it never turns back"


def test_cancel_of_an_old_goal_does_nothing(controller, config) -> None:
    old = controller.start(0.0, points(config, [2.0], line(1.0)))
    new = controller.start(0.0, points(config, [2.0], line(1.0)))
    assert old.outcome is not None
    assert old.outcome.ending is Ending.REPLACED
    controller.cancel(0.1, old)
    assert new.outcome is None


def test_replacing_goal_makes_no_jump(controller, config) -> None:
    controller.start(0.0, points(config, [2.0], line(1.5)))
    before, t = follow(controller, 0.0, 1.0)
    controller.start(t, points(config, [1.5], line(0.0)))
    after, _ = follow(controller, t, t + 1.6)
    positions = [row[1][0] for row in before[-2:] + after[:2]]
    velocities = [row[2][0] for row in before[-1:] + after]
    assert np.abs(np.diff(positions)).max() < 1.5 * PERIOD
    assert np.abs(np.diff(velocities)).max() < 0.1
    assert controller.setpoint[0] == pytest.approx(0.0)


def test_reset_ends_the_goal(controller, config) -> None:
    outcomes = []
    controller.start(0.0, points(config, [2.0], line(1.0)), on_done=outcomes.append)
    follow(controller, 0.0, 0.5)
    controller.reset(np.full(N, 0.25))
    assert [outcome.ending for outcome in outcomes] == [Ending.RESET]
    assert controller.step(0.6, np.zeros(N), np.zeros(N))[0] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"joints": ["panda_joint1"]}, "needs exactly"),
        ({"times": np.array([])}, "no points"),
        ({"times": np.array([1.0, 1.0])}, "grow strictly"),
        ({"times": np.array([-1.0, 1.0])}, "grow strictly"),
        ({"times": np.array([1.0, np.nan])}, "grow strictly"),
        ({"positions": line(0.1, 0.2)[:, :3]}, "2 times 7 numbers"),
        ({"positions": line(0.1, np.nan)}, "not all finite"),
        ({"positions": line(0.1, 3.2)}, "range is"),
        ({"times": np.array([0.0, 1.0]), "positions": line(0.5, 0.6)}, "0.500 rad away"),
        ({"times": np.array([0.1, 0.2]), "positions": line(1.0, 2.0)}, "limit is"),
        ({"velocities": line(0.1)}, "velocities must be"),
    ],
)
def test_invalid_goals_change_nothing(controller, config, change, message: str) -> None:
    running = controller.start(0.0, points(config, [2.0], line(1.0)))
    good = points(config, [1.0, 2.0], line(0.1, 0.2))
    with pytest.raises(InvalidGoal, match=message):
        controller.start(0.0, dataclasses.replace(good, **change))
    assert controller.goal is running


def test_tolerance_of_an_unknown_joint(controller, config) -> None:
    with pytest.raises(InvalidGoal, match="elbow"):
        controller.start(0.0, points(config, [1.0], line(0.1)), Tolerances(path={"elbow": 0.1}))
