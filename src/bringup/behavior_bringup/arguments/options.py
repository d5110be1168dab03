# SPDX-License-Identifier: Apache-2.0
"""Options that several verbs have."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

from behavior_bringup.arguments import argument_types, completion
from behavior_bringup.stacks.state import DEFAULT_STACK


def add_verb(
    subparsers: Any, name: str, text: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    """Add a verb.

    Args:
        subparsers: of the command.
        name: of the verb.
        text: a line of help.
        run: what it does; its docstring is the verb's description.
    """
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name, help=text, description=run.__doc__
    )
    parser.set_defaults(run=run)
    return parser


def add_parameters(parser: argparse.ArgumentParser) -> None:
    """`--param`."""
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        type=argument_types.parameter,
        metavar="KEY=VALUE",
        help="a parameter of the mission, see 'behavior mission show'; may be given again",
    )


def add_stack(parser: argparse.ArgumentParser) -> None:
    """`--name` and `--namespace`: which stack, where several are up."""
    name = parser.add_argument(
        "--name",
        dest="stack",
        type=argument_types.stack_name,
        default=os.environ.get("BEHAVIOR_STACK") or None,
        metavar="STACK",
        help="which stack, where several are up (BEHAVIOR_STACK, else that of --namespace, else"
        f" {DEFAULT_STACK})",
    )
    completion.offer(name, completion.stack_names)
    add_namespace(parser, "which robot, where several share one ROS graph")
    parser.set_defaults(or_launched=False)


def add_connection(parser: argparse.ArgumentParser) -> None:
    """`--name` and `--namespace`: whom to talk to, also what a launch file has brought up."""
    add_stack(parser)
    parser.set_defaults(or_launched=True)


def add_namespace(parser: argparse.ArgumentParser, text: str) -> None:
    """`--namespace`."""
    parser.add_argument(
        "--namespace",
        type=argument_types.namespace,
        default=os.environ.get("BEHAVIOR_NAMESPACE") or "",
        metavar="ROBOT",
        help=f"{text} (BEHAVIOR_NAMESPACE, else none)",
    )


def add_world(parser: argparse.ArgumentParser, text: str) -> None:
    """`--world`: which stack to bring up."""
    world = parser.add_argument("--world", metavar="NAME", help=text)
    completion.offer(world, completion.world_names)


def add_json(parser: argparse.ArgumentParser) -> None:
    """`--json`."""
    parser.add_argument("--json", action="store_true", help="for programs")


def add_speed(parser: argparse.ArgumentParser, *, default: float) -> None:
    """`--speed` of the simulation."""
    parser.add_argument(
        "--speed",
        type=argument_types.speed,
        default=default,
        metavar="X",
        help=f"of the simulation, times real time; 0: as fast as possible ({default:g})",
    )


def add_console(parser: argparse._ActionsContainer) -> None:
    """`--console`; `--viewer` is what it was called when the page only showed the robot."""
    parser.add_argument(
        "--console", "--viewer", action="store_true", help="serve the operator console"
    )


def add_cameras(parser: argparse.ArgumentParser) -> None:
    """`--cameras`."""
    parser.add_argument(
        "--cameras",
        action="store_true",
        help="perceive through simulated cameras instead of true poses with noise",
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    """`--seed`."""
    parser.add_argument(
        "--seed",
        type=argument_types.seed,
        default=0,
        metavar="N",
        help="of the start state and the noise (0)",
    )
