# SPDX-License-Identifier: Apache-2.0
"""One shared tree and its peers: who is there, what they ask, what they lack. No ROS."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from behavior_executor.editing.edit_line import EditLine, Work
from behavior_executor.editing.tree_exchange import (
    CHUNK,
    ExchangeAnswer,
    ExchangeRequest,
    Reply,
    TreeNews,
)
from behavior_tree import BehaviorTreeFactory, LogicError, Tree
from behavior_tree.sharing import Answer, Code, Edit, SharedTree

PRESENCE = 10.0
"""[s] wall time after his last request for which an editor counts as being there."""
MOST_EDITORS = 100
"""Who is listed as being there."""
MOST_TOLD = 64 * 1024
"""[bytes] of an update that all are told; of a longer one only that it is there."""
_MOST_HELD = 4
"""Long updates that are held for who has fetched a part of them."""


class TreeRoom:
    """Answers the peers of one tree; use it in the thread of the ticks.

    Args:
        name: of the mission
        shared: the tree
        work: does aside what takes time
        wall: monotonic wall time [s]
        tell: publishes news
        edited: is called when an edit has changed the tree
        refusal: why nobody may edit; empty: all may
    """

    def __init__(
        self,
        name: str,
        shared: SharedTree,
        *,
        work: Work,
        wall: Callable[[], float],
        tell: Callable[[TreeNews], None],
        edited: Callable[[], None],
        refusal: str = "",
    ) -> None:
        self.name = name
        self.shared = shared
        self._wall, self._tell, self._edited, self._refusal = wall, tell, edited, refusal
        self._line = EditLine(shared, work, self._made)
        self._seen: dict[str, float] = {}
        """Who is there, and when he was heard last."""
        self._held: OrderedDict[tuple[str, bytes], tuple[int, bytes]] = OrderedDict()
        """Long updates by who fetches them and what he knows: revision and update."""
        self._update = b""
        """The newest one, until it is told."""
        shared.subscribe(self._on_update)

    # -- the tree that ticks --------------------------------------------------------------------

    def refresh(self) -> None:
        """Take in what others have changed on disk; raises LogicError, LoadError."""
        self.shared.refresh()
        update, self._update = self._update, b""
        if update:
            self._tell_news(update=update)

    def attach(self, tree: Tree, factory: BehaviorTreeFactory) -> None:
        """Let a tree follow that was made from the files as they are now."""
        self.shared.attach(tree, factory)
        self._tell_news()

    def detach(self, tree: Tree) -> None:
        """It ticks no more."""
        if self.shared.live is not None and self.shared.live.tree is tree:
            self.shared.detach()
            self._line.take_due()
            self._tell_news()

    def after_tick(self) -> None:
        """Make the edits that waited for what has ended."""
        self._line.take_due()

    # -- peers ----------------------------------------------------------------------------------

    @property
    def editors(self) -> tuple[str, ...]:
        """Who is there."""
        return tuple(sorted(self._seen))

    @property
    def is_idle(self) -> bool:
        """Whether nobody is there, no edit waits or is under way, and no tree ticks."""
        return not self._seen and self.rests and self.shared.live is None

    @property
    def rests(self) -> bool:
        """Whether no edit waits or is under way."""
        return self._line.is_idle

    def look_around(self) -> None:
        """Notice who has gone; call it now and then."""
        now = self._wall()
        gone = [name for name, at in self._seen.items() if now - at > PRESENCE]
        for name in gone:
            del self._seen[name]
        if gone:
            self._tell_news()

    def exchange(self, request: ExchangeRequest, reply: Reply) -> None:
        """Answer a request, at once or when its edit has been looked at."""
        edit = Edit(request.editor, request.number, request.edit)
        try:
            self.shared.update_for(request.state)  # before anything is done
            self._check(edit)
        except LogicError as error:
            reply(ExchangeAnswer(Answer(Code.REFUSED, str(error)), self.name))
            return
        self._see(request.editor)
        if request.number:
            self._line.take(edit, lambda answer: reply(self._answer(request, answer)))
        else:
            reply(self._answer(request, Answer(Code.MADE, self.shared.problem)))

    def _check(self, edit: Edit) -> None:
        if edit.number and self._refusal:
            raise LogicError(self._refusal)
        if edit.editor or edit.number:
            problem = Edit(edit.editor, max(edit.number, 1), edit.text).problem()
            if problem:
                raise LogicError(problem)

    def _see(self, editor: str) -> None:
        if not editor:
            return
        is_new = editor not in self._seen
        if is_new and len(self._seen) >= MOST_EDITORS:
            return
        self._seen[editor] = self._wall()
        if is_new:
            self._tell_news()

    def _answer(self, request: ExchangeRequest, answer: Answer) -> ExchangeAnswer:
        update, offset, size = self._lacking(request)
        return ExchangeAnswer(
            answer,
            self.name,
            self.shared.document_id,
            self.shared.revision,
            self.shared.last_number(request.editor),
            self.shared.live is not None,
            self.editors,
            update,
            offset,
            size,
        )

    def _lacking(self, request: ExchangeRequest) -> tuple[bytes, int, int]:
        """The part of an update that a peer is to get, where that begins, and how long all is."""
        known = request.state if request.document == self.shared.document_id else b""
        key = request.editor, known
        revision, whole = self._held.pop(key, (-1, b""))
        begin = request.offset
        if not begin or revision != self.shared.revision or begin >= len(whole):
            begin, whole = 0, self.shared.update_for(known)
        if begin + CHUNK < len(whole):
            self._held[key] = self.shared.revision, whole
            while len(self._held) > _MOST_HELD:
                self._held.popitem(last=False)
        return whole[begin : begin + CHUNK], begin, len(whole)

    # -- news -----------------------------------------------------------------------------------

    def _on_update(self, update: bytes, revision: int) -> None:
        self._update = update

    def _made(self, edit: Edit, answer: Answer) -> None:
        update, self._update = self._update, b""
        if answer.code is Code.MADE:
            self._edited()
        self._tell_news(edit, answer, update)

    def _tell_news(
        self,
        edit: Edit | None = None,
        answer: Answer = Answer(Code.MADE),  # noqa: B008 - frozen
        update: bytes = b"",
    ) -> None:
        self._tell(
            TreeNews(
                self.name,
                self.shared.document_id,
                self.shared.revision,
                self.editors,
                "" if edit is None else edit.editor,
                0 if edit is None else edit.number,
                answer,
                update if len(update) <= MOST_TOLD else b"",
            )
        )
