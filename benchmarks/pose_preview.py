# SPDX-License-Identifier: Apache-2.0
"""How long it takes to tell of an edited pose whether it is reached and how long the way is.

    python benchmarks/pose_preview.py [--poses 100] [--robot panda ...] [--json FILE]

Told for each robot, or group of one, and three scenes (nothing; a table with cubes; a wall beside
the hand): how many poses are reached, not reached and not decided in time, and how long an answer
takes, by the processor time of the thread and by the clock. Poses are drawn from where the tool
gets to and a little beyond it, hands in all directions; asked is an answer within 100 ms. The first
question of a scene, which also makes its collision world, counts like any other.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from behavior_motion import Box, MotionPlanner, create_planner, load_robot, preview_pose
from behavior_packages import packages

ASKED = 0.1
"""[s] within which an answer is asked for."""
ROBOTS = ("panda", "tiago_pro:left_arm")
BEYOND = 0.15
"""[m] by which poses lie beyond those of random joints."""


def main() -> int:
    """Measure and print; exit code 1 if 95 of 100 answers take longer than asked."""
    options = parsed()
    rows = [
        row
        for name in options.robot or ROBOTS
        for row in measured(name, options.poses, np.random.default_rng(options.seed))
    ]
    for row in rows:
        print(line(row))
    print(f"load of the machine {os.getloadavg()[0]:.1f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return int(any(row["processor_p95"] > ASKED for row in rows))


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--poses", type=int, default=100, help="of each scene")
    parser.add_argument("--robot", action="append", help="NAME or NAME:GROUP; may be repeated")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures there")
    return parser.parse_args()


def measured(name: str, poses: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """The figures of a robot by scene."""
    robot, _, group = name.partition(":")
    planner = create_planner(
        load_robot(packages().find("robots", robot).value, group=group or None)
    )
    rows = []
    for scene, objects in scenes(planner).items():
        planner.scene.clear()
        for number, (box, pose) in enumerate(objects):
            planner.scene.add_object(f"box_{number}", box, pose)
        rows.append({"robot": name, "scene": scene, **asked_about(planner, poses, rng)})
    return rows


def scenes(planner: MotionPlanner) -> dict[str, list[tuple[Box, NDArray[np.float64]]]]:
    """Boxes by the scene's name, before the robot and about the height of its tool at rest."""
    rest = planner.robot.forward_kinematics(resting(planner))[:3, 3]
    ahead, low = 0.55, float(rest[2]) - 0.45
    table = (Box((0.9, 1.4, 0.05)), at(ahead + 0.15, 0.0, low))
    cubes = [
        (Box((0.05, 0.05, 0.05)), at(ahead + dx, dy, low + 0.05))
        for dx in (-0.1, 0.1)
        for dy in (-0.3, 0.0, 0.3)
    ]
    return {
        "nothing": [],
        "table and cubes": [table, *cubes],
        "wall": [table, (Box((0.6, 0.04, 0.6)), at(ahead, rest[1] - 0.2, low + 0.33))],
    }


def at(x: float, y: float, z: float) -> NDArray[np.float64]:
    """A pose with the base's axes."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def resting(planner: MotionPlanner) -> NDArray[np.float64]:
    """Joints that motions begin at."""
    named = planner.robot.named
    return np.array(named.get("ready", named["home"]))


def asked_about(planner: MotionPlanner, count: int, rng: np.random.Generator) -> dict[str, Any]:
    """Ask about poses, and tell what was found and how long it took [s]."""
    start, found, processor, clock = resting(planner), [], [], []
    for goal in drawn(planner, count, rng):
        began, spent = time.perf_counter(), time.thread_time()
        answer = preview_pose(planner, start, goal)
        processor.append(time.thread_time() - spent)
        clock.append(time.perf_counter() - began)
        found.append(answer.reachable)
    return {
        "reached": found.count(True),
        "not": found.count(False),
        "undecided": found.count(None),
        **quantiles("processor", processor),
        **quantiles("clock", clock),
    }


def drawn(
    planner: MotionPlanner, count: int, rng: np.random.Generator
) -> list[NDArray[np.float64]]:
    """Poses of the tool before the robot, most of them within its reach."""
    robot, goals = planner.robot, []
    while len(goals) < count:
        goal = robot.forward_kinematics(rng.uniform(robot.lower, robot.upper))
        goal[:3, :3] = Rotation.random(random_state=rng).as_matrix()
        goal[:3, 3] += rng.uniform(-BEYOND, BEYOND, 3)
        if goal[0, 3] > 0.2:
            goals.append(goal)
    return goals


def quantiles(name: str, values: list[float]) -> dict[str, float]:
    """Median, 95 of 100, and most."""
    p50, p95 = np.quantile(values, [0.5, 0.95])
    return {f"{name}_p50": float(p50), f"{name}_p95": float(p95), f"{name}_max": max(values)}


def line(row: dict[str, Any]) -> str:
    """A row for people."""
    times = ", ".join(
        f"{name} {1e3 * row[f'{name}_p50']:.0f} / {1e3 * row[f'{name}_p95']:.0f}"
        f" / {1e3 * row[f'{name}_max']:.0f} ms"
        for name in ("processor", "clock")
    )
    counts = ", ".join(f"{row[key]} {key}" for key in ("reached", "not", "undecided"))
    return f"{row['robot']:20} {row['scene']:16} {times} (p50 / p95 / most); {counts}"


if __name__ == "__main__":
    sys.exit(main())
