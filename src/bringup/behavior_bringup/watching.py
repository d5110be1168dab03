# SPDX-License-Identifier: Apache-2.0
"""Where a stack that is up can be watched: the viewer's page, and Groot2's port."""

from __future__ import annotations

import time
from pathlib import Path

from behavior_bringup.errors import BringupError
from behavior_bringup.stack import Stack
from behavior_bringup.state import StackState
from behavior_bringup.viewer_access import read_address

VIEWER_DEADLINE = 60.0
"""[s] within which a viewer writes its address."""


def watching_lines(stack: Stack, state: StackState) -> list[str]:
    """Sentences for whoever brought the stack up.

    Raises:
        BringupError: the viewer does not come up.
    """
    lines = []
    if "viewer" in state.processes:
        lines.append(f"Viewer: {_viewer_address(stack, state)} (who has this address may act)")
    if port := groot2_port(state):
        lines.append(f"Groot2: port {port}")
    return lines


def known_viewer(state: StackState) -> str:
    """The viewer's address if there is one already; else empty."""
    if "viewer" not in state.processes:
        return ""
    return read_address(Path(state.arguments.get("viewer_address", "")))


def groot2_port(state: StackState) -> int | None:
    """Where the stack's executor answers Groot2; None: nowhere."""
    from behavior_tree.monitoring.groot2 import discover

    executor = state.processes.get("executor")
    if executor is None:
        return None
    return next((tree.port for tree in discover() if tree.pid == executor.pid), None)


def _viewer_address(stack: Stack, state: StackState) -> str:
    watch, end = stack.watch(), time.monotonic() + VIEWER_DEADLINE
    while not (address := known_viewer(state)):
        watch.check()
        if time.monotonic() > end:
            raise BringupError(f"The viewer serves no page yet: see {state.log_dir}/viewer.log")
        time.sleep(0.05)
    return address
