# SPDX-License-Identifier: Apache-2.0
"""`behavior security`: what it takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from behavior_bringup.arguments import argument_types
from behavior_bringup.arguments.options import add_verb, add_world
from behavior_bringup.security import verb


def add_security(subparsers: Any) -> None:
    """Add the verb to the command's subparsers."""
    text = "write policies by which DDS lets in only the stack and its operators"
    security = subparsers.add_parser("security", help=text, description=f"{text}: docs/security.md")
    actions = security.add_subparsers(title="commands", metavar="COMMAND", required=True)
    generate = add_verb(actions, "generate", "for the stack of a world", verb.generate)
    add_world(generate, "which (the packages' default)")
    generate.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="DIR",
        help="for policy.xml and keystore/; what is of the same name there is replaced",
    )
    generate.add_argument(
        "arguments",
        nargs="*",
        type=argument_types.assignment,
        metavar="NAME:=VALUE",
        help="further arguments of the stack, as for 'behavior up'",
    )
