# SPDX-License-Identifier: Apache-2.0
"""What a peer of a shared tree asks next, and what it makes of answers and news. No ROS.

A peer may be cut off at any time: it keeps what it was not answered, and catches up by what it
knows. Whoever brings the messages may lose, double, delay and reorder them::

    peer = EditPeer("ann", "stack_blocks")
    while peer.wants:
        peer.take(bring(peer.request()))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from behavior_executor.editing.tree_exchange import ExchangeAnswer, ExchangeRequest, TreeNews
from behavior_tree.sharing import Answer, Code, Edit, Running
from behavior_tree.sharing.document import Replica
from behavior_tree.sharing.edits import TO_FILES, operation_of
from behavior_tree.sharing.remote import RemoteEditor

HEARTBEAT = 3.0
"""[s] after which a peer that is there asks although it wants nothing: so it is seen to be there,
and learns what it has missed."""


class EditPeer:
    """One editor of one tree.

    Args:
        name: of the editor; empty: it only looks
        tree: name of the mission; empty: of the one that runs when it is asked for
    """

    def __init__(self, name: str, tree: str = "") -> None:
        self.name, self.tree = name, tree
        self.editors: tuple[str, ...] = ()
        """Who is there."""
        self.ticks = False
        """Whether a mission ran this tree when that was answered last."""
        self.problem = ""
        """What is wrong with the tree as a whole, or why there is none."""
        self.answers: dict[int, Answer] = {}
        """To the edits of this peer, as far as they are known; by number."""
        self._remote = RemoteEditor(name)
        self._revision = -1
        """The newest that was heard of; -1: nothing was."""
        self._update = b""
        """The parts of a long update that are there."""
        self._part_of = 0
        """The revision that they are of."""

    @property
    def replica(self) -> Replica:
        """The tree as far as it is known."""
        return self._remote.replica

    @property
    def revision(self) -> str:
        """Of the tree as far as it is known, `DOCUMENT/NUMBER`: no other state of it has this."""
        return f"{self._remote.document_id}/{self.replica.revision}"

    @property
    def is_behind(self) -> bool:
        """Whether the tree has changed in a way that is not known yet."""
        return self._revision < 0 or self.replica.revision < self._revision

    @property
    def wants(self) -> bool:
        """Whether there is something to ask for now."""
        open_ = [each for each in self._remote.unanswered if each.number not in self.answers]
        return self.is_behind or bool(self._update or open_)

    def propose(self, operation: Mapping[str, Any], running: Running = Running.REFUSE) -> Edit:
        """An edit, to be sent until it is answered for good; see `RemoteEditor.propose`."""
        return self._remote.propose(operation, running)

    def request(self) -> ExchangeRequest:
        """What to send next; the same again if it was not answered."""
        known = self._remote.document_id, self.replica.state_vector
        edits = [] if self._update or self._revision < 0 else self._remote.unanswered
        unknown = [each for each in edits if each.number not in self.answers]
        edit = next(iter([*unknown, *edits]), None)
        number, text = (0, "") if edit is None else (edit.number, edit.text)
        return ExchangeRequest(self.tree, self.name, number, text, *known, offset=len(self._update))

    def take(self, request: ExchangeRequest, told: ExchangeAnswer) -> None:
        """Take in an answer.

        Args:
            request: that was answered.
            told: the answer.

        Raises:
            LogicError: what came is no Yjs update.
        """
        if request.number:
            self._note(Edit(request.editor, request.number, request.edit), told.answer)
        elif told.answer.code is not Code.HELD_BACK:
            self.problem = told.answer.message
        if not told.document:
            return
        self.tree, self.editors, self.ticks = told.tree, told.editors, told.ticks
        if told.document != self._remote.document_id:
            self._revision = told.revision
        self._revision = max(self._revision, told.revision)
        if not told.offset:
            self._update, self._part_of = b"", told.revision
        elif told.revision != self._part_of:
            self._update = b""
        if told.offset != len(self._update):
            return
        self._update += told.update
        if len(self._update) >= told.size:
            update, self._update = self._update, b""
            self._remote.catch_up(told.document, update, told.last_number)

    def hear(self, news: TreeNews) -> None:
        """Take in news; those of other trees are passed over."""
        if news.tree != self.tree or news.document != self._remote.document_id:
            self._revision = -1 if news.tree == self.tree else self._revision
            return
        self.editors = news.editors
        self._revision = max(self._revision, news.revision)
        if news.update and not self._update:
            self.replica.apply(news.update)
        if news.editor == self.name and news.number:
            for edit in self._remote.unanswered:
                if edit.number == news.number:
                    self._note(edit, news.answer)

    def _note(self, edit: Edit, answer: Answer) -> None:
        if answer.retry_after:
            return
        self.answers[edit.number] = answer
        while len(self.answers) > 100:
            del self.answers[next(iter(self.answers))]
        self._remote.answered(edit, answer)
        if answer.code is Code.MADE and operation_of(edit)[0]["op"] in TO_FILES:
            self.problem = ""
