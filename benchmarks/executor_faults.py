# SPDX-License-Identifier: Apache-2.0
"""Kills processes of the navigation stack in mid-mission: is anything lost, does the robot stop?

    python benchmarks/executor_faults.py [--missions 50] [--seed 0] [--speed 2] [--deadline 1.0]
                                         [--processes executor,safety_gate,simulation] [--json FILE]

The stack runs with its journal, restarts of processes, and the policy `resume`. During each mission
one process, drawn by chance, is killed (SIGKILL) at a random moment. An operator, played by this
program, chooses AUTONOMOUS again after each restart. Checked is

* that every mission that was accepted is in the journal at the end, and has ended
* that what the executor told to be FINISHED is so in the journal, and the other way round
* that the robot was at its goal when that was told
* that the robot stood within its deadline after the executor or the safety gate was killed: by
  odometry and in simulated time, it has the time that braking takes and ``--deadline`` before that
  (the base holds a command for 0.5 s; the gate waits 0.25 s of wall time for the executor)

Exit code 1 if one of these does not hold. Use a ROS domain of its own (ROS_DOMAIN_ID).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

from behavior_msgs.msg import (
    AutonomyLevel,
    LocalizationResult,
    MissionAction,
    MissionFeedback,
    MissionStep,
)
from behavior_msgs.srv import ListMissionRecords, SetAutonomyLevel
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from behavior_bringup.client import new_context
from behavior_bringup.stacks import stack as stacks
from behavior_bringup.stacks.session import bring_up
from behavior_bringup.stacks.stack import Stack, free_stack
from behavior_ros import QOS_COMMAND, QOS_EVENT_LOG, QOS_LATCHED, QOS_SENSOR, seconds

# Waypoints of the tile on which the robot starts, but not where it starts: a simulation that is
# restarted puts it there.
PLACES = ((8.5, 1.5), (15.0, 1.5), (2.0, 5.5), (8.5, 5.5), (15.0, 5.5))
CLOSE = 0.6
"""[m] from the goal at which a mission may count as done."""
STANDS = 0.02
"""[m/s]"""
DECELERATION = 1.0
"""[m/s2] of the robot; config/navigation/worlds/warehouse.yaml."""
ENDED = (MissionFeedback.FINISHED, MissionFeedback.FAILED, MissionFeedback.CANCELED)
FEARED = ("executor", "safety_gate")
"""Processes after whose end the robot has to stop; without the simulation there is none."""


@dataclass
class Followed:
    """What the executor told of one mission."""

    goal: tuple[float, float]
    states: set[int] = field(default_factory=set)
    distance: float = math.inf
    """[m] from the goal when it was told to be FINISHED, or in the second after: places and ends
    come on topics of their own."""
    finished_at: float = -math.inf
    """[s] wall time."""


class Watcher(Node):  # type: ignore[misc]
    """Gives missions, and keeps what it is told."""

    def __init__(self, context: Any) -> None:
        """Subscribe to everything that matters."""
        super().__init__("fault_watcher", context=context)
        self.followed: dict[str, Followed] = {}
        self.place = (math.nan, math.nan)
        self.speed = 0.0
        self.odometry_at = -math.inf
        """[s] simulated."""
        self._asked_at = -math.inf
        self.missions = self.create_publisher(MissionAction, "/mission/action", QOS_COMMAND)
        self.history = self.create_client(ListMissionRecords, "/mission/history")
        self._levels = self.create_client(SetAutonomyLevel, "/autonomy/set_level")
        subscribe = self.create_subscription
        subscribe(MissionFeedback, "/mission/feedback", self._on_feedback, QOS_EVENT_LOG)
        subscribe(LocalizationResult, "/localization/result", self._on_place, QOS_SENSOR)
        subscribe(Odometry, "/odom", self._on_odometry, QOS_SENSOR)
        subscribe(AutonomyLevel, "/autonomy/level", self._on_level, QOS_LATCHED)

    def ended(self, action_id: str) -> bool:
        """Whether the end of a mission was told."""
        return bool(self.followed[action_id].states & set(ENDED))

    def _on_feedback(self, message: MissionFeedback) -> None:
        followed = self.followed.get(message.action_id)
        if followed is None:
            return
        if message.state == MissionFeedback.FINISHED and message.state not in followed.states:
            followed.distance = math.dist(followed.goal, self.place)
            followed.finished_at = time.monotonic()
        followed.states.add(message.state)

    def _on_place(self, message: LocalizationResult) -> None:
        position = message.pose.pose.position
        self.place = (position.x, position.y)
        for followed in self.followed.values():
            if time.monotonic() - followed.finished_at < 1.0:
                followed.distance = min(followed.distance, math.dist(followed.goal, self.place))

    def _on_odometry(self, message: Odometry) -> None:
        twist = message.twist.twist
        self.speed = abs(twist.linear.x)
        self.odometry_at = seconds(message.header.stamp)

    def _on_level(self, message: AutonomyLevel) -> None:
        """Play the operator: let the autonomy drive."""
        now = time.monotonic()
        wanted = message.selected != AutonomyLevel.AUTONOMOUS
        if wanted and now - self._asked_at > 1.0 and self._levels.service_is_ready():
            self._asked_at = now
            self._levels.call_async(SetAutonomyLevel.Request(level=AutonomyLevel.AUTONOMOUS))


class Run:
    """The whole run."""

    def __init__(self, options: argparse.Namespace, watcher: Watcher, stack: Stack) -> None:
        """Take what there is."""
        self._options = options
        self._watcher = watcher
        self._stack = stack
        self._random = random.Random(options.seed)
        self._executor = SingleThreadedExecutor(context=watcher.context)
        self._executor.add_node(watcher)
        self.kills: Counter[str] = Counter()
        self.stops: list[tuple[str, float, float]] = []
        """Process; speed when it was killed; simulated seconds until the robot stood, but for the
        time that braking takes."""

    def wait(self, condition: Callable[[], object], seconds: float, what: str) -> None:
        """Work until the condition holds.

        Raises:
            TimeoutError: it does not within so many seconds.
        """
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"{what} did not come about within {seconds:g} s")
            self._executor.spin_once(timeout_sec=0.02)

    def mission(self, number: int) -> None:
        """Give one mission, kill something meanwhile, wait for its end."""
        watcher, chance = self._watcher, self._random
        action_id = f"fault_{number}"
        message = order(action_id, chance)
        last = message.steps[-1].goal if message.steps else message.goal
        goal = (last.pose.position.x, last.pose.position.y)
        watcher.followed[action_id] = Followed(goal)
        self.wait(watcher.missions.get_subscription_count, 60.0, "an executor")
        while not watcher.followed[action_id].states:
            # Nothing was promised until it answers; the executor refuses an identifier in use.
            watcher.missions.publish(message)
            self._try_until(lambda: watcher.followed[action_id].states, 3.0)
        self._try_until(lambda: watcher.ended(action_id), chance.uniform(0.0, 8.0))
        self._kill(chance.choice(self._options.processes))
        self.wait(lambda: watcher.ended(action_id), 180.0, f"the end of {action_id}")

    def records(self) -> dict[str, Any]:
        """What the journal holds."""
        answers: list[Any] = []
        end = time.monotonic() + 60.0
        while not answers:
            if time.monotonic() > end:
                raise TimeoutError("/mission/history did not answer within 60 s")
            # Asked again: what goes to an executor that has just come back may be lost, while the
            # middleware still finds it.
            future = self._watcher.history.call_async(ListMissionRecords.Request())
            future.add_done_callback(lambda done: answers.append(done.result()))
            self._try_until(lambda: answers, 3.0)
        return {record.action_id: record for record in answers[0].records}

    def close(self) -> None:
        """End."""
        self._executor.shutdown(timeout_sec=0.0)

    def _kill(self, process: str) -> None:
        watcher = self._watcher
        state = self._stack.state()
        assert state is not None
        pid = state.processes[process].pid
        with contextlib.suppress(ProcessLookupError):  # it may be starting again
            os.killpg(pid, signal.SIGKILL)
        # The newest odometry from before the signal, not one that has been waiting here.
        self._try_until(lambda: False, 0.03)
        speed, begin = watcher.speed, watcher.odometry_at
        self.kills[process] += 1
        if process not in FEARED or speed < STANDS:
            return
        stood = f"a stop after '{process}' was killed"
        self.wait(lambda: watcher.odometry_at > begin and watcher.speed < STANDS, 30.0, stood)
        took = watcher.odometry_at - begin - speed / DECELERATION
        self.stops.append((process, speed, max(0.0, took)))

    def _try_until(self, condition: Callable[[], object], seconds: float) -> None:
        try:
            self.wait(condition, seconds, "")
        except TimeoutError:
            return


def order(action_id: str, chance: random.Random) -> MissionAction:
    """A drive, or a sequence of two."""
    goals = [pose(*place) for place in chance.sample(PLACES, 2)]
    message = MissionAction(action_id=action_id, policy=MissionAction.POLICY_QUEUE)
    if chance.random() < 0.7:
        message.type, message.goal = MissionAction.NAVIGATE_TO_POSE, goals[0]
    else:
        message.type = MissionAction.SEQUENCE
        kind = MissionAction.NAVIGATE_TO_POSE
        message.steps = [MissionStep(type=kind, goal=goal) for goal in goals]
    return message


def pose(x: float, y: float) -> PoseStamped:
    """A place on the map."""
    message = PoseStamped()
    message.header.frame_id = "map"
    message.pose.position.x, message.pose.position.y = x, y
    return message


def judge(run: Run, watcher: Watcher, deadline: float) -> tuple[dict[str, Any], list[str]]:
    """Figures, and what does not hold."""
    records = run.records()
    problems = []
    interruptions = 0
    for action_id, followed in watcher.followed.items():
        record = records.get(action_id)
        if record is None:
            problems.append(f"{action_id} was accepted and is not in the journal")
            continue
        interruptions += record.interruptions
        if record.state not in ENDED:
            problems.append(f"{action_id} has not ended: state {record.state}")
        done = MissionFeedback.FINISHED in followed.states
        if done != (record.state == MissionFeedback.FINISHED):
            problems.append(
                f"{action_id} was told as {followed.states}, the journal: {record.state}"
            )
        if done and not followed.distance < CLOSE:
            problems.append(
                f"{action_id} was told to be done {followed.distance:.2f} m off its goal"
            )
    late = [(name, took) for name, _, took in run.stops if took > deadline]
    problems += [f"'{name}' killed: the robot braked {s:.2f} s late" for name, s in late]
    stops = sorted(took for _, _, took in run.stops)
    outcomes = Counter(records[a].state for a in watcher.followed if a in records)
    figures = {
        "missions": len(watcher.followed),
        "kills": dict(run.kills),
        "finished": outcomes[MissionFeedback.FINISHED],
        "failed": outcomes[MissionFeedback.FAILED],
        "interruptions": interruptions,
        "stops_measured": len(stops),
        "reaction_median_s": round(stops[len(stops) // 2], 3) if stops else None,
        "reaction_max_s": round(stops[-1], 3) if stops else None,
        "problems": problems,
    }
    return figures, problems


def main() -> int:
    """Run, print, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--missions", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--speed", type=float, default=2.0, help="of the simulation")
    parser.add_argument(
        "--deadline", type=float, default=1.0, help="[s] simulated, beside the time for braking"
    )
    parser.add_argument(
        "--processes",
        type=lambda text: text.split(","),
        default=["executor", "safety_gate", "simulation"],
        help="that may be killed",
    )
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    stack = free_stack("faults")
    arguments = {"speed": options.speed, "restart": "resume", "headless": True}
    try:
        bring_up(stack, world="navigation", arguments=arguments, respawn=True, attached=True)
        watcher = Watcher(new_context())
        run = Run(options, watcher, stack)
        broken = ""
        try:
            for number in range(options.missions):
                run.mission(number)
                print(f"{number + 1} missions, killed {dict(run.kills)}", flush=True)
        except TimeoutError as error:
            broken = str(error)
        figures, problems = judge(run, watcher, options.deadline)
        run.close()
    finally:
        stacks.stop(stack)
    if broken:
        problems.append(broken)
    text = json.dumps(figures, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
