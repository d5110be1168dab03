# SPDX-License-Identifier: Apache-2.0
"""What `launching` asks for, answered in the Python of our nodes.

Request and answer are JSON on the standard input and output; an error is a sentence.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from behavior_bringup.errors import BringupError
from behavior_bringup.offers import world_or_default
from behavior_bringup.security.policy import enclave_arguments
from behavior_bringup.stacks.description import Process, load_stack, resolve, stack_file
from behavior_bringup.stacks.environment import enter_domain
from behavior_bringup.stacks.paths import journal_file
from behavior_bringup.stacks.stack import host_command, write_parameters


@dataclass(frozen=True, kw_only=True)
class Request:
    """A question about the stack of a world."""

    world: str | None
    """None: the default one."""
    folder: str | None = None
    """For parameter files; None: only the arguments are asked for."""
    given: dict[str, str] = field(default_factory=dict)
    """Values of launch arguments, those of other launch files among them."""
    namespace: str = ""
    """Of all nodes, like /left; empty: none."""
    ros_arguments: list[str] = field(default_factory=list)
    """For our processes; launch_ros gives them to the distribution's programs."""


def answer(request: Request) -> dict[str, Any]:
    """The arguments of the stack, or what is to be started, and in which environment.

    Raises:
        BringupError: there is no such world, or its stack cannot be read.
        UsageError: an argument has the wrong type.
    """
    world = world_or_default(request.world)
    stack = load_stack(stack_file(world))
    if request.folder is None:
        others = {
            name: {"default": _text(argument.default), "help": argument.help}
            for name, argument in stack.arguments.items()
        }
        return {**others, "world": {"default": world, "help": "which one is brought up"}}
    # `world` chose the stack, which knows what it simulates.
    known = stack.arguments.keys() - {"world"}
    arguments = {name: text for name, text in request.given.items() if name in known}
    if "journal" in stack.arguments and not arguments.get("journal"):
        arguments["journal"] = str(journal_file(f"launch{request.namespace}", world))
    processes = resolve(stack, environment="distribution", arguments=arguments)
    environment = dict(os.environ)
    enter_domain(None, environment)
    return {
        "processes": [_started(process, request) for process in processes],
        "set": dict(environment.items() - os.environ.items()),
        "unset": sorted(os.environ.keys() - environment.keys()),
    }


def _started(process: Process, request: Request) -> dict[str, Any]:
    if process.program is None:
        assert request.folder is not None
        parameters = write_parameters(process, Path(request.folder), request.namespace)
        return {
            "name": process.name,
            "command": host_command(process, parameters, request.ros_arguments),
        }
    return {
        "name": process.name,
        "program": process.program.model_dump(),
        "ros_arguments": enclave_arguments(process.name),
    }


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def main() -> int:
    """Answer the request."""
    try:
        print(json.dumps(answer(Request(**json.load(sys.stdin)))))
    except BringupError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
