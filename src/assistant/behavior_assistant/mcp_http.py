# SPDX-License-Identifier: Apache-2.0
"""The MCP server over HTTP: on the loopback interface, for who brings the token."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn

from behavior_assistant.mcp_server import RecordedServer
from behavior_ros.web_access import Refused, WebAccess

HOST = "127.0.0.1"
PATH = "/mcp"
MOST_BYTES = 256 * 1024
"""Of a request."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def guarded(app: App, access: WebAccess) -> App:
    """An ASGI application that answers only who may act; see `behavior_ros.web_access`."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        try:
            path = _admitted_path(scope, access)
        except Refused as error:
            await _refuse(error, send)
            return
        await app({**scope, "path": path, "raw_path": path.encode()}, receive, send)

    return answer


def application(server: RecordedServer, access: WebAccess) -> App:
    """The server as an ASGI application that answers only who may act."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=MOST_BYTES,
        host=HOST,
    )
    return guarded(app, access)


def serve(server: RecordedServer, port: int, access: WebAccess) -> None:
    """Answer until Ctrl-C."""
    config = uvicorn.Config(
        application(server, access), host=HOST, port=port, log_level="warning", ws="none"
    )
    uvicorn.Server(config).run()


def _admitted_path(scope: Scope, access: WebAccess) -> str:
    if scope["type"] != "http":
        raise Refused(400, "Only HTTP is spoken here")
    query = scope.get("query_string", b"").decode("latin-1")
    target = f"{scope['path']}?{query}" if query else str(scope["path"])
    headers = [
        (name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]
    ]
    admission = access.admit(target, headers)
    if not admission.may_act:
        raise Refused(401, "Bring the token that was printed at the start: Authorization: Bearer")
    return admission.path


async def _refuse(error: Refused, send: Send) -> None:
    body = json.dumps({"error": str(error)}).encode()
    headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
