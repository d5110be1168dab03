# SPDX-License-Identifier: Apache-2.0
"""Measures the motion package on the Panda; prints one table with a verdict on every figure.

Run: ``python benchmarks/motion.py [--quick] [--problems N] [--json FILE]``; ends with status 1
where a limit is missed. Ratios compare processor times with those of the same libraries called
directly in the same run. Limits on times are judged in processor time as well: the package works in
one thread, so on a machine of its own both are the same, and others' load does not count as ours.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import ompl.base as ob
import ompl.geometric as og
import ompl.util as ou
import pinocchio as pin
import toppra
from scipy.spatial.transform import Rotation

from behavior_motion import (
    Box,
    EmbeddedPlanner,
    IkOptions,
    JointLimits,
    MotionCommand,
    MotionPlanner,
    OrientationConstraint,
    Plan,
    PlanningScene,
    PlanOptions,
    RobotModel,
    Servo,
    create_planner,
    load_robot,
)
from behavior_motion.collision.world import CollisionWorld
from behavior_motion.interruption import Deadline
from behavior_motion.moveit import moveit_available
from behavior_motion.planning.sampling import SearchLimits, connect
from behavior_motion.trajectories import paths as path_tools
from behavior_motion.trajectories.timing import time_curve

ROBOT_FILE = Path(__file__).resolve().parent.parent / "config" / "robots" / "panda.yaml"


@dataclass(frozen=True)
class Figure:
    """One measured number and what it has to be."""

    name: str
    value: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None

    @property
    def ok(self) -> bool:
        """True where the limits hold; NaN holds none."""
        above = self.at_least is None or self.value >= self.at_least
        return above and (self.at_most is None or self.value <= self.at_most)

    def __str__(self) -> str:
        limit = ""
        if self.at_most is not None:
            limit = f"<= {self.at_most:g}"
        elif self.at_least is not None:
            limit = f">= {self.at_least:g}"
        verdict = ("PASS" if self.ok else "FAIL") if limit else ""
        return f"{self.name:46} {self.value:12.4g} {self.unit:8} {limit:10} {verdict}"


def pose(x: float, y: float, z: float, rotation: Rotation | None = None) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    if rotation is not None:
        matrix[:3, :3] = rotation.as_matrix()
    return matrix


def downward(rng: np.random.Generator, z: tuple[float, float] = (0.05, 0.35)) -> np.ndarray:
    turn = Rotation.from_euler("z", rng.uniform(-np.pi, np.pi)) * Rotation.from_euler("x", np.pi)
    return pose(rng.uniform(0.3, 0.7), rng.uniform(-0.45, 0.45), rng.uniform(*z), turn)


def table_scene(scene: PlanningScene, rng: np.random.Generator) -> None:
    scene.clear()
    scene.add_object("table", Box((1.2, 1.6, 0.05)), pose(0.6, 0.0, -0.025))
    for i in range(10):
        size = rng.uniform([0.05, 0.05, 0.15], [0.15, 0.15, 0.45])
        x, y = rng.uniform([0.35, -0.5], [0.75, 0.5])
        scene.add_object(f"box_{i}", Box(tuple(size)), pose(x, y, size[2] / 2))


def cage_scene(scene: PlanningScene, rng: np.random.Generator) -> None:
    """Twenty obstacles: the bars of a cage about the robot, a table, and clutter inside."""
    scene.clear()
    scene.add_object("table", Box((1.2, 1.6, 0.05)), pose(0.6, 0.0, -0.025))
    for i in range(8):
        angle = 2 * np.pi * (i + 0.5) / 8
        x, y = 0.8 * np.cos(angle), 0.8 * np.sin(angle)
        scene.add_object(f"bar_{i}", Box((0.06, 0.06, 1.4)), pose(x, y, 0.7))
    scene.add_object("roof", Box((1.2, 1.2, 0.04)), pose(0.0, 0.0, 1.25))
    for i in range(10):
        size = rng.uniform([0.05, 0.05, 0.1], [0.1, 0.1, 0.3])
        angle, radius = rng.uniform(-2.5, 2.5), rng.uniform(0.4, 0.65)
        x, y = radius * np.cos(angle), radius * np.sin(angle)
        z = size[2] / 2 if i < 6 else rng.uniform(0.5, 0.9)
        scene.add_object(f"box_{i}", Box(tuple(size)), pose(x, y, z))


def beam_scene(scene: PlanningScene, rng: np.random.Generator) -> None:
    """Fourteen beams across the workspace in any direction, off the robot's column: narrow ways."""
    scene.clear()
    scene.add_object("table", Box((1.2, 1.6, 0.05)), pose(0.6, 0.0, -0.025))
    count = 0
    while count < 14:
        centre, turn = rng.uniform([-0.7, -0.7, 0.15], [0.8, 0.7, 0.95]), Rotation.random(rng=rng)
        line = centre + np.linspace(-0.6, 0.6, 41)[:, None] * turn.as_matrix()[:, 0]
        if np.hypot(line[:, 0], line[:, 1]).min() >= 0.22:
            scene.add_object(f"beam_{count}", Box((1.2, 0.04, 0.04)), pose(*centre, turn))
            count += 1


def beam_problems(
    planner: EmbeddedPlanner, count: int, seed: int
) -> list[tuple[Any, np.ndarray, np.ndarray]]:
    """Scene, start and goal joints, anywhere; four problems in each scene."""
    rng = np.random.default_rng(seed)

    def free() -> np.ndarray:
        while True:
            q = planner.robot.random_configuration(rng)
            if planner.check_state(q).ok:
                return q

    found = []
    for i in range(count):
        if i % 4 == 0:
            beam_scene(planner.scene, rng)
        found.append((planner.scene.copy(), free(), free()))
    return found


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = function()
    return time.perf_counter() - began, result


def cpu_timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """As :func:`timed`, but in processor time: for ratios, which others' load must not touch."""
    began = time.process_time()
    result = function()
    return time.process_time() - began, result


def percentile(values: list[float], share: float) -> float:
    return float(np.percentile(values, share)) if values else float("nan")


def kinematics(planner: EmbeddedPlanner, rng: np.random.Generator) -> list[Figure]:
    table_scene(planner.scene, rng)
    targets: list[np.ndarray] = []
    while len(targets) < 512:
        target = downward(rng)
        if planner.inverse_kinematics(target, options=IkOptions(attempts=40)).ok:
            targets.append(target)
    seed = planner.robot.named["home"]
    single = [timed(lambda t=t: planner.inverse_kinematics(t, seed=seed))[0] for t in targets]

    def batch(count: int) -> tuple[float, float, int]:
        """Wall and processor time, and how many solutions are free."""
        options = IkOptions(attempts=40)
        wall, (processor, results) = min(
            (
                timed(
                    lambda: cpu_timed(
                        lambda: planner.inverse_kinematics_batch(
                            np.array(targets[:count]), seed=seed, options=options
                        )
                    )
                )
                for _ in range(3)
            ),
            key=lambda run: run[1][0],
        )
        return wall, processor, sum(r.ok and planner.check_state(r.q).ok for r in results)

    wall, processor, solved = batch(256)
    many_wall, many, many_solved = batch(512)
    mine = cpu_timed(lambda: [planner.inverse_kinematics(t, seed=seed) for t in targets[:64]])
    direct = cpu_timed(lambda: [bare_ik(planner, t, seed) for t in targets[:64]])
    return [
        Figure("ik_single_median", 1e3 * statistics.median(single), "ms"),
        Figure("ik_single_p95", 1e3 * percentile(single, 95), "ms"),
        Figure("ik_batch_256_free_of_processor", processor, "s", at_most=0.3),
        Figure("ik_batch_256_free", wall, "s"),
        Figure("ik_batch_256_solved", solved, at_least=256),
        Figure("ik_batch_512_free_of_processor", many, "s", at_most=0.6),
        Figure("ik_batch_512_free", many_wall, "s"),
        Figure("ik_batch_512_solved", many_solved, at_least=512),
        Figure("ik_vs_pinocchio_in_python", mine[0] / direct[0], "ratio", at_most=1.2),
    ]


def bare_ik(planner: EmbeddedPlanner, target: np.ndarray, seed: np.ndarray) -> np.ndarray | None:
    """Damped least squares on pinocchio, with restarts, as its documentation shows it."""
    robot = planner.robot
    model, data = robot.pin_model, robot.pin_model.createData()
    frame, rng = model.getFrameId(robot.tool_frame), np.random.default_rng(0)
    aim = pin.SE3(robot.root_T_base @ target)
    for attempt in range(40):
        q = np.array(seed) if attempt == 0 else robot.random_configuration(rng)
        for _ in range(80):
            full = robot.full_configuration(q)
            pin.framesForwardKinematics(model, data, full)
            error = pin.log6(data.oMf[frame].actInv(aim)).vector
            if np.linalg.norm(error) < 1e-6:
                if planner.check_state(q).ok:
                    return q
                break
            jacobian = pin.computeFrameJacobian(model, data, full, frame)[:, robot.v_index]
            step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-6 * np.eye(6), error)
            q = np.clip(q + step, robot.lower, robot.upper)
    return None


def collision(planner: EmbeddedPlanner, rng: np.random.Generator) -> list[Figure]:
    table_scene(planner.scene, rng)
    robot = planner.robot
    states = np.array([robot.random_configuration(rng) for _ in range(3000)])
    world = CollisionWorld(robot, planner.scene.snapshot())
    every = (world._model, world._data, world._geometry, world._results)
    full = [robot.full_configuration(q) for q in states]
    truth = [pin.computeCollisions(*every, q, True) for q in full]
    answers = [world.collides(q) for q in states]
    parts = (world._model, world._data, world._manager)
    # Free states take longest: every pair has to be looked at.
    free = [q for q, hit in zip(states, truth, strict=True) if not hit]
    free_full = [robot.full_configuration(q) for q in free]
    runs = [
        (
            cpu_timed(lambda: [world.collides(q) for q in free])[0],
            cpu_timed(lambda: [pin.computeCollisions(*parts, q, True) for q in free_full])[0],
        )
        for _ in range(7)
    ]
    ours, direct = (min(run[i] for run in runs) for i in range(2))
    distances = timed(lambda: [planner.distance(q) for q in states[:300]])[0]
    return [
        Figure("collision_checks_of_free_states", len(free) / ours, "1/s"),
        Figure("collision_vs_pinocchio_direct", ours / direct, "ratio", at_most=1.2),
        Figure(
            "collision_wrong_answers",
            sum(a != b for a, b in zip(answers, truth, strict=True)),
            at_most=0,
        ),
        Figure("distance_queries", 300 / distances, "1/s"),
    ]


def problems(
    planner: EmbeddedPlanner,
    build: Callable[[PlanningScene, np.random.Generator], None],
    count: int,
    seed: int,
) -> list[tuple[Any, np.ndarray, np.ndarray]]:
    """Scene, start and goal joints; both ends free with 2 cm to spare, from random tool poses."""
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        build(planner.scene, rng)
        ends: list[np.ndarray] = []
        for _ in range(100):
            anywhere = planner.robot.random_configuration(rng)
            result = planner.inverse_kinematics(downward(rng, (0.05, 0.3)), seed=anywhere)
            if result.q is not None and planner.distance(result.q).distance > 0.02:
                ends.append(result.q)
            if len(ends) == 2:
                found.append((planner.scene.copy(), ends[0], ends[1]))
                break
    return found


@dataclass
class Tally:
    """What came of a set of problems."""

    times: list[float]
    processor: list[float]
    motions: list[float]
    colliding: int = 0
    over_limits: int = 0


def solve(
    name: str,
    found: list[tuple[Any, np.ndarray, np.ndarray]],
    planner_of: Callable[..., Any],
    request: Callable[..., Plan],
) -> Tally:
    """Run a request on every problem and check what comes back."""
    tally = Tally([], [], [])
    for scene, start, goal in found:
        solver = planner_of(scene)
        seconds, plan = cpu_timed(partial(request, solver, start, goal))
        if not plan.ok:
            print(f"  {name}: {plan.code.name}: {plan.message}")
            continue
        assert plan.trajectory is not None
        tally.times.append(plan.planning_time)
        tally.processor.append(seconds)
        tally.motions.append(plan.trajectory.duration)
        bad_collision, bad_limit = recheck(solver, plan)
        tally.colliding += bad_collision
        tally.over_limits += bad_limit
    return tally


PATIENT = PlanOptions(allowed_planning_time=5.0)


def to_joints(solver: MotionPlanner, start: np.ndarray, goal: np.ndarray) -> Plan:
    return solver.plan_to_joints(start, goal, options=PATIENT)


def by_default(solver: MotionPlanner, start: np.ndarray, goal: np.ndarray) -> Plan:
    return solver.plan_to_joints(start, goal)


def to_pose(solver: MotionPlanner, start: np.ndarray, goal: np.ndarray) -> Plan:
    return solver.plan_to_pose(start, solver.robot.forward_kinematics(goal), options=PATIENT)


def through(solver: MotionPlanner, start: np.ndarray, goal: np.ndarray) -> Plan:
    """There and back by the goal, without a stop."""
    return solver.plan_waypoints(start, [goal, start, goal], options=PATIENT)


def level(solver: MotionPlanner, start: np.ndarray, goal: np.ndarray) -> Plan:
    """The tool points down at both ends of every problem, and within 0.1 rad on the way."""
    constraint = OrientationConstraint(0.1, direction=(0.0, 0.0, -1.0))
    options = PlanOptions(allowed_planning_time=5.0, path_constraints=constraint)
    return solver.plan_to_joints(start, goal, options=options)


def figures_of(name: str, tally: Tally, count: int, **limits: float) -> list[Figure]:
    times = tally.times or [float("nan")]
    return [
        Figure(f"{name}_solved_of_{count}", len(tally.times), at_least=limits.get("solved")),
        Figure(
            f"{name}_median_of_processor",
            1e3 * statistics.median(tally.processor or [np.nan]),
            "ms",
            at_most=limits.get("median"),
        ),
        Figure(f"{name}_median", 1e3 * statistics.median(times), "ms"),
        Figure(f"{name}_p95", 1e3 * percentile(times, 95), "ms"),
        Figure(f"{name}_max", 1e3 * max(times), "ms"),
        Figure(f"{name}_motion_median", statistics.median(tally.motions or [np.nan]), "s"),
        Figure(f"{name}_colliding_at_0.01_rad", tally.colliding, at_most=0),
        Figure(f"{name}_over_limits", tally.over_limits, at_most=0),
    ]


def planning(planner: EmbeddedPlanner, count: int) -> list[Figure]:
    robot = planner.robot

    def embedded(scene: PlanningScene) -> EmbeddedPlanner:
        return EmbeddedPlanner(robot, scene)

    table = problems(planner, table_scene, count, seed=1)
    cage = problems(planner, cage_scene, count, seed=1)
    most = np.floor(0.99 * count)
    figures = []
    for name, found, request, limits in (
        ("table_joints", table, to_joints, {"solved": most, "median": 60.0}),
        ("table_pose", table, to_pose, {"solved": most, "median": 60.0}),
        ("cage_joints", cage, to_joints, {"solved": most}),
        (
            "beams_joints",
            beam_problems(planner, 2 * count, seed=7),
            by_default,
            {"solved": 2 * most},
        ),
        ("table_waypoints", table[: count // 2], through, {}),
        ("table_level", table[: count // 2], level, {}),
    ):
        tally = solve(name, found, embedded, request)
        figures += figures_of(name, tally, len(found), **limits)
    if moveit_available():
        tally = solve("moveit_table_joints", table, moveit_in(robot), to_joints)
        theirs = figures_of("moveit_table_joints", tally, count)
        figures += theirs
        medians = {f.name: f.value for f in figures}
        ratio = medians["table_joints_median"] / medians["moveit_table_joints_median"]
        figures.append(Figure("table_joints_vs_moveit", ratio, "ratio", at_most=1.0))
    else:
        print("  moveit: not importable here, so not compared with")
    return figures


def moveit_in(robot: RobotModel) -> Callable[[PlanningScene], MotionPlanner]:
    """MoveIt, which starts once a process, in one scene after another."""
    planner = create_planner(robot, "moveit")

    def placed(scene: PlanningScene) -> MotionPlanner:
        planner.scene.clear()
        for name, item in scene.snapshot().objects.items():
            planner.scene.add_object(name, item.shape, item.world_T_object)
        return planner

    return placed


def recheck(planner: MotionPlanner, plan: Plan) -> tuple[bool, bool]:
    """Independent check of a trajectory: dense samples, every pair, and the robot's limits."""
    assert plan.trajectory is not None
    trajectory, robot = plan.trajectory, planner.robot
    count = int(np.ceil(path_tools.lengths(trajectory.positions).sum() / 0.01)) + 2
    fine = np.linspace(0.0, trajectory.duration, max(count, 8 * len(trajectory.times)))
    q, qd, qdd = trajectory.sample_many(fine)
    jerk = np.diff(qdd, axis=0) / max(np.diff(fine).max(), 1e-9)
    q = path_tools.densify(q, 0.01)
    world = CollisionWorld(robot, planner.scene.snapshot())
    every = (world._model, world._data, world._geometry, world._results)
    hit = any(pin.computeCollisions(*every, robot.full_configuration(p), True) for p in q)
    over = (
        bool(np.any(np.abs(qd) > robot.velocity_limits * (1 + 1e-6)))
        or bool(np.any(np.abs(qdd) > robot.acceleration_limits * (1 + 1e-6)))
        or bool(np.any(np.abs(jerk) > robot.jerk_limits * (1 + 1e-6)))
        or bool(np.any((q < robot.lower - 1e-6) | (q > robot.upper + 1e-6)))
    )
    return hit, over


def bare_search(
    world: CollisionWorld, start: np.ndarray, goal: np.ndarray, robot: Any
) -> np.ndarray | None:
    """RRT-Connect by OMPL on pinocchio's broadphase, without any code of the package."""
    space = ob.RealVectorStateSpace(robot.dof)
    bounds = ob.RealVectorBounds(robot.dof)
    for i in range(robot.dof):
        bounds.setLow(i, float(robot.lower[i]))
        bounds.setHigh(i, float(robot.upper[i]))
    space.setBounds(bounds)
    full = robot.full_configuration(start)
    parts = (world._model, world._data, world._manager, full, True)
    indices = range(robot.dof)

    def check(state: ob.State) -> bool:
        for i in indices:
            full[i] = state[i]
        return not pin.computeCollisions(*parts)

    ou.RNG.setSeed(2)
    information = ob.SpaceInformation(space)
    information.setStateValidityChecker(check)
    information.setStateValidityCheckingResolution(0.005)
    information.setup()
    problem = ob.ProblemDefinition(information)
    wanted = ob.GoalStates(information)
    carrier = space.allocState()
    for values, receiver in ((start, problem.addStartState), (goal, wanted.addState)):
        for i in indices:
            carrier[i] = float(values[i])
        receiver(carrier)
    problem.setGoal(wanted)
    solver = og.RRTConnect(information)
    solver.setProblemDefinition(problem)
    solver.setup()
    solver.solve(5.0)
    if not problem.hasExactSolution():
        return None
    path = problem.getSolutionPath()
    return np.array([[path.getState(k)[i] for i in indices] for k in range(path.getStateCount())])


def overhead(planner: EmbeddedPlanner, count: int) -> list[Figure]:
    """The search as the package calls it, against OMPL called directly with the same seed."""
    robot = planner.robot
    ours, direct = [], []
    for scene, start, goal in problems(planner, table_scene, count, seed=2):
        world = CollisionWorld(robot, scene.snapshot())
        world.set_margins(0.006)
        if world.first_collision(path_tools.densify(np.stack([start, goal]), 0.01)) is None:
            continue

        def search(start=start, goal=goal, world=world) -> np.ndarray | None:  # type: ignore[no-untyped-def]
            return connect(
                start,
                [goal],
                lower=robot.lower,
                upper=robot.upper,
                blocked=world.collides,
                limits=SearchLimits(Deadline(5.0), 15_000),
                seed=1,
            )

        def bare(start=start, goal=goal, world=world) -> np.ndarray | None:  # type: ignore[no-untyped-def]
            return bare_search(world, start, goal, robot)

        if search() is None or bare() is None:
            continue
        # The best of several, interleaved: other programs disturb both alike.
        runs = [(cpu_timed(search), cpu_timed(bare)) for _ in range(7)]
        ours.append(min(run[0][0] for run in runs))
        direct.append(min(run[1][0] for run in runs))
        path, other = runs[0][0][1], runs[0][1][1]
        assert np.array_equal(path, other)
    ratio = sum(ours) / sum(direct) if ours else float("nan")
    return [
        Figure("search_median", 1e3 * statistics.median(ours or [np.nan]), "ms"),
        Figure("search_vs_ompl_direct", ratio, "ratio", at_most=1.2),
    ]


def timing(planner: EmbeddedPlanner, rng: np.random.Generator) -> list[Figure]:
    """A path of ten waypoints, timed; against TOPP-RA alone on a grid of as many points."""
    robot = planner.robot
    waypoints = np.cumsum(rng.uniform(-0.3, 0.3, (10, robot.dof)), axis=0) + robot.named["home"]
    waypoints = np.clip(waypoints, robot.lower + 0.1, robot.upper - 0.1)
    curve = path_tools.rounded(waypoints, path_tools.corner_radii(waypoints, 1.0))
    limits = JointLimits.of(robot, 1.0, 1.0)
    runs = [
        (
            cpu_timed(lambda: time_curve(curve, limits))[0],
            cpu_timed(lambda: bare_timing(waypoints, limits))[0],
        )
        for _ in range(15)
    ]
    ours, direct = ([run[i] for run in runs] for i in range(2))
    wall = [timed(lambda: time_curve(curve, limits))[0] for _ in range(15)]
    return [
        Figure("timing_10_waypoints", 1e3 * statistics.median(wall), "ms"),
        Figure("timing_10_waypoints_motion", time_curve(curve, limits).duration, "s"),
        Figure("timing_vs_toppra_direct", min(ours) / min(direct), "ratio", at_most=1.2),
    ]


def bare_timing(waypoints: np.ndarray, limits: JointLimits) -> np.ndarray:
    """TOPP-RA by its documentation: spline, limits, samples every 10 ms; no limit on the jerk."""
    path = toppra.SplineInterpolator(np.linspace(0.0, 1.0, len(waypoints)), waypoints)
    bounds = [np.stack([-x, x], axis=1) for x in (limits.velocity, limits.acceleration)]
    solver = toppra.algorithm.TOPPRA(
        [
            toppra.constraint.JointVelocityConstraint(bounds[0]),
            toppra.constraint.JointAccelerationConstraint(bounds[1]),
        ],
        path,
        gridpoints=np.linspace(0.0, 1.0, 100),
        solver_wrapper="seidel",
        parametrizer="ParametrizeConstAccel",
    )
    motion = solver.compute_trajectory()
    times = np.arange(0.0, motion.duration, 0.01)
    return np.stack([motion(times, order) for order in range(3)])


def servo(planner: EmbeddedPlanner, rng: np.random.Generator, steps: int) -> list[Figure]:
    """Reactive control after a target that moves through clutter."""
    table_scene(planner.scene, rng)
    start = None
    while start is None:
        target = downward(rng, (0.3, 0.3))
        start = planner.inverse_kinematics(target, options=IkOptions(attempts=60)).q
    control = Servo(planner.robot, planner.scene, start)
    taken, worked, closest = [], [], np.inf
    for k in range(steps):
        angle = 2 * np.pi * k / 400
        goal = target.copy()
        goal[:2, 3] = 0.5 + 0.15 * np.sin(3 * angle), 0.4 * np.cos(angle)
        goal[2, 3] = 0.25 + 0.2 * np.sin(2 * angle)
        seconds, (processor, step) = timed(
            lambda goal=goal: cpu_timed(lambda: control.step(MotionCommand(goal)))
        )
        taken.append(seconds)
        worked.append(processor)
        if k % 5 == 0:
            closest = min(closest, planner.distance(step.q).distance)
    return [
        Figure("servo_step_median", 1e3 * statistics.median(taken), "ms"),
        Figure("servo_step_p99", 1e3 * percentile(taken, 99), "ms"),
        Figure("servo_step_p99_of_processor", 1e3 * percentile(worked, 99), "ms", at_most=10.0),
        Figure("servo_rate_at_p99_of_processor", 1 / percentile(worked, 99), "Hz", at_least=100.0),
        Figure("servo_smallest_distance", 1e3 * closest, "mm", at_least=0.0),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=100, help="planning problems per scene")
    parser.add_argument("--quick", action="store_true", help="a tenth of the problems")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    count = 10 if arguments.quick else arguments.problems
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    seconds, planner = timed(lambda: EmbeddedPlanner(load_robot(ROBOT_FILE)))
    figures = [Figure("setup", seconds, "s")]
    figures += kinematics(planner, np.random.default_rng(0))
    figures += collision(planner, np.random.default_rng(0))
    figures += planning(planner, count)
    figures += overhead(planner, count)
    figures += timing(planner, np.random.default_rng(0))
    figures += servo(planner, np.random.default_rng(0), 300 if arguments.quick else 2000)
    for figure in figures:
        print(figure)
    missed = [figure.name for figure in figures if not figure.ok]
    print(f"FAIL: {', '.join(missed)}" if missed else "PASS: every limit is kept")
    if arguments.json:
        record = [asdict(figure) | {"ok": figure.ok} for figure in figures]
        arguments.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
