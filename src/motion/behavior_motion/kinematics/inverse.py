# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics of one frame of a robot by damped least squares from many seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from behavior_motion.checks import Matrix, Vector
from behavior_motion.errors import ErrorCode, MotionError
from behavior_motion.interruption import check_interrupted
from behavior_motion.kinematics.compiled import FIXED, PRISMATIC, REVOLUTE, align, settle, solve_ik
from behavior_motion.robot.model import RobotModel

MOST_ITERATIONS = 80
"""Steps from one start vector before it is given up."""
SETTLING_STEPS = 60
"""Steps within the null space towards a posture."""
ALIGNING_STEPS = 12
"""Steps that bring an axis into its cone."""


@dataclass(frozen=True, eq=False)
class Chain:
    """Joints between the base and a frame, as plain arrays for compiled code."""

    placements: Matrix
    """Pose of each joint in the one before, at zero, (n, 4, 4)."""
    axes: Matrix
    """Axis of each joint in its own frame, (n, 3)."""
    kinds: NDArray[np.int64]
    """REVOLUTE, PRISMATIC or FIXED, (n,)."""
    columns: NDArray[np.int64]
    """Index of each joint in the joint vector; -1 for joints that are not planned."""
    end: Matrix
    """Pose of the frame in the last joint."""


def chain_of(robot: RobotModel, frame: str) -> Chain:
    """The chain from the base to ``frame``; a gripper's joints stay open, as they do for
    :meth:`RobotModel.forward_kinematics`.
    """
    model = robot.pin_model
    target = model.frames[model.getFrameId(frame, pin.FrameType.BODY)]
    joints = [int(j) for j in model.supports[target.parentJoint]][1:]
    placements, axes, kinds, columns = [], [], [], []
    still = model.createData()
    pin.forwardKinematics(model, still, robot.full_configuration(np.zeros(robot.dof)))
    for joint_id in joints:
        name = model.names[joint_id]
        column = robot.joint_names.index(name) if name in robot.joint_names else -1
        placement, kind, axis = still.liMi[joint_id], FIXED, np.zeros(3)
        if column >= 0:
            placement = model.jointPlacements[joint_id]
            kind, axis = _joint_axis(model.joints[joint_id])
        placements.append(np.array(placement.homogeneous))
        kinds.append(kind)
        axes.append(axis)
        columns.append(column)
    if not joints:
        raise MotionError(
            ErrorCode.INVALID_LINK_NAME,
            f"frame: {frame!r} does not move with any joint; choose a link of the arm",
        )
    placements[0] = robot.base_T_root @ placements[0]
    return Chain(
        np.ascontiguousarray(placements),
        np.ascontiguousarray(axes),
        np.array(kinds, dtype=np.int64),
        np.array(columns, dtype=np.int64),
        np.array(target.placement.homogeneous),
    )


def _joint_axis(joint: Any) -> tuple[int, Vector]:
    # The motion subspace of a 1-dof joint: linear part over angular part, in the joint's frame.
    data = joint.createData()
    joint.calc(data, np.zeros(1))
    subspace = np.array(data.S).reshape(6)
    if np.linalg.norm(subspace[3:]) > 0.5:
        return REVOLUTE, subspace[3:]
    return PRISMATIC, subspace[:3]


class InverseKinematics:
    """Damped least squares from many seeds for one frame of one robot."""

    TOLERANCE = 1e-6
    """Largest remaining error, metres and radians together."""

    def __init__(self, robot: RobotModel, frame: str, limit_margin: float = 1e-3) -> None:
        """Prepare the chain; solutions keep ``limit_margin`` [rad] from the joint limits.

        Raises:
            MotionError: INVALID_LINK_NAME, or INVALID_OPTION where the margin leaves a joint
                no range.
        """
        narrow = int(np.argmin(robot.upper - robot.lower))
        most = 0.5 * float(robot.upper[narrow] - robot.lower[narrow])
        if limit_margin >= most:
            raise MotionError(
                ErrorCode.INVALID_OPTION,
                f"joint_limit_margin: less than {most:.4g} wanted, half the range of "
                f"{robot.joint_names[narrow]}, got {limit_margin:g}",
            )
        self.robot = robot
        self.frame = frame
        chain = chain_of(robot, frame)
        self._lower = np.asarray(robot.lower + limit_margin)
        self._upper = np.asarray(robot.upper - limit_margin)
        self._chain = (chain.placements, chain.axes, chain.kinds, chain.columns, chain.end)
        self._weights = 1.0 / robot.velocity_limits
        # Compile (or load) now: the first use must not eat up a planning time.
        here = robot.forward_kinematics(robot.lower, frame)[None]
        self.solve(here, np.array(robot.lower)[None, None])

    def travel(self, joints: Matrix, seed: Vector) -> Vector:
        """Cost of moving from ``seed`` to each of (N, dof) joints, about the time it takes [s]."""
        time = np.abs(joints - seed) * self._weights
        cost: Vector = time.max(axis=-1) + 0.1 * time.sum(axis=-1)
        return cost

    def seeds(self, seed: Vector, count: int, rng: np.random.Generator) -> Matrix:
        """``count`` start vectors: the seed, then ever wider scatter about it, then anywhere."""
        clipped = np.clip(seed, self._lower, self._upper)
        result = rng.uniform(self._lower, self._upper, (count, self.robot.dof))
        result[0] = clipped
        near = min(count, 1 + count // 3)
        scatter = np.linspace(0.3, 1.2, max(near - 1, 1))[: near - 1, None]
        result[1:near] = np.clip(
            clipped + scatter * rng.standard_normal((near - 1, self.robot.dof)),
            self._lower,
            self._upper,
        )
        return result

    def solve(self, targets: Matrix, seeds: Matrix) -> tuple[Matrix, NDArray[np.bool_]]:
        """Joints (N, K, dof) for targets (N, 4, 4) from seeds (N, K, dof), and which converged."""
        joints = np.array(seeds)
        done = np.zeros(joints.shape[:2], dtype=bool)
        # Only the innermost function is compiled: loops about it would double the compile time.
        for i, target in enumerate(np.ascontiguousarray(targets)):
            for k in range(joints.shape[1]):
                done[i, k] = self._solve(target, joints[i, k], self._lower, self._upper)
        return joints, done

    def follow(self, targets: Matrix, start: Vector, jump: float) -> tuple[Matrix, int]:
        """Joints (N, dof) along targets (N, 4, 4), each solved from the one before.

        Also the number of targets reached before one was missed or a joint moved more than
        ``jump`` [rad].
        """
        lower, upper = np.minimum(self._lower, start), np.maximum(self._upper, start)
        joints = np.empty((len(targets), len(start)))
        q = np.array(start)
        for i, target in enumerate(np.ascontiguousarray(targets)):
            joints[i] = q
            if not self._solve(target, joints[i], lower, upper):
                return joints, i
            if np.abs(joints[i] - q).max() > jump:
                return joints, i
            q = joints[i]
        return joints, len(targets)

    def settled(self, target: Matrix, q: Vector, posture: Vector) -> Vector:
        """Joints that reach ``target`` as ``q`` does, as near to ``posture`` as that leaves."""
        moved = np.array(q)
        settle(*self._chain, self._lower, self._upper, target, posture, moved, SETTLING_STEPS)
        return moved if self._solve(target, moved, self._lower, self._upper) else q

    def aligned(
        self,
        q: Vector,
        axis: Vector,
        direction: Vector,
        limit: float,
        bounds: tuple[Vector, Vector],
    ) -> bool:
        """Bring ``q`` in place, within bounds, to where the frame's axis is near the direction.

        True where the angle between them ended at most ``limit`` [rad].
        """
        return bool(align(*self._chain, *bounds, axis, direction, limit, q, ALIGNING_STEPS))

    def _solve(self, target: Matrix, q: Vector, lower: Vector, upper: Vector) -> bool:
        """Move ``q`` in place to the target; True on success."""
        check_interrupted()
        return bool(
            solve_ik(*self._chain, lower, upper, target, q, MOST_ITERATIONS, self.TOLERANCE)
        )

    def manipulability(self, q: Vector) -> float:
        """Yoshikawa's measure ``sqrt(det(J J^T))``; for fewer than six joints ``sqrt(det(J^T J))``.

        T. Yoshikawa, "Manipulability of robotic mechanisms", 1985.
        """
        jacobian = self.robot.jacobian(q, self.frame)
        tall = self.robot.dof < 6
        square = jacobian.T @ jacobian if tall else jacobian @ jacobian.T
        return float(np.sqrt(max(np.linalg.det(square), 0.0)))

    def joint_limit_margin(self, q: Vector) -> float:
        """Distance to the nearest limit as a fraction of half that joint's range, 0 to 1."""
        robot = self.robot
        half = 0.5 * (robot.upper - robot.lower)
        return float(np.min(np.minimum(q - robot.lower, robot.upper - q) / half))
