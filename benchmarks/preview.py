# SPDX-License-Identifier: Apache-2.0
"""How fast a preview is, and how well the execution agrees with it.

    python benchmarks/preview.py [--world block_stacking] [--mission stack_blocks] [--json FILE]

Brings a stack up at real time, previews the mission, with processes that have to start and with
those that are there already, and then runs it for real, from the same state. Told are times real
time of the mission's run, of all but the start of processes, and of all; processor time per
simulated second by process; by how much the durations differ; and how far apart objects and joints
ended. On a machine with nothing else to do the run should reach 5, and durations agree within 5 %.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import uuid
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console

from behavior_bringup.preview.agreement import farthest
from behavior_bringup.preview.live_state import LiveState
from behavior_bringup.preview.motions import handed_over
from behavior_bringup.preview.report import Preview
from behavior_bringup.preview.run import observed, preview_mission, run_for_real
from behavior_bringup.stacks.session import bring_up
from behavior_bringup.stacks.stack import Stack, stop
from behavior_ros.testing import own_domain


def main() -> int:
    """Measure and print."""
    options = parsed()
    os.environ["ROS_DOMAIN_ID"] = str(own_domain())
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BEHAVIOR_RUNTIME_DIR"] = folder
        rows = measured(options.world, options.mission)
    for name, value in rows.items():
        print(f"{name:40} {value}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--world", default="block_stacking", help="of the stack")
    parser.add_argument("--mission", default="stack_blocks")
    parser.add_argument("--json", type=Path, help="write the figures there")
    return parser.parse_args()


def measured(world: str, mission: str) -> dict[str, Any]:
    """The figures by what they are."""
    stack = Stack()
    arguments = {"headless": True, "groot2_port": 0}
    bring_up(stack, world=world, arguments=arguments, patience=400.0)
    try:
        cold = preview_mission(stack, mission, say=print)
        before = processor_times()
        warm = preview_mission(stack, mission)
        spent = {name: time - before[name] for name, time in processor_times().items()}
        approved = uuid.uuid4().hex[:12]
        with handed_over(stack, approved, warm.motions_text) as choices:
            outcome = run_for_real(stack, warm, approved, "", Console())
        end = observed(stack)
    finally:
        stop(stack)
    share = outcome.duration / warm.duration - 1.0
    return {
        "previewed": f"{warm.reason} ({'success' if warm.success else 'failure'})",
        "ran": f"{outcome.message} ({'success' if outcome.succeeded else 'failure'})",
        "load of the machine": os.getloadavg()[0],
        **speeds("cold", cold),
        **speeds("warm", warm),
        **{
            f"processor s per simulated s, {name}": round(time / warm.duration, 3)
            for name, time in spent.items()
        },
        "previewed duration [s]": [round(each.duration, 2) for each in (cold, warm)],
        "real duration [s]": round(outcome.duration, 2),
        "real by previewed duration [%]": round(100.0 * share, 1),
        "motions": list(choices.lines()),
        "objects ended apart at most [mm]": round(1e3 * farthest(warm.end, end), 1),
        "joints ended apart at most [mrad, mm]": round(1e3 * joints_apart(warm.end, end), 1),
    }


def speeds(name: str, preview: Preview) -> dict[str, Any]:
    """Times real time, of more and more of a preview."""
    wall = preview.wall
    ready = sum(wall.values()) - wall["start"]
    return {
        f"{name}: times real time, run": round(preview.speed, 2),
        f"{name}: times real time, all but start": round(preview.duration / ready, 2),
        f"{name}: times real time, all": round(preview.speed_of_all, 2),
        f"{name}: wall [s]": {part: round(seconds, 2) for part, seconds in wall.items()},
    }


def processor_times() -> dict[str, float]:
    """[s] of user and system by process, of the stack and of its copy."""
    found = {}
    for name in ("default", "default.preview"):
        state = Stack(name).state()
        assert state is not None
        for process, known in state.processes.items():
            times = psutil.Process(known.pid).cpu_times()
            found[f"{name} {process}"] = times.user + times.system
    return found


def joints_apart(previewed: LiveState, real: LiveState) -> float:
    """The greatest distance between two positions of a joint [rad or m]."""
    return max(abs(real.joints[name] - at) for name, at in previewed.joints.items())


if __name__ == "__main__":
    sys.exit(main())
