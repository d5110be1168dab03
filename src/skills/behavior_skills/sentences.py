# SPDX-License-Identifier: Apache-2.0
"""Reasons as sentences, and several of them as one."""

from __future__ import annotations

from collections.abc import Iterable

_ENDS = " \t\r\n.;:,"
"""What a part may end with that does not belong between parts."""


def sentence(text: str) -> str:
    """`text` with a capital and one full stop."""
    bare = text.strip().rstrip(_ENDS) or "no reason given"
    return bare[0].upper() + bare[1:] + "."


def joined(parts: Iterable[str]) -> str:
    """The parts, whatever they end with, as one sentence: ``a; b; c.``"""
    bare = (part.strip().rstrip(_ENDS) for part in parts)
    return "; ".join(part for part in bare if part) + "."
