# SPDX-License-Identifier: Apache-2.0
"""The entry point of every process."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rclpy.node import Node


def run(factories: Sequence[Callable[[], Node]], args: Sequence[str] | None = None) -> int:
    """Run nodes until SIGINT or SIGTERM; return the process's exit code."""
    raise NotImplementedError
