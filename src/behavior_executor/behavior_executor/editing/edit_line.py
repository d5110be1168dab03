# SPDX-License-Identifier: Apache-2.0
"""Edits of one shared tree, one after the other, beside the ticks of that tree. No ROS.

What computes or waits for the disk is done aside, a piece at a time; what touches the tree that
ticks is done between two ticks, in their thread. Editors take turns, so whoever sends too much
keeps himself waiting alone.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, Protocol

from behavior_tree.sharing import Answer, Code, Edit, Prepared, SharedTree

MOST_IN_LINE = 20
"""Edits of one editor that wait for their turn."""

Answered = Callable[[Answer], None]


class Work(Protocol):
    """Does something aside."""

    def __call__(self, work: Callable[[], Any], then: Callable[[Any], None], /) -> None:
        """Call ``work`` in another thread, then ``then`` in the thread of the ticks, with what
        that has returned or raised.
        """


class EditLine:
    """Lets edits of one tree be made in turn; use it in the thread of the ticks.

    Args:
        shared: the tree
        work: does aside what takes time
        made: is called with each answer to an edit that was looked at
    """

    def __init__(
        self, shared: SharedTree, work: Work, made: Callable[[Edit, Answer], None]
    ) -> None:
        self._shared, self._work, self._made = shared, work, made
        self._lines: OrderedDict[str, deque[tuple[Edit, Answered | None]]] = OrderedDict()
        """Edits of each editor; whose turn it is stands first."""
        self._now: tuple[Edit, Answered | None] | None = None
        """What is under way."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits or is under way."""
        return self._now is None and not self._lines

    def take(self, edit: Edit, answered: Answered) -> None:
        """Answer an edit, at once or when its turn has come."""
        line = self._lines.get(edit.editor, ())
        if len(line) >= MOST_IN_LINE and edit.number > self._shared.last_number(edit.editor):
            text = f"{len(line)} of your edits wait already: send this one again in 1 s"
            answered(Answer(Code.HELD_BACK, text, retry_after=1.0))
            return
        answer = self._shared.begin(edit)
        if answer is not None:
            answered(answer)
            return
        self._put(edit, answered)
        self.go_on()

    def take_due(self) -> None:
        """Take up the edits that have waited for something that runs no more."""
        for edit in self._shared.due():
            self._put(edit, None)
        self.go_on()

    def go_on(self) -> None:
        """Begin with the next edit, of the next editor, if none is under way."""
        if self._now is not None or not self._lines:
            return
        editor, line = self._lines.popitem(last=False)
        self._now = line.popleft()
        if line:
            self._lines[editor] = line
        self._prepare(self._now[0])

    def _put(self, edit: Edit, answered: Answered | None) -> None:
        self._lines.setdefault(edit.editor, deque()).append((edit, answered))

    def _prepare(self, edit: Edit) -> None:
        self._work(
            lambda: self._shared.prepare(edit), lambda outcome: self._prepared(edit, outcome)
        )

    def _prepared(self, edit: Edit, outcome: Prepared | Exception) -> None:
        if isinstance(outcome, Exception):
            self._end(self._shared.refuse(edit, outcome))
        elif self._shared.is_stale(outcome):
            self._prepare(edit)
        elif (answer := self._shared.apply(outcome)) is not None:
            self._end(answer)
        else:
            self._work(lambda: self._shared.keep(outcome), lambda why: self._kept(outcome, why))

    def _kept(self, prepared: Prepared, why: Exception | None) -> None:
        if why is None:
            self._end(self._shared.commit(prepared))
        else:
            self._end(self._shared.roll_back(prepared, why))

    def _end(self, answer: Answer) -> None:
        assert self._now is not None
        (edit, answered), self._now = self._now, None
        self._made(edit, answer)
        if answered is not None:
            answered(answer)
        self.go_on()
