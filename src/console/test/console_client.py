# SPDX-License-Identifier: Apache-2.0
"""A page's side of the websocket, for tests and benchmarks; and a source that tests fill."""

from __future__ import annotations

import contextlib
import itertools
import time

import msgpack
from websockets.sync.client import connect

from behavior_console.channels import Channels, pack
from behavior_console.source import SourceError

PATIENCE = 60.0
"""[s] wall time after which something hangs."""


class FakeSource:
    """A source that a test fills; of the past it knows what `past` says."""

    def __init__(self):
        self.channels = Channels()
        self.past = {}
        self.time = 100.0

    def now(self):
        return self.time

    def span(self):
        return None

    async def show(self, moment, time):
        if time not in self.past:
            raise SourceError(f"nothing is known of {time:g} s")
        for name, value in self.past[time].items():
            moment.set(name, value)


class PageClient:
    """Takes in frames as a page does."""

    def __init__(self, port, token="", **headers):
        query = f"?token={token}" if token else ""
        self._numbers = itertools.count(1)
        self.socket = connect(
            f"ws://localhost:{port}/ws{query}",
            additional_headers=headers,
            max_size=2**28,
            compression=None,
            open_timeout=PATIENCE,
        )
        self.state, self.answers, self.problems = {}, {}, []
        self.welcome, self.now, self.at, self.frames = None, None, None, 0
        self.sees = True

    def say(self, **message):
        self.socket.send(pack(message))

    def hello(self, name="ann", role="edit", **more):
        self.say(hello={"name": name, "role": role, "view": "live", **more})
        self.until(lambda: self.welcome is not None)
        return self

    def show(self, *names):
        self.say(subscribe=list(names))
        return self

    def command(self, name, /, **args):
        number = next(self._numbers)
        self.say(command={"id": number, "name": name, "args": args})
        self.until(lambda: number in self.answers)
        return self.answers[number]

    def until(self, true, patience=PATIENCE):
        """Take in messages until something holds."""
        deadline = time.monotonic() + patience
        while not true():
            left = deadline - time.monotonic()
            assert left > 0, f"still waiting; {list(self.state)} {self.problems}"
            self.take(left)

    def take(self, timeout):
        """Take in one message."""
        try:
            message = msgpack.unpackb(self.socket.recv(timeout), strict_map_key=False)
        except TimeoutError:
            return
        if "welcome" in message:
            self.welcome = message["welcome"]
        elif "answer" in message:
            self.answers[message["answer"]["id"]] = message["answer"]
        elif "problem" in message:
            self.problems.append(message["problem"])
        else:
            self._take_frame(message)

    def _take_frame(self, message):
        self.frames, self.now, self.at = message["frame"], message["now"], message["at"]
        for name, value in message.get("set", {}).items():
            self.state[name] = value
        for name, changes in message.get("patch", {}).items():
            for key, value in changes.items():
                if value is None:
                    self.state[name].pop(key, None)
                else:
                    self.state[name][key] = value
        for name, items in message.get("add", {}).items():
            self.state[name].extend(items)
        if self.sees:
            self.say(seen=message["frame"])

    def close(self):
        with contextlib.suppress(Exception):
            self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
