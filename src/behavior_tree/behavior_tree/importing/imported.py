# SPDX-License-Identifier: Apache-2.0
"""What an import gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Imported:
    """A tree file, and what should be known of it."""

    xml: str
    """The file."""
    notes: tuple[str, ...]
    """Sentences: what has no counterpart, or means something else here."""
