# SPDX-License-Identifier: Apache-2.0
"""The verb `behavior teach`: what it takes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from behavior_bringup.arguments import argument_types, completion
from behavior_bringup.arguments.options import add_connection, add_verb
from behavior_bringup.missions.mission_edit import add_editor
from behavior_bringup.teaching import verb
from behavior_packages import packages

_TOLERANCE = 0.02


def add_teach(subparsers: Any) -> None:
    """Add `teach` to the command's subparsers."""
    text = "make leaves of a tree of a motion that is shown or was recorded"
    teach = add_verb(subparsers, "teach", text, verb.teach)
    teach.add_argument(
        "recording",
        nargs="?",
        type=Path,
        metavar="RECORDING",
        help="made by 'behavior record'; without one the arm of the running stack is watched until"
        " Ctrl-C",
    )
    _add_motion(teach)
    target = teach.add_mutually_exclusive_group()
    target.add_argument("-o", "--output", type=Path, metavar="FILE", help="write a new tree file")
    target.add_argument("--into", type=Path, metavar="FILE", help="insert into this tree file")
    mission = target.add_argument(
        "--mission", metavar="NAME", help="insert into the tree of this mission of a running stack"
    )
    completion.offer(mission, completion.mission_names)
    teach.add_argument("--parent", metavar="NODE", help="below which node it is inserted")
    teach.add_argument("--before", metavar="NODE", help="before this child, else behind all")
    add_editor(teach)
    add_connection(teach)
    teach.set_defaults(json=False)


def _add_motion(teach: argparse.ArgumentParser) -> None:
    robot = teach.add_argument(
        "--robot", metavar="NAME", help="whose arm it is (that of the packages' defaults)"
    )
    completion.offer(robot, lambda **_: packages().names("robots"))
    teach.add_argument(
        "--start", type=float, default=0.0, metavar="S", help="of the recording [s] (0)"
    )
    teach.add_argument("--end", type=float, metavar="S", help="of the recording [s] (its end)")
    teach.add_argument(
        "--duration",
        type=argument_types.positive,
        metavar="S",
        help="watch the arm for so long [s], else until Ctrl-C",
    )
    teach.add_argument(
        "--tolerance",
        type=argument_types.positive,
        default=_TOLERANCE,
        metavar="RAD",
        help=f"how far the points' straight lines may be from what was shown ({_TOLERANCE:g})",
    )
    teach.add_argument(
        "--title", default="taught", metavar="TEXT", help="what nodes and tree are called (taught)"
    )
