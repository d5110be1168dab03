# SPDX-License-Identifier: Apache-2.0
"""Bursts of missions: whether every request is answered, and what a request costs.

    python benchmarks/executor_bursts.py [--goals 1000] [--clients 200] [--stock] [--json FILE]

The real node, in a process of its own with a journal on disk, is sent

- so many goals at once by one client of the action ``/mission/execute``,
- one goal each by so many clients at once, in four processes,
- the same again on the topic ``/mission/action``, answered on ``/mission/feedback``.

The queue holds 100 missions; what comes beyond is refused with BUSY. Each request must get one
answer; each accepted mission must run once and the others not at all. An admission is what the node
does from the request in Python to its answer; its processor time is printed. ``--stock`` takes
rclpy's own action clients, whose queues keep the ten newest answers.

Exit code 1 if a request was not answered or a mission not run once, or if an admission takes more
than a millisecond of processor time on average.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import rclpy
from behavior_msgs.action import ExecuteMission
from behavior_msgs.msg import MissionAction, MissionFeedback
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.logging import LoggingSeverity, set_logger_level
from rclpy.node import Node
from rclpy.parameter import Parameter

from behavior_executor.missions.mission import Code, Kind, Mission, MissionRequest, State
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_executor.running.tree_run import TreeRun
from behavior_ros import QOS_REQUESTS, run
from behavior_ros.actions import burst_action_client

PROCESSES = 4
"""In which many clients live."""
CAPACITY = 100
"""Missions that may wait."""
MOST_PER_ADMISSION = 1e-3
"""[s] of processor time."""
PATIENCE = 30.0
"""[s] of wall time without an answer after which the rest counts as lost."""
_MEETING = "_meets_"
TREE = """<!-- Done at once -->
<root BTCPP_format="4"><BehaviorTree ID="quick"><AlwaysSuccess/></BehaviorTree></root>
"""


class MeasuredExecutor(BehaviorExecutor):
    """Counts what it runs, and takes the time of admissions."""

    def __init__(self, folder: Path) -> None:
        """Make the node, on the trees of a folder."""
        self.runs: list[str] = []
        self.times: list[float] = []
        values = {
            "tree_directories": [str(folder)],
            "nodes_file": "",
            "managers": [""],
            "second_mission_policy": "queue",
            "queue_capacity": CAPACITY,
            "tick_rate": 20.0,
            "journal_file": str(folder / "missions.journal"),
        }
        super().__init__(parameter_overrides=[Parameter(k, value=v) for k, v in values.items()])
        set_logger_level(self.get_logger().name, LoggingSeverity.FATAL)

    def _submit(self, request: MissionRequest) -> Mission:
        begin = time.thread_time()
        try:
            return super()._submit(request)
        finally:
            if request.kind is Kind.RUN_BEHAVIOR:
                self.times.append(time.thread_time() - begin)

    def tree_loaded(self, mission: Mission, run: TreeRun) -> None:
        """Note what runs."""
        self.runs.append(mission.action_id)
        super().tree_loaded(mission, run)


def serve(folder: Path) -> int:
    """Serve until SIGINT, then write down what was measured."""
    nodes: list[MeasuredExecutor] = []

    def make() -> MeasuredExecutor:
        nodes.append(MeasuredExecutor(folder))
        return nodes[0]

    code = run([make], [])
    measured = {"runs": nodes[0].runs, "times": nodes[0].times, "cpu": time.process_time()}
    (folder / "measured.json").write_text(json.dumps(measured))
    return code


class Clients:
    """Many clients of one process; collects the final code of every request."""

    def __init__(self, label: str, count: int, *, topic: bool, stock: bool) -> None:
        """Make the clients and wait until their server is there."""
        rclpy.init()
        self.label = label
        self.codes: dict[str, list[int]] = {}
        self.met = False
        self.node = Node(f"clients_{label}", enable_rosout=False, start_parameter_services=False)
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.send = [self._publisher() if topic else self._action(stock) for _ in range(count)]
        if topic:
            self.node.create_subscription(
                MissionFeedback, "/mission/feedback", self._on_feedback, QOS_REQUESTS
            )

    def meet(self) -> None:
        """Have every client answered once: endpoints that are here may not be everywhere yet."""
        for number, send in enumerate(self.send):
            name = f"{self.label}{_MEETING}{number}"
            while name not in self.codes:
                send(MissionAction(action_id=name, type=MissionAction.CANCEL))
                patience = time.monotonic() + 2.0
                while name not in self.codes and time.monotonic() < patience:
                    self.executor.spin_once(timeout_sec=0.1)

    def burst(self, each: int) -> None:
        """Send so many requests by every client, and await the answers."""
        self.codes, self.met = {}, True
        names = [f"{self.label}_{number}" for number in range(each * len(self.send))]
        for number, name in enumerate(names):
            message = MissionAction(action_id=name, name="quick")
            self.send[number % len(self.send)](message)
        heard, last = 0, time.monotonic()
        while len(self.codes) < len(names) and time.monotonic() - last < PATIENCE:
            self.executor.spin_once(timeout_sec=0.1)
            if len(self.codes) > heard:
                heard, last = len(self.codes), time.monotonic()

    def _publisher(self) -> Any:
        return self.node.create_publisher(MissionAction, "/mission/action", QOS_REQUESTS).publish

    def _action(self, stock: bool) -> Any:
        make = ActionClient if stock else burst_action_client
        client = make(self.node, ExecuteMission, "/mission/execute")
        while not client.server_is_ready():
            self.executor.spin_once(timeout_sec=0.05)

        def send(message: MissionAction) -> None:
            def ended(future: Any) -> None:
                self._note(message.action_id, future.result().result.code)

            def answered(future: Any) -> None:
                if future.result().accepted:
                    future.result().get_result_async().add_done_callback(ended)
                else:
                    self._note(message.action_id, int(Code.SHUTDOWN))

            goal = ExecuteMission.Goal(mission=message)
            client.send_goal_async(goal).add_done_callback(answered)

        return send

    def _on_feedback(self, message: MissionFeedback) -> None:
        if message.action_id.startswith(self.label) and message.state >= State.FINISHED:
            self._note(message.action_id, message.code)

    def _note(self, action_id: str, code: int) -> None:
        if not (self.met and _MEETING in action_id):
            self.codes.setdefault(action_id, []).append(int(code))


def ask(options: argparse.Namespace) -> int:
    """Be some of the clients; prints the codes of the answers as JSON."""
    clients = Clients(options.ask, options.count, topic=options.topic, stock=options.stock)
    clients.meet()
    print("ready", flush=True)
    sys.stdin.readline()
    clients.burst(options.each)
    print(json.dumps(clients.codes), flush=True)
    os._exit(0)  # hundreds of endpoints take long to go one by one


def measure(title: str, processes: int, count: int, each: int, flags: list[str]) -> dict[str, Any]:
    """One burst against a fresh executor."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "quick.xml").write_text(TREE)
        program = [sys.executable, __file__]
        server = subprocess.Popen([*program, "--serve", str(folder)])
        flags = ["--count", str(count), "--each", str(each), *flags]
        try:
            askers = [
                subprocess.Popen(
                    [*program, "--ask", f"c{number}", *flags],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
                for number in range(processes)
            ]
            for asker in askers:
                assert asker.stdout is not None
                asker.stdout.readline()
            for asker in askers:  # now all at once
                assert asker.stdin is not None
                asker.stdin.write("go\n")
                asker.stdin.flush()
            answers = [asker.communicate(timeout=400)[0] for asker in askers]
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)
        measured = json.loads((folder / "measured.json").read_text())
    codes = {key: found for text in answers for key, found in json.loads(text).items()}
    return judged(title, processes * count * each, codes, measured)


def judged(
    title: str, requests: int, codes: dict[str, list[int]], measured: dict[str, Any]
) -> dict[str, Any]:
    """What came of a burst."""
    ended = Counter(found[0] for found in codes.values())
    runs = Counter(measured["runs"])
    wrong = [key for key, found in codes.items() if (found[0] == Code.SUCCESS) != (runs[key] == 1)]
    times = measured["times"]
    return {
        "case": title,
        "requests": requests,
        "answered": len(codes),
        "answered twice": sum(len(found) > 1 for found in codes.values()),
        "done": ended[Code.SUCCESS],
        "BUSY": ended[Code.BUSY],
        "other": len(codes) - ended[Code.SUCCESS] - ended[Code.BUSY],
        "run wrongly": len(wrong),
        "run twice": sum(count > 1 for count in runs.values()),
        "ms per admission": 1e3 * sum(times) / max(1, len(times)),
        "ms at most": 1e3 * max(times, default=0.0),
        "ms of node per request": 1e3 * measured["cpu"] / requests,
    }


def is_good(row: dict[str, Any]) -> bool:
    """Whether nothing was lost, nothing done twice, and admissions are quick."""
    bad = ("answered twice", "other", "run wrongly", "run twice")
    return (
        row["answered"] == row["requests"]
        and not any(row[key] for key in bad)
        and row["ms per admission"] <= 1e3 * MOST_PER_ADMISSION
    )


def main() -> int:
    """Run all cases, print and judge them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--goals", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--stock", action="store_true", help="rclpy's own action clients")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--each", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--topic", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)
    if options.ask:
        return ask(options)
    stock = ["--stock"] if options.stock else []
    many = options.clients // PROCESSES
    rows = [
        measure(f"{options.goals} goals of one client", 1, 1, options.goals, stock),
        measure(f"{options.clients} clients, a goal each", PROCESSES, many, 1, stock),
        measure(f"{options.goals} messages of one publisher", 1, 1, options.goals, ["--topic"]),
        measure(f"{options.clients} publishers, one each", PROCESSES, many, 1, ["--topic"]),
    ]
    for row in rows:
        print(
            ", ".join(
                f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()
            )
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0 if all(map(is_good, rows)) else 1


if __name__ == "__main__":
    sys.exit(main())
