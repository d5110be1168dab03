# SPDX-License-Identifier: Apache-2.0
"""What a server's result or response tells of its failure, as a cause."""

from __future__ import annotations

from typing import Any

from behavior_ros.messages.interfaces import code_text
from behavior_tree.cause import Cause, CauseKind

CODE_FIELDS = ("code", "error_code")
"""Ours; Nav2's and control_msgs'. 0 is success in all of them."""
MESSAGE_FIELDS = ("message", "error_msg", "error_string")
"""Ours; Nav2's; control_msgs'."""

_KINDS = {
    "SERVER_LOST": CauseKind.SERVER_LOST,
    "SEND_GOAL_FAILURE": CauseKind.SERVER_LOST,
    "TIMED_OUT": CauseKind.TIMED_OUT,
    "TIMEOUT": CauseKind.TIMED_OUT,
    "CONTROLLER_TIMED_OUT": CauseKind.TIMED_OUT,
    "CANCELED": CauseKind.CANCELED,
    "GOAL_REJECTED": CauseKind.REJECTED,
    "INVALID_REQUEST": CauseKind.INVALID_INPUT,
}
"""By the name of the constant beside the code, ours and Nav2's."""


def result_code(result: Any) -> int:
    """Return a result's code, 0 where its type has none."""
    found = (getattr(result, name, None) for name in CODE_FIELDS)
    return next((code for code in found if isinstance(code, int)), 0)


def reported(result: Any, *, otherwise: str) -> Cause:
    """The cause that a server reports.

    Args:
        result: message with a code and a sentence, as far as its type has them
        otherwise: sentence where the server gives none
    """
    code = result_code(result)
    name = code_text(type(result), code) if code else ""
    texts = (getattr(result, field, "") for field in MESSAGE_FIELDS)
    sentence = next((text for text in texts if text), "")
    if not sentence:
        sentence = f"{otherwise} with {name}" if name else otherwise
    return Cause(_KINDS.get(name, CauseKind.REPORTED), str(sentence), evidence=name)
