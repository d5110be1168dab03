# SPDX-License-Identifier: Apache-2.0
"""What lies between a page and its server: a link that may be slow, and stand still."""

from __future__ import annotations

import contextlib
import socket
import threading
import time


class Link:
    """Hands connections on to a port of this machine.

    Args:
        port: where the server is.
    """

    def __init__(self, port: int) -> None:
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self._flows = threading.Event()
        self._flows.set()
        self.port: int = self._listener.getsockname()[1]
        self.rate = float("inf")
        """[bytes/s] to the page, for each connection."""
        self.brought = 0
        """Bytes that websockets were brought; what else a page loads does not count."""
        self._websockets: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def hold(self) -> None:
        """Bring nothing any more, in neither direction; connections stay."""
        self._flows.clear()

    def release(self) -> None:
        """Go on with what has been held."""
        self._flows.set()

    def close(self) -> None:
        """Cut all connections, and take no more."""
        self._flows.set()
        for each in (self._listener, *self._sockets):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                page, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._server))
                self._sockets += [page, server]
                for pump, ends in ((self._up, (page, server)), (self._down, (server, page))):
                    threading.Thread(target=pump, args=ends, daemon=True).start()

    def _up(self, page: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := page.recv(4_096):
                if data.startswith(b"GET /ws"):
                    self._websockets.add(page)
                self._flows.wait()
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)

    def _down(self, server: socket.socket, page: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(4_096):
                self._flows.wait()
                time.sleep(len(data) / self.rate)
                page.sendall(data)
                if page in self._websockets:
                    self.brought += len(data)
            page.shutdown(socket.SHUT_WR)
