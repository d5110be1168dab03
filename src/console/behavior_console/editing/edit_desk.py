# SPDX-License-Identifier: Apache-2.0
"""`EditDesk`: the commands by which pages edit trees."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Coroutine, Mapping
from typing import Any

from behavior_console.channels import Channels
from behavior_console.commands import Client, CommandError, Commands
from behavior_console.editing.carrier import PATIENCE, Carrier
from behavior_console.editing.room import EditRoom
from behavior_console.protocol import Answer, Role
from behavior_executor.editing.tree_exchange import TreeNews
from behavior_tree.sharing import Code, Running

MOST_TREES = 16
"""That pages edit at once, as many as the executor has open."""
_LONGEST_NAME = 256
_LONGEST_ID = 40


class EditDesk:
    """Lets pages edit trees. It has a thread and an event loop of its own.

    * ``tree.open {tree}``: from then on the tree is in the channel ``document``, and this page is
      one of its editors; the value is its name there.
    * ``tree.edit {tree, operation, running}``: an operation of docs/authoring.md; the value has the
      code of the answer, the edit's number, and identifiers of what is new.
    * ``tree.point {tree, node, over}``: what the others see of this page.
    * ``tree.close {tree}``.

    Args:
        carrier: brings requests to the executor.
        channels: ``document`` and ``editors`` are filled.
        patience: [s] wall time in which the executor has to answer.
    """

    def __init__(self, carrier: Carrier, channels: Channels, *, patience: float = PATIENCE) -> None:
        self._carrier, self._channels = carrier, channels
        self.patience = patience
        self._rooms: dict[str, EditRoom] = {}
        self._following: dict[str, asyncio.Task[None]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="console_edits", daemon=True)
        self._thread.start()

    def offer(self, commands: Commands) -> None:
        """Offer the commands, and hear which pages leave."""
        for name, handler, audited in (
            ("tree.open", self._open, True),
            ("tree.edit", self._edit, True),
            ("tree.point", self._point, False),
            ("tree.close", self._close, True),
        ):
            commands.offer(name, handler, role=Role.EDIT, controls=False, audited=audited)
        commands.when_left(lambda number: self._call(self._leave, number))

    def hear(self, news: TreeNews) -> None:
        """Take in news of the executor; any thread may say them."""
        self._call(self._hear, news)

    def close(self) -> None:
        """End."""
        self._call(self._loop.stop)
        self._thread.join(3.0)

    # -- commands, in the server's loop ----------------------------------------------------------

    async def _open(self, client: Client, args: Mapping[str, Any]) -> Answer:
        tree = _tree(args)
        name = await self._there(self._join(tree, client))
        return Answer(ok=True, value={"editor": name})

    async def _edit(self, client: Client, args: Mapping[str, Any]) -> Answer:
        tree, operation = _tree(args), args.get("operation")
        if not isinstance(operation, dict):
            raise CommandError("'operation' is a map such as {op: remove, node: n7}")
        try:
            running = Running(args.get("running", "refuse"))
        except ValueError:
            raise CommandError("'running' is refuse, after or halt") from None
        edit = self._there(self._room_edit(tree, client.number, operation, running))
        number, answer = await edit
        return Answer(
            ok=answer.code in (Code.MADE, Code.WAITING),
            message=answer.message,
            value={"code": int(answer.code), "number": number, "nodes": list(answer.nodes)},
        )

    async def _point(self, client: Client, args: Mapping[str, Any]) -> Answer:
        node, over = _id(args, "node"), _id(args, "over")
        await self._there(self._room_point(_tree(args), client.number, node, over))
        return Answer(ok=True)

    async def _close(self, client: Client, args: Mapping[str, Any]) -> Answer:
        tree = _tree(args)
        self._call(self._leave, client.number, tree)
        return Answer(ok=True)

    async def _there(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Do something in the other loop, and wait for it."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def _call(self, function: Any, *args: Any) -> None:
        with contextlib.suppress(RuntimeError):  # it has just ended
            self._loop.call_soon_threadsafe(function, *args)

    # -- in the loop of its own ------------------------------------------------------------------

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        for task in self._following.values():
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _join(self, tree: str, client: Client) -> str:
        room = self._rooms.get(tree)
        if room is None:
            if len(self._rooms) >= MOST_TREES:
                raise CommandError(f"{MOST_TREES} trees are being edited: leave one of them")
            room = self._rooms[tree] = EditRoom(
                tree, self._carrier, self._channels, self._show_editors, patience=self.patience
            )
        try:
            name = await room.join(client.number, _editor(client))
        finally:
            self._tidy(tree)
        if tree not in self._following:
            self._following[tree] = asyncio.create_task(room.follow())
        return name

    async def _room_edit(self, tree: str, number: int, operation: Any, running: Running) -> Any:
        return await self._room(tree).edit(number, operation, running)

    async def _room_point(self, tree: str, number: int, node: Any, over: Any) -> None:
        self._room(tree).point(number, node, over)

    def _room(self, tree: str) -> EditRoom:
        if tree not in self._rooms:
            raise CommandError(f"open the tree of '{tree}' before you change it")
        return self._rooms[tree]

    def _leave(self, number: int, tree: str | None = None) -> None:
        for name in [tree] if tree is not None else list(self._rooms):
            if name in self._rooms:
                self._rooms[name].leave(number)
                self._tidy(name)

    def _tidy(self, tree: str) -> None:
        """Close a tree that no page edits."""
        if tree not in self._rooms or not self._rooms[tree].is_empty:
            return
        self._rooms.pop(tree).hide()
        if tree in self._following:
            self._following.pop(tree).cancel()
        self._show_editors()

    def _hear(self, news: TreeNews) -> None:
        for room in self._rooms.values():
            room.hear(news)

    def _show_editors(self) -> None:
        found: dict[str, Any] = {}
        for room in self._rooms.values():
            found |= room.editors()
        self._channels.replace("editors", found)


def _tree(args: Mapping[str, Any]) -> str:
    tree = args.get("tree")
    if not isinstance(tree, str) or not 0 < len(tree) <= _LONGEST_NAME or not tree.isprintable():
        raise CommandError("'tree' is the name of a mission")
    return tree


def _id(args: Mapping[str, Any], key: str) -> str | None:
    found = args.get(key)
    return found if isinstance(found, str) and len(found) <= _LONGEST_ID else None


def _editor(client: Client) -> str:
    """What a page is called among editors: the name it gave, which it keeps when it comes back."""
    return "".join(filter(str.isprintable, client.name)).strip() or f"page #{client.number}"
