# SPDX-License-Identifier: Apache-2.0
"""A part of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shard:
    """One of several equal parts of an evaluation, that need not know of each other."""

    index: int = 0
    """0 .. count - 1."""
    count: int = 1

    def __str__(self) -> str:
        """As on the command line."""
        return f"{self.index}/{self.count}"
