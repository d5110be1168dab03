# SPDX-License-Identifier: Apache-2.0
"""The verbs that bring stacks up and down and look at them: what they take."""

from __future__ import annotations

import argparse
from typing import Any

from behavior_bringup.arguments import argument_types, completion
from behavior_bringup.arguments.options import (
    add_cameras,
    add_console,
    add_json,
    add_seed,
    add_speed,
    add_stack,
    add_verb,
    add_world,
)
from behavior_bringup.commands import stack_verbs
from behavior_bringup.stacks.log_files import logs


def add_stack_verbs(subparsers: Any) -> None:
    """Add them to the command's subparsers."""
    _add_up(subparsers)
    down = _verb(subparsers, "down", "stop a stack and all that belongs to it", stack_verbs.down)
    down.add_argument("--all", action="store_true", help="all stacks, also those of demonstrations")
    status = _verb(subparsers, "status", "say what is up", stack_verbs.status)
    status.set_defaults(stack=None, or_launched=None)  # all, unless one is named
    add_json(status)
    text = "show what the processes wrote, also of a stack that is down"
    show = _verb(subparsers, "logs", text, logs)
    _add_process(show, nargs="?", help_="only this one's")
    show.add_argument("-f", "--follow", action="store_true", help="go on until Ctrl-C")
    show.add_argument(
        "-n",
        "--lines",
        type=argument_types.count,
        default=20,
        metavar="N",
        help="last lines of each process (20)",
    )
    reload = _verb(subparsers, "reload", "read nodes and trees again", stack_verbs.reload_trees)
    reload.set_defaults(or_launched=True)
    kill = _verb(subparsers, "kill", "kill one process, as a fault test", stack_verbs.kill)
    _add_process(kill, help_="its name as 'behavior status' prints it")


def _verb(subparsers: Any, name: str, text: str, run: Any) -> argparse.ArgumentParser:
    parser = add_verb(subparsers, name, text, run)
    add_stack(parser)
    return parser


def _add_process(parser: argparse.ArgumentParser, *, help_: str, **how: Any) -> None:
    process = parser.add_argument("process", help=help_, **how)
    completion.offer(process, completion.process_names)


def _add_up(subparsers: Any) -> None:
    up = _verb(subparsers, "up", "bring a stack up", stack_verbs.up)
    add_world(up, "which world (the packages' default)")
    up.add_argument(
        "arguments",
        nargs="*",
        type=argument_types.assignment,
        metavar="NAME:=VALUE",
        help="further arguments of the stack, see the head of its file in config/stacks",
    )
    screen = up.add_mutually_exclusive_group()
    add_console(screen)
    screen.add_argument("--headless", action="store_true", help="open no window at all")
    up.add_argument(
        "--port",
        type=argument_types.port,
        metavar="N",
        help="port of the console (8090, or the next free one)",
    )
    add_speed(up, default=1.0)
    add_seed(up)
    add_cameras(up)
    up.add_argument("--respawn", action="store_true", help="restart processes that end")
    where = up.add_mutually_exclusive_group()
    where.add_argument(
        "--foreground", action="store_true", help="show the output, stop with Ctrl-C"
    )
    where.add_argument("--detach", action="store_true", help="in the background (the default)")
