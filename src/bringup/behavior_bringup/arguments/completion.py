# SPDX-License-Identifier: Apache-2.0
"""What a shell may complete: names of stacks, worlds, missions and processes, by argcomplete."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable

from behavior_bringup.stacks.addressing import stack_of
from behavior_bringup.stacks.stack import Stack
from behavior_bringup.stacks.state import known_stacks
from behavior_packages import packages

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
    return packages().names("stacks")


def mission_names(**_: object) -> Iterable[str]:
    """Missions that packages offer."""
    return packages().names("trees")


def job_names(**_: object) -> Iterable[str]:
    """Jobs that can be demonstrated and evaluated."""
    return packages().names("judges")


def process_names(parsed_args: argparse.Namespace, **_: object) -> Iterable[str]:
    """Processes of the stack that was named."""
    state = Stack(parsed_args.stack or stack_of(parsed_args.namespace)).state()
    return list(state.processes) if state else []
