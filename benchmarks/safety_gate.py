# SPDX-License-Identifier: Apache-2.0
"""How fast the safety gate stops the base while the executor's tree is stuck.

    python benchmarks/safety_gate.py [--trials 200] [--kills 10] [--realtime 10]

Three processes as in a robot: an executor whose tree blocks its tick for one second at a time, the
gate, and this program, which commands motion, gives signs of life, and takes them away. In each
trial the tree is stuck first; then one cause is set, and the time until the stop command arrives
here is taken. The cause is the message that tells of it, or the end of the timeout where the cause
is silence. Transport in both directions and this program's own delays are in the figures.

With ``--realtime`` gate, relay and this program run before ordinary processes, as a gate should on
a robot: a machine that is busy otherwise adds its own tens of milliseconds to each of them.

Beside it, in the same run: a message through a bare rclpy relay and back, the least that any gate
in a process of its own could take.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rclpy
from behavior_msgs.msg import (
    AutonomyLevel,
    LocalizationResult,
    MissionAction,
    PathPlannerHealth,
    PlannerOperationMode,
    SafetyStatus,
)
from geometry_msgs.msg import Twist
from rclpy.clock import Clock, ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import Joy
from std_msgs.msg import Empty

from behavior_executor.managers.manager import BehaviorManager
from behavior_executor.missions.mission import Code, MissionRequest
from behavior_executor.missions.statistics import Histogram
from behavior_navigation.manager import navigation_state
from behavior_navigation.realtime import prefer_this_process
from behavior_navigation.rules.state import ActionPhase
from behavior_ros import QOS_COMMAND, QOS_LATCHED, QOS_SENSOR
from behavior_tree import BehaviorTreeFactory, NodeStatus, SyncActionNode

STUCK = 1.0
"""[s] for which the tree blocks the executor's tick."""
LIMIT = 0.05
"""[s] within which the robot has to be stopped."""
DEADMAN_TIMEOUT, LOCALIZATION_TIMEOUT, EXECUTOR_TIMEOUT = 0.2, 0.3, 0.6
"""[s] The last one is longer than by default, so that the stuck executor does not come first."""
PATIENCE = 60.0
"""[s] after which something that does not come is given up."""
LATCHED = ("release it", "the executor halts")
"""What the gate says while the switch, as the gate or the executor sees it, has to be pressed anew.
"""
TREE = """<!-- Drives, and gets stuck when told -->
<root BTCPP_format="4"><BehaviorTree ID="stuck">
  <ReactiveSequence><StuckWhenTold/><selectPlannerMode/></ReactiveSequence>
</BehaviorTree></root>
"""


class StuckWhenTold(SyncActionNode):
    """Blocks the tick once after each message."""

    def __init__(self, name: str, config: Any, manager: StuckManager) -> None:
        super().__init__(name, config)
        self._manager = manager

    def tick(self) -> NodeStatus:
        """Block."""
        if self._manager.reported:
            self._manager.reported = False
            self._manager.stuck.publish(Empty())
            time.sleep(STUCK)
        return NodeStatus.SUCCESS


class StuckManager(BehaviorManager):
    """Has a mission drive, and its tree get stuck."""

    name = "stuck"

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self.reported = False
        self.stuck = node.create_publisher(Empty, "/bench/stuck", QOS_COMMAND)
        node.create_subscription(Empty, "/bench/get_stuck", self._on_reported, QOS_COMMAND)

    def _on_reported(self, message: Empty) -> None:
        self.reported = True

    def register_nodes(self, factory: BehaviorTreeFactory) -> None:
        """Register the node that blocks."""
        factory.register_node_type(StuckWhenTold, "StuckWhenTold", self)

    def mission_started(self, request: MissionRequest) -> None:
        """There is an action and a route."""
        action = navigation_state(self.node).action
        action.phase, action.route_id = ActionPhase.NAVIGATING, "r"

    def mission_ended(self, code: Code) -> None:
        """There is none."""
        navigation_state(self.node).action.phase = ActionPhase.IDLE


class Relay(Node):  # type: ignore[misc]
    """Sends back what it gets."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("relay", **kwargs)
        prefer_this_process(self.declare_parameter("realtime_priority", 0).value)
        out = self.create_publisher(Twist, "/bench/out", QOS_COMMAND)
        self.create_subscription(Twist, "/bench/in", out.publish, QOS_SENSOR)


class Bench(Node):  # type: ignore[misc]
    """Commands motion, gives signs of life, and hears the gate's commands."""

    def __init__(self) -> None:
        super().__init__("bench")
        self.gives = {"deadman": True, "localization": True}
        self.localization = LocalizationResult.GOOD
        self.last = dict.fromkeys(("deadman", "localization", "mode", "stuck"), 0.0)
        self.moving = False
        self.stopped = threading.Event()
        self.stopped_at = 0.0
        self.stuck = threading.Event()
        self.relayed = threading.Event()
        self.level = AutonomyLevel()
        self.reasons: list[str] = []
        sensor = QOS_SENSOR
        self._joy = self.create_publisher(Joy, "/deadman/heartbeat", sensor)
        self._pose = self.create_publisher(LocalizationResult, "/localization/result", sensor)
        self._health = self.create_publisher(PathPlannerHealth, "/path_planner/health", sensor)
        self._command = self.create_publisher(Twist, "/cmd_vel_nav", sensor)
        self.toggle = self.create_publisher(Empty, "/autonomy/toggle", QOS_COMMAND)
        self.get_stuck = self.create_publisher(Empty, "/bench/get_stuck", QOS_COMMAND)
        self.missions = self.create_publisher(MissionAction, "/mission/action", QOS_COMMAND)
        self.relay = self.create_publisher(Twist, "/bench/in", sensor)
        self.create_subscription(Twist, "/cmd_vel", self._on_velocity, QOS_COMMAND)
        self.create_subscription(Twist, "/bench/out", lambda _: self.relayed.set(), QOS_COMMAND)
        self.create_subscription(Empty, "/bench/stuck", self._on_stuck, QOS_COMMAND)
        self.create_subscription(
            PlannerOperationMode, "/planner_operation_mode", self._on_mode, QOS_COMMAND
        )
        self.create_subscription(AutonomyLevel, "/autonomy/level", self._on_level, QOS_LATCHED)
        self.create_subscription(SafetyStatus, "/safety/status", self._on_status, QOS_LATCHED)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(0.02, self._fast, clock=steady)
        self.create_timer(0.05, self._slow, clock=steady)

    def _fast(self) -> None:
        if self.gives["deadman"]:
            self.button(True)
        command = Twist()
        command.linear.x = 0.5
        self._command.publish(command)

    def _slow(self) -> None:
        stamp = self.get_clock().now().to_msg()
        if self.gives["localization"]:
            self.locate()
        health = PathPlannerHealth(mode_used=PathPlannerHealth.SUCCESS)
        health.header.stamp = stamp
        self._health.publish(health)

    def button(self, pressed: bool) -> None:
        """Tell of the switch."""
        self._joy.publish(Joy(buttons=[int(pressed)]))
        self.last["deadman"] = time.monotonic()

    def locate(self) -> None:
        """Tell where the robot is."""
        message = LocalizationResult(status=self.localization, score=1.0)
        message.header.stamp = self.get_clock().now().to_msg()
        self.last["localization"] = time.monotonic()
        self._pose.publish(message)

    def _on_velocity(self, message: Twist) -> None:
        if message.linear.x == 0.0 and self.moving:
            self.stopped_at = time.monotonic()
            self.stopped.set()
        self.moving = message.linear.x != 0.0

    def _on_stuck(self, message: Empty) -> None:
        self.last["stuck"] = time.monotonic()
        self.stuck.set()

    def is_stuck(self) -> bool:
        """Whether the executor has not ticked since it got stuck."""
        return self.last["mode"] < self.last["stuck"] + STUCK

    def _on_mode(self, message: PlannerOperationMode) -> None:
        self.last["mode"] = time.monotonic()

    def _on_level(self, message: AutonomyLevel) -> None:
        self.level = message

    def _on_status(self, message: SafetyStatus) -> None:
        self.reasons = list(message.reasons)


# -- causes: each is set, and returns when the robot should know; then it is undone ---------------


def release(bench: Bench) -> float:
    """The switch says that it is released."""
    bench.gives["deadman"] = False
    now = time.monotonic()
    bench.button(False)
    return now


def let_switch_fall_silent(bench: Bench) -> float:
    """The link to the switch breaks."""
    bench.gives["deadman"] = False
    return bench.last["deadman"] + DEADMAN_TIMEOUT


def press(bench: Bench) -> None:
    """Release and press the switch."""
    bench.button(False)
    bench.gives["deadman"] = True


def doubt(bench: Bench) -> float:
    """The localizer loses its trust."""
    bench.localization = LocalizationResult.BAD
    now = time.monotonic()
    bench.locate()
    return now


def let_localizer_fall_silent(bench: Bench) -> float:
    """The localizer dies."""
    bench.gives["localization"] = False
    return bench.last["localization"] + LOCALIZATION_TIMEOUT


def locate(bench: Bench) -> None:
    """The localizer is well again."""
    bench.localization, bench.gives["localization"] = LocalizationResult.GOOD, True


def toggle(bench: Bench) -> float:
    """The operator takes over."""
    now = time.monotonic()
    bench.toggle.publish(Empty())
    return now


def toggle_back(bench: Bench) -> None:
    """The operator hands over, once the executor has followed."""
    wait(lambda: bench.level.selected == AutonomyLevel.MANUAL, "the level MANUAL")
    bench.toggle.publish(Empty())


CAUSES: dict[str, tuple[Callable[[Bench], float], Callable[[Bench], None]]] = {
    "deadman released": (release, press),
    "deadman silent": (let_switch_fall_silent, press),
    "localization bad": (doubt, locate),
    "localization silent": (let_localizer_fall_silent, locate),
    "autonomy toggled": (toggle, toggle_back),
}


def wait(
    predicate: Callable[[], object], what: str, hindrance: Callable[[], object] | None = None
) -> None:
    """Wait, and give up with words after a generous time."""
    deadline = time.monotonic() + PATIENCE
    while not predicate():
        if time.monotonic() > deadline:
            why = f": {hindrance()}" if hindrance is not None else ""
            raise SystemExit(f"{what} did not come within {PATIENCE:g} s{why}")
        time.sleep(0.005)


def wait_for_motion(bench: Bench) -> None:
    """Wait until the robot drives and the executor ticks; press the switch anew where it latched.

    This program's heartbeats are late themselves where the machine is busy.
    """
    pressed = time.monotonic()

    def drives() -> bool:
        nonlocal pressed
        latched = any(text in reason for text in LATCHED for reason in bench.reasons)
        if latched and time.monotonic() - pressed > 1.0:
            pressed = time.monotonic()
            bench.button(False)
        return bench.moving and not bench.is_stuck()

    wait(drives, "motion", lambda: (bench.reasons, bench.level, bench.last, bench.gives))


def trial(bench: Bench, name: str, rng: random.Random) -> float:
    """Seconds from the cause to the stop command."""
    set_cause, undo = CAUSES[name]
    wait_for_motion(bench)
    time.sleep(rng.uniform(0.0, 0.1))
    bench.stuck.clear()
    bench.get_stuck.publish(Empty())
    if not bench.stuck.wait(10.0):
        raise SystemExit("the tree did not get stuck")
    time.sleep(rng.uniform(0.0, 0.1))
    bench.stopped.clear()
    if not bench.moving:  # stopped for another reason before the cause
        return trial(bench, name, rng)
    cause = set_cause(bench)
    if not bench.stopped.wait(10.0):
        raise SystemExit(f"{name}: not stopped; moving: {bench.moving}, status: {bench.reasons}")
    reaction = bench.stopped_at - cause
    undo(bench)
    return reaction if reaction >= 0.0 else trial(bench, name, rng)


def relay_trial(bench: Bench) -> float:
    """Seconds of a message through the bare relay."""
    bench.relayed.clear()
    begin = time.monotonic()
    bench.relay.publish(Twist())
    if not bench.relayed.wait(10.0):
        raise SystemExit("the relay is silent")
    return time.monotonic() - begin


class Processes:
    """The executor, the gate and the relay."""

    def __init__(self, folder: Path, priority: int) -> None:
        (folder / "stuck.xml").write_text(TREE)
        self._folder = folder
        self._all: list[subprocess.Popen[bytes]] = []
        self.executor = self.start_executor()
        self.gate = self._host(
            "behavior_navigation.safety_gate:SafetyGate",
            {
                "deadman_switch_timeout_s": DEADMAN_TIMEOUT,
                "deadman_message": "joy",
                "executor_timeout_s": EXECUTOR_TIMEOUT,
                "localization_result.max_timeout": LOCALIZATION_TIMEOUT,
                "realtime_priority": priority,
            },
        )
        self._host("safety_gate:Relay", {"realtime_priority": priority})

    def start_executor(self) -> subprocess.Popen[bytes]:
        """Start the executor."""
        managers = "behavior_navigation.managers"
        names = [
            f"{managers}.autonomy_level:AutonomyLevelManager",
            f"{managers}.system_health:SystemHealthManager",
            f"{managers}.planner:PlannerManager",
            "safety_gate:StuckManager",
        ]
        parameters = {"tree_directories": [str(self._folder)], "nodes_file": "", "managers": names}
        own = (
            f"autonomy_level:deadman_switch_timeout_s:={DEADMAN_TIMEOUT}",
            "autonomy_level:deadman_message:=joy",
        )
        return self._host("behavior_executor.node.executor_node:BehaviorExecutor", parameters, own)

    def _host(
        self, target: str, parameters: dict[str, Any], companions: tuple[str, ...] = ()
    ) -> subprocess.Popen[bytes]:
        settings = "".join(f":={key}={json.dumps(value)}" for key, value in parameters.items())
        ros = [word for text in companions for word in ("-p", text)]
        path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "behavior_ros.process.host", "--node", target + settings),
                *("--ros-args", "--log-level", "error", *ros),
            ],
            env=os.environ | {"PYTHONPATH": path},
        )
        self._all.append(process)
        return process

    def stop(self) -> None:
        """Stop them."""
        for process in self._all:
            process.send_signal(signal.SIGKILL)
            process.wait()


@contextmanager
def everything(priority: int) -> Iterator[tuple[Bench, Processes]]:
    """All processes, and this one's node spinning in a thread."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    rclpy.init()
    bench, executor = Bench(), SingleThreadedExecutor()
    executor.add_node(bench)
    ended = threading.Event()

    def spin() -> None:
        while not ended.is_set():
            executor.spin_once(timeout_sec=0.1)

    thread = threading.Thread(target=spin)
    with tempfile.TemporaryDirectory() as folder:
        processes = Processes(Path(folder), priority)
        thread.start()
        problem = prefer_this_process(priority)
        if problem:
            raise SystemExit(problem)
        try:
            yield bench, processes
        finally:
            ended.set()
            thread.join()
            executor.shutdown()
            processes.stop()
            bench.destroy_node()
            rclpy.shutdown()


def drive(bench: Bench) -> None:
    """Bring the robot into motion."""
    wait(lambda: bench.level.effective == AutonomyLevel.MANUAL, "the level MANUAL")
    wait(lambda: bench.toggle.get_subscription_count() >= 2, "executor and gate")
    wait(lambda: bench.missions.get_subscription_count() > 0, "the executor")
    wait(lambda: bench.relay.get_subscription_count() > 0, "the relay")
    bench.toggle.publish(Empty())
    bench.missions.publish(MissionAction(name="stuck", action_id=f"m{time.monotonic()}"))
    wait_for_motion(bench)


def kill(bench: Bench, processes: Processes) -> float:
    """Kill the executor; seconds from its timeout to the stop command."""
    wait_for_motion(bench)
    bench.stopped.clear()
    processes.executor.send_signal(signal.SIGKILL)
    processes.executor.wait()
    if not bench.stopped.wait(10.0):
        raise SystemExit("executor killed: not stopped")
    return bench.stopped_at - (bench.last["mode"] + EXECUTOR_TIMEOUT)


def begin_again(bench: Bench, processes: Processes) -> None:
    """Start the executor after it was killed."""
    bench.level = AutonomyLevel()
    processes.executor = processes.start_executor()
    drive(bench)


def main() -> int:
    """Measure, print, and fail when the 99th percentile of a cause is over the limit."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trials", type=int, default=200, help="in all, over all causes")
    parser.add_argument("--kills", type=int, default=10, help="of the executor")
    parser.add_argument("--realtime", type=int, default=0, help="priority, 1..99")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    figures: dict[str, Histogram] = {"bare relay": Histogram()}
    everyone = Histogram()
    with everything(options.realtime) as (bench, processes):
        drive(bench)
        names = list(CAUSES)
        for number in range(options.trials):
            name = names[number % len(names)]
            reaction = trial(bench, name, rng)
            figures.setdefault(name, Histogram()).add(reaction)
            everyone.add(reaction)
            figures["bare relay"].add(relay_trial(bench))
        for number in range(options.kills):
            if number:
                begin_again(bench, processes)
            figures.setdefault("executor killed", Histogram()).add(kill(bench, processes))
    figures["all causes, tree stuck"] = everyone
    return report(figures)


def report(figures: dict[str, Histogram]) -> int:
    """Print the table."""
    relay = figures["bare relay"].summary()
    print(
        f"{'from the cause to the stop command':<36}{'trials':>7}{'median':>9}{'p99':>9}{'max':>9}"
    )
    for name, histogram in figures.items():
        all_of = histogram.summary()
        if not all_of.samples:
            continue
        times = "".join(f"{1e3 * t:7.1f}ms" for t in (all_of.median, all_of.p99, all_of.maximum))
        print(f"{name:<36}{all_of.samples:>7}{times}  {all_of.p99 / relay.p99:5.1f} x relay's p99")
    slow = [name for name, histogram in figures.items() if histogram.summary().p99 >= LIMIT]
    print(f"p99 of 50 ms exceeded: {', '.join(slow)}" if slow else "every p99 below 50 ms")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
