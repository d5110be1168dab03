# SPDX-License-Identifier: Apache-2.0
"""An OpenAI-compatible endpoint of a few lines on the loopback interface."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, bytes]


def completion(content: Any) -> Reply:
    """A chat completion that says this."""
    text = content if isinstance(content, str) else json.dumps(content)
    return 200, json.dumps({"choices": [{"message": {"content": text}}]}).encode()


class ChatServer:
    """What was asked of it, and how it replies."""

    def __init__(self, reply: Callable[[dict[str, Any]], Reply], url: str) -> None:
        self.reply = reply
        self.url = url
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.released = threading.Event()
        """A reply that waits for it hangs until the test has ended."""


@contextmanager
def chat_server(reply: Callable[[dict[str, Any]], Reply]) -> Iterator[ChatServer]:
    """A server that answers each request's JSON by `reply`."""
    told = ChatServer(reply, "")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.requests.append(request)
            told.headers.append(dict(self.headers))
            if self.path != "/v1/chat/completions":
                status, body = 404, b"no such page"
            else:
                status, body = told.reply(request)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                self.wfile.write(body)
            except OSError:
                return  # whoever asked has gone

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    told.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield told
    finally:
        told.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
