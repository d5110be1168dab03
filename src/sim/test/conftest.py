# SPDX-License-Identifier: Apache-2.0
"""What the tests share: the world, and a hand that moves by inverse kinematics."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from behavior_sim.control.joint_trajectory_controller import TrajectoryPoints
from behavior_sim.goals import Ending
from behavior_sim.simulation import Simulation
from behavior_sim.worlds.config import WorldConfig, load_world
from behavior_sim.worlds.layouts import pose_of
from behavior_sim.worlds.resources import find_world


@pytest.fixture(scope="session")
def config() -> WorldConfig:
    return load_world(find_world("block_stacking"))


@pytest.fixture
def simulation(config: WorldConfig) -> Simulation:
    return Simulation(config)


class Hand:
    """Moves the tool of a simulation to poses, and its fingers."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.joints = simulation.config.robot.arm.joints
        model = simulation.world.model
        self._model, self._data = model, mujoco.MjData(model)
        self._body = model.body("tool").id
        self._q = [model.joint(j).qposadr[0] for j in self.joints]
        self._limits = np.array([model.joint(j).range for j in self.joints]).T
        self._v = [model.joint(j).dofadr[0] for j in self.joints]

    def inverse(self, target: np.ndarray) -> np.ndarray:
        """Joint angles that bring the tool to world_T_tool (4, 4); damped least squares."""
        home = np.array(self.simulation.config.robot.arm.home)
        home[0] = np.arctan2(target[1, 3], target[0, 3])
        q = home
        jacobian = np.zeros((6, self._model.nv))
        for _ in range(300):
            self._data.qpos[self._q] = q
            mujoco.mj_kinematics(self._model, self._data)
            mujoco.mj_comPos(self._model, self._data)
            rotation = self._data.xmat[self._body].reshape(3, 3)
            turn = Rotation.from_matrix(target[:3, :3] @ rotation.T).as_rotvec()
            error = np.concatenate([target[:3, 3] - self._data.xpos[self._body], turn])
            if np.linalg.norm(error) < 1e-5:
                return q
            mujoco.mj_jacBody(self._model, self._data, jacobian[:3], jacobian[3:], self._body)
            J = jacobian[:, self._v]
            step = J.T @ np.linalg.solve(J @ J.T + 1e-4 * np.eye(6), error)
            step += (np.eye(len(q)) - np.linalg.pinv(J) @ J) @ (0.1 * (home - q))
            q = np.clip(q + np.clip(step, -0.1, 0.1), *self._limits)
        raise AssertionError(f"no inverse kinematics for {target}")

    def above(self, block: str, height: float) -> np.ndarray:
        """world_T_tool (4, 4): fingers along a block's nearest axis, pointing down, above it."""
        pose = self.simulation.world.object_pose(block)
        yaw = np.arctan2(pose[1, 0], pose[0, 0])
        yaw -= np.pi / 2 * np.round(yaw / (np.pi / 2))
        return self.down(*(pose[:3, 3] + [0, 0, height]), yaw=yaw)

    @staticmethod
    def down(x: float, y: float, z: float, yaw: float = 0.0) -> np.ndarray:
        """world_T_tool (4, 4) pointing down."""
        return pose_of([x, y, z], yaw) @ np.diag([1.0, -1.0, -1.0, 1.0])

    def move(self, target: np.ndarray, duration: float = 1.5) -> Ending:
        """Bring the tool to world_T_tool (4, 4) on a straight line in joint space."""
        simulation = self.simulation
        points = TrajectoryPoints(
            joints=self.joints,
            times=np.array([duration]),
            positions=self.inverse(target)[None],
        )
        goal = simulation.arm.start(simulation.time, points)
        return self._finish(goal)

    def grip(self, gap: float, force: float = 0.0) -> Ending:
        """Open or close."""
        return self._finish(self.simulation.gripper.start(self.simulation.time, gap, force))

    def _finish(self, goal) -> Ending:
        for _ in range(20_000):
            if goal.outcome is not None:
                return goal.outcome.ending
            self.simulation.advance(2)
        raise AssertionError("the goal never ended")

    def pick(self, block: str) -> None:
        self.grip(0.08)
        assert self.move(self.above(block, 0.12)) is Ending.SUCCEEDED
        assert self.move(self.above(block, 0.005), 0.8) is Ending.SUCCEEDED
        assert self.grip(0.0) is Ending.SUCCEEDED
        assert self.move(self.above(block, 0.12), 0.8) is Ending.SUCCEEDED

    def place(self, x: float, y: float, z: float) -> None:
        assert self.move(self.down(x, y, z + 0.1)) is Ending.SUCCEEDED
        assert self.move(self.down(x, y, z), 0.8) is Ending.SUCCEEDED
        assert self.grip(0.08) is Ending.SUCCEEDED
        assert self.move(self.down(x, y, z + 0.1), 0.8) is Ending.SUCCEEDED


@pytest.fixture
def hand(simulation: Simulation) -> Hand:
    return Hand(simulation)
