# SPDX-License-Identifier: Apache-2.0
"""Measures the embedded motion planner on the Panda; prints one table.

Run: ``python benchmarks/motion.py [--problems N] [--json FILE]``. Ratios compare with the same
libraries called directly in the same run, so they hold on a loaded machine too.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import ompl.base as ob
import ompl.geometric as og
import ompl.util as ou
import pinocchio as pin
from scipy.spatial.transform import Rotation

from behavior_motion import (
    Box,
    EmbeddedPlanner,
    IkOptions,
    JointLimits,
    Plan,
    PlanningScene,
    PlanOptions,
    load_robot,
)
from behavior_motion import paths as path_tools
from behavior_motion.collision import CollisionWorld
from behavior_motion.sampling import SearchLimits, connect
from behavior_motion.timing import time_curve

ROBOT_FILE = Path(__file__).resolve().parent.parent / "config" / "robots" / "panda.yaml"


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


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = function()
    return time.perf_counter() - began, result


def percentile(values: list[float], share: float) -> float:
    return float(np.percentile(values, share)) if values else float("nan")


def kinematics(planner: EmbeddedPlanner, rng: np.random.Generator) -> dict[str, float]:
    table_scene(planner.scene, rng)
    targets: list[np.ndarray] = []
    while len(targets) < 256:
        target = downward(rng)
        if planner.inverse_kinematics(target, options=IkOptions(attempts=40)).ok:
            targets.append(target)
    seed = planner.robot.named["home"]
    single = [timed(lambda t=t: planner.inverse_kinematics(t, seed=seed))[0] for t in targets]
    batch, results = timed(lambda: planner.inverse_kinematics_batch(np.array(targets), seed=seed))
    return {
        "ik_single_median_ms": 1e3 * statistics.median(single),
        "ik_single_p95_ms": 1e3 * percentile(single, 95),
        "ik_batch_256_s": batch,
        "ik_batch_256_solved": sum(r.ok for r in results),
    }


def collision(planner: EmbeddedPlanner, rng: np.random.Generator) -> dict[str, float]:
    table_scene(planner.scene, rng)
    robot = planner.robot
    states = np.array([robot.random_configuration(rng) for _ in range(3000)])
    world = CollisionWorld(robot, planner.scene.snapshot())
    ours, answers = timed(lambda: [world.collides(q) for q in states])
    full = [robot.full_configuration(q) for q in states]
    parts = (world._model, world._data, world._manager)
    direct, _ = timed(lambda: [pin.computeCollisions(*parts, q, True) for q in full])
    every = (world._model, world._data, world._geometry, world._results)
    truth = [pin.computeCollisions(*every, q, True) for q in full]
    return {
        "collision_checks_per_s": len(states) / ours,
        "collision_vs_pinocchio_direct": ours / direct,
        "collision_wrong_answers": sum(a != b for a, b in zip(answers, truth, strict=True)),
    }


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


def planning(
    planner: EmbeddedPlanner, name: str, build: Callable[..., None], count: int, to_pose: bool
) -> dict[str, float]:
    times, colliding, over, motion = [], 0, 0, []
    for scene, start, goal in problems(planner, build, count, seed=1):
        solver = EmbeddedPlanner(planner.robot, scene)
        options = PlanOptions(allowed_planning_time=5.0)
        if to_pose:
            target = planner.robot.forward_kinematics(goal)
            plan = solver.plan_to_pose(start, target, options=options)
        else:
            plan = solver.plan_to_joints(start, goal, options=options)
        if not plan.ok:
            print(f"  {name}: {plan.code.name}: {plan.message}")
            continue
        times.append(plan.planning_time)
        bad_collision, bad_limit = recheck(solver, plan)
        colliding += bad_collision
        over += bad_limit
        motion.append(plan.trajectory.duration if plan.trajectory else 0.0)
    return {
        f"{name}_solved_of_{count}": len(times),
        f"{name}_median_ms": 1e3 * statistics.median(times),
        f"{name}_p95_ms": 1e3 * percentile(times, 95),
        f"{name}_max_ms": 1e3 * max(times),
        f"{name}_motion_median_s": statistics.median(motion),
        f"{name}_colliding_at_0.01_rad": colliding,
        f"{name}_over_limits": over,
    }


def recheck(planner: EmbeddedPlanner, plan: Plan) -> tuple[bool, bool]:
    """Independent check of a trajectory: dense samples, every pair, and the robot's limits."""
    assert plan.trajectory is not None
    trajectory, robot = plan.trajectory, planner.robot
    count = int(np.ceil(path_tools.lengths(trajectory.positions).sum() / 0.01)) + 2
    fine = np.linspace(0.0, trajectory.duration, max(count, 4 * len(trajectory.times)))
    q, qd, qdd = trajectory.sample_many(fine)
    q = path_tools.densify(q, 0.01)
    world = CollisionWorld(robot, planner.scene.snapshot())
    every = (world._model, world._data, world._geometry, world._results)
    hit = any(pin.computeCollisions(*every, robot.full_configuration(p), True) for p in q)
    over = (
        bool(np.any(np.abs(qd) > robot.velocity_limits * (1 + 1e-6)))
        or bool(np.any(np.abs(qdd) > robot.acceleration_limits * (1 + 1e-6)))
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


def overhead(planner: EmbeddedPlanner, count: int) -> dict[str, float]:
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
                limits=SearchLimits(time.monotonic() + 5.0, 15_000),
                seed=1,
            )

        def bare(start=start, goal=goal, world=world) -> np.ndarray | None:  # type: ignore[no-untyped-def]
            return bare_search(world, start, goal, robot)

        if search() is None or bare() is None:
            continue
        # The best of several, interleaved: other programs disturb both alike.
        runs = [(timed(search), timed(bare)) for _ in range(7)]
        ours.append(min(run[0][0] for run in runs))
        direct.append(min(run[1][0] for run in runs))
        path, other = runs[0][0][1], runs[0][1][1]
        assert np.array_equal(path, other)
    if not ours:
        return {}
    return {
        "search_median_ms": 1e3 * statistics.median(ours),
        "search_vs_ompl_direct": sum(ours) / sum(direct),
    }


def timing(planner: EmbeddedPlanner, rng: np.random.Generator) -> dict[str, float]:
    robot = planner.robot
    waypoints = np.cumsum(rng.uniform(-0.3, 0.3, (10, robot.dof)), axis=0) + robot.named["home"]
    waypoints = np.clip(waypoints, robot.lower + 0.1, robot.upper - 0.1)
    curve = path_tools.rounded(waypoints, path_tools.corner_radii(waypoints, 1.0))
    limits = JointLimits.of(robot, 1.0, 1.0)
    taken = [timed(lambda: time_curve(curve, limits))[0] for _ in range(10)]
    trajectory = time_curve(curve, limits)
    return {
        "timing_10_waypoints_ms": 1e3 * statistics.median(taken),
        "timing_10_waypoints_motion_s": trajectory.duration,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=100, help="planning problems per scene")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    began = time.perf_counter()
    planner = EmbeddedPlanner(load_robot(ROBOT_FILE))
    figures: dict[str, float] = {"setup_s": time.perf_counter() - began}
    figures |= kinematics(planner, np.random.default_rng(0))
    figures |= collision(planner, np.random.default_rng(0))
    figures |= planning(planner, "table_joints", table_scene, arguments.problems, False)
    figures |= planning(planner, "table_pose", table_scene, arguments.problems, True)
    figures |= planning(planner, "cage_joints", cage_scene, arguments.problems, False)
    figures |= overhead(planner, arguments.problems)
    figures |= timing(planner, np.random.default_rng(0))
    for name, value in figures.items():
        print(f"{name:40s} {value:12.4g}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
