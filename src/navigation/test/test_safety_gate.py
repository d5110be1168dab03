# SPDX-License-Identifier: Apache-2.0
"""The safety gate with real topics: each cause stops the base, and what was in order drives again.

Nothing here depends on how fast this machine is; benchmarks/safety_gate.py measures reactions.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import rclpy
from behavior_msgs.msg import (
    AutonomyLevel,
    LocalizationResult,
    Metrics,
    PlannerOperationMode,
    SafetyStatus,
)
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from navigation_rig import World
from rclpy.parameter import Parameter
from std_msgs.msg import Empty

from behavior_navigation.rules.state import Level
from behavior_navigation.safety_gate import SafetyGate
from behavior_ros import QOS_COMMAND, QOS_EVENT_LOG, QOS_LATCHED, QOS_SENSOR
from behavior_ros.testing import Spinner, own_domain, until

NAV, STICKS = "/cmd_vel_nav", "/cmd_vel_teleop"
PATIENT = {
    "deadman_switch_timeout_s": 30.0,
    "executor_timeout_s": 10.0,
    "command_timeout_s": 10.0,
    "localization_result.max_timeout": 30.0,
}
"""Nothing times out by itself, however slow the machine."""


def twist(speed: float) -> Twist:
    message = Twist()
    message.linear.x = speed
    return message


class Everything:
    """All that the gate listens to, said by hand."""

    def __init__(self, world: World) -> None:
        self.world = world

    def level(self, level: Level, effective: Level | None = None) -> None:
        message = AutonomyLevel(selected=int(level), effective=int(effective or level))
        self.world.say("/autonomy/level", message, QOS_LATCHED)

    def halted(self, level: Level) -> None:
        message = AutonomyLevel(selected=int(level), effective=AutonomyLevel.HALTED)
        self.world.say("/autonomy/level", message, QOS_LATCHED)

    def mode(self, mode: int = PlannerOperationMode.NOMINAL) -> None:
        message = PlannerOperationMode(mode=mode, reason="as told")
        self.world.say("/planner_operation_mode", message, QOS_LATCHED)

    def localization(self, status: int = LocalizationResult.GOOD, age: float = 0.0) -> None:
        message = LocalizationResult(status=status, score=0.8)
        message.header.stamp = (
            self.world.get_clock().now() - rclpy.duration.Duration(seconds=age)
        ).to_msg()
        self.world.say("/localization/result", message)

    def heartbeat(self) -> None:
        self.world.say("/deadman/heartbeat", Empty(), QOS_SENSOR)

    def odometry(self, speed: float) -> None:
        message = Odometry()
        message.twist.twist.linear.x = speed
        self.world.say("/odom", message, QOS_SENSOR)

    def in_order(self, level: Level = Level.AUTONOMOUS) -> None:
        self.heartbeat()
        self.level(level)
        self.localization()
        self.mode()


class Gate:
    """The gate and its world in one thread."""

    def __init__(self, spinner: Spinner, **parameters: object) -> None:
        values = PATIENT | parameters
        self.node = SafetyGate(
            parameter_overrides=[Parameter(name, value=value) for name, value in values.items()]
        )
        self.world = World()
        stamped = parameters.get("velocity_message") == "twist_stamped"
        self.commands = self.world.hear(TwistStamped if stamped else Twist, "/cmd_vel", QOS_COMMAND)
        self.statuses = self.world.hear(SafetyStatus, "/safety/status")
        self.say = Everything(self.world)
        spinner.start(self.node, self.world)

    def command(self, topic: str, speed: float) -> None:
        self.world.say(topic, twist(speed), QOS_SENSOR)

    def drives(self, topic: str = NAV, speed: float = 0.5) -> None:
        """Command until it passes."""

        def passes() -> bool:
            self.command(topic, speed)
            return bool(self.commands) and self.commands[-1].linear.x == speed

        until(passes, 90.0, f"{topic} to pass")

    def stops(self, words: str = "") -> SafetyStatus:
        until(lambda: self.commands and self.commands[-1].linear.x == 0.0, 90.0, "a stop")

        def told() -> bool:
            return bool(self.statuses) and words in "; ".join(self.statuses[-1].reasons)

        until(told, 90.0, f"the reason '{words}'")
        return self.statuses[-1]


@contextmanager
def gate(**parameters: object) -> Iterator[Gate]:
    os.environ["ROS_DOMAIN_ID"] = str(own_domain())
    rclpy.init()
    spinner = Spinner()
    try:
        yield Gate(spinner, **parameters)
    finally:
        spinner.stop()
        rclpy.try_shutdown()


def test_nothing_passes_until_everything_is_known() -> None:
    with gate() as g:
        g.command(NAV, 0.5)
        g.command(STICKS, 0.5)
        status = g.stops("never pressed")
        assert not status.moving_allowed
        assert status.source == Level.HALTED
        assert status.reaction_time == -1.0
        for say, words in (
            (g.say.heartbeat, "sign of life"),
            (g.say.mode, "who moves the robot"),
            (lambda: g.say.level(Level.AUTONOMOUS), "localization"),
        ):
            say()
            g.stops(words)
        g.say.localization()
        g.drives()
        assert g.statuses[-1].moving_allowed
        assert g.statuses[-1].source == Level.AUTONOMOUS


def follow_the_toggle(g: Gate) -> None:
    g.say.level(Level.MANUAL)
    until(lambda: g.statuses[-1].source == Level.MANUAL, 90.0, "the executor's answer")
    g.say.level(Level.AUTONOMOUS)


CAUSES: dict[str, tuple[Callable[[Gate], None], Callable[[Gate], None]]] = {
    "localizer doubts": (
        lambda g: g.say.localization(LocalizationResult.BAD),
        lambda g: g.say.localization(),
    ),
    "the planner idles: as told": (
        lambda g: g.say.mode(PlannerOperationMode.IDLE),
        lambda g: g.say.mode(),
    ),
    "the executor halts": (
        lambda g: g.say.halted(Level.AUTONOMOUS),
        lambda g: g.say.level(Level.AUTONOMOUS),
    ),
    "toggled": (
        lambda g: g.world.say("/autonomy/toggle", Empty()),
        follow_the_toggle,
    ),
}


@pytest.mark.parametrize("words", CAUSES)
def test_each_cause_stops_the_autonomy_and_its_end_lets_it_drive(words: str) -> None:
    with gate() as g:
        stop, mend = CAUSES[words]
        g.say.in_order()
        g.drives()
        stop(g)
        status = g.stops(words)
        assert not status.moving_allowed
        assert 0.0 <= status.reaction_time < 20.0
        g.command(NAV, 0.5)
        mend(g)
        g.drives()
        assert g.node.stops == 1


def test_manual_and_the_change_between_both() -> None:
    with gate() as g:
        g.say.in_order()
        g.drives(NAV)
        g.say.level(Level.MANUAL)
        g.stops()
        since = len(g.commands)
        g.drives(STICKS, 0.25)
        g.command(NAV, 0.5)
        g.say.localization(LocalizationResult.BAD)
        g.drives(STICKS, 0.3)
        assert 0.5 not in [m.linear.x for m in g.commands[since:]]
        g.say.localization()
        g.say.level(Level.AUTONOMOUS)
        g.drives(STICKS, 0.2)
        until(lambda: g.statuses[-1].source == Level.TELEOPERATION, 90.0, "override")
        g.drives(NAV, 0.5)
        assert g.statuses[-1].source == Level.AUTONOMOUS


def test_a_released_switch_stops_the_sticks_too() -> None:
    with gate() as g:
        g.say.in_order(Level.MANUAL)
        g.drives(STICKS)

        def lost_and_latched() -> bool:
            """Not if this process was blocked meanwhile: then it cannot tell that it was lost."""
            g.node.set_parameters([Parameter("deadman_switch_timeout_s", value=0.3)])
            g.stops("not held")
            g.node.set_parameters([Parameter("deadman_switch_timeout_s", value=30.0)])
            g.say.heartbeat()
            until(lambda: "not held" not in "".join(g.statuses[-1].reasons), 90.0, "the heartbeat")
            return "release it" in "".join(g.statuses[-1].reasons)

        until(lost_and_latched, 60.0, "the latch")
        g.command(STICKS, 0.5)
        g.stops("release it")


@pytest.mark.parametrize(
    ("silenced", "words"),
    [
        ("mode", "no sign of life from the executor"),
        ("command", "no command from AUTONOMOUS"),
        ("localization", "no localization result for"),
    ],
)
def test_silence_stops(silenced: str, words: str) -> None:
    short = {"executor_timeout_s": 0.3, "command_timeout_s": 0.3}
    with gate(**short, **{"localization_result.max_timeout": 0.3}) as g:
        g.say.in_order()
        g.command(NAV, 0.5)
        feeders = {
            "mode": g.world.create_timer(0.02, g.say.mode),
            "command": g.world.create_timer(0.02, lambda: g.command(NAV, 0.5)),
            "localization": g.world.create_timer(0.02, g.say.localization),
        }
        until(lambda: g.commands and g.commands[-1].linear.x == 0.5, 90.0, "drive")
        feeders[silenced].cancel()
        g.stops(words)
        status = g.statuses[-1]
        assert status.moving_allowed == (silenced == "command")


def test_results_that_arrive_old_or_late_do_not_count() -> None:
    with gate() as g:
        g.say.in_order()
        g.drives()
        g.say.localization(LocalizationResult.BAD, age=5.0)
        g.drives()
        assert g.node.stops == 0
        g.say.localization(age=40.0)
        g.drives()
    with gate() as g:
        g.say.heartbeat()
        g.say.level(Level.AUTONOMOUS)
        g.say.mode()
        g.say.localization(age=40.0)
        g.command(NAV, 0.5)
        g.stops("no localization result for 4")


def test_commands_that_are_no_numbers_stop() -> None:
    with gate() as g:
        g.say.in_order()
        g.drives()
        g.command(NAV, float("nan"))
        g.stops()
        g.drives()


def test_a_stop_is_repeated_until_the_base_stands() -> None:
    with gate() as g:
        g.say.in_order()
        g.drives()
        g.say.odometry(0.4)
        g.say.mode(PlannerOperationMode.IDLE)
        g.stops()
        before = len(g.commands)
        until(lambda: len(g.commands) > before + 3, 90.0, "repetitions without odometry")

        def silent() -> bool:
            g.say.odometry(0.0)
            seen = len(g.commands)
            time.sleep(0.05)
            g.say.odometry(0.0)
            return len(g.commands) == seen

        until(silent, 90.0, "silence once the base stands")

        def repeated() -> bool:
            seen = len(g.commands)
            g.say.odometry(0.4)
            time.sleep(0.05)
            return len(g.commands) > seen

        until(repeated, 90.0, "repetitions when it rolls again")


def test_stamped_commands_and_no_localization() -> None:
    parameters = {
        "velocity_message": "twist_stamped",
        "localization_result.rx_message": "",
        "deadman_switch_timeout_s": 0.0,
    }
    with gate(**parameters) as g:
        g.say.level(Level.AUTONOMOUS)
        g.say.mode()

        def passes() -> bool:
            g.command(NAV, 0.5)
            return bool(g.commands) and g.commands[-1].twist.linear.x == 0.5

        until(passes, 90.0, "pass")
        assert g.commands[-1].header.frame_id == "base_link"
        assert g.commands[-1].header.stamp.sec > 0


def test_stops_are_measured_and_told() -> None:
    with gate() as g:
        metrics = g.world.hear(Metrics, "/behavior/metrics", QOS_EVENT_LOG)
        g.say.in_order()
        g.drives()
        g.say.mode(PlannerOperationMode.IDLE)
        g.stops()

        def figures() -> dict:
            return {m.name: m for m in metrics[-1].metrics} if metrics else {}

        until(lambda: figures() and figures()["stops"].value == 1.0, 90.0, "metrics")
        assert figures()["reaction_time"].samples == 1
        assert metrics[-1].component == "safety_gate"


def test_the_process_starts_and_stops_cleanly() -> None:
    domain = str(own_domain())
    process = subprocess.Popen(
        [sys.executable, "-m", "behavior_navigation.safety_gate"],
        env=os.environ | {"ROS_DOMAIN_ID": domain},
    )
    os.environ["ROS_DOMAIN_ID"] = domain
    rclpy.init()
    spinner = Spinner()
    try:
        world = World()
        statuses = world.hear(SafetyStatus, "/safety/status")
        spinner.start(world)
        until(lambda: statuses, 30.0, "status")
        assert not statuses[-1].moving_allowed
        process.send_signal(signal.SIGINT)
        assert process.wait(240.0) == 0
    finally:
        process.kill()
        process.wait(10.0)
        spinner.stop()
        rclpy.try_shutdown()


def test_it_stops_for_every_cause_while_the_tree_is_stuck() -> None:
    """The benchmark, briefly: that the base is stopped at all; how fast is measured there."""
    root = Path(__file__).parents[3]
    ended = subprocess.run(
        [sys.executable, "benchmarks/safety_gate.py", "--trials", "5", "--kills", "1"],
        cwd=root,
        env=os.environ | {"ROS_DOMAIN_ID": str(own_domain())},
        capture_output=True,
        text=True,
        timeout=250.0,
        check=False,
    )
    assert "all causes, tree stuck" in ended.stdout, ended.stderr
    for cause in (
        *("deadman released", "deadman silent", "localization bad", "localization silent"),
        *("autonomy toggled", "executor killed"),
    ):
        assert re.search(rf"^{cause} +1 ", ended.stdout, re.MULTILINE), ended.stdout
    print(ended.stdout)
