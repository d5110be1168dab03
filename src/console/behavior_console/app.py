# SPDX-License-Identifier: Apache-2.0
"""The console's addresses, as an ASGI application: the page, its websocket, and ``/api``.

Every request is let in by one rule (`behavior_console.access`) before anything looks at it.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket

from behavior_console.access import Admitted, ConsoleAccess
from behavior_console.flow import PERIOD
from behavior_console.page import PAGE_FOLDER, page_routes
from behavior_console.session import TRY_AGAIN_LATER, Desk, Session
from behavior_ros.web_access import Refused

__all__ = ["MOST_PAGES", "Pulse", "application"]

MOST_PAGES = 64
"""Websockets at once."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Pulse:
    """Wakes all pages together, at most once a period, so that they mostly share their frames."""

    def __init__(self) -> None:
        self.sessions: set[Session] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._changed = asyncio.Event()
        self._announced = False

    def announce(self) -> None:
        """Something has changed; any thread may say so."""
        loop = self._loop
        if loop is not None and not self._announced:
            self._announced = True
            with contextlib.suppress(RuntimeError):  # the server has just ended
                loop.call_soon_threadsafe(self._changed.set)

    async def run(self) -> None:
        """Beat until it is cancelled."""
        self._loop = asyncio.get_running_loop()
        while True:
            await self._changed.wait()
            self._changed.clear()
            self._announced = False
            for session in self.sessions:
                session.wake()
            await asyncio.sleep(PERIOD)


def application(
    desk: Desk,
    access: ConsoleAccess,
    *,
    pulse: Pulse,
    page_folder: Path = PAGE_FOLDER,
    routes: tuple[Route | Mount | WebSocketRoute, ...] = (),
    background: Callable[[], Awaitable[None]] | None = None,
) -> App:
    """The console as an ASGI application.

    Args:
        desk: what pages share.
        access: who is let in.
        pulse: wakes pages.
        page_folder: of the built page.
        routes: further addresses.
        background: runs beside, until the server ends.
    """
    numbers = itertools.count(1)

    async def websocket(socket: WebSocket) -> None:
        await socket.accept()
        if len(pulse.sessions) >= MOST_PAGES:
            await socket.close(TRY_AGAIN_LATER, f"{MOST_PAGES} pages are open already")
            return
        admitted: Admitted = socket.scope["admitted"]
        session = Session(socket, desk, number=next(numbers), role=admitted.role)
        pulse.sessions.add(session)
        try:
            await session.run()
        finally:
            pulse.sessions.discard(session)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(pulse.run())]
        if background is not None:
            tasks.append(asyncio.ensure_future(background()))
        yield
        for task in tasks:
            task.cancel()

    app = Starlette(
        routes=[WebSocketRoute("/ws", websocket), *routes, *page_routes(page_folder)],
        lifespan=lifespan,
    )
    return guarded(app, access)


def guarded(app: App, access: ConsoleAccess) -> App:
    """An application that only sees requests that the rule lets in."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        try:
            admitted = _admit(scope, access)
        except Refused as error:
            await _refuse(scope, error, receive, send)
            return

        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_headers(admitted.host)]
            await send(message)

        await app({**scope, "admitted": admitted}, receive, send_with_headers)

    return answer


def _admit(scope: Scope, access: ConsoleAccess) -> Admitted:
    query = scope.get("query_string", b"").decode("latin-1")
    target = f"{scope['path']}?{query}" if query else str(scope["path"])
    fields = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in scope["headers"]]
    return access.admit(target, fields)


async def _refuse(scope: Scope, error: Refused, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": str(error)[:100]})
        return
    await PlainTextResponse(f"{error}\n", error.status)(scope, receive, send)


def _headers(host: str) -> list[tuple[bytes, bytes]]:
    """What keeps the page from other pages, from other servers, and from scripts in messages."""
    policy = (
        f"default-src 'self'; connect-src 'self' ws://{host} wss://{host};"
        " img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; worker-src 'self' blob:;"
        " frame-ancestors 'none'; object-src 'none'; base-uri 'none'; form-action 'none'"
    )
    return [
        (b"content-security-policy", policy.encode("latin-1")),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"referrer-policy", b"no-referrer"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
    ]
