# SPDX-License-Identifier: Apache-2.0
"""What a server's result or response tells of its failure, as a cause."""

from __future__ import annotations

from typing import Any

from behavior_ros.interfaces import code_text
from behavior_tree.cause import Cause, CauseKind

_KINDS = {
    "SERVER_LOST": CauseKind.SERVER_LOST,
    "TIMED_OUT": CauseKind.TIMED_OUT,
    "CANCELED": CauseKind.CANCELED,
    "INVALID_REQUEST": CauseKind.INVALID_INPUT,
}
"""By the name of the constant beside the code."""


def reported(result: Any, code: int, *, otherwise: str) -> Cause:
    """The cause that a server reports.

    Args:
        result: message with, as far as its type has them, ``message`` or ``error_string``
        code: its code; 0: none
        otherwise: sentence where the server gives none
    """
    name = code_text(type(result), code) if code else ""
    sentence = getattr(result, "message", "") or getattr(result, "error_string", "")
    if not sentence:
        sentence = f"{otherwise} with {name}" if name else otherwise
    return Cause(_KINDS.get(name, CauseKind.REPORTED), str(sentence), evidence=name)
