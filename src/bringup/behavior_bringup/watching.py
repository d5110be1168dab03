# SPDX-License-Identifier: Apache-2.0
"""Where a stack that is up can be watched: its pages for the browser, and Groot2's port."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from behavior_bringup.errors import BringupError
from behavior_bringup.stack import ProcessWatch, Stack
from behavior_bringup.state import StackState
from behavior_bringup.viewer_access import read_address

PAGE_DEADLINE = 60.0
"""[s] within which a page's server writes its address."""


def watching_lines(stack: Stack, state: StackState) -> list[str]:
    """Sentences for whoever brought the stack up.

    Raises:
        BringupError: a page's server does not come up.
    """
    watch = stack.watch()
    lines = [_awaited(name, state, watch) for name in _PAGES if name in state.processes]
    if port := groot2_port(state):
        lines.append(f"Groot2: port {port}")
    return lines


def known_pages(state: StackState) -> list[str]:
    """Sentences about the pages that are served by now."""
    return [line for name in _PAGES if name in state.processes and (line := _PAGES[name](state))]


def groot2_port(state: StackState) -> int | None:
    """Where the stack's executor answers Groot2; None: nowhere."""
    from behavior_tree.monitoring.groot2 import discover

    executor = state.processes.get("executor")
    if executor is None:
        return None
    return next((tree.port for tree in discover() if tree.pid == executor.pid), None)


def _viewer(state: StackState) -> str:
    address = read_address(Path(state.arguments.get("viewer_address", "")))
    return address and f"Viewer: {address} (who has this address may act)"


def _console(state: StackState) -> str:
    from behavior_console.access import addresses

    found = addresses(Path(state.arguments.get("console_address", "")))
    if not found:
        return ""
    edit, *operate = found
    only = f"; {operate[0]} may only run missions" if operate else ""
    return f"Console: {edit} (who has this address may run and edit{only})"


_PAGES: Mapping[str, Callable[[StackState], str]] = {"viewer": _viewer, "console": _console}
"""By process, the sentence about its page; empty while it serves none."""


def _awaited(name: str, state: StackState, watch: ProcessWatch) -> str:
    end = time.monotonic() + PAGE_DEADLINE
    while not (line := _PAGES[name](state)):
        watch.check()
        if time.monotonic() > end:
            raise BringupError(f"The {name} serves no page yet: see {state.log_dir}/{name}.log")
        time.sleep(0.05)
    return line
