# SPDX-License-Identifier: Apache-2.0
"""Commands of the suite that the console runs, each in a process and a session of its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence


async def started(line: Sequence[str]) -> asyncio.subprocess.Process:
    """Start a command that asks nothing and writes plain lines, all of them to its output.

    Raises:
        OSError: it cannot be run.
    """
    return await asyncio.create_subprocess_exec(
        *line,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
        env={**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "1000"},
    )
