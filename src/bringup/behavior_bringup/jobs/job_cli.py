# SPDX-License-Identifier: Apache-2.0
"""The verbs that disturb worlds and demonstrate jobs: what they take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from behavior_bringup.arguments import argument_types, completion
from behavior_bringup.arguments.options import (
    add_cameras,
    add_connection,
    add_console,
    add_namespace,
    add_parameters,
    add_seed,
    add_speed,
    add_verb,
    add_world,
)
from behavior_bringup.jobs import job_verbs


def add_job_verbs(subparsers: Any) -> None:
    """Add them to the command's subparsers."""
    _add_disturb(subparsers)
    _add_demo(subparsers)


def _add_disturb(subparsers: Any) -> None:
    text = "interfere with the simulated world"
    disturb = add_verb(subparsers, "disturb", text, job_verbs.disturb)
    disturb.add_argument("object", help="e.g. blue_block; with --fault, e.g. detector")
    how = disturb.add_mutually_exclusive_group()
    how.add_argument(
        "--to",
        nargs=3,
        type=argument_types.coordinate,
        metavar=("X", "Y", "Z"),
        help="[m] of its centre in the world frame; without it the object is taken away",
    )
    how.add_argument(
        "--push",
        nargs=3,
        type=argument_types.coordinate,
        metavar=("X", "Y", "Z"),
        help="impulse [N s] on it in the world frame, e.g. on door_panel",
    )
    how.add_argument(
        "--fault",
        choices=("on", "off"),
        help="let a part of the cell fail, or work again: detector, and what else the world has",
    )
    add_connection(disturb)


def _add_demo(subparsers: Any) -> None:
    demo = add_verb(subparsers, "demo", "run a mission in a stack of its own", job_verbs.demo)
    name = demo.add_argument(
        "mission",
        metavar="NAME",
        nargs="?",
        help="of a job that a package brings a judge for (without it: the packages' default)",
    )
    completion.offer(name, completion.job_names)
    add_world(demo, "the stack that it runs in, where it can run in several (its own)")
    add_namespace(demo, "for all nodes of the stack")
    add_speed(demo, default=job_verbs.WATCHABLE)
    add_seed(demo)
    add_cameras(demo)
    add_console(demo)
    demo.add_argument(
        "--out", type=Path, default=Path("out"), metavar="FOLDER", help="for pictures (out)"
    )
    add_parameters(demo)
    demo.set_defaults(extra=())  # options that the job brings along
