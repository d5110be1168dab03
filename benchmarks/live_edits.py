# SPDX-License-Identifier: Apache-2.0
"""How long an edit of a running mission takes over ROS, from a program to its answer and back.

    python benchmarks/live_edits.py [--nodes 500] [--edits 40]

The executor ticks a tree of so many nodes in a process of its own, with a journal and kept edits on
disk; this process edits it by `LiveEditor`. An edit has been answered when it is in effect, on
disk, and in the editor's replica. Printed are the time by the clock, which depends on what else the
machine does, and the processor time of both processes per edit, less what the executor takes
without edits.
Exit code 1 if that is more than one tick and 5 ms for what the executor does.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import psutil
from rclpy.parameter import Parameter

from behavior_executor.client import MissionClient
from behavior_executor.editing.live_editor import LiveEditor
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_ros import run
from behavior_ros.testing import own_domain
from behavior_tree.sharing import Code

PERIOD = 0.05
"""[s] of the executor's ticks."""
SLACK = 0.005
"""[s] that an edit may take beyond one tick."""
APART = 0.1
"""[s] between an answer and the next edit: no more than 20 a second are looked at."""
REST = 3.0
"""[s] over which the executor is watched without edits."""


def executor(folder: str) -> None:
    """The other process."""
    values = {
        "tree_directories": [folder],
        "nodes_file": "",
        "managers": [""],
        "journal_file": f"{folder}/journal",
        "tick_rate": 1.0 / PERIOD,
    }
    overrides = [Parameter(name, value=value) for name, value in values.items()]
    run([lambda: BehaviorExecutor(parameter_overrides=overrides)], args=[])


def write_tree(folder: Path, nodes: int) -> None:
    """A mission whose first leaf runs, with as many leaves behind it."""
    leaves = "".join(f'<Sleep name="leaf {n}" msec="{n}"/>' for n in range(nodes))
    body = f'<Sequence name="list"><Sleep name="runs" msec="600000"/>{leaves}</Sequence>'
    text = f'<root BTCPP_format="4"><BehaviorTree ID="long">{body}</BehaviorTree></root>'
    (folder / "long.xml").write_text(text)


def processor_time(process: psutil.Process) -> float:
    """[s] so far."""
    times = process.cpu_times()
    return float(times.user + times.system)


def measure(other: psutil.Process, nodes: int, edits: int) -> tuple[list[float], float, float]:
    """Times by the clock, and processor time per edit of executor and editor [s]."""
    mine = psutil.Process()
    with LiveEditor("bench") as editor:
        editor.join("long", timeout=60.0)
        editor.edit(_edit(editor, 0, 1), timeout=60.0)  # the first loads what later ones use
        before, start = processor_time(other), time.monotonic()
        time.sleep(REST)
        idle = (processor_time(other) - before) / (time.monotonic() - start)
        before, own, start = processor_time(other), 0.0, time.monotonic()
        took = []
        for number in range(edits):
            time.sleep(APART)
            begun, used = time.perf_counter(), processor_time(mine)
            answer = editor.edit(_edit(editor, 7 * number % nodes, number + 2), timeout=60.0)
            took.append(time.perf_counter() - begun)
            own += processor_time(mine) - used
            assert answer.code is Code.MADE, answer
        lasted = time.monotonic() - start
        return took, (processor_time(other) - before - idle * lasted) / edits, own / edits


def _edit(editor: LiveEditor, leaf: int, msec: int) -> dict[str, object]:
    node = editor.replica.find(f"leaf {leaf}")
    return {"op": "set", "node": node, "attributes": {"msec": str(msec)}}


def main() -> int:
    """Measure, print, compare with the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--edits", type=int, default=40)
    parser.add_argument("--executor", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.executor:
        executor(options.executor)
        return 0
    os.environ["ROS_DOMAIN_ID"] = str(own_domain())
    with tempfile.TemporaryDirectory() as name:
        write_tree(Path(name), options.nodes)
        process = subprocess.Popen([sys.executable, __file__, "--executor", name])
        try:
            with MissionClient() as client:
                client.wait_for_executor(60.0)
                mission = threading.Thread(target=client.run, args=("long",), daemon=True)
                mission.start()
                other = psutil.Process(process.pid)
                took, theirs, own = measure(other, options.nodes, options.edits)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30.0)
    limit = PERIOD + SLACK
    load = os.getloadavg()[0]
    print(f"by the clock           {1e3 * statistics.median(took):6.1f} ms, load {load:.0f}")
    print(f"executor, per edit     {1e3 * theirs:6.1f} ms of processor time")
    print(f"editor, per edit       {1e3 * own:6.1f} ms")
    print(f"limit                  {1e3 * limit:6.1f} ms: one tick and 5 ms")
    return 0 if theirs <= limit else 1


if __name__ == "__main__":
    sys.exit(main())
