# SPDX-License-Identifier: Apache-2.0
"""viser's server behind the suite's rule of access (`behavior_ros.web_access`).

viser lets everybody in, and takes every message from everybody. Its web server is made with the
`websockets` library, whose `serve` has places for both questions: `process_request` sees a request
before it is answered, and a connection class sees a message before viser does. viser offers neither
to its users, so its name for that library is exchanged while a server is made. Should another
release of viser make its server in another way, `guarded_server` raises instead of serving openly.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any

import msgspec
import viser
import websockets
import websockets.asyncio.server
from viser.infra import _infra
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from behavior_bringup.errors import BringupError
from behavior_ros.web_access import Refused, WebAccess

MAX_MESSAGE = 64 * 1024
"""Of one message from a page [bytes]."""
LOOKING = frozenset({"ViewerCameraMessage"})
"""What a page tells that only looks."""
ACTING = LOOKING | {"GuiUpdateMessage"}
"""What a page tells whose buttons count. Not among them: uploads, and viser's request to share the
page through a server on the internet."""

_serving = threading.Lock()


class _Connection(ServerConnection):
    """A websocket that hands over only what its page may say."""

    may_act = False

    async def recv(self, decode: bool | None = None) -> Any:
        """The next message that is permitted."""
        while True:
            message = await super().recv(decode)
            if _kind(message) in (ACTING if self.may_act else LOOKING):
                return message


def guarded_server(access: WebAccess, *, port: int) -> viser.ViserServer:
    """A viser server on the loopback interface that lets in whom the rule lets in.

    Args:
        access: the rule.
        port: the next free one when it is taken; 0: any.

    Raises:
        BringupError: viser makes its server in a way that cannot be guarded.
    """
    with _viser_serves_by(access) as served:
        server = viser.ViserServer(
            host="127.0.0.1", port=port, label="Behavior suite", verbose=False
        )
    if not served:
        server.stop()
        raise BringupError(
            f"The viewer cannot guard its page with viser {viser.__version__}:"
            " install the release that requirements.txt names"
        )
    return server


def may_act(client: viser.ClientHandle) -> bool:
    """Whether the page brought the token."""
    connections = client._viser_server._websock_server._live_connections
    return bool(getattr(connections.get(client.client_id), "may_act", False))


@contextmanager
def _viser_serves_by(access: WebAccess) -> Iterator[list[bool]]:
    """Let servers that viser makes meanwhile obey the rule; the list is empty if none was made."""
    served: list[bool] = []

    def serve(handler: Any, host: str, port: int, **options: Any) -> Any:
        served.append(True)
        options |= {
            "process_request": _guarded(access, options["process_request"]),
            "create_connection": _Connection,
            "max_size": MAX_MESSAGE,
        }
        return websockets.asyncio.server.serve(handler, host, port, **options)

    with _serving:
        library = _infra.websockets
        _infra.websockets = _Library(serve)  # stands in for a module
        try:
            yield served
        finally:
            _infra.websockets = library


class _Library:
    """The `websockets` library with another `serve`."""

    def __init__(self, serve: Callable[..., Any]) -> None:
        self.asyncio = SimpleNamespace(server=SimpleNamespace(serve=serve))

    def __getattr__(self, name: str) -> Any:
        return getattr(websockets, name)


def _guarded(access: WebAccess, answer: Callable[..., Response | None]) -> Callable[..., Any]:
    """Viser's answer to a request, for those that the rule lets in."""

    def process(connection: _Connection, request: Request) -> Response | None:
        try:
            admission = access.admit(request.path, request.headers.raw_items())
        except Refused as refused:
            return connection.respond(HTTPStatus(refused.status), f"{refused}\n")
        connection.may_act = admission.may_act
        request.path = admission.path
        response = answer(connection, request)
        if response is not None:
            for name, value in admission.response_headers.items():
                response.headers[name] = value
        return response

    return process


def _kind(message: Any) -> str:
    """The type that a message of viser's names; empty for what is none."""
    try:
        return str(msgspec.msgpack.decode(message)["type"])
    except (msgspec.DecodeError, TypeError, KeyError, ValueError):
        return ""
