# SPDX-License-Identifier: Apache-2.0
"""What a shell may complete: names of stacks, worlds, missions and processes, by argcomplete."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable

from behavior_bringup.errors import BringupError
from behavior_bringup.paths import share_dir
from behavior_bringup.stack import Stack
from behavior_bringup.state import known_stacks

Completer = Callable[..., Iterable[str]]


def offer(action: argparse.Action, completer: Completer) -> None:
    """Let argcomplete ask a function for the values of an argument."""
    action.completer = completer  # type: ignore[attr-defined] # argcomplete's own convention


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell, and end, if it is the shell that asks; otherwise do nothing."""
    if "_ARGCOMPLETE" not in os.environ:
        return
    import argcomplete

    argcomplete.autocomplete(parser)


def stack_names(**_: object) -> Iterable[str]:
    """Stacks that are up."""
    return known_stacks()


def world_names(**_: object) -> Iterable[str]:
    """Worlds that a stack can be brought up for."""
    return _stems("config/stacks/*.yaml")


def mission_names(**_: object) -> Iterable[str]:
    """Missions of the suite's folder."""
    return _stems("trees/*.xml")


def process_names(parsed_args: argparse.Namespace, **_: object) -> Iterable[str]:
    """Processes of the stack that was named."""
    state = Stack(parsed_args.stack).state()
    return list(state.processes) if state else []


def _stems(pattern: str) -> list[str]:
    try:
        return sorted(path.stem for path in share_dir().glob(pattern))
    except BringupError:
        return []
