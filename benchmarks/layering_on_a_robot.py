# SPDX-License-Identifier: Apache-2.0
"""What concurrent layering brings a simulated robot with a base and two arms.

    python benchmarks/layering_on_a_robot.py [--rounds 2] [--speed 1]

The list is that of the thesis' figure: the base drives, and two waits that begin with it gate one
motion of an arm each. TIAGo Pro does it with all at once, back, and then there and back with
concurrency switched off. Durations are simulated time. Exit code 1 if a mission fails, or if at
once takes more than three quarters of one by one.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from behavior_bringup.stacks.connection import mission_client
from behavior_executor.client import MissionClient

TREE = """<!-- {about} -->
<root BTCPP_format="4"><BehaviorTree ID="{name}">
  <ConcurrentSequence name="drive and move the arms">
    <MoveBase name="drive" mode="STRAIGHT" distance="{distance}" position_tolerance="0.05"/>
    <Step execute_after="beginning"><Sleep name="let it start" msec="500"/></Step>
    <MoveArm name="left arm" group="left_arm" mode="NAMED" named_target="{pose}"/>
    <Step execute_after="beginning"><Sleep name="pass the post" msec="1500"/></Step>
    <MoveArm name="right arm" group="right_arm" mode="NAMED" named_target="{pose}"/>
  </ConcurrentSequence>
</BehaviorTree></root>
"""
MISSIONS = {
    "layered_there": {"about": "Back from the door.", "distance": "-1.5", "pose": "ready"},
    "layered_back": {"about": "To the door again.", "distance": "1.5", "pose": "home"},
}
PATIENCE = 240.0
"""[s] for one mission."""
MOST = 0.75
"""Of the time of one by one that all at once may take."""


def durations(client: MissionClient, rounds: int, *, concurrent: bool) -> list[float]:
    """[s] of each mission."""
    taken = []
    for name in [*MISSIONS] * rounds:
        client.control_run(f"concurrent {'on' if concurrent else 'off'}", timeout=PATIENCE)
        outcome = client.run(name, timeout=PATIENCE)
        if not outcome.succeeded:
            raise SystemExit(f"{name}: {outcome.message}")
        print(f"{name:14} {'at once' if concurrent else 'one by one':10} {outcome.duration:6.2f} s")
        taken.append(outcome.duration)
    return taken


def main() -> int:
    """Run, print, compare with the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--speed", default="1", help="of the simulation, times real time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, values in MISSIONS.items():
            (Path(folder) / f"{name}.xml").write_text(TREE.format(name=name, **values))
        up = ["behavior", "up", "--world", "mobile_door", "--headless", "--speed", options.speed]
        subprocess.run([*up, f"missions:={folder}"], check=True)
        try:
            with mission_client("default") as client:
                at_once = durations(client, options.rounds, concurrent=True)
                one_by_one = durations(client, options.rounds, concurrent=False)
        finally:
            subprocess.run(["behavior", "down"], check=True)
    ratio = statistics.median(at_once) / statistics.median(one_by_one)
    print(
        f"one by one {statistics.median(one_by_one):.2f} s, at once "
        f"{statistics.median(at_once):.2f} s: {ratio:.2f}, at most {MOST}"
    )
    return 0 if ratio <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
