# SPDX-License-Identifier: Apache-2.0
"""The web server in a thread of its own, on the loopback interface.

Every request is let in by one rule (`behavior_console.access`) before anything looks at it.
"""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn
from starlette.responses import PlainTextResponse

from behavior_console.access import Admitted, ConsoleAccess
from behavior_console.protocol import LONGEST_MESSAGE
from behavior_ros.web_access import Refused

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HOST = "127.0.0.1"
TRIED_PORTS = 20
_END_WITHIN = 3.0


class ConsoleServer:
    """Serves an application until it is closed.

    Args:
        app: is served; it finds who was let in as ``scope["admitted"]``.
        access: who is let in.
        port: the next free one when it is taken; 0: any.

    Raises:
        OSError: there is no free port.
    """

    def __init__(self, app: App, access: ConsoleAccess, *, port: int) -> None:
        self._socket = _listening(port)
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            guarded(app, access),
            log_level="warning",
            access_log=False,
            ws="websockets-sansio",
            ws_max_size=LONGEST_MESSAGE,
            ws_per_message_deflate=False,
            lifespan="on",
            limit_concurrency=300,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), name="console_server", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """End; pages are cut off."""
        self._server.should_exit = True
        self._thread.join(_END_WITHIN)
        self._socket.close()


def _listening(port: int) -> socket.socket:
    ports = [0] if port == 0 else range(port, port + TRIED_PORTS)
    for each in ports:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, each))
        except OSError as error:
            listener.close()
            if error.errno != errno.EADDRINUSE:
                raise
            continue
        listener.listen(100)
        return listener
    raise OSError(f"ports {port} to {port + TRIED_PORTS - 1} are taken: choose another with --port")


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
