# SPDX-License-Identifier: Apache-2.0
"""What each verb of the command does. ROS is imported only by those that need it."""

from __future__ import annotations

import argparse
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.table import Table

from behavior_bringup import stack as stacks
from behavior_bringup.description import Scalar, load_stack, stack_file
from behavior_bringup.environment import enter_domain
from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.mission_steps import Place, Step, read_steps
from behavior_bringup.missions import known_missions, mission_named
from behavior_bringup.navigation.disturbing import fields_of
from behavior_bringup.stack import Stack, free_stack, how_it_ended
from behavior_bringup.state import StackState, known_stacks

NAVIGATION = "navigation"
"""Name of the tour through the navigation world, which is no mission of the catalogue."""

if TYPE_CHECKING:
    from behavior_executor.client import MissionClient


def up(options: argparse.Namespace) -> int:
    """Bring a stack up and wait until it can be used."""
    from behavior_bringup.session import bring_up
    from behavior_bringup.watching import watching_lines

    console = Console()
    stack = Stack()
    arguments: dict[str, Scalar] = {
        "world": options.world,
        "speed": options.speed,
        "seed": options.seed,
        "viewer": options.viewer,
        "headless": options.headless,
        "viewer_port": options.port,
    }
    if options.cameras:  # not every stack has them
        arguments["cameras"] = True
    arguments.update(options.arguments)
    if options.viewer:
        if "viewer" not in load_stack(stack_file(options.world)).processes:
            raise UsageError(f"The stack of '{options.world}' has no viewer: leave --viewer away")
        _check_port(options.port)
    begin = time.monotonic()
    bring_up(
        stack,
        world=options.world,
        arguments=arguments,
        respawn=options.respawn,
        attached=options.foreground,
    )
    state = stack.state()
    if state is None:
        raise BringupError(f"The stack went down; its logs are in {stack.folder}")
    _say(
        console,
        f"The stack of '{state.world}' is up after {time.monotonic() - begin:.1f} s:"
        f" {', '.join(state.processes)}; ROS domain {state.domain}, logs in {state.log_dir}",
    )
    for line in watching_lines(stack, state):
        _say(console, line)
    if options.foreground:
        return _foreground(stack, state, console)
    jobs = [name for name in known_missions() if mission_named(name).world == options.world]
    job = jobs[0] if jobs else "NAME"
    _say(console, f"Next: 'behavior mission run {job}'. 'behavior down' stops it.")
    return 0


def down(options: argparse.Namespace) -> int:
    """Stop the stack: asks its processes, insists, and at last kills them."""
    console = Console()
    running = known_stacks()
    names = running if options.all else ["default"]
    stopped = [name for name in names if stacks.stop(Stack(name))]
    _say(console, f"Stopped: {', '.join(stopped)}" if stopped else "Nothing was up")
    return 0


def status(options: argparse.Namespace) -> int:
    """Say which stacks are up, with their processes."""
    from behavior_bringup.watching import known_viewer

    states = {name: Stack(name).state() for name in known_stacks()}
    found = {name: state for name, state in states.items() if state is not None}
    if options.json:
        print(json.dumps({name: asdict(state) for name, state in found.items()}, indent=2))
        return 0
    console = Console()
    if not found:
        _say(console, "No stack is up: 'behavior up' starts one")
    for name, state in found.items():
        _say(
            console,
            f"Stack '{name}': world {state.world}, ROS domain {state.domain},"
            f" logs in {state.log_dir}",
        )
        if address := known_viewer(state):
            _say(console, f"Viewer: {address}")
        console.print(_process_table(state))
    return 0


def kill(options: argparse.Namespace) -> int:
    """Kill one process of the running stack with SIGKILL, to see how the others cope."""
    pid = stacks.kill(Stack(), options.process)
    _say(Console(), f"Killed '{options.process}' (process {pid})")
    return 0


def mission_run(options: argparse.Namespace) -> int:
    """Run a mission on the stack that is up, and show it until it ends. Ctrl-C cancels it."""
    return _run_steps([Step(run=options.name, parameters=dict(options.param))], options.timeout)


def mission_navigate(options: argparse.Namespace) -> int:
    """Drive to a pose, and show it until it ends. Ctrl-C cancels it."""
    place = Place(x=options.x, y=options.y, yaw=options.yaw, frame=options.frame)
    return _run_steps([Step(navigate=place)], options.timeout)


def mission_route(options: argparse.Namespace) -> int:
    """Drive along given points, and show it until it ends. Ctrl-C cancels it."""
    return _run_steps([Step(route=tuple(options.points), frame=options.frame)], options.timeout)


def mission_load_map(options: argparse.Namespace) -> int:
    """Load a map or a tile of one."""
    return _run_steps([Step(load_map=options.map)], options.timeout)


def mission_sequence(options: argparse.Namespace) -> int:
    """Do the steps of a file, one after the other, as one mission. Ctrl-C cancels it."""
    return _run_steps(read_steps(options.file), options.timeout)


def _run_steps(steps: list[Step], timeout: float | None) -> int:
    from behavior_bringup.conversion import progress_of, sequence_action
    from behavior_bringup.progress import ProgressDisplay

    console = Console()
    begin = time.monotonic()
    mission = sequence_action(steps)
    title = mission.name or "mission"
    with _mission_client() as client, ProgressDisplay(console) as display:
        outcome = client.execute(
            mission,
            on_feedback=lambda feedback: display.update(
                progress_of(feedback, summary="", wall=time.monotonic() - begin)
            ),
            timeout=timeout,
        )
    word = "done" if outcome.succeeded else f"failed with code {outcome.code}"
    _say(console, f"{title}: {word} after {outcome.duration:.1f} s. {outcome.message}")
    return 0 if outcome.succeeded else 1


def mission_control(options: argparse.Namespace) -> int:
    """Pause, resume or cancel a mission; without an identifier the one that runs."""
    from behavior_bringup.conversion import control_action

    with _mission_client() as client:
        outcome = client.execute(control_action(options.kind, options.action_id))
    if not outcome.succeeded:
        raise BringupError(f"{outcome.message[:1].upper()}{outcome.message[1:]}")
    _say(Console(), f"{outcome.message[:1].upper()}{outcome.message[1:]}")
    return 0


def mission_history(options: argparse.Namespace) -> int:
    """List what the executor's journal holds, the newest first."""
    from behavior_bringup.conversion import state_name

    with _mission_client() as client:
        records = client.history(unfinished_only=options.unfinished, limit=options.limit)
    table = Table("action_id", "mission", "state", "steps", "interruptions", "why")
    for record in records:
        table.add_row(
            record.action_id,
            record.name,
            state_name(record.state),
            str(record.steps_done),
            str(record.interruptions),
            record.text,
        )
    Console().print(table)
    return 0


def mission_list(options: argparse.Namespace) -> int:
    """List the missions that the executor can run."""
    with _mission_client() as client:
        missions = client.list()
    table = Table("mission", "what it does")
    for mission in missions:
        table.add_row(mission.name, mission.description)
    Console().print(table)
    return 0


def disturb(options: argparse.Namespace) -> int:
    """Move an object of the simulated world, out of the gripper too, push it, or take it away."""
    from behavior_bringup.client import StackClient

    state = Stack().state()
    enter_domain(state.domain if state else None)
    with StackClient() as client:
        if options.push:
            client.push(options.object, options.push)
            _say(Console(), f"Pushed '{options.object}'")
            return 0
        client.displace(options.object, options.to)
    where = f"to {', '.join(f'{value:g}' for value in options.to)} m" if options.to else "away"
    _say(Console(), f"Put '{options.object}' {where}")
    return 0


def disturb_navigation(options: argparse.Namespace) -> int:
    """Block a way, lose the robot, move a goal, let planners or map loads fail, add people."""
    from behavior_msgs.srv import DisturbNavigation

    from behavior_bringup.client import StackClient
    from behavior_sim.navigation.messages import pose_message
    from behavior_sim.navigation.poses import Pose

    fields = fields_of(options)
    request = DisturbNavigation.Request(pose=pose_message(Pose(*fields.pop("place"))), **fields)
    state = Stack().state()
    enter_domain(state.domain if state else None)
    with StackClient() as client:
        answer = client.call(DisturbNavigation, "/simulation/disturb_navigation", request)
    if answer.code != 0:
        raise BringupError(f"{answer.message[:1].upper()}{answer.message[1:]}")
    _say(Console(), f"{answer.message[:1].upper()}{answer.message[1:]}")
    return 0


def demo(options: argparse.Namespace) -> int:
    """Bring a stack up, run a mission with live progress, judge it by the truth, and draw it."""
    if options.name == NAVIGATION:
        return _demo_navigation(options)
    mission = mission_named(options.name)
    from behavior_bringup.demo import DemoOptions, run_demo

    choice = DemoOptions(
        speed=options.speed,
        seed=options.seed,
        cameras=options.cameras,
        viewer=options.viewer,
        out=options.out,
    )
    return 0 if run_demo(mission, choice, Console()) else 1


def _demo_navigation(options: argparse.Namespace) -> int:
    from behavior_bringup.navigation.demo import TourOptions, run_navigation_demo

    if options.viewer:
        raise UsageError(f"The stack of '{NAVIGATION}' has no viewer: leave --viewer away")
    choice = TourOptions(speed=options.speed, seed=options.seed, out=options.out)
    return 0 if run_navigation_demo(choice, Console()) else 1


def evaluate(options: argparse.Namespace) -> int:
    """Run a mission from many seeded start states and print how often it succeeds.

    Every episode resets the world; with --disturb something happens meanwhile that makes the job
    harder: things are moved or taken away, a door is pushed shut.
    """
    if options.json and options.json.is_dir():
        raise BringupError(f"--json needs a file, but {options.json} is a folder")
    if options.name == NAVIGATION:
        return _evaluate_navigation(options)
    mission = mission_named(options.name)
    from behavior_bringup import evaluation
    from behavior_bringup.session import temporary_stack

    console = Console()
    stack = free_stack("evaluate")
    arguments: dict[str, Scalar] = {
        "world": mission.world,
        "speed": options.speed,
        "seed": options.seed,
        "headless": True,
        "cameras": options.cameras,
    }
    with temporary_stack(stack, world=mission.world, arguments=arguments, respawn=True) as (
        client,
        ready,
    ):
        _say(console, f"The stack is up in ROS domain {client.domain}")
        report = evaluation.evaluate(
            client,
            stack,
            ready,
            mission,
            episodes=options.episodes,
            seed=options.seed,
            disturb=options.disturb,
            on_record=lambda record: _say(console, evaluation.record_line(record)),
        )
    evaluation.print_report(report, console)
    if options.json:
        report.write(options.json)
    return 0


def _evaluate_navigation(options: argparse.Namespace) -> int:
    from behavior_bringup import evaluation
    from behavior_bringup.navigation.demo import STACK, WORLD
    from behavior_bringup.navigation.evaluation import evaluate_navigation
    from behavior_bringup.session import temporary_stack
    from behavior_sim.navigation.config import load_navigation_world
    from behavior_sim.resources import find_navigation_world

    console = Console()
    stack = free_stack("evaluate")
    arguments: dict[str, Scalar] = {"speed": options.speed, "seed": options.seed}
    with temporary_stack(stack, world=STACK, arguments=arguments, respawn=True) as (client, ready):
        _say(console, f"The stack is up in ROS domain {client.domain}")
        report = evaluate_navigation(
            client,
            stack,
            ready,
            load_navigation_world(find_navigation_world(WORLD)),
            episodes=options.episodes,
            seed=options.seed,
            disturb=options.disturb,
            on_record=lambda record: _say(console, evaluation.record_line(record)),
        )
    evaluation.print_report(report, console)
    if options.json:
        report.write(options.json)
    return 0


def _check_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise BringupError(
                f"The viewer's port {port} is taken: choose another one with --port"
            ) from error


def _foreground(stack: Stack, state: StackState, console: Console) -> int:
    """Show the processes' output until Ctrl-C or until the stack goes down."""
    _say(console, "Ctrl-C stops it.")
    files = {name: _Tail(Path(state.log_dir) / f"{name}.log") for name in state.processes}
    try:
        while stack.is_up:
            for name, tail in files.items():
                for line in tail.new_lines():
                    _say(console, f"[{name}] {line}")
            time.sleep(0.1)
        raise BringupError(f"The stack went down; its logs are in {state.log_dir}")
    except KeyboardInterrupt:
        _say(console, "Stopping ...")
        return 0
    finally:
        stacks.stop(stack)


class _Tail:
    """Reads what is appended to a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._stream: TextIO | None = None
        self._rest = ""

    def new_lines(self) -> list[str]:
        """Complete lines that were added since the last call."""
        if self._stream is None:
            if not self._file.exists():
                return []
            self._stream = self._file.open(encoding="utf-8", errors="replace")
        *lines, self._rest = (self._rest + self._stream.read()).split("\n")
        return lines


def _process_table(state: StackState) -> Table:
    table = Table("process", "pid", "state", "restarts")
    for name, process in state.processes.items():
        condition = "running" if process.running else how_it_ended(process.exit_code)
        table.add_row(name, str(process.pid), condition, str(process.restarts))
    return table


@contextmanager
def _mission_client() -> Iterator[MissionClient]:
    """A client in the domain of the stack that is up, else in the one of the environment."""
    import rclpy

    from behavior_bringup.client import new_context
    from behavior_executor.client import MissionClient, MissionClientError

    state = Stack().state()
    enter_domain(state.domain if state else None)
    context = new_context()
    try:
        with MissionClient(node_name=f"behavior_command_{os.getpid()}", context=context) as client:
            yield client
    except MissionClientError as error:
        text = str(error)
        raise BringupError(f"{text[:1].upper()}{text[1:]}") from error
    finally:
        rclpy.shutdown(context=context)


def _say(console: Console, text: str) -> None:
    console.print(text, highlight=False, markup=False, soft_wrap=True)
