# SPDX-License-Identifier: Apache-2.0
"""What a recording costs the tick, and the recorder in memory and work.

    python benchmarks/recording_cost.py [--ticks 2000] [--period 0.02] [--json FILE]

An executor is ticked with a mission as the product ticks it, in turn a hundred times beside a
recorder that hears it and a hundred times without. Told are medians of a tick's processor time and
wall time in both, their ratio, and what the recorder needs. Seeking is measured in a file as long
as an hour of ticks.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import rclpy
from rclpy.parameter import Parameter

from behavior_executor.missions.mission import Kind, MissionRequest
from behavior_executor.monitoring.record_publisher import RecordPublisher
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_recording import Recording, TreeRecording
from behavior_ros.testing import own_domain
from behavior_tree import BehaviorTreeFactory

PATIENCE = 120.0
"""[s] for the recorder to come up; a limit for hangs only."""


def document_of(conditions: int) -> str:
    """A tree that looks at conditions in each tick, and writes entries in some."""
    looks = "".join(f'<ScriptCondition code="a{n} == 0"/>' for n in range(conditions))
    sets = "".join(f'<Script code="a{n} := 0"/>' for n in range(conditions))
    return (
        f'<root BTCPP_format="4"><BehaviorTree ID="main"><Sequence>{sets}'
        f"<KeepRunningUntilFailure><ReactiveSequence>{looks}"
        '<Sequence><Script code="turn := 1"/><Sleep msec="50"/></Sequence>'
        "</ReactiveSequence></KeepRunningUntilFailure></Sequence></BehaviorTree></root>"
    )


def timed(tick: Callable[[], Any]) -> tuple[float, float]:
    """Processor time of this thread, and wall time [s]."""
    begin, wall = time.thread_time(), time.perf_counter()
    tick()
    return time.thread_time() - begin, time.perf_counter() - wall


def executor_of(folder: Path, conditions: int) -> BehaviorExecutor:
    """An executor whose mission is under way; it is ticked here, not by its timer."""
    (folder / "main.xml").write_text(f"<!-- Looks -->{document_of(conditions)}")
    values = {"tree_directories": [str(folder)], "nodes_file": "", "managers": [""]}
    executor = BehaviorExecutor(
        parameter_overrides=[Parameter(name, value=value) for name, value in values.items()]
    )
    assert executor.ticker is not None
    executor.ticker.destroy()
    executor.core.submit(MissionRequest("cost", Kind.RUN_BEHAVIOR, "main"))
    return executor


def switch(records: RecordPublisher, *, to: bool) -> None:
    """Have the running tree written down, or not."""
    if to is not records.follows:
        (records.welcome if to else records.leave)()


def until_heard(executor: BehaviorExecutor) -> None:
    """Return when somebody hears the records of the tree, which runs."""
    deadline = time.monotonic() + PATIENCE
    while not executor.records.listeners or executor.core.activity.active_path == "":
        rclpy.spin_once(executor, timeout_sec=0.1)
        executor.core.tick()
        assert time.monotonic() < deadline, "nobody comes up who listens"


def measure(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Tick a mission beside a recorder, a hundred times recorded, a hundred times not."""
    executor = executor_of(folder, options.conditions)
    file = folder / "cost.mcap"
    records = executor.records
    recorder = subprocess.Popen(
        [
            *(sys.executable, "-m", "behavior_packages.node_program"),
            *("behavior_recording.recorder_node.main", "--ros-args", "-p", f"output:={file}"),
        ],
        env=os.environ,
    )
    cost: dict[str, list[tuple[float, float]]] = {"recorded": [], "plain": []}
    try:
        until_heard(executor)
        records.leave()
        process = psutil.Process(recorder.pid)
        worked = sum(process.cpu_times()[:2])
        begin = time.monotonic()
        for number in range(options.ticks):
            name = "recorded" if number // 100 % 2 else "plain"
            switch(records, to=name == "recorded")
            cost[name].append(timed(executor.core.tick))
            time.sleep(options.period)
        seconds = time.monotonic() - begin
        memory = process.memory_full_info()
        worked = sum(process.cpu_times()[:2]) - worked
        executor.destroy_node()
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.wait(60.0)
    medians = {
        f"{name}, {what} [us]": 1e6 * statistics.median(each[index] for each in values)
        for name, values in cost.items()
        for index, what in enumerate(("processor", "wall"))
    }
    with Recording(file) as recording:
        gaps = len(recording.gaps())
    return {
        **{name: round(value, 1) for name, value in medians.items()},
        "ratio of processor time": _ratio(medians, "processor"),
        "ratio of wall time": _ratio(medians, "wall"),
        "recorder, share of a core": round(worked / seconds, 4),
        "recorder, memory of its own [MB]": round(memory.uss / 1e6, 1),
        "recorder, resident [MB]": round(memory.rss / 1e6, 1),
        "gaps": gaps,
    }


def _ratio(medians: dict[str, float], what: str) -> float:
    return round(medians[f"recorded, {what} [us]"] / medians[f"plain, {what} [us]"], 3)


def seeking(folder: Path, records: int) -> dict[str, Any]:
    """How long it takes to open a long file, and to know a moment of it."""
    file, clock = folder / "long.mcap", [1_700_000_000 * 10**9]

    def now() -> int:
        clock[0] += 50_000_000
        return clock[0]

    tree = BehaviorTreeFactory().create_tree_from_text(document_of(10))
    with TreeRecording(file, tree, tree_id="main", now=now) as recording:
        for number in range(records):
            recording.tick()
            if number % 20 == 19:
                recording.secure()
    begin = time.perf_counter()
    with Recording(file) as read:
        opened = time.perf_counter() - begin
        sought = []
        for part in range(1, 20):
            begin = time.perf_counter()
            moment = read.moment(read.start + part * (read.end - read.start) // 20)
            sought.append(time.perf_counter() - begin)
            assert moment is not None
        minutes = (read.end - read.start) / 6e10
    return {
        "file [min of ticks at 20 Hz]": round(minutes),
        "file [MB]": round(file.stat().st_size / 1e6, 1),
        "open [ms]": round(1e3 * opened, 1),
        "seek, median [ms]": round(1e3 * statistics.median(sought), 1),
        "seek, longest [ms]": round(1e3 * max(sought), 1),
    }


def run(
    measure: Callable[[Path, argparse.Namespace], dict[str, Any]], parser: argparse.ArgumentParser
) -> int:
    """Measure with ROS in a folder and a domain of its own, and print; returns the exit code."""
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    os.environ["ROS_DOMAIN_ID"] = str(own_domain())
    rclpy.init()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), options)
    rclpy.try_shutdown()
    print(json.dumps(found, indent=2))
    if options.json:
        options.json.write_text(json.dumps(found))
    return 0


def main() -> int:
    """Measure and print; returns the exit code."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ticks", type=int, default=2_000)
    parser.add_argument("--period", type=float, default=0.02, help="[s]")
    parser.add_argument("--conditions", type=int, default=40)
    parser.add_argument("--records", type=int, default=72_000, help="of the long file")
    return run(lambda *of: measure(*of) | seeking(of[0], of[1].records), parser)


if __name__ == "__main__":
    sys.exit(main())
