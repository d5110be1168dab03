# SPDX-License-Identifier: Apache-2.0
"""What somebody may have meant who misspelt a name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question for the nearest names, `did you mean 'up'?`; empty if none is near."""
    close = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    return "did you mean " + " or ".join(f"'{each}'" for each in close) + "?" if close else ""


def choose(name: str, known: Iterable[str]) -> str:
    """What to write instead of a name that is none: the nearest, and all there are."""
    names = list(known)
    question = did_you_mean(name, names)
    listed = f"choose one of {', '.join(names)}" if names else "there are none"
    return f"{question} ({listed})" if question else listed
