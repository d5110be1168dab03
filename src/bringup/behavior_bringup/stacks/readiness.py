# SPDX-License-Identifier: Apache-2.0
"""Waits until a stack that was started can be used."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from behavior_bringup.client import StackClient
from behavior_bringup.errors import BringupError
from behavior_bringup.stacks.description import Readiness

_LOOK = 0.05
"""[s] between two looks at what is there."""


def wait_ready(client: StackClient, ready: Readiness, check: Callable[[], None]) -> None:
    """Wait until everything that the stack offers is there.

    As long as one thing after the other comes, a stack is not stuck, however busy the machine: the
    time limit counts anew with each.

    Args:
        client: in the ROS domain of the stack.
        ready: what must be there.
        check: called now and then; raises when a process of the stack ended.

    Raises:
        BringupError: nothing comes any more; the message says what is missing.
    """
    end, fewest = time.monotonic() + ready.timeout, math.inf
    while missing := client.missing(ready):
        check()
        if len(missing) < fewest:
            end, fewest = time.monotonic() + ready.timeout, len(missing)
        if time.monotonic() > end:
            raise BringupError(
                f"The stack is not ready after {ready.timeout:g} s: {', '.join(missing)} missing"
            )
        client.work(_LOOK)
