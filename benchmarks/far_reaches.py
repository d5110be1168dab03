# SPDX-License-Identifier: Apache-2.0
"""How many of random reaches arrive, and when: ways on which small steps often get stuck.

    python benchmarks/far_reaches.py [--number 200] [--seed 3] [--approach 0.15]

A Panda without obstacles but itself, in a kinematic world with a clock of its own, stands with
random joints and reaches for the pose that other random joints have. With `--approach` it comes in
along the tool's axis, from a stand-off [m] that can be reached too. Times are simulated. Exit code
1 if more than one in 50 does not arrive within the goal's 30 s.
"""

from __future__ import annotations

import argparse
import collections
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src/skills/test"))

from fakes import ROBOT_FILE
from test_reach_skill import rig_of, skill_of

from behavior_motion import EmbeddedPlanner, IkOptions, create_planner
from behavior_motion.checks import Vector
from behavior_skills.interfaces import SkillFailure

LOWEST = 0.1
"""[m] of the tool over the base."""

FARTHEST = 0.5
"""[m] of a stand-off that is found."""


def random_joints(planner: EmbeddedPlanner, random: np.random.Generator) -> Vector:
    """Joints (dof,) [rad] at which nothing touches."""
    robot = planner.robot
    while True:
        q = random.uniform(robot.lower, robot.upper)
        high = robot.forward_kinematics(q)[2, 3] > LOWEST
        if high and not planner.check_state(q).pairs:
            return np.asarray(q)


def leads_in(planner: EmbeddedPlanner, q: Vector, approach: float) -> bool:
    """Whether the stand-off [m] before the tool's pose at joints `q` is reached close to them."""
    pose = planner.robot.forward_kinematics(q)
    pose[:3, 3] -= approach * pose[:3, 2]
    before = planner.inverse_kinematics(pose, seed=q, options=IkOptions(attempts=1)).q
    return before is not None and float(np.abs(before - q).max()) < 1.0


def main() -> int:
    """Reach, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--approach", type=float, default=0.0, help="[m]")
    args = parser.parse_args()
    if args.number < 1 or not 0.0 <= args.approach <= FARTHEST:
        parser.error(f"a number from 1 on and an approach of 0 to {FARTHEST} m wanted")
    planner, random = create_planner(ROBOT_FILE), np.random.default_rng(args.seed)
    wanted = {"approach": (0.0, 0.0, args.approach), "approach_along_tool": True}
    ends: collections.Counter[str] = collections.Counter()
    times, planned = [], 0
    while sum(ends.values()) < args.number:
        start, end = random_joints(planner, random), random_joints(planner, random)
        if args.approach and not leads_in(planner, end, args.approach):
            continue
        world, *_ = rig = rig_of(planner)
        world.q, world.target = start, planner.robot.forward_kinematics(end)
        skill = skill_of(rig, **wanted)
        try:
            skill.run()
        except SkillFailure as failure:
            ends[failure.failure.name] += 1
            print(failure, file=sys.stderr)
            continue
        ends["arrived"] += 1
        times.append(world.time)
        planned += skill.plans > 0
    print(
        f"{dict(ends)}, {planned} of them along a planned path; after {np.median(times):.1f} s "
        f"(median), {np.quantile(times, 0.95):.1f} s (95 %), {max(times):.1f} s at most, "
        f"{100 * np.mean(np.array(times) > 10.0):.0f} % after more than 10 s"
    )
    return int(ends["arrived"] < 0.98 * args.number)


if __name__ == "__main__":
    sys.exit(main())
