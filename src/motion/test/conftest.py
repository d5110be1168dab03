# SPDX-License-Identifier: Apache-2.0
"""Shared robot, poses and scenes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from behavior_motion import Box, MotionPlanner, Plan, RobotModel, create_planner, load_robot
from behavior_motion.moveit import moveit_available
from behavior_motion.trajectories.paths import densify

ROBOT_FILE = Path(__file__).resolve().parents[3] / "config" / "robots" / "panda.yaml"
CUBE = 0.0515


def at(x: float, y: float, z: float) -> np.ndarray:
    """Pose with the base's axes."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def down(x: float, y: float, z: float, yaw: float = 0.0) -> np.ndarray:
    """Tool pose pointing down."""
    pose = at(x, y, z)
    turn = Rotation.from_euler("z", yaw) * Rotation.from_euler("x", np.pi)
    pose[:3, :3] = turn.as_matrix()
    return pose


@pytest.fixture(scope="session")
def robot() -> RobotModel:
    return load_robot(ROBOT_FILE)


# Every test that takes a planner runs for each backend that can be used here.
BACKENDS = ["embedded", *(["moveit"] if moveit_available() else [])]


@pytest.fixture(scope="session", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def moveit_planner(robot: RobotModel) -> MotionPlanner:
    """MoveIt starts once a process."""
    return create_planner(robot, "moveit")


@pytest.fixture
def planner(robot: RobotModel, backend: str, request: pytest.FixtureRequest) -> MotionPlanner:
    """An empty scene."""
    if backend == "embedded":
        return create_planner(robot, backend)
    planner: MotionPlanner = request.getfixturevalue("moveit_planner")
    planner.scene.clear()
    return planner


@pytest.fixture
def table(planner: MotionPlanner) -> MotionPlanner:
    """A table with four cubes."""
    planner.scene.add_object("table", Box((1.2, 1.6, 0.05)), at(0.5, 0.0, -0.025))
    for i, (x, y) in enumerate([(0.45, 0.2), (0.5, -0.2), (0.6, 0.1), (0.6, -0.1)]):
        planner.scene.add_object(f"cube_{i}", Box((CUBE,) * 3), at(x, y, CUBE / 2 + 1e-4))
    return planner


@pytest.fixture
def wall(planner: MotionPlanner) -> MotionPlanner:
    """A wall between the left and the right of the robot, which blocks straight lines."""
    planner.scene.add_object("wall", Box((0.6, 0.04, 0.5)), at(0.6, 0.0, 0.25))
    return planner


LEFT = down(0.5, 0.35, 0.2)
RIGHT = down(0.5, -0.35, 0.2)


def joints(planner: MotionPlanner, pose: np.ndarray) -> np.ndarray:
    """A free joint vector that reaches ``pose``."""
    result = planner.inverse_kinematics(pose, seed=planner.robot.named["home"])
    assert result.q is not None, result.message
    return result.q


def take(planner: MotionPlanner, name: str, q: np.ndarray, link: str = "tool") -> None:
    """Attach an object where it is."""
    link_T_base = np.linalg.inv(planner.robot.forward_kinematics(q, link))
    relative = link_T_base @ planner.scene.object_pose(name)
    planner.scene.attach_object(name, link, link_T_object=relative)


def let_go(planner: MotionPlanner, name: str, q: np.ndarray) -> None:
    """Leave a held object where it is."""
    held = planner.scene.attached()[name]
    pose = planner.robot.forward_kinematics(q, held.link) @ held.link_T_object
    planner.scene.add_object(name, held.shape, pose)


def verify(planner: MotionPlanner, plan: Plan, start: np.ndarray) -> None:
    """What every returned plan must hold: continuous, free at 0.01 rad, within all limits."""
    assert plan.ok, plan.message
    trajectory, robot = plan.trajectory, planner.robot
    assert trajectory is not None
    np.testing.assert_allclose(trajectory.positions[0], start, atol=1e-9)
    fine = np.linspace(0, trajectory.duration, 8 * len(trajectory.times))
    q, qd, qdd = trajectory.sample_many(fine)
    assert np.all(np.abs(qd) <= robot.velocity_limits * (1 + 1e-6))
    assert np.all(np.abs(qdd) <= robot.acceleration_limits * (1 + 1e-6))
    # What a jerk within the limits can change between two samples, however close.
    change = np.abs(np.diff(qdd, axis=0))
    assert np.all(change <= robot.jerk_limits * np.diff(fine)[:, None] + 1e-6)
    for speed in (trajectory.velocities[0], trajectory.velocities[-1]):
        np.testing.assert_allclose(speed, 0, atol=1e-6)
    if not plan.tolerated:
        assert planner.check_path(densify(q, 0.01), gripper_width=plan.gripper_width) is None
    assert planner.is_plan_valid(plan)
