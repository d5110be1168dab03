# SPDX-License-Identifier: Apache-2.0
"""The executor under load: memory over many missions, and how punctually a large tree is ticked.

    python benchmarks/executor_load.py [--missions 1000] [--hours 8] [--seconds 30] [--rate 50]
                                       [--nodes 500] [--only memory|period] [--json FILE]

**Memory.** The real node with a journal on disk runs missions of every outcome back to back
(successes, failures, sequences, cancellations, broken files), by a clock that is set from tick to
tick: hours of operation take minutes. Resident memory at the end is compared with that after the
first fifth of the missions.

**Period.** The node ticks a tree of which every node is ticked in each tick, on the system's
clock. A process beside it does nothing but spin one rclpy timer of the same period. A
tick's lateness is how much more than the period lies between it and the one before; compared are
the 99th percentiles of both.

On a machine that others use too, ``chrt -f 10 python benchmarks/executor_load.py --only period``
gives both processes the processor when they want it, and leaves what the executor itself adds.

Exit code 1 if memory grows by 5 % or more, or the executor is 5 ms or more later than the timer.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import psutil
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.logging import LoggingSeverity, set_logger_level
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.time import Time

from behavior_executor.missions.mission import Kind, Mission, MissionRequest
from behavior_executor.node.executor_node import BehaviorExecutor

MOST_GROWTH = 0.05
"""Of resident memory, as a share."""
MOST_LATENESS = 0.005
"""[s] of the 99th percentile, more than the bare timer's."""
TREE = """<!-- {name} -->
<root BTCPP_format="4"><BehaviorTree ID="{name}">{body}</BehaviorTree></root>
"""


def make_node(folder: Path, **parameters: object) -> BehaviorExecutor:
    """The real node, on trees of a folder."""
    values = {
        "tree_directories": [str(folder)],
        "nodes_file": "",
        "managers": [""],
        "tick_rate": 20.0,
        "second_mission_policy": "queue",
        "journal_file": str(folder / "missions.sqlite"),
        **parameters,
    }
    node = BehaviorExecutor(
        parameter_overrides=[Parameter(name, value=value) for name, value in values.items()]
    )
    set_logger_level(node.get_logger().name, LoggingSeverity.FATAL)
    return node


def write_trees(folder: Path, seconds: float) -> None:
    """Missions that last so long, most of them, in all ways a mission can end."""
    wait = f"<Sleep msec='{round(1000 * seconds)}'/>"
    row = "<Sequence>" + "<AlwaysSuccess/>" * 9 + "</Sequence>"
    bodies = {
        "good": f"<Sequence>{row * 4}{wait}<Script code='mission_progress:=1'/></Sequence>",
        "bad": f"<Sequence>{row * 4}{wait}<AlwaysFailure name='tool'/></Sequence>",
        "step": f"<Sequence><Sleep msec='{round(500 * seconds)}'/>{row}</Sequence>",
        "broken": "<Nonsense/>",
    }
    for name, body in bodies.items():
        (folder / f"{name}.xml").write_text(TREE.format(name=name, body=body))


def request(number: int) -> MissionRequest:
    """The mission of this number; every tenth is a sequence, a failure, broken or cancelled."""
    action_id = f"m{number}"
    steps = tuple(MissionRequest(f"{action_id}#{step}", name="step") for step in (1, 2))
    kinds = {
        3: MissionRequest(action_id, kind=Kind.SEQUENCE, steps=steps),
        5: MissionRequest(action_id, name="bad"),
        7: MissionRequest(action_id, name="broken"),
    }
    return kinds.get(number % 10, MissionRequest(action_id, name="good"))


def memory(missions: int, hours: float) -> dict[str, Any]:
    """Run missions back to back by a clock of our own, and see what memory does."""
    period = 0.2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # One of ten missions is broken and takes no time, one is cancelled soon.
        write_trees(folder, 3600.0 * hours / missions / 0.8)
        node = make_node(folder, tick_rate=1.0 / period, journal_capacity=max(10, missions // 10))
        clock = node.get_clock()
        clock._set_ros_time_is_active(True)
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        outcomes: Counter[str] = Counter()
        resident = psutil.Process()
        warm = objects = 0
        course: list[float] = []
        seconds, ticks, begin = 1.0, 0, time.perf_counter()
        for number in range(missions):
            if number == missions // 5:
                gc.collect()
                warm, objects = resident.memory_info().rss, len(gc.get_objects())
            if number % max(1, missions // 10) == 0:
                course.append(round(resident.memory_info().rss / 2**20, 1))
            mission: Mission = node.core.submit(request(number))
            until = seconds + 10.0 if number % 10 == 9 else float("inf")
            while not mission.is_final:
                seconds += period
                ticks += 1
                clock.set_ros_time_override(Time(nanoseconds=round(seconds * 1e9)))
                executor.spin_once(timeout_sec=1.0)
                if seconds > until and not mission.is_final:
                    node.core.cancel(mission.action_id)
            outcomes[mission.code.name] += 1
        gc.collect()
        end, objects_end = resident.memory_info().rss, len(gc.get_objects())
        node._log.flush()
        kept = len(node._log.journal.records())
        executor.shutdown(timeout_sec=0.0)
        node.destroy_node()
    return {
        "missions": missions,
        "simulated_hours": round(seconds / 3600.0, 2),
        "ticks": ticks,
        "wall_s": round(time.perf_counter() - begin, 1),
        "outcomes": dict(outcomes),
        "journal_records": kept,
        "resident_mb": round(warm / 2**20, 1),
        "resident_course_mb": course,
        "growth": round(end / warm - 1.0, 4),
        "objects_growth": round(objects_end / objects - 1.0, 4),
    }


def percentile(values: list[float], share: float) -> float:
    """By the nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, round(share * len(ordered)) - 1)]


def lateness(stamps: list[float], rate: float) -> dict[str, float]:
    """How much more than the period lay between calls [ms]."""
    gaps = [1e3 * max(0.0, b - a - 1.0 / rate) for a, b in itertools.pairwise(stamps)]
    return {
        "median_ms": round(statistics.median(gaps), 3),
        "p99_ms": round(percentile(gaps, 0.99), 3),
        "max_ms": round(max(gaps), 3),
    }


def spin_for(node: Node, seconds: float) -> None:
    """Spin one node for so long."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown(timeout_sec=0.0)


def bare_timer(seconds: float, rate: float) -> None:
    """What the child process does: spin a timer, print when it was called."""
    rclpy.init()
    node = Node("bare_timer")
    stamps: list[float] = []
    node.create_timer(1.0 / rate, lambda: stamps.append(time.monotonic()))
    gc.collect()
    gc.freeze()
    spin_for(node, seconds)
    print(json.dumps(stamps))


def period(nodes: int, seconds: float, rate: float) -> dict[str, Any]:
    """Tick a large tree beside a bare timer, and compare how late both are."""
    child = subprocess.Popen(
        [sys.executable, __file__, "--bare-timer", str(seconds + 3.0), "--rate", str(rate)],
        stdout=subprocess.PIPE,
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        row = "<Sequence>" + "<AlwaysSuccess/>" * 9 + "</Sequence>"
        rows = row * ((nodes - 3) // 10) + "<AlwaysSuccess/>" * ((nodes - 3) % 10)
        body = f"<KeepRunningUntilFailure><Sequence>{rows}</Sequence></KeepRunningUntilFailure>"
        (folder / "large.xml").write_text(TREE.format(name="large", body=body))
        node = make_node(folder, tick_rate=rate)
        node.core.submit(MissionRequest("large", name="large"))
        stamps: list[float] = []
        tick = node.core.tick

        def stamped() -> bool:
            stamps.append(time.monotonic())
            return tick()

        assert node.ticker is not None
        node.ticker._tick = stamped
        spin_for(node, 2.0)
        stamps.clear()
        gc.collect()
        gc.freeze()
        spin_for(node, seconds)
        ticked = len(node.core._run.changes) if node.core._run else 0
        duration = node.core.statistics.duration.summary()
        node.destroy_node()
    out, _ = child.communicate()
    own, bare = lateness(stamps, rate), lateness(json.loads(out), rate)
    return {
        "nodes_ticked": ticked,
        "ticks": len(stamps),
        "tick_median_ms": round(1e3 * duration.median, 3),
        "executor": own,
        "bare_timer": bare,
        "p99_beyond_bare_ms": round(own["p99_ms"] - bare["p99_ms"], 3),
    }


def main() -> int:
    """Measure, print, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--missions", type=int, default=1000)
    parser.add_argument("--hours", type=float, default=8.0, help="of simulated operation")
    parser.add_argument("--seconds", type=float, default=30.0, help="of ticks")
    parser.add_argument("--rate", type=float, default=50.0, help="[Hz] of these ticks")
    parser.add_argument("--nodes", type=int, default=500, help="of the tree that is ticked")
    parser.add_argument("--only", choices=("memory", "period"))
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--bare-timer", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare_timer:
        bare_timer(options.bare_timer, options.rate)
        return 0
    rclpy.init()
    found: dict[str, Any] = {}
    good = True
    if options.only != "period":
        found["memory"] = memory(options.missions, options.hours)
        good = found["memory"]["growth"] < MOST_GROWTH
    if options.only != "memory":
        found["period"] = period(options.nodes, options.seconds, options.rate)
        good = good and found["period"]["p99_beyond_bare_ms"] < 1e3 * MOST_LATENESS
    rclpy.try_shutdown()
    text = json.dumps(found, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
