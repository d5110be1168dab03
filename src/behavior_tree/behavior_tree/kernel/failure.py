# SPDX-License-Identifier: Apache-2.0
"""Why a node failed, in words of bounded length, put together from what its children told.

Nothing here runs in a tick that succeeds: a tree is asked after it has failed, and a
RetryUntilSuccessful notes its first failed attempt, since the next one makes its nodes forget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from behavior_tree.cause import Cause
from behavior_tree.errors import FailureReason

if TYPE_CHECKING:
    from behavior_tree.kernel.node import TreeNode

_SHOWN = 5
"""Most reasons of children that a text repeats; `FailureReason.causes` has all."""
LONGEST_REASON = 400
"""Characters of what one node gave as its reason; of a longer one the middle is left out, so that
its ends are told."""
_LONGEST = 2000
"""Characters of the reasons of several nodes."""
_OMITTED = " ... "


def explain(node: TreeNode) -> FailureReason:
    """What the node itself gave as its reason, and why the children failed that made it fail."""
    causes = tuple(child.explain_failure() for child in node.failed_children())
    own = bounded(node._reason, LONGEST_REASON)
    if not causes:
        text = node.failure_reason() or f"{node.registration_id()} returned FAILURE"
        cause = Cause.of(text)
        return FailureReason(node.full_path(), bounded(text, LONGEST_REASON), cause=cause)
    if len(causes) == 1 and not own:
        return causes[0]
    text = _listed(causes)
    return FailureReason(node.full_path(), bounded(f"{own} ({text})" if own else text), causes)


def of_attempts(path: str, first: FailureReason, last: FailureReason) -> FailureReason:
    """The reason of a node that tried again and again: how that began, and how it ended."""
    half = _LONGEST // 2 - 40
    begun, ended = bounded(str(first), half), bounded(str(last), half)
    text = f"every attempt failed; the first: {begun}; the last: {ended}"
    return FailureReason(path, text, (first, last))


def _listed(causes: tuple[FailureReason, ...]) -> str:
    """The first causes and the last one; the one that began it and the one that ended it."""
    if len(causes) <= _SHOWN:
        return "; ".join(map(str, causes))
    head, omitted = causes[: _SHOWN - 1], len(causes) - _SHOWN
    return "; ".join([*map(str, head), f"and {omitted} more", str(causes[-1])])


def bounded(text: str, longest: int = _LONGEST) -> str:
    """The text, or its two ends where it has more characters than ``longest``."""
    if len(text) <= longest:
        return text
    half = (longest - len(_OMITTED)) // 2
    return text[:half] + _OMITTED + text[-half:]
