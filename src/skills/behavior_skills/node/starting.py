# SPDX-License-Identifier: Apache-2.0
"""Right after the start of a node, what a goal needs may not have arrived yet."""

from __future__ import annotations

import time
from collections.abc import Callable

from behavior_ros import GoalContext

PATIENCE = 5.0
"""[s] wall time that a goal waits for first messages; DDS tells of a sender whose first words were
lost after 3 s."""


def await_start(context: GoalContext, ready: Callable[[], bool]) -> None:
    """Wait until something has arrived, the goal is cancelled, or patience is at its end."""
    deadline = time.monotonic() + PATIENCE
    while not ready() and time.monotonic() < deadline:
        if context.cancelled.wait(0.02):
            return
