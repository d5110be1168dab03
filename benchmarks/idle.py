# SPDX-License-Identifier: Apache-2.0
"""What a stack costs a robot's computer while nothing runs.

    python benchmarks/idle.py [--world block_stacking] [--seconds 40]

Brings a stack up at real time, without pages and viewers, lets it settle, and tells each process'
share of one core. On a machine with nothing else to do the executor and the skills should stay
at or below 8 %.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time

import psutil

from behavior_bringup.stacks.session import temporary_stack
from behavior_bringup.stacks.stack import Stack
from behavior_ros.testing import own_domain

SETTLES_S = 10.0


def main() -> int:
    """Measure and print."""
    options = parsed()
    os.environ["ROS_DOMAIN_ID"] = str(own_domain())
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BEHAVIOR_RUNTIME_DIR"] = folder
        stack = Stack()
        arguments = {"headless": True, "groot2_port": 0}
        with temporary_stack(stack, world=options.world, arguments=arguments):
            time.sleep(SETTLES_S)
            for name, share in shares(stack, options.seconds).items():
                print(f"{name:28} {100.0 * share:5.1f} % of a core")
    return 0


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--world", default="block_stacking", help="of the stack")
    parser.add_argument("--seconds", type=float, default=40.0, help="measured for so long")
    return parser.parse_args()


def shares(stack: Stack, seconds: float) -> dict[str, float]:
    """Processor time by real time of each of the stack's processes."""
    state = stack.state()
    assert state is not None
    processes = {name: psutil.Process(each.pid) for name, each in state.processes.items()}
    begun, before = time.monotonic(), spent(processes)
    time.sleep(seconds)
    lasted = time.monotonic() - begun
    return {name: (after - before[name]) / lasted for name, after in spent(processes).items()}


def spent(processes: dict[str, psutil.Process]) -> dict[str, float]:
    """Processor time of each, user and system [s]."""
    times = {name: process.cpu_times() for name, process in processes.items()}
    return {name: each.user + each.system for name, each in times.items()}


if __name__ == "__main__":
    sys.exit(main())
