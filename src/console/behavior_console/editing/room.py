# SPDX-License-Identifier: Apache-2.0
"""`EditRoom`: one shared tree as pages have it, and the peers through which they change it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from behavior_console.channels import Channels
from behavior_console.commands import CommandError
from behavior_console.editing.carrier import PATIENCE, Carrier, Line
from behavior_executor.editing.edit_peer import HEARTBEAT, EditPeer
from behavior_executor.editing.tree_exchange import TreeNews
from behavior_tree.sharing import Answer, Code, Running

MOST_EDITORS = 32
"""Pages that edit one tree."""
_LOOK = 0.25
"""[s] between two looks at whether something has to be asked for."""
_TRIES = 3
"""Numbers for one edit, if another program under the same name has just used them."""


def document_key(tree: str, node: str = "") -> str:
    """Key of a node in the channel ``document``; of the tree itself without one."""
    return f"{tree}\n{node}" if node else tree


@dataclass
class _Page:
    line: Line
    pointer: dict[str, str | None]
    """Which nodes it has selected (``node``) and is pointed at (``over``)."""
    waiting: set[int]
    """Numbers of its edits that wait for what runs."""


class EditRoom:
    """One shared tree. Use it in one event loop.

    One peer only looks, and what it sees is shown to all pages; each page that edits has one of its
    own beside it, whose numbers and undo are its own.

    Args:
        tree: name of the mission.
        carrier: brings requests to the executor.
        channels: ``document`` is filled.
        shown: is called whenever something may have changed.
        patience: [s] wall time in which the executor has to answer.
    """

    def __init__(
        self,
        tree: str,
        carrier: Carrier,
        channels: Channels,
        shown: Callable[[], None],
        *,
        patience: float = PATIENCE,
    ) -> None:
        self.tree = tree
        self._on_shown = shown
        self._carrier, self._channels, self._patience = carrier, channels, patience
        self._look = self._line("")
        self._pages: dict[int, _Page] = {}
        self._shown: Mapping[str, Any] = {}
        self._late: dict[str, list[Any]] = {}
        """The last answer to an edit that had waited: number, code, text; by editor."""
        self._news = asyncio.Event()

    @property
    def is_empty(self) -> bool:
        """Whether no page edits it."""
        return not self._pages

    def names(self) -> dict[str, int]:
        """Editors of pages, with the number of each page's connection."""
        return {page.line.peer.name: number for number, page in self._pages.items()}

    def editors(self) -> dict[str, dict[str, str | None]]:
        """Who is there, with what he points at, as the channel ``editors`` has it."""
        pointers = {page.line.peer.name: page.pointer for page in self._pages.values()}
        everybody = {*self._look.peer.editors, *pointers}
        nobody: dict[str, str | None] = {"node": None, "over": None}
        return {name: {"tree": self.tree, **pointers.get(name, nobody)} for name in everybody}

    # -- what pages ask for ----------------------------------------------------------------------

    async def join(self, number: int, name: str) -> str:
        """Let a page edit; returns what it is called here.

        Raises:
            CommandError: there is no such tree, no answer, or too many are there.
        """
        if number not in self._pages:
            if len(self._pages) >= MOST_EDITORS:
                raise CommandError(f"{MOST_EDITORS} pages edit this tree already")
            own = f"{name} #{number}" if name in self.names() else name
            self._pages[number] = _Page(self._line(own), {"node": None, "over": None}, set())
        page = self._pages[number]
        try:
            await self._look.until(lambda: not self._look.peer.is_behind)
            self.show()
            await page.line.until(lambda: not page.line.peer.is_behind)
        except CommandError:
            self._pages.pop(number, None)
            raise
        self.show()
        self._page(number)  # it may have left meanwhile
        return page.line.peer.name

    async def edit(self, number: int, operation: Mapping[str, Any], running: Running) -> Any:
        """Make an edit of a page.

        Returns:
            The number of the edit, and its answer; or that it waits for what runs.

        Raises:
            CommandError: no answer, or the page has not joined.
        """
        page = self._page(number)
        peer = page.line.peer
        answer = Answer(Code.LATE)
        edit = None
        for _ in range(_TRIES):
            edit = peer.propose(operation, running)
            mine = edit.number
            await page.line.until(lambda: mine in peer.answers)  # noqa: B023 - at once
            answer = peer.answers[mine]
            if answer.code is not Code.LATE:
                break
        assert edit is not None
        if answer.code is Code.WAITING:
            page.waiting.add(edit.number)
        self._news.set()
        return edit.number, answer

    def point(self, number: int, node: str | None, over: str | None) -> None:
        """Show others what a page has selected and is pointed at."""
        self._page(number).pointer = {"node": node, "over": over}
        self._on_shown()

    def leave(self, number: int) -> None:
        """A page is gone; the executor notices later."""
        self._pages.pop(number, None)

    def _page(self, number: int) -> _Page:
        if number not in self._pages:
            raise CommandError(f"open the tree of '{self.tree}' before you change it")
        return self._pages[number]

    # -- what is shown ---------------------------------------------------------------------------

    def hear(self, news: TreeNews) -> None:
        """Take in news of the executor."""
        for line in self._lines():
            line.peer.hear(news)
        self._news.set()

    async def follow(self) -> None:
        """Keep up with the executor until it is cancelled."""
        while True:
            await asyncio.gather(*(line.keep_up(HEARTBEAT) for line in self._lines()))
            self.show()
            try:
                async with asyncio.timeout(_LOOK):
                    await self._news.wait()
            except TimeoutError:
                continue
            self._news.clear()

    def show(self) -> None:
        """Fill the channel with what has changed."""
        if self.is_empty:
            return
        self._note_late_answers()
        peer = self._look.peer
        nodes = peer.replica.nodes
        changes: dict[str, Any] = {
            document_key(self.tree, id): [node["tag"], node["attributes"], node["children"]]
            for id, node in nodes.items()
            if self._shown.get(id) is not node
        }
        gone = self._shown.keys() - nodes.keys()
        changes |= {document_key(self.tree, id): None for id in gone}
        changes[self.tree] = {
            "files": peer.replica.files,
            "file": peer.replica.file,
            "revision": peer.replica.revision,
            "ticks": peer.ticks,
            "problem": self._look.problem or peer.problem,
            "late": dict(self._late),
        }
        self._channels.patch("document", changes)
        self._shown = nodes
        self._on_shown()

    def hide(self) -> None:
        """Take it out of the channel."""
        keys = [self.tree, *(document_key(self.tree, id) for id in self._shown)]
        self._channels.patch("document", dict.fromkeys(keys))
        self._shown = {}

    def _note_late_answers(self) -> None:
        for page in self._pages.values():
            peer = page.line.peer
            for number in list(page.waiting):
                answer = peer.answers.get(number)
                if answer is not None and answer.is_final:
                    page.waiting.discard(number)
                    self._late[peer.name] = [number, int(answer.code), answer.message]

    def _lines(self) -> list[Line]:
        return [self._look, *(page.line for page in self._pages.values())]

    def _line(self, name: str) -> Line:
        return Line(EditPeer(name, self.tree), self._carrier, patience=self._patience)
