# SPDX-License-Identifier: Apache-2.0
"""The web server in a thread of its own, on the loopback interface."""

from __future__ import annotations

import errno
import socket
import threading

import uvicorn

from behavior_console.app import App
from behavior_console.protocol import LONGEST_MESSAGE

__all__ = ["ConsoleServer"]

HOST = "127.0.0.1"
TRIED_PORTS = 20
_END_WITHIN = 3.0


class ConsoleServer:
    """Serves an application until it is closed.

    Args:
        app: is served.
        port: the next free one when it is taken; 0: any.

    Raises:
        OSError: there is no free port.
    """

    def __init__(self, app: App, *, port: int) -> None:
        self._socket = _listening(port)
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            app,
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
