# SPDX-License-Identifier: Apache-2.0
"""Errors of the engine. Every message names the thing and says how to mend it.

All derive from `BehaviorTreeError`, which is a `RuntimeError` as in the binding of
BehaviorTree.CPP.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from behavior_tree.cause import Cause


class BehaviorTreeError(RuntimeError):
    """Base of all errors raised by this package."""


class LogicError(BehaviorTreeError):
    """The program or the tree is wrong in itself; repeating the call cannot help."""


class NodeTypeTakenError(LogicError):
    """A node type is registered already under the ID that another one wants."""

    def __init__(self, registration_id: str) -> None:
        """Keep the ID."""
        super().__init__(
            f"ID [{registration_id}] already registered: choose another, or "
            "unregister_node_type() it"
        )
        self.registration_id = registration_id


class BlackboardError(BehaviorTreeError):
    """An entry is missing, empty, or cannot hold or give the wanted type."""


class PortError(BehaviorTreeError):
    """A port is missing, empty or cannot be converted."""


class ConversionError(BehaviorTreeError, ValueError):
    """A text or value cannot become the wanted type."""


class ScriptError(BehaviorTreeError):
    """A script cannot be parsed or evaluated."""

    def __init__(self, message: str, *, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position
        """Offset in characters into the script text where parsing stopped; None at run time."""


class NodeExecutionError(BehaviorTreeError):
    """An exception escaped from a node's tick."""

    def __init__(self, path: str, registration_id: str, message: str) -> None:
        super().__init__(f"Exception in node '{path}' [{registration_id}]: {message}")
        self.path = path
        self.registration_id = registration_id
        self.message = message


@dataclass(frozen=True)
class FailureReason:
    """Why a tree failed."""

    path: str
    """Full path of the deepest node that alone made the root fail; where several children had to
    fail, as below a Fallback, that of their parent."""
    text: str
    """Plain words, from `TreeNode.set_failure_reason` if the node gave any; then those of the
    `causes`."""
    causes: tuple[FailureReason, ...] = ()
    """Reasons of the children that made the node fail, in order; empty for a leaf."""
    cause: Cause | None = None
    """What a leaf gave as its reason, with its kind, evidence and remedy."""

    def leaves(self) -> Iterator[FailureReason]:
        """The reasons of the leaves behind this one, in order; of a leaf its own."""
        if not self.causes:
            yield self
        for each in self.causes:
            yield from each.leaves()

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"


@dataclass(frozen=True)
class XmlProblem:
    """One mistake in a document."""

    file: str
    """Path of the file, or ``<text>`` for a string."""
    line: int
    """From 1; 0 if the problem has no place in a file."""
    column: int
    """From 1; 0 if unknown."""
    path: str
    """Tree ID and node names down to the node, joined by ``/``; empty for document problems."""
    message: str
    remedy: str
    """What to change."""
    severity: str = "error"
    """``error``: the document set is refused; ``warning``: it loads, but hardly does what was
    meant."""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        node = f" [{self.path}]" if self.path else ""
        kind = "" if self.severity == "error" else f" {self.severity}:"
        cure = f" ({self.remedy})" if self.remedy else ""
        return f"{where}:{node}{kind} {self.message}{cure}"


_MOST_LINES = 100
"""Problems that a text tells one by one; more are put together."""


def problem_lines(problems: Sequence[XmlProblem]) -> list[str]:
    """A line for each problem; of very many one for each different message, then their number."""
    if len(problems) <= _MOST_LINES:
        return [str(each) for each in problems]
    alike: dict[str, list[XmlProblem]] = {}
    for each in problems:
        alike.setdefault(each.message, []).append(each)
    lines = [_together(same) for same in list(alike.values())[:_MOST_LINES]]
    rest = sum(map(len, list(alike.values())[_MOST_LINES:]))
    return [*lines, *([f"and {rest} more problems"] if rest else [])]


def _together(same: Sequence[XmlProblem]) -> str:
    """Problems with one message in one line."""
    if len(same) == 1:
        return str(same[0])
    files = len({each.file for each in same})
    where = f"in {files} files" if files > 1 else f"up to line {same[-1].line}"
    return f"{same[0]} -- the same {len(same) - 1} more times, {where}"


class LoadError(BehaviorTreeError):
    """A document set cannot be loaded; carries every problem found in it."""

    def __init__(self, problems: Sequence[XmlProblem]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        head = "1 problem" if count == 1 else f"{count} problems"
        super().__init__("\n".join([f"{head} in behavior tree:", *problem_lines(self.problems)]))
