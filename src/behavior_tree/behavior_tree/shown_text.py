# SPDX-License-Identifier: Apache-2.0
"""Texts from elsewhere, as they may stand in a log, a message or on a screen.

A name that somebody sends may be a megabyte long, and may hold characters that move a terminal's
cursor, forge a second line of a log or turn the writing direction round.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

LONGEST_REASON = 2_000
"""[characters] of a text that tells somebody why; longer ones are shortened."""
MOST_PROBLEMS = 10
"""What is told of one request; the rest is counted."""
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_CONTROL_BUT_LINES = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def shorten(text: str, limit: int = 200) -> str:
    """The text, its end left out if it is longer than a message should be."""
    return text if len(text) <= limit else f"{text[: limit - 40]}... ({len(text)} characters)"


def visible(text: str, limit: int = 200, *, lines: bool = False) -> str:
    r"""The text, shortened, with its control characters written out, such as ``\x1b``.

    Args:
        text: from elsewhere.
        limit: characters that are kept, at least 40.
        lines: whether line ends and tabs may stay.
    """
    control = _CONTROL_BUT_LINES if lines else _CONTROL
    return control.sub(_written_out, shorten(text, limit))


def has_control_characters(text: str, *, lines: bool = False) -> bool:
    """Whether `visible` would write something out."""
    return (_CONTROL_BUT_LINES if lines else _CONTROL).search(text) is not None


def listed(problems: Sequence[str]) -> str:
    """Problems in one sentence; of many the first ones."""
    more = len(problems) - MOST_PROBLEMS
    return "; ".join([*problems[:MOST_PROBLEMS], *([f"and {more} more"] if more > 0 else [])])


def named(names: Iterable[str], most: int = 20) -> str:
    """Names as a list in a sentence, in order; of many the first ones."""
    ordered = sorted(names)
    shown = [f"'{visible(name)}'" for name in ordered[:most]]
    more = [f"and {len(ordered) - most} more"] if len(ordered) > most else []
    return f"[{', '.join([*shown, *more])}]"


def _written_out(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


def reason_text(text: str) -> str:
    """A reason as clients are told it; it may have lines."""
    return visible(text, LONGEST_REASON, lines=True)
