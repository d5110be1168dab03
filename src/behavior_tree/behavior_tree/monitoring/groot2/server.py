# SPDX-License-Identifier: Apache-2.0
"""`Server`: the sockets of a publisher and the thread that answers requests."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.groot2.blackboards import pack_blackboards
from behavior_tree.monitoring.groot2.errors import Groot2Error
from behavior_tree.monitoring.groot2.protocol import (
    DISCOVERY,
    Request,
    Unlock,
    hook_key,
    hooks_from_json,
    hooks_to_json,
    pack_header,
    unpack_header,
)
from behavior_tree.monitoring.groot2.served_tree import ServedTree, Structure

if TYPE_CHECKING:
    import zmq

_MAX_MESSAGE = 4 << 20
"""Larger messages are dropped with their connection, before they take memory [bytes]."""
_TWO_PARTS = frozenset((b"B", b"I", b"U", b"R", b"r"))
_INTERFERING = frozenset((b"I", b"U"))
"""Requests that hold a node or give it a result."""
_POLL = 0.1
"""Longest time until the thread notices that it shall end, or that no request came [s]."""


class Server:
    """Everything behind `Groot2Publisher`; the tree and the thread refer to this, so that the
    publisher itself can be deleted.
    """

    def __init__(
        self,
        tree: Tree,
        name: str,
        ports: Iterable[int],
        address: str,
        *,
        clock: Callable[[], float],
        read_only: bool,
    ) -> None:
        self.heartbeat = 5.0
        self._read_only = read_only
        self.name = name
        self._clock = clock
        self._closing = threading.Event()
        self._publishing = threading.Lock()
        self._serving = threading.Lock()
        self._last_request = clock()
        self._alive = True
        self.served = ServedTree(tree, self._publish_reached)
        try:
            self.port = self._bind(ports, address)
        except BaseException:
            self.served.close()
            raise
        self._thread = threading.Thread(target=self._serve, name=f"groot2-{self.port}", daemon=True)
        self._thread.start()

    def replace_tree(self, tree: Tree, name: str) -> None:
        """Serve another tree from the next request on."""
        served = ServedTree(tree, self._publish_reached)
        with self._serving:
            before, self.served, self.name = self.served, served, name
            served.enabled = before.enabled
            served.follow_recording(before)
        before.close()

    # -- sockets --------------------------------------------------------------------------------

    def _bind(self, ports: Iterable[int], address: str) -> int:
        """Bind the first pair of ports that is free; the first port of it."""
        import zmq

        self._context = zmq.Context()
        self._context.linger = 0
        tried = []
        for port in ports:
            if not 0 < port < 65535:
                tried.append(f"{port} and {port + 1}: a port is a number from 1 to 65535")
                continue
            # Not REP: there a malformed message of a peer that has gone takes the next peer's
            # reply with it (libzmq 4.3.5).
            self._replies: zmq.Socket[bytes] = self._context.socket(zmq.ROUTER)
            self._notices: zmq.Socket[bytes] = self._context.socket(zmq.PUB)
            self._replies.maxmsgsize = _MAX_MESSAGE
            self._replies.sndtimeo = 1000
            try:
                self._replies.bind(f"tcp://{address}:{port}")
                self._notices.bind(f"tcp://{address}:{port + 1}")
                return port
            except zmq.ZMQError as error:
                self._replies.close()
                self._notices.close()
                tried.append(f"{port} and {port + 1}: {error}")
        self._context.destroy(linger=0)
        raise Groot2Error(
            f"Groot2Publisher: cannot bind {address}, ports {'; '.join(tried) or 'none given'}: "
            "end the program that uses them, or give a port= whose next one is free too, or "
            "port=None for the next free pair"
        )

    def _publish_reached(self, uid: int) -> None:
        number = int.from_bytes(os.urandom(4), "little")
        header = pack_header(Request.BREAKPOINT_REACHED.value.encode(), number)
        with self._publishing:
            if not self._notices.closed:
                self._notices.send_multipart([header, str(uid).encode()])

    # -- the thread -----------------------------------------------------------------------------

    def _serve(self) -> None:
        try:
            while not self._closing.is_set():
                wait = _POLL
                if self._alive:
                    left = self._last_request + self.heartbeat - self._clock()
                    wait = max(min(left, _POLL), 0.0)
                if self._replies.poll(int(wait * 1000) + 1):
                    self._serve_one()
                self._watch_heartbeat()
                self._clear_away_subscribers()
        finally:
            self.served.close()
            with self._publishing:
                self._context.destroy(linger=0)

    def _serve_one(self) -> None:
        import zmq

        try:
            message = self._replies.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return  # gone meanwhile
        if b"" not in message[1:-1]:
            return  # no request: the address of a peer, an empty part, and what it asks
        begin = message.index(b"", 1) + 1
        address, request = message[:begin], message[begin:]
        if request[1:] != [DISCOVERY]:  # a look around is no sign that a monitor is there
            self._last_request = self._clock()
        with self._serving:
            reply = self._reply(request, self.served, self.served.structure)
        with contextlib.suppress(zmq.Again):  # a client that does not take its replies
            self._replies.send_multipart(address + reply)

    def _watch_heartbeat(self) -> None:
        alive = self._clock() - self._last_request < self.heartbeat
        if alive is not self._alive:
            self._alive = alive
            self.served.hooks.enable_all(alive)

    def _clear_away_subscribers(self) -> None:
        """Let libzmq forget peers that have gone; it does so only in calls of their socket."""
        import zmq

        with self._publishing:
            self._notices.getsockopt(zmq.EVENTS)

    # -- replies --------------------------------------------------------------------------------

    def _reply(self, request: list[bytes], served: ServedTree, structure: Structure) -> list[bytes]:
        try:
            character, number = unpack_header(request[0])
            payload = self._answer(character, request, served, structure)
        except Exception as error:  # whatever a client sends, the server goes on
            return [b"error", str(error).encode(errors="replace")]
        header = pack_header(character, number) + structure.uuid
        return [header] if payload is None else [header, payload]

    def _answer(
        self, character: bytes, parts: list[bytes], served: ServedTree, structure: Structure
    ) -> bytes | None:
        if character in _TWO_PARTS and len(parts) != 2:
            raise Groot2Error("must be 2 parts message")
        if self._read_only and character in _INTERFERING:
            raise Groot2Error("this tree is served for looking only: it takes no breakpoints")
        hooks = served.hooks
        match character:
            case b"T":
                return structure.document
            case b"S":
                return served.states(structure)
            case b"B":
                return pack_blackboards(served.tree, parts[1].decode(errors="replace"))
            case b"D":
                return hooks_to_json(hooks.dump())
            case b"t":
                return served.take_transitions()
            case b"r" if parts[1] == b"start":
                return str(served.start_recording()).encode()
            case b"r" if parts[1] == b"stop":
                served.stop_recording()
            case b"r":
                pass  # as upstream: no command, no complaint
            case b"I":
                for hook in hooks_from_json(parts[1]):
                    hooks.insert(hook)
            case b"U":
                hooks.unlock(Unlock.from_json(parts[1]))
            case b"R":
                hooks.remove(hook_key(parts[1]))
            case b"A":
                hooks.remove_all()
            case b"X":
                hooks.enable_all(False)
            case b"?" if parts[1:] == [DISCOVERY]:
                return self._introduction(served)
            case _:
                raise Groot2Error("Request not recognized")
        return None

    def _introduction(self, served: ServedTree) -> bytes:
        facts = {
            "tree_id": served.tree.subtrees[0].tree_id,
            "name": self.name,
            "port": self.port,
            "pid": os.getpid(),
        }
        return json.dumps(facts).encode()

    # -- end ------------------------------------------------------------------------------------

    def close(self) -> None:
        """End the thread; the tree loses its callbacks at its next tick."""
        self._closing.set()
        self.served.close()
        self._thread.join()
