# SPDX-License-Identifier: Apache-2.0
"""The built page with a server of its own, whose source a test fills; as a program, too.

    python served_page.py FOLDER

serves until it is killed, and prints its port.
"""

import sys
import threading
from pathlib import Path

from console_client import FakeSource

from behavior_console.access import ConsoleAccess
from behavior_console.app import Pulse, application
from behavior_console.audit import Audit
from behavior_console.desk import ConsoleDesk
from behavior_console.protocol import Answer
from behavior_console.server import ConsoleServer

ACCESS = ConsoleAccess(edit="e" * 30, operate="o" * 30)
MISSION = {
    "action_id": "a1",
    "name": "stack_blocks",
    "state": "running",
    "t": 100.0,
    "elapsed": 4.0,
    "progress": 0.5,
    "active_path": "stack/Pick",
    "detail": "picks red",
    "cause": None,
    "ended": False,
    "parameters": {},
}


class Served:
    """A server with a source that the test fills; `stop` is a command."""

    def __init__(self, folder, port=0, access=ACCESS):
        self.live, self.stopped = FakeSource(), []
        audit = Audit(folder / "audit.jsonl", lambda _: None, print)
        desk = ConsoleDesk(self.live, audit)
        desk.commands.offer("stop", self._stop, controls=False)
        pulse = Pulse()
        self.live.channels.on_change = pulse.announce
        self.live.channels.set("mission", MISSION)
        app = application(desk, pulse=pulse, background=desk.background)
        self.server = ConsoleServer(app, access, port=port)
        self.port = self.server.port

    async def _stop(self, client, _args):
        self.stopped.append(client.name)
        return Answer(ok=True, message="all missions are stopped")

    def address(self, token="", **query):
        query = {"layout": "diagnose"} | ({"token": token} if token else {}) | query
        text = "&".join(f"{name}={value}" for name, value in query.items())
        return f"http://localhost:{self.port}/?{text}"


if __name__ == "__main__":
    print(Served(Path(sys.argv[1])).port, flush=True)
    threading.Event().wait()
