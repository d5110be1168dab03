# SPDX-License-Identifier: Apache-2.0
"""Memory of a process and of all that it has started."""

from __future__ import annotations

import contextlib

import psutil

MEGABYTE = 1e6


def process_tree(process: int) -> list[psutil.Process]:
    """A process and its descendants, those that are left."""
    try:
        root = psutil.Process(process)
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def memory_mb(process: int) -> float:
    """Memory of a process and its descendants [MB]; pages that they share count once."""
    return sum(_proportional(each) for each in process_tree(process)) / MEGABYTE


def _proportional(process: psutil.Process) -> float:
    """Its own pages, and its part of those that it shares [bytes]."""
    try:
        return float(process.memory_full_info().pss)
    except psutil.AccessDenied:  # a program with more rights than ours
        with contextlib.suppress(psutil.Error):
            return float(process.memory_info().rss)
    except psutil.Error:
        pass
    return 0.0


def kill_tree(process: int) -> None:
    """End a process and all its descendants at once."""
    for each in process_tree(process):
        with contextlib.suppress(psutil.Error):
            each.kill()
