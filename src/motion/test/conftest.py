# SPDX-License-Identifier: Apache-2.0
"""Shared robot, poses and scenes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from behavior_motion import Box, EmbeddedPlanner, RobotModel, load_robot

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


@pytest.fixture
def planner(robot: RobotModel) -> EmbeddedPlanner:
    """An empty scene."""
    return EmbeddedPlanner(robot)


@pytest.fixture
def table(robot: RobotModel) -> EmbeddedPlanner:
    """A table with four cubes."""
    planner = EmbeddedPlanner(robot)
    planner.scene.add_object("table", Box((1.2, 1.6, 0.05)), at(0.5, 0.0, -0.025))
    for i, (x, y) in enumerate([(0.45, 0.2), (0.5, -0.2), (0.6, 0.1), (0.6, -0.1)]):
        planner.scene.add_object(f"cube_{i}", Box((CUBE,) * 3), at(x, y, CUBE / 2 + 1e-4))
    return planner


@pytest.fixture
def wall(robot: RobotModel) -> EmbeddedPlanner:
    """A wall between the left and the right of the robot, which blocks straight lines."""
    planner = EmbeddedPlanner(robot)
    planner.scene.add_object("wall", Box((0.6, 0.04, 0.5)), at(0.6, 0.0, 0.25))
    return planner


LEFT = down(0.5, 0.35, 0.2)
RIGHT = down(0.5, -0.35, 0.2)


def joints(planner: EmbeddedPlanner, pose: np.ndarray) -> np.ndarray:
    """A free joint vector that reaches ``pose``."""
    result = planner.inverse_kinematics(pose, seed=planner.robot.named["home"])
    assert result.q is not None, result.message
    return result.q
