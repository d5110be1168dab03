# SPDX-License-Identifier: Apache-2.0
"""`Session`: one page's websocket. It is sent what is new, and its commands are answered.

Two loops: one reads what the page says, one sends frames. Nothing waits in a queue: the sender
takes the newest state when a frame may go out (`behavior_console.flow`).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from starlette.websockets import WebSocket, WebSocketDisconnect

from behavior_console.channels import Channels, News, Reader, pack
from behavior_console.commands import Client, Commands
from behavior_console.flow import Flow, Quota
from behavior_console.protocol import (
    Answer,
    At,
    Command,
    Hello,
    ProtocolError,
    Role,
    Seen,
    Subscribe,
    frame,
    read,
)
from behavior_console.source import OF_THE_MOMENT, Source, SourceError

HELLO_WITHIN = 10.0
"""[s]."""
SEND_WITHIN = 30.0
"""[s] after which a page that takes no bytes is gone."""
MOST_COMMANDS = 8
"""Of one page at once; a stop has a place of its own, whatever hangs."""
_STOP = "stop"
POLICY_VIOLATION, TRY_AGAIN_LATER = 1008, 1013


class Desk(Protocol):
    """What sessions share."""

    commands: Commands
    live: Source

    async def source(self, record: str) -> Source:
        """What a page looks at; empty: what happens now.

        Raises:
            SourceError: there is no such record.
        """
        ...

    def welcome(self, client: Client, source: Source) -> dict[str, Any]:
        """What a page is told first."""
        ...


class Session:
    """One page.

    Args:
        socket: accepted already.
        desk: what all pages share.
        number: of the connection.
        role: the most that its token allows.
        clock: [s] for limits.
    """

    def __init__(
        self,
        socket: WebSocket,
        desk: Desk,
        *,
        number: int,
        role: Role,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._socket, self._desk, self._clock = socket, desk, clock
        self.client = Client(number, "", role)
        self._source: Source = desk.live
        self._reader, self._moment_reader = Reader(), Reader()
        self._moment = Channels()
        self._at: float | None = None
        self._wanted_at: float | None = None
        self._moved = False
        self._names: tuple[str, ...] = ()
        self._moves = asyncio.Event()
        self._wake = asyncio.Event()
        self._flow = Flow()
        self._messages = Quota(rate=200.0, burst=400.0)
        self._commands = Quota(rate=20.0, burst=60.0)
        self._sending = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def shown(self) -> tuple[str, ...]:
        """The channels that the page shows now."""
        return self._names

    def wake(self) -> None:
        """Something is new."""
        self._wake.set()

    async def run(self) -> None:
        """Serve the page until it leaves."""
        try:
            await self._begin()
            async with asyncio.TaskGroup() as group:
                group.create_task(self._send_frames())
                group.create_task(self._follow_moves())
                group.create_task(self._listen())
        except* (WebSocketDisconnect, _Left):
            pass
        except* (ProtocolError, SourceError, TimeoutError) as problems:
            await self._refuse(problems.exceptions[0])
        finally:
            for task in self._tasks:
                task.cancel()
            self._desk.commands.leave(self.client.number)

    # -- what the page says ----------------------------------------------------------------------

    async def _begin(self) -> None:
        async with asyncio.timeout(HELLO_WITHIN):
            hello = await self._receive()
        if not isinstance(hello, Hello):
            raise ProtocolError("the first message is 'hello'")
        role = min(hello.role, self.client.role)
        self.client = replace(self.client, name=hello.name, role=role)
        self._source = await self._desk.source(hello.record)
        await self._send(pack({"welcome": self._desk.welcome(self.client, self._source)}))

    async def _listen(self) -> None:
        while True:
            message = await self._receive()
            match message:
                case Seen(number):
                    self._flow.acknowledge(number)
                    self._wake.set()
                case Subscribe(names):
                    self._subscribe(names)
                case At(moment):
                    self._wanted_at = moment
                    self._moves.set()
                case Command():
                    await self._take(message)
                case Hello():
                    raise ProtocolError("'hello' was said before")

    async def _receive(self) -> Any:
        event = await self._socket.receive()
        if event["type"] == "websocket.disconnect":
            raise _Left
        data = event.get("bytes")
        if data is None:
            raise ProtocolError("messages are binary: msgpack maps")
        if not self._messages.take(self._clock()):
            raise ProtocolError("too many messages at once")
        return read(data)

    def _subscribe(self, names: tuple[str, ...]) -> None:
        moment = [] if self._at is None else [name for name in names if name in OF_THE_MOMENT]
        self._moment_reader.subscribe(moment)
        self._reader.subscribe(name for name in names if name not in moment)
        self._names = names
        self._wake.set()

    async def _take(self, command: Command) -> None:
        """Begin to carry out a command; the page is answered when it is done."""
        stop = command.name == _STOP
        often = not self._commands.take(self._clock()) and not stop
        if often or len(self._tasks) >= MOST_COMMANDS + stop:
            refused = Answer(ok=False, message="too many commands at once: wait for answers")
            await self._answer(command, refused)
            return
        task = asyncio.create_task(self._carry_out(command))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry_out(self, command: Command) -> None:
        answer = await self._desk.commands.run(self.client, command)
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # it left meanwhile
            await self._answer(command, answer)

    async def _answer(self, command: Command, answer: Answer) -> None:
        told = {"id": command.id, "ok": answer.ok, "message": answer.message}
        if answer.value is not None:
            told["value"] = answer.value
        await self._send(pack({"answer": told}))

    # -- what the page is sent -------------------------------------------------------------------

    async def _follow_moves(self) -> None:
        """Show the newest moment that was asked for; those before it are passed over."""
        while True:
            await self._moves.wait()
            self._moves.clear()
            time_ = self._wanted_at
            if time_ is not None:
                try:
                    await self._source.show(self._moment, time_)
                except SourceError as error:
                    await self._send(pack({"problem": {"at": time_, "text": str(error)}}))
                    continue
            if (time_ is None) != (self._at is None):
                self._at = time_
                self._subscribe(self._names)
            self._at = time_
            self._moved = True
            self._wake.set()

    async def _send_frames(self) -> None:
        while True:
            await self._wake.wait()
            if not self._flow.open:
                self._wake.clear()
                continue
            if (wait := self._flow.wait(self._clock())) > 0:
                await asyncio.sleep(wait)
            self._wake.clear()
            news = self._news()
            if news or self._moved:
                self._moved = False
                number = self._flow.next(self._clock())
                await self._send(frame(number, self._source.now(), self._at, news))

    def _news(self) -> News:
        news = self._source.channels.news(self._reader)
        if self._moment_reader.names:
            of_moment = self._moment.news(self._moment_reader)
            news = News(
                {**news.set, **of_moment.set}, {**news.add}, {**news.patch, **of_moment.patch}
            )
        return news

    async def _send(self, data: bytes) -> None:
        async with self._sending, asyncio.timeout(SEND_WITHIN):
            await self._socket.send_bytes(data)

    async def _refuse(self, error: BaseException) -> None:
        """Say what was wrong, and end."""
        text = str(error) or "no answer in time"
        with contextlib.suppress(Exception):  # it may have left
            await self._send(pack({"problem": {"text": text}}))
            await self._socket.close(POLICY_VIOLATION, text[:100])


class _Left(Exception):
    """The page has gone."""
