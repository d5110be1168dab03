# SPDX-License-Identifier: Apache-2.0
"""The verbs of `behavior robot`: what a person tells the robot itself, between missions."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from behavior_bringup.arguments import argument_types
from behavior_bringup.arguments.options import add_connection
from behavior_bringup.errors import BringupError
from behavior_bringup.stacks.connection import EXECUTOR, enter, mission_client
from behavior_bringup.terminal import say, sentence

if TYPE_CHECKING:
    from behavior_bringup.client import StackClient

SKILLS = "skills"
"""Name of the node that moves arm and gripper in the stack descriptions."""
TIMEOUT = 120.0
"""[s] of wall time for one motion, unless --timeout says otherwise."""

_MOTIONS = {
    "home": ("move the arm to its home configuration", ("home",)),
    "open": ("open the gripper; what it holds is let go where it is", ("open",)),
    "close": ("close the gripper until contact, or shut", ("close",)),
    "reset": ("open the gripper, then move the arm home", ("open", "home")),
}


def add_robot(subparsers: Any) -> None:
    """Add `robot` with its commands to the command's subparsers."""
    robot = subparsers.add_parser("robot", help="move the arm home, open the gripper")
    commands = robot.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, (text, motions) in _MOTIONS.items():
        parser = commands.add_parser(
            name, help=text, description=f"{sentence(text)}. Refused while a mission runs."
        )
        parser.add_argument(
            "--timeout",
            type=argument_types.positive,
            default=TIMEOUT,
            metavar="S",
            help=f"[s] of wall time for one motion ({TIMEOUT:g})",
        )
        add_connection(parser)
        parser.set_defaults(run=_move, motions=motions)


def _move(options: argparse.Namespace) -> int:
    """Do the motions one after the other; Ctrl-C stops the robot."""
    enter(options.stack, SKILLS)
    _require_no_mission(options.stack, options.namespace)
    from behavior_bringup.client import StackClient

    with StackClient(options.namespace) as client:
        for motion in options.motions:
            say(_DO[motion](client, options.timeout))
    return 0


def _require_no_mission(stack: str, namespace: str) -> None:
    """Two masters would move one arm. An executor that has gone moves nothing."""
    from behavior_bringup.conversion import state_name

    try:
        enter(stack, EXECUTOR)
        with mission_client(stack, namespace) as client:
            records = client.history(unfinished_only=True, timeout=3.0)
    except BringupError:
        return
    for record in records:
        if state_name(record.state) in ("initializing", "running"):
            raise BringupError(
                f"The mission '{record.name}' runs: 'behavior mission cancel' ends it,"
                " 'behavior mission pause' holds it"
            )


def _home(client: StackClient, timeout: float) -> str:
    from behavior_msgs.action import MoveArm

    goal = MoveArm.Goal(mode=MoveArm.Goal.NAMED, named_target="home")
    _require(client.run_action(MoveArm, "move_arm", goal, timeout=timeout), "The arm")
    return "The arm is home"


def _open(client: StackClient, timeout: float) -> str:
    from behavior_msgs.action import MoveGripper

    goal = MoveGripper.Goal(mode=MoveGripper.Goal.OPEN)
    result = client.run_action(MoveGripper, "gripper", goal, timeout=timeout)
    _require(result, "The gripper")
    return f"The gripper is open ({1e3 * result.width:.0f} mm)"


def _close(client: StackClient, timeout: float) -> str:
    from behavior_msgs.action import MoveGripper

    goal = MoveGripper.Goal(mode=MoveGripper.Goal.CLOSE)
    result = client.run_action(MoveGripper, "gripper", goal, timeout=timeout)
    _require(result, "The gripper")
    return "The gripper holds something" if result.holding else "The gripper is shut"


_DO: dict[str, Callable[[StackClient, float], str]] = {
    "home": _home,
    "open": _open,
    "close": _close,
}


def _require(result: Any, what: str) -> None:
    if result.code != 0:
        from behavior_ros import code_text

        name = code_text(type(result), result.code)
        raise BringupError(f"{what} did not get there ({name}): {result.message}")
