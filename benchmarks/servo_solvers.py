# SPDX-License-Identifier: Apache-2.0
"""Which differential inverse kinematics small steps are to be made with.

    pip install --no-deps --target /tmp/peers pin-pink==4.4.0 qpsolvers==4.13.0 proxsuite==0.8.0
    mv /tmp/peers/cmeel.prefix/lib/python3*/site-packages/proxsuite /tmp/peers
    rm -r /tmp/peers/cmeel.prefix
    PYTHONPATH=$PYTHONPATH:/tmp/peers python benchmarks/servo_solvers.py [--steps 1500]

The Panda follows a target that circles among boxes, partly through them, at 100 steps a second:

* the suite's program (`behavior_motion.Servo`) solved by DAQP, as it is shipped,
* the same program solved by ProxQP,
* pink with DAQP: frame task, posture task, configuration, velocity and acceleration limits, and its
  collision barrier on the same geometry and the same gain.

For each: processor time of a step, how far the tool is from the target where nothing is near, the
smallest distance to anything, and the largest velocity, acceleration and jerk as shares of what was
allowed. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from behavior_motion import (
    Box,
    CollisionWorld,
    EmbeddedPlanner,
    JointLimits,
    MotionCommand,
    Servo,
    load_robot,
)
from behavior_motion.checks import Matrix, Vector
from behavior_motion.servo.controller import Program, ServoOptions

PERIOD = 0.01
"""[s]"""
SCALING = 0.5
"""Of velocities, accelerations and jerks."""
FREE = 0.1
"""[m] from anything: there the tool should be at the target."""


class ProxServo(Servo):
    """The same program, solved by ProxQP; distances are hard constraints there."""

    def _solve(self, program: Program) -> Vector | None:
        import proxsuite

        answer = proxsuite.proxqp.dense.solve(
            program.hessian,
            program.gradient,
            None,
            None,
            np.vstack([np.eye(len(program.lower)), program.rows]),
            np.concatenate([program.lower, program.least]),
            np.concatenate([program.upper, np.full(len(program.least), 1e20)]),
            eps_abs=1e-6,
        )
        solved = answer.info.status == proxsuite.proxqp.PROXQP_SOLVED
        return np.array(answer.x) if solved else None


class PinkServo:
    """pink on the same robot, with the same geometry."""

    def __init__(self, planner: EmbeddedPlanner, q: Vector, options: ServoOptions) -> None:
        import pink
        from pink.barriers import SelfCollisionBarrier
        from pink.limits import AccelerationLimit, ConfigurationLimit, VelocityLimit
        from pink.tasks import FrameTask, PostureTask

        robot = planner.robot
        limits = JointLimits.of(robot, SCALING, SCALING)
        model = self._model = robot.pin_model.copy()
        # Fingers stand still.
        velocity = np.full(model.nv, 1e-9)
        acceleration = np.full(model.nv, 1e-6)
        velocity[robot.v_index], acceleration[robot.v_index] = limits.velocity, limits.acceleration
        model.velocityLimit = velocity
        geometry = CollisionWorld(robot, planner.scene.snapshot())._geometry
        full = robot.full_configuration(q)
        self._robot, self._pink = robot, pink
        self._configuration = pink.Configuration(
            model,
            model.createData(),
            full,
            collision_model=geometry,
            collision_data=geometry.createData(),
        )
        self._task = FrameTask(robot.tool_frame, position_cost=1.0, orientation_cost=0.3, gain=0.06)
        posture = PostureTask(cost=1e-3)
        posture.set_target(full)
        self._tasks = [self._task, posture]
        self._acceleration = AccelerationLimit(model, acceleration)
        self._limits = [ConfigurationLimit(model), VelocityLimit(model), self._acceleration]
        self._barriers = [
            SelfCollisionBarrier(
                n_collision_pairs=min(20, len(geometry.collisionPairs)),
                gain=6.0,
                safe_displacement_gain=0.0,
                d_min=options.stop_distance,
            )
        ]

    def step(self, command: MotionCommand) -> tuple[Vector, Vector]:
        """Joints and velocities after the next period."""
        import pinocchio as pin

        robot = self._robot
        self._task.set_target(pin.SE3(robot.root_T_base @ command.pose))
        try:
            v = self._pink.solve_ik(
                self._configuration,
                self._tasks,
                PERIOD,
                solver="daqp",
                limits=self._limits,
                barriers=self._barriers,
                safety_break=False,
            )
        except self._pink.exceptions.PinkError:
            v = np.zeros(self._model.nv)
        self._acceleration.set_last_integration(v, PERIOD)
        self._configuration.integrate_inplace(v, PERIOD)
        return self._configuration.q[robot.q_index].copy(), v[robot.v_index]


@dataclass(frozen=True)
class Run:
    """What one way did."""

    median: float
    """[ms] of processor time of a step."""
    p99: float
    """[ms]"""
    error: float
    """[mm] of the tool, median where nothing is near the target."""
    distance: float
    """[mm] smallest."""
    velocity: float
    acceleration: float
    jerk: float
    """Largest, as a share of the limit."""


def follow(planner: EmbeddedPlanner, start: Vector, step: Callable, steps: int) -> Run:
    """Follow the target and take the figures."""
    limits = JointLimits.of(planner.robot, SCALING, SCALING)
    worked, joints, errors = [], [start], []
    for k in range(steps):
        target = target_at(k)
        began = time.process_time()
        q = step(MotionCommand(target))
        worked.append(1e3 * (time.process_time() - began))
        joints.append(q)
        if np.all(np.linalg.norm(target[:2, 3] - BOXES[:, :2], axis=1) > FREE + 0.05):
            tool = planner.robot.forward_kinematics(q)
            errors.append(1e3 * float(np.linalg.norm(tool[:3, 3] - target[:3, 3])))
    path = np.array(joints)
    rates = [
        float((np.abs(np.diff(path, order, axis=0)) / PERIOD**order / limit).max())
        for order, limit in ((1, limits.velocity), (2, limits.acceleration), (3, limits.jerk))
    ]
    distance = min(planner.distance(q).distance for q in path[::3])
    return Run(
        statistics.median(worked),
        float(np.percentile(worked, 99)),
        statistics.median(errors),
        1e3 * distance,
        *rates,
    )


BOXES = np.array([[0.5, 0.25, 0.1], [0.6, -0.2, 0.15], [0.4, -0.35, 0.1]])
"""Centres [m] of boxes of 0.1 by 0.1 m that stand on the table."""


def target_at(k: int) -> Matrix:
    """Where the target is at a step: a figure of eight, a little above the table."""
    angle = 2 * np.pi * k / 1500
    pose = np.diag([1.0, -1.0, -1.0, 1.0])
    pose[:3, 3] = 0.5 + 0.1 * np.sin(2 * angle), 0.35 * np.cos(angle), 0.15
    return pose


def main() -> int:
    """Run all of them, print one line each."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--robot", default="config/robots/panda.yaml")
    arguments.add_argument("--steps", type=int, default=1500)
    given = arguments.parse_args()
    planner = EmbeddedPlanner(load_robot(given.robot))
    table = np.eye(4)
    table[:3, 3] = 0.6, 0.0, -0.025
    planner.scene.add_object("table", Box((1.2, 1.6, 0.05)), table)
    for k, centre in enumerate(BOXES):
        pose = np.eye(4)
        pose[:3, 3] = centre
        planner.scene.add_object(f"box{k}", Box((0.1, 0.1, 2 * centre[2])), pose)
    above = target_at(0)
    above[2, 3] = 0.35
    start = planner.inverse_kinematics(above, seed=planner.robot.named["home"]).q
    assert start is not None
    options = ServoOptions(
        period=PERIOD,
        max_velocity_scaling_factor=SCALING,
        max_acceleration_scaling_factor=SCALING,
    )
    ways: dict[str, Callable] = {}
    own = Servo(planner.robot, planner.scene, start, options)
    ways["own, DAQP"] = lambda command: own.step(command).q
    if importlib.util.find_spec("proxsuite"):
        prox = ProxServo(planner.robot, planner.scene, start, options)
        ways["own, ProxQP"] = lambda command: prox.step(command).q
    if importlib.util.find_spec("pink"):
        pink = PinkServo(planner, start, options)
        ways["pink, DAQP"] = lambda command: pink.step(command)[0]
    print(
        f"{'':12} {'median':>8} {'p99':>8} {'error':>8} {'nearest':>9} "
        f"{'velocity':>9} {'accel.':>8} {'jerk':>8}"
    )
    first: Run | None = None
    for name, step in ways.items():
        run = follow(planner, start, step, given.steps)
        first = first or run
        print(
            f"{name:12} {run.median:5.2f} ms {run.p99:5.2f} ms {run.error:5.1f} mm "
            f"{run.distance:6.1f} mm {run.velocity:9.2f} {run.acceleration:8.2f} {run.jerk:8.2f}"
            f"   {run.median / first.median:.2f} times the first's time"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
