# SPDX-License-Identifier: Apache-2.0
"""Examines a robot file: ``python -m behavior_motion robot.yaml``.

Says what the file amounts to, and finds what is mostly wrong in a new one: links that always touch,
named configurations that collide, a tool that inverse kinematics cannot place. Ends with status 1
where it would not plan. With ``--srdf FILE`` it writes an SRDF instead, which names the links that
never touch: those are not checked, and planning takes less time.
"""

from __future__ import annotations

import argparse
import functools
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from behavior_motion.collision.other_links import place_other_links
from behavior_motion.planning.embedded import EmbeddedPlanner
from behavior_motion.planning.options import IkOptions
from behavior_motion.robot.collision_pairs import SAMPLES, never_touching, to_srdf
from behavior_motion.robot.model import RobotModel, load_robot, robot_file_fault
from behavior_motion.robot.robot_file import RobotFile, load_group_names
from behavior_packages import PackageError, packages

LOOKED_AT = 300
"""Number of random configurations looked at."""
ALWAYS = 0.95
"""Pairs that touch in this part of them are taken to touch always."""
FREE = 6
"""Joints that it takes to put a tool anywhere."""
LEAST_SOLVED = 0.9
"""Part of the reachable poses that inverse kinematics must find."""


def main(arguments: list[str] | None = None) -> int:
    """Print the report; 0 where the robot can be planned for."""
    parser = argparse.ArgumentParser(prog="behavior_motion", description="Examine a robot file.")
    parser.add_argument("file", type=Path)
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--group", help="one of the file's groups, or of its SRDF's")
    either.add_argument("--srdf", type=Path, help="write the links that never touch to this file")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="random states for --srdf")
    options = parser.parse_args(arguments)
    if options.samples < 1:
        parser.error(f"--samples {options.samples}: it takes one at least")
    try:
        groups = [options.group] if options.group else load_group_names(options.file) or [None]
        robots = [load_robot(options.file, group=group) for group in groups]
    except (OSError, ValueError, KeyError) as error:
        print(robot_file_fault(options.file, error), file=sys.stderr)
        return 1
    if options.srdf is not None:
        return _write_srdf(robots, options.srdf, options.samples)
    return max(_examine(robot) for robot in robots)


def _write_srdf(robots: list[RobotModel], file: Path, samples: int) -> int:
    if not file.absolute().parent.is_dir():
        print(f"{file} cannot be written: there is no folder {file.parent}", file=sys.stderr)
        return 1
    pairs = never_touching(robots, samples=samples)
    try:
        file.write_text(to_srdf(robots[0].name, pairs), encoding="utf-8")
    except OSError as error:
        print(f"{file} cannot be written: {error.strerror}", file=sys.stderr)
        return 1
    print(f"{file}: {len(pairs)} pairs of links that never touch; name it under srdf")
    return 0


def _examine(robot: RobotModel) -> int:
    """Print the report of one arm or group; 0 where it can be planned for."""
    for line in _described(robot):
        print(line)
    faults = list(_faults(robot))
    for fault in faults:
        print(f"fault: {fault}")
    print("can be planned for" if not faults else f"{len(faults)} faults")
    return 1 if faults else 0


def _described(robot: RobotModel) -> Iterator[str]:
    frames = f"tool {robot.tool_frame!r} on base {robot.base_frame!r}"
    name = f"{robot.name}, {robot.config.group}" if robot.config.group else robot.name
    yield f"{name}: {robot.dof} joints, {frames}"
    yield f"{'joint':28} {'lower':>8} {'upper':>8} {'speed':>8} {'accel.':>8} {'jerk':>9}"
    for i, name in enumerate(robot.joint_names):
        numbers = (robot.lower, robot.upper, robot.velocity_limits, robot.acceleration_limits)
        row = " ".join(f"{values[i]:8.3f}" for values in numbers)
        yield f"{name:28} {row} {robot.jerk_limits[i]:9.1f}"
    grip = robot.gripper
    count = len(grip.joint_names)
    yield f"gripper: {grip.closed_width:g} to {grip.open_width:g} m by {count} joints"
    yield f"named: {', '.join(robot.named) or 'none'}"
    yield f"pairs of links checked against each other: {len(robot.pin_geometry.collisionPairs)}"


def _faults(robot: RobotModel) -> Iterator[str]:
    yield from _unknown_drivers(robot.config)
    fingers = robot.gripper.joint_names
    for follower, leader in robot.followers.items():
        if leader in fingers and follower not in fingers:
            yield (
                f"{follower!r} follows {leader!r} (mimic in the URDF) and is taken to stand still: "
                "add it to gripper.joints"
            )
    planner = EmbeddedPlanner(robot)
    place_other_links(planner.scene, {})
    rng = np.random.default_rng(0)
    states = [robot.random_configuration(rng) for _ in range(LOOKED_AT)]
    touching = Counter((a, b) for q in states for a, b, _ in planner.check_state(q).pairs)
    for (a, b), count in touching.items():
        if count >= ALWAYS * LOOKED_AT:
            yield f"{a!r} and {b!r} always touch: add [{a}, {b}] to disabled_collisions"
    for name, q in robot.named.items():
        report = planner.check_state(q)
        if not report.ok:
            yield f"named.{name}: {report.text}"
    if robot.dof < FREE:
        return
    targets = np.array([robot.forward_kinematics(q) for q in states])
    options = IkOptions(avoid_collisions=False, attempts=60)
    solved = sum(r.ok for r in planner.inverse_kinematics_batch(targets, options=options))
    if solved < LEAST_SOLVED * LOOKED_AT:
        yield (
            f"inverse kinematics places the tool at {solved} of {LOOKED_AT} reachable poses: the "
            "arm may have too few joints, or very narrow limits"
        )


def _unknown_drivers(config: RobotFile) -> Iterator[str]:
    """Drivers that no package offers; whether their options are right is told by who makes them."""
    if not packages().offers("drivers"):
        return  # planning alone
    controllers, hand = config.controllers, config.gripper
    named = {f"controllers.{k}": d for k, d in controllers.drivers.items()} if controllers else {}
    if hand is not None and hand.suction is not None:
        named["gripper.suction.pump"] = hand.suction.pump
        named["gripper.suction.vacuum"] = hand.suction.vacuum
    for key, section in named.items():
        try:
            packages().find("drivers", section.driver, functools.partial(_drivers_for, key))
        except PackageError as error:
            yield f"{key}: {error}"


def _drivers_for(key: str) -> list[str]:
    """Names of the drivers that a key of the file may name: each says its role."""
    role = re.sub(r"\.\d+$", "", key)
    offers = packages().load_all("drivers", lambda problem: None)
    roles = ((offer.name, getattr(driver, "role", None)) for offer, driver in offers)
    return sorted(name for name, each in roles if getattr(each, "value", None) == role)


if __name__ == "__main__":
    sys.exit(main())
