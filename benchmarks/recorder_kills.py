# SPDX-License-Identifier: Apache-2.0
"""What recordings lose when their recorder is killed, and how much memory it takes.

    python benchmarks/recorder_kills.py [--kills 50] [--rate 100] [--seed 0] [--json FILE]

A program tells records of a tree, numbered, at a fixed rate. A recorder hears them and tells once a
second on ``/behavior/recording`` how much is safe. At a random moment it is killed (SIGKILL). Then
its file is read as it is, and completed and read again.

Counted is what must not be: a record is *lost* if it was told to be safe and is not in the file, or
if it should be before a safe one and is not; a file is *unreadable* if it cannot be opened or
completed. Exit code 1 if anything is counted.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import sys
import tempfile
import threading
import time
from array import array
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import rclpy
from behavior_msgs.msg import RecordingState, TreeRecord
from rclpy.node import Node

from behavior_recording import Recording, RecordingError, complete, recorder_node
from behavior_ros import QOS_LATCHED, QOS_REQUESTS
from behavior_ros.testing import Spinner, own_domain, until

LIFE = 42
PATIENCE = 240.0
"""[s] for a recorder to come up; a limit for hangs only."""


class Teller:
    """Tells records, and hears which of them are safe."""

    def __init__(self, spinner: Spinner, rate: float) -> None:
        self.states: list[RecordingState] = []
        self.told = 0
        node: Node = Node("teller")
        self._publisher = node.create_publisher(TreeRecord, "behavior/tree_record", QOS_REQUESTS)
        node.create_subscription(
            RecordingState, "behavior/recording", self.states.append, QOS_LATCHED
        )
        node.create_timer(1.0 / rate, self._tell)
        spinner.start(node)

    def _tell(self) -> None:
        self.told += 1
        message = TreeRecord(
            life=LIFE,
            sequence=self.told,
            kind=TreeRecord.TICK,
            tick=self.told,
            begun=time.time_ns(),
            uids=array("H", range(1, 30)),
            previous=array("B", [0] * 29),
            statuses=array("B", [1] * 29),
            times=array("i", range(29)),
        )
        self._publisher.publish(message)

    def safe(self, file: Path) -> RecordingState | None:
        """The newest that was told of a file, once a record is safe in it."""
        found = [each for each in self.states if each.file == str(file) and each.sequence]
        return found[-1] if found else None


def record(file: Path) -> None:
    """Be a recorder."""
    sys.argv[1:] = ["--ros-args", "-p", f"output:={file}"]
    recorder_node.main()


def killed_once(teller: Teller, file: Path, draw: random.Random, count: Counter[str]) -> float:
    """Let a recorder work and kill it; returns its memory [MB]."""
    # All have what they import from one that has it already: that takes most of a start.
    recorder = multiprocessing.get_context("forkserver").Process(target=record, args=(file,))
    recorder.start()
    try:
        until(lambda: teller.safe(file) or recorder.exitcode is not None, PATIENCE, "a safe record")
        assert recorder.exitcode is None, f"the recorder has ended with {recorder.exitcode}"
        threading.Event().wait(draw.uniform(0.0, 2.5))
        memory = psutil.Process(recorder.pid).memory_full_info()
    finally:
        recorder.kill()
        recorder.join()
    safe = teller.safe(file)
    assert safe is not None
    count["kills"] += 1
    for finish in (False, True):
        try:
            if finish:
                complete(file)
            count["lost"] += lost(file, safe)
        except RecordingError as error:
            print(error, file=sys.stderr)
            count["unreadable"] += 1
    return float(memory.uss) / 1e6


def lost(file: Path, safe: RecordingState) -> int:
    """Records that were told to be safe and are not there."""
    with Recording(file) as recording:
        numbers = {each.sequence for each in recording.records() if each.life == safe.life}
        messages = sum(topic.messages for topic in recording.topics.values())
    missing = set(range(min(numbers, default=0), safe.sequence + 1)) - numbers
    return len(missing) + max(0, safe.safe_messages - messages)


def main() -> int:
    """Measure and print; returns the exit code."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--rate", type=float, default=100.0, help="[Hz] of records")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    os.environ["ROS_DOMAIN_ID"] = str(own_domain())
    rclpy.init()
    spinner = Spinner()
    teller = Teller(spinner, options.rate)
    draw, count, memories = random.Random(options.seed), Counter[str](), [0.0]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.kills):
            memories.append(killed_once(teller, Path(folder, f"{number}.mcap"), draw, count))
            print(f"\r{dict(count)}", end="", file=sys.stderr, flush=True)
    spinner.stop()
    rclpy.try_shutdown()
    found: dict[str, Any] = {
        "kills": count["kills"],
        "lost": count["lost"],
        "unreadable": count["unreadable"],
        "records told": teller.told,
        "memory of its own [MB]": round(max(memories), 1),
    }
    print(json.dumps(found, indent=2))
    if options.json:
        options.json.write_text(json.dumps(found))
    return int(bool(count["lost"] or count["unreadable"]))


if __name__ == "__main__":
    sys.exit(main())
