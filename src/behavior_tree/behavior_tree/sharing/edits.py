# SPDX-License-Identifier: Apache-2.0
"""What an editor asks for, and what it is answered."""

from __future__ import annotations

import enum
import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from behavior_tree.errors import LogicError
from behavior_tree.shown_text import shorten

MAX_BYTES = 256 * 1024
"""Longest edit, as JSON in UTF-8."""
MAX_STEPS = 100
"""Steps of one edit."""
LONGEST_NAME = 200
"""Of an editor, in characters."""

Operation = Mapping[str, Any]
"""``op``, and what belongs to it."""


class Code(enum.IntEnum):
    """What became of an edit; as behavior_msgs/srv/EditTree has it."""

    MADE = 0
    """In effect, and kept."""
    WAITING = 1
    """Comes into effect when what it changes has ended."""
    REFUSED = 2
    """Nothing has changed."""
    RUNNING = 3
    """Refused, because it changes what runs now."""
    HELD_BACK = 4
    """Not looked at: too many at once."""
    LATE = 5
    """Not looked at: a later number of the editor was answered before."""


class Running(enum.Enum):
    """What becomes of an edit that changes what runs now."""

    REFUSE = "refuse"
    AFTER = "after"
    """It is made when that has ended."""
    HALT = "halt"
    """That is halted."""


@dataclass(frozen=True)
class Answer:
    """What became of an edit."""

    code: Code
    message: str = ""
    revision: int = 0
    """Of the tree, after an edit that was made."""
    nodes: tuple[str, ...] = ()
    """Identifiers of what is new."""
    retry_after: float = 0.0
    """[s] after which the edit is sent again, since this is not yet its answer; 0: it is."""

    @property
    def is_final(self) -> bool:
        """Whether the edit will get no other answer."""
        return self.code in (Code.MADE, Code.REFUSED, Code.RUNNING, Code.LATE)


@dataclass(frozen=True)
class Edit:
    """One operation of one editor."""

    editor: str
    number: int
    """Greater than those of the editor's edits before; the same one again is the same edit."""
    text: str
    """JSON, see `operation_of`."""

    @property
    def digest(self) -> str:
        """Tells it from another edit with the same number."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def problem(self) -> str:
        """Why it is not even looked at; empty if it is."""
        if not self.editor or len(self.editor) > LONGEST_NAME or not self.editor.isprintable():
            return f"an editor has a name of 1 to {LONGEST_NAME} printable characters"
        if self.number < 1:
            return f"an editor numbers its edits from 1, not {self.number}"
        if len(self.text) > MAX_BYTES or len(self.text.encode("utf-8", "replace")) > MAX_BYTES:
            return f"an edit has at most {MAX_BYTES // 1024} KiB: make several"
        return ""


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_attributes(value: object) -> bool:
    return (
        isinstance(value, dict)
        and bool(value)
        and all(text is None or isinstance(text, str) for text in value.values())
    )


def _is_number(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) <= sys.float_info.max  # an integer may be larger


def _is_direction(value: object) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(map(_is_number, value))


def _is_steps(value: object) -> bool:
    return isinstance(value, list) and 0 < len(value) <= MAX_STEPS


_Fields = dict[str, tuple[Callable[[object], bool], bool]]
_TEXT, _MAY_BE_TEXT = (_is_text, True), (_is_text, False)
STEPS: dict[str, _Fields] = {
    "insert": {"parent": _TEXT, "xml": _TEXT, "before": _MAY_BE_TEXT},
    "remove": {"node": _TEXT},
    "move": {"node": _TEXT, "parent": _TEXT, "before": _MAY_BE_TEXT},
    "replace": {"node": _TEXT, "xml": _TEXT},
    "set": {"node": _TEXT, "attributes": (_is_attributes, True)},
}
"""What an edit of several steps may consist of: field, check, and whether it must be there."""
OPERATIONS: dict[str, _Fields] = {
    **STEPS,
    "several": {"steps": (_is_steps, True)},
    "rename": {"node": _TEXT, "name": _TEXT},
    "rename_entry": {"tree": _TEXT, "entry": _TEXT, "name": _TEXT},
    "duplicate": {"node": _TEXT, "name": _MAY_BE_TEXT},
    "extract": {"node": _TEXT, "name": _TEXT},
    "inline": {"node": _TEXT},
    "mirror": {
        "node": _TEXT,
        "normal": (_is_direction, False),
        "distance": (_is_number, False),
    },
    "undo": {},
    "redo": {},
    "save": {},
    "refresh": {},
    "revert": {},
}

TO_FILES = frozenset(("save", "refresh", "revert"))
"""Operations after which the tree goes with what is on disk."""


def operation_of(edit: Edit) -> tuple[Operation, Running]:
    """What an edit asks for, checked for form, and what becomes of it if that runs.

    Raises:
        LogicError: it is not of the form
    """
    try:
        found = json.loads(edit.text)
        # Half of a character, such as "\ud800", can neither be written to a file nor be answered.
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise LogicError("the edit has texts that are not Unicode: send whole characters") from None
    except (ValueError, RecursionError) as error:
        raise LogicError(f"the edit is not JSON: {shorten(str(error))}") from None
    if not isinstance(found, dict):
        raise LogicError('an edit is an object such as {"op": "remove", "node": "n7"}')
    running = found.pop("running", Running.REFUSE.value)
    if running not in [each.value for each in Running]:
        raise LogicError('[running] is "refuse", "after" or "halt"')
    _check(found, OPERATIONS)
    for step in found.get("steps", ()):
        if not isinstance(step, dict):
            raise LogicError("each of the steps is an object with [op]")
        _check(step, STEPS)
    return found, Running(running)


def _check(operation: dict[str, Any], known: Mapping[str, _Fields]) -> None:
    op = operation.get("op")
    if not isinstance(op, str) or op not in known:
        raise LogicError(f"[op] is one of {', '.join(known)}, not {shorten(repr(op))}")
    fields = known[op]
    for name in operation.keys() - fields.keys() - {"op"}:
        raise LogicError(f"'{op}' has no [{shorten(str(name))}], but {', '.join(fields) or 'none'}")
    for name, (check, needed) in fields.items():
        if (needed and name not in operation) or (name in operation and not check(operation[name])):
            raise LogicError(f"'{op}' needs [{name}] of another form: see docs/authoring.md")
