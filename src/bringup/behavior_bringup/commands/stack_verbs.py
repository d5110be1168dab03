# SPDX-License-Identifier: Apache-2.0
"""What the verbs do that bring stacks up and down and look at them. Only `reload` imports ROS."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from behavior_bringup.errors import BringupError
from behavior_bringup.jobs.judges import mission_of_world
from behavior_bringup.offers import world_or_default
from behavior_bringup.stacks import stack as stacks
from behavior_bringup.stacks.connection import EXECUTOR, enter
from behavior_bringup.stacks.description import Scalar, load_stack, stack_file
from behavior_bringup.stacks.log_files import Tail
from behavior_bringup.stacks.paths import journal_file
from behavior_bringup.stacks.stack import Stack, how_it_ended, not_up
from behavior_bringup.stacks.state import DEFAULT_STACK, StackState, known_stacks
from behavior_bringup.stacks.watching import console_line, watching_lines
from behavior_bringup.terminal import print_json, say, sentence, show_table


def up(options: argparse.Namespace) -> int:
    """Bring a stack up and wait until it can be used."""
    from behavior_bringup.stacks.session import bring_up

    options.world = world_or_default(options.world)
    stack = Stack(options.stack)
    arguments: dict[str, Scalar] = {
        "world": options.world,
        "speed": options.speed,
        "seed": options.seed,
        "headless": options.headless,
    }
    if options.console:  # not every stack has one
        arguments["console"] = True
    if options.port is not None:
        arguments["console_port"] = options.port
    if options.cameras:  # not every stack has them
        arguments["cameras"] = True
    description = load_stack(stack_file(options.world))
    if "journal" in description.arguments:
        arguments["journal"] = str(journal_file(stack.name, options.world))
    arguments.update(options.arguments)
    begin = time.monotonic()
    bring_up(
        stack,
        world=options.world,
        arguments=arguments,
        namespace=options.namespace,
        respawn=options.respawn,
        attached=options.foreground,
    )
    state = stack.state()
    if state is None:
        raise BringupError(f"The stack went down; its logs are in {stack.folder}")
    say(
        f"The stack of '{state.world}' is up after {time.monotonic() - begin:.1f} s:"
        f" {', '.join(state.processes)}; {where(state)}, logs in {state.log_dir}",
    )
    for line in watching_lines(stack, state):
        say(line)
    if options.foreground:
        return _foreground(stack, state)
    job = mission_of_world(options.world) or "NAME"
    name = "" if stack.name == DEFAULT_STACK else f" --name {stack.name}"
    say(f"Next: 'behavior mission run {job}{name}'. 'behavior down{name}' stops it.")
    return 0


def down(options: argparse.Namespace) -> int:
    """Stop the stack: asks its processes, insists, and at last kills them."""
    running = known_stacks()
    names = running if options.all else [options.stack]
    stopped = [name for name in names if stacks.stop(Stack(name))]
    others = [name for name in running if name not in names]
    hint = f"; up are {', '.join(others)}: choose one with --name" if others else ""
    say(f"Stopped: {', '.join(stopped)}" if stopped else f"Nothing was up{hint}")
    return 0


def status(options: argparse.Namespace) -> int:
    """Say which stacks are up, with their processes."""
    names = [name for name in known_stacks() if options.stack in (None, name)]
    states = {name: Stack(name).state() for name in names}
    found = {
        name: state
        for name, state in states.items()
        if state is not None and options.namespace in ("", state.namespace)
    }
    if options.json:
        print_json({name: asdict(state) for name, state in found.items()})
        return 0
    if not found:
        say(not_up(options.stack or ""))
    for name, state in found.items():
        say(f"Stack '{name}': world {state.world}, {where(state)}, logs in {state.log_dir}")
        if "console" in state.processes and (line := console_line(state)):
            say(line)
        show_table(("process", "pid", "state", "restarts"), _process_rows(state))
    return 0


def kill(options: argparse.Namespace) -> int:
    """Kill one process of the running stack with SIGKILL, to see how the others cope."""
    pid = stacks.kill(Stack(options.stack), options.process)
    say(f"Killed '{options.process}' (process {pid})")
    return 0


def reload_trees(options: argparse.Namespace) -> int:
    """Read the executor's nodes file again and try all trees; refused while a mission runs."""
    enter(options.stack, EXECUTOR)
    from std_srvs.srv import Trigger

    from behavior_bringup.client import StackClient

    with StackClient(options.namespace) as client:
        answer = client.call(Trigger, "behavior/reload", Trigger.Request(), timeout=30.0)
    if not answer.success:
        raise BringupError(sentence(answer.message))
    say(sentence(answer.message))
    return 0


def where(state: StackState) -> str:
    """The ROS domain of a stack, and the namespace if it has one."""
    namespace = f", namespace {state.namespace}" if state.namespace else ""
    return f"ROS domain {state.domain}{namespace}"


def _foreground(stack: Stack, state: StackState) -> int:
    """Show the processes' output until Ctrl-C or until the stack goes down."""
    say("Ctrl-C stops it.")
    files = {name: Tail(Path(state.log_dir) / f"{name}.log") for name in state.processes}
    try:
        while stack.is_up:
            for name, tail in files.items():
                for line in tail.new_lines():
                    say(f"[{name}] {line}")
            time.sleep(0.1)
        raise BringupError(f"The stack went down; its logs are in {state.log_dir}")
    except KeyboardInterrupt:
        say("Stopping ...")
        return 0
    finally:
        stacks.stop(stack)


def _process_rows(state: StackState) -> Iterator[tuple[str, ...]]:
    for name, process in state.processes.items():
        condition = "running" if process.running else how_it_ended(process.exit_code)
        yield name, str(process.pid), condition, str(process.restarts)
