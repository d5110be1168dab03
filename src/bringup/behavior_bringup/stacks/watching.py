# SPDX-License-Identifier: Apache-2.0
"""Where a stack that is up can be watched: its console, and Groot2's port."""

from __future__ import annotations

import time
from pathlib import Path

from behavior_bringup.errors import BringupError
from behavior_bringup.stacks.stack import Stack
from behavior_bringup.stacks.state import StackState

PAGE_DEADLINE = 60.0
"""[s] within which the console writes its addresses."""


def watching_lines(stack: Stack, state: StackState) -> list[str]:
    """Sentences for whoever brought the stack up.

    Raises:
        BringupError: the console does not come up.
    """
    lines = [_awaited_console(stack, state)] if "console" in state.processes else []
    if port := groot2_port(state):
        lines.append(f"Groot2: port {port}")
    return lines


def groot2_port(state: StackState) -> int | None:
    """Where the stack's executor answers Groot2; None: nowhere."""
    from behavior_tree.monitoring.groot2 import discover

    executor = state.processes.get("executor")
    if executor is None:
        return None
    return next((tree.port for tree in discover() if tree.pid == executor.pid), None)


def console_line(state: StackState) -> str:
    """The sentence about the console's page; empty while there is none."""
    from behavior_console.access import addresses

    found = addresses(Path(state.arguments.get("console_address", "")))
    if not found:
        return ""
    edit, *operate = found
    only = f"; {operate[0]} may only run missions" if operate else ""
    return f"Console: {edit} (who has this address may run and edit{only})"


def _awaited_console(stack: Stack, state: StackState) -> str:
    watch = stack.watch()
    end = time.monotonic() + PAGE_DEADLINE
    while not (line := console_line(state)):
        watch.check()
        if time.monotonic() > end:
            raise BringupError(f"The console serves no page yet: see {state.log_dir}/console.log")
        time.sleep(0.05)
    return line
