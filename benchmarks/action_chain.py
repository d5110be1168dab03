# SPDX-License-Identifier: Apache-2.0
"""What an action that does nothing costs: from the executor to its server and back.

    python benchmarks/action_chain.py [--actions 40] [--rates 2 20 100] [--json FILE]

The real executor node runs a Sequence of so many action leaves; the server is another process, made
like the servers of the skills: each goal gets a thread, which returns at once. With the system's
clock and with a simulated one, of which a message comes ten times a second only. ``cpu_ms`` is the
processor time of the executor's process per action.

Exit code 1 if an action takes 5 ms or more.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import rclpy
from behavior_msgs.action import Wait
from builtin_interfaces.msg import Time
from rclpy.clock import Clock, ClockType
from rclpy.logging import LoggingSeverity, set_logger_level
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock as ClockMessage

from behavior_executor.missions.mission import Code, Mission, MissionRequest
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_ros import WorkerActionServer, run
from behavior_ros.process.lean_executor import LeanExecutor

MOST = 5.0
"""[ms] per action."""
CLOCK_RATE = 10.0
"""[Hz] of the simulated clock."""


class NoOperation(Node):  # type: ignore[misc]
    """Serves an action that does nothing, and publishes a clock."""

    def __init__(self) -> None:
        super().__init__("no_operation")
        WorkerActionServer(self, Wait, "/no_operation", lambda context: Wait.Result())
        self._clock_messages = self.create_publisher(ClockMessage, "/clock", 1)
        self.create_timer(
            1.0 / CLOCK_RATE, self._tell_time, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    def _tell_time(self) -> None:
        seconds, nanoseconds = divmod(time.monotonic_ns(), 10**9)
        self._clock_messages.publish(ClockMessage(clock=Time(sec=seconds, nanosec=nanoseconds)))


def write_files(folder: Path, actions: int) -> None:
    """The tree and its nodes."""
    (folder / "nodes.yaml").write_text(
        "nodes:\n  - {node: Nothing, action: /no_operation, type: behavior_msgs/action/Wait}\n"
    )
    for name, count in (("first", 1), ("chain", actions)):
        (folder / f"{name}.xml").write_text(
            f"<root BTCPP_format='4'><BehaviorTree ID='{name}'><Sequence>"
            + "<Nothing/>" * count
            + "</Sequence></BehaviorTree></root>"
        )


def run_mission(node: BehaviorExecutor, executor: LeanExecutor, name: str) -> Mission:
    """Run a mission to its end."""
    mission = node.core.submit(MissionRequest(name, name=name))
    while not mission.is_final:
        executor.spin_once(timeout_sec=0.1)
    return mission


def chain(actions: int, rate: float, *, simulated: bool) -> dict[str, Any]:
    """Run the tree, and measure."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, actions)
        values = {
            "tree_directories": [str(folder)],
            "nodes_file": str(folder / "nodes.yaml"),
            "managers": [""],
            "tick_rate": rate,
            "use_sim_time": simulated,
        }
        node = BehaviorExecutor(
            parameter_overrides=[Parameter(key, value=value) for key, value in values.items()]
        )
        set_logger_level(node.get_logger().name, LoggingSeverity.FATAL)
        executor = LeanExecutor()
        executor.add_node(node)
        while run_mission(node, executor, "first").code is not Code.SUCCESS:
            pass  # server and clock are being discovered
        begin, cpu = time.monotonic(), time.process_time()
        ticks = node.core.statistics.duration.summary().samples
        mission = run_mission(node, executor, "chain")
        taken, used = time.monotonic() - begin, time.process_time() - cpu
        ticks = node.core.statistics.duration.summary().samples - ticks
        executor.shutdown(timeout_sec=0.0)
        node.destroy_node()
    return {
        "clock": "simulated" if simulated else "system",
        "rate": rate,
        "code": mission.code.name,
        "ticks": ticks,
        "ms_per_action": round(1e3 * taken / actions, 2),
        "cpu_ms": round(1e3 * used / actions, 2),
    }


def main() -> int:
    """Measure, print, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--actions", type=int, default=40)
    parser.add_argument("--rates", type=float, nargs="+", default=[2.0, 20.0, 100.0], help="[Hz]")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--server", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.server:
        return run([NoOperation], [])
    server = subprocess.Popen([sys.executable, __file__, "--server"])
    rclpy.init()
    found = []
    try:
        for simulated in (False, True):
            for rate in options.rates:
                found.append(chain(options.actions, rate, simulated=simulated))
                print(json.dumps(found[-1]), flush=True)
    finally:
        server.terminate()
        server.wait(10.0)
        rclpy.try_shutdown()
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n")
    return 0 if all(each["ms_per_action"] < MOST for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
