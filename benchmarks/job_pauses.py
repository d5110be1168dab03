# SPDX-License-Identifier: Apache-2.0
"""How much of a job passes while nothing of the robot moves.

    python benchmarks/job_pauses.py [MISSION] [--world WORLD] [--rounds 3] [--speed 1] [--most 1.05]

Brings the stack up, runs the mission and listens to /joint_states: the robot moves while a joint is
faster than 3 mrad/s, or fingers than 2 mm/s. Where each motion comes after the one before, what
moves is the critical path. All in simulated time. Exit code 1 if the mission fails, or if in the
median it took more than `--most` times its motions, from the first of them to the last.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from itertools import pairwise

from behavior_msgs.msg import MissionFeedback
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from behavior_bringup.client import StackClient
from behavior_bringup.jobs.trial_run import order_of
from behavior_bringup.stacks.session import bring_up
from behavior_bringup.stacks.stack import Stack, stop
from behavior_ros import seconds
from behavior_ros.testing import own_domain

MOVES = {"finger": 0.002, "": 0.003}
"""[m/s or rad/s] from which on a joint moves, by a part of its name."""
PATIENCE = 400.0
"""[s] for one mission."""


def moves(state: JointState) -> bool:
    """Whether something does."""
    limits = [next(limit for part, limit in MOVES.items() if part in name) for name in state.name]
    return any(abs(v) > limit for v, limit in zip(state.velocity, limits, strict=True))


class Motion:
    """What moved, and when."""

    def __init__(self) -> None:
        self._samples: list[tuple[float, bool]] = []

    def hear(self, state: JointState) -> None:
        """Joints at a time."""
        self._samples.append((seconds(state.header.stamp), moves(state)))

    def sums(self) -> tuple[float, float]:
        """[s] from the first motion to the last, and of motions; zeros: nothing has moved."""
        moving = [t for t, moved in self._samples if moved]
        steps = pairwise(self._samples)
        motions = sum(b - a for (a, _), (b, moved) in steps if moved)
        return (moving[-1] - moving[0] if moving else 0.0), motions


def main() -> int:
    """Run, print, compare with the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mission", nargs="?", default="sort_balls")
    parser.add_argument("--world", default="sorting")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--speed", default=1.0, type=float, help="times real time")
    parser.add_argument("--most", type=float, default=1.05)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds is at least 1, not {options.rounds}")
    os.environ["ROS_DOMAIN_ID"] = str(own_domain())
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BEHAVIOR_RUNTIME_DIR"] = folder
        stack = Stack()
        arguments = {"headless": True, "groot2_port": 0, "speed": options.speed}
        bring_up(stack, world=options.world, arguments=arguments, patience=400.0)
        try:
            with StackClient(clock=True) as client:
                ratios = [measured(client, options.mission, seed) for seed in range(options.rounds)]
        finally:
            stop(stack)
    ratio = statistics.median(ratios)
    print(f"{ratio:.3f} times its motions in the median, at most {options.most}")
    return 0 if ratio <= options.most else 1


def measured(client: StackClient, mission: str, seed: int) -> float:
    """How many times its motions one run took, which is printed."""
    motion = Motion()
    client.reset(seed=seed, layout="")
    client.work(3.0)  # what was there before is forgotten, what is there now is found
    end = client.listen(JointState, "joint_states", motion.hear, QoSProfile(depth=1000))
    begin, order = client.time, client.give(order_of(mission))
    if not client.wait(lambda: client.finished(order), PATIENCE):
        raise SystemExit(f"{mission} has not ended in {PATIENCE:g} s")
    took, feedback = client.time - begin, client.feedback(order)
    end()
    assert feedback is not None
    if feedback.state != MissionFeedback.FINISHED:
        raise SystemExit(f"{mission} has failed: {feedback.text}")
    span, moved = motion.sums()
    if not moved:
        raise SystemExit(f"{mission} moves nothing")
    print(
        f"seed {seed}: order to answer {took:.2f} s, first motion to last {span:.2f} s, motions"
        f" {moved:.2f} s: {span / moved:.3f}, with order and answer {took / moved:.3f}",
        flush=True,
    )
    return span / moved


if __name__ == "__main__":
    sys.exit(main())
