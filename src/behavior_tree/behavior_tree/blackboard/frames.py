# SPDX-License-Identifier: Apache-2.0
"""Frames from the blackboard in the text of a pose: ``{post};0.3;0.5;0``, of which ``{post}`` names
an entry with the name of a frame. So one tree serves things of several names, and its numbers
still stand in it, where they are read, edited and mirrored.

The text as a whole is a literal: what reads poses puts the names in.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_FRAME = re.compile(r"(?:^|\|)\s*\{([^{};|]+)\}(?=\s*;)")


def frame_keys(text: str) -> tuple[str, ...]:
    """Entries that name the frames of the poses in a text, each once."""
    return tuple(dict.fromkeys(_FRAME.findall(text))) if "{" in text else ()


def with_frames(text: str, frame: Callable[[str], str]) -> str:
    """The text with other words in the place of its entries.

    Args:
        text: poses, ``|`` between
        frame: of an entry's key: what shall stand there instead of it and its braces
    """
    return _FRAME.sub(lambda found: found[0].replace(f"{{{found[1]}}}", frame(found[1])), text)
