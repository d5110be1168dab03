# SPDX-License-Identifier: Apache-2.0
"""The verb `behavior preview`: what it takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from behavior_bringup.arguments import argument_types
from behavior_bringup.arguments.options import add_connection, add_verb, add_world
from behavior_bringup.missions.mission_cli import add_mission_name
from behavior_bringup.preview import verb

_LIMIT, _TOLERANCE = 300.0, 0.01


def add_preview(subparsers: Any) -> None:
    """Add `preview` to the command's subparsers."""
    text = "run a mission in a copy of the world before the real one"
    preview = add_verb(subparsers, "preview", text, verb.preview)
    add_mission_name(preview)
    preview.add_argument(
        "--limit",
        type=argument_types.positive,
        default=_LIMIT,
        metavar="S",
        help=f"simulated seconds that it may take ({_LIMIT:g})",
    )
    preview.add_argument("--json", type=Path, metavar="FILE", help="write what was found there")
    preview.add_argument(
        "--approve",
        action="store_true",
        help="run it for real if it would succeed and nothing has changed since; without it a"
        " terminal asks",
    )
    preview.add_argument(
        "--tolerance",
        type=argument_types.positive,
        default=_TOLERANCE,
        metavar="M",
        help=f"how far an object may move before it counts as changed [m] ({_TOLERANCE:g})",
    )
    preview.add_argument(
        "--fresh",
        action="store_true",
        help="start the copy's processes anew, as after a change of a package's code",
    )
    add_world(preview, "the simulated stack that stands for a real one (its own)")
    add_connection(preview)


def add_preview_server(subparsers: Any) -> None:
    """Add `preview-server` to the command's subparsers."""
    text = "let other programs ask for previews over ROS"
    add_connection(add_verb(subparsers, "preview-server", text, verb.preview_server))
