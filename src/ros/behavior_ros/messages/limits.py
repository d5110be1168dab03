# SPDX-License-Identifier: Apache-2.0
"""How large a request from outside may be; whoever takes one looks at that first.

Callbacks share a thread with whatever must be punctual, so a request is measured before anything
else is done with it, and what is within these limits is worked on in milliseconds. What is beyond
them is refused with a sentence. Each kind of request adds limits on how many parts it may have.
"""

from __future__ import annotations

from collections.abc import Sized

from behavior_tree.shown_text import has_control_characters, visible

LONGEST_NAME = 256
"""[characters] of a name, an identifier, a key or a frame."""
MOST_TEXT = 65_536
"""[characters] of all texts of a request together."""
MOST_BYTES = 196_608
"""[bytes] of a whole request, where it can be measured before it is read."""


class RequestSize:
    """What is too large, or no plain text, in one request."""

    def __init__(self) -> None:
        """Start with nothing found."""
        self.problems: list[str] = []
        """A sentence each, safe to be shown."""
        self._characters = 0

    def name(self, what: str, text: str) -> None:
        """Measure a name, which has no control characters.

        Args:
            what: it is the name of, for the sentence.
            text: as it was sent.
        """
        if len(text) > LONGEST_NAME:
            self.problems.append(
                f"{what} has {len(text)} characters: at most {LONGEST_NAME} are allowed"
            )
        elif has_control_characters(text):
            self.problems.append(f"{what} has control characters: '{visible(text, LONGEST_NAME)}'")
        else:
            self._count(len(text))

    def text(self, what: str, text: str) -> None:
        """Measure a value, which may have lines; see `name`."""
        self._count(len(text))
        if self._characters <= MOST_TEXT and has_control_characters(text, lines=True):
            self.problems.append(f"{what} has control characters: '{visible(text)}'")

    def entries(self, what: str, entries: Sized, most: int) -> bool:
        """Count something; returns whether there are few enough to be looked at."""
        if len(entries) <= most:
            return True
        self.problems.append(f"{len(entries)} {what}: at most {most} are allowed")
        return False

    def _count(self, characters: int) -> None:
        before = self._characters
        self._characters += characters
        if before <= MOST_TEXT < self._characters:
            self.problems.append(f"its texts have more than {MOST_TEXT} characters together")


def size_problem(size: int) -> str:
    """What is wrong with a request of so many bytes; empty: nothing."""
    return f"{size} bytes: at most {MOST_BYTES} are allowed" if size > MOST_BYTES else ""
