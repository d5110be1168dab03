# SPDX-License-Identifier: Apache-2.0
"""The console's addresses, as an ASGI application: the page, its websocket, and ``/api``.

`behavior_console.server` lets requests in before this sees them.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket

from behavior_console.access import Admitted
from behavior_console.flow import CLOSEST
from behavior_console.offered_panels import modules_route
from behavior_console.page import PAGE_FOLDER, page_routes
from behavior_console.session import TRY_AGAIN_LATER, Desk, Session

MOST_PAGES = 64
"""Websockets at once."""
_TOGETHER = 0.005
"""[s] within which the messages of one tick come, which are to be one frame."""


class Pulse:
    """Wakes all pages together, so that they mostly share their frames; at once after a rest."""

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

    def wants(self, channel: str) -> bool:
        """Whether a page shows a channel now; any thread may ask."""
        return any(channel in session.shown for session in tuple(self.sessions))

    async def run(self) -> None:
        """Beat until it is cancelled."""
        self._loop = asyncio.get_running_loop()
        while True:
            await self._changed.wait()
            await asyncio.sleep(_TOGETHER)
            self._changed.clear()
            self._announced = False
            for session in self.sessions:
                session.wake()
            await asyncio.sleep(CLOSEST - _TOGETHER)


def application(
    desk: Desk,
    *,
    pulse: Pulse,
    page_folder: Path = PAGE_FOLDER,
    routes: tuple[Route | Mount | WebSocketRoute, ...] = (),
    background: Callable[[], Awaitable[None]] | None = None,
) -> Starlette:
    """The console as an ASGI application.

    Args:
        desk: what pages share.
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

    return Starlette(
        routes=[
            WebSocketRoute("/ws", websocket),
            *routes,
            modules_route(),
            *page_routes(page_folder),
        ],
        lifespan=lifespan,
    )
