# SPDX-License-Identifier: Apache-2.0
"""`Groot2Publisher`: serves a tree to Groot2 and to other clients of its protocol."""

from __future__ import annotations

import importlib.util
import os
import threading
import time
import uuid
import weakref
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from behavior_tree.basic_types import NodeStatus
from behavior_tree.groot2.blackboards import pack_blackboards
from behavior_tree.groot2.errors import Groot2Error
from behavior_tree.groot2.hooks import HookTable
from behavior_tree.groot2.protocol import (
    Request,
    Unlock,
    hook_key,
    hooks_from_json,
    hooks_to_json,
    pack_header,
    unpack_header,
)
from behavior_tree.loggers.btlog import pack_transition
from behavior_tree.loggers.document import tree_document
from behavior_tree.node import IDLE, TreeNode
from behavior_tree.tree import Tree

if TYPE_CHECKING:
    import zmq

__all__ = ["GROOT2_AVAILABLE", "Groot2Publisher"]

GROOT2_AVAILABLE = all(importlib.util.find_spec(name) for name in ("zmq", "msgpack"))
"""True if the packages are installed that `Groot2Publisher` needs."""

_MAX_TRANSITIONS = 1000
_MAX_REQUEST = 1 << 20
"""Larger requests are dropped with their connection [bytes]."""
_POLL = 0.1
"""Longest time until the server notices that it shall end [s]."""
_IDLE_FROM = 10
"""Added to the previous status when a node becomes IDLE."""


class Groot2Publisher:
    """Serves a tree from a thread of its own, until closed or deleted.

    Nodes that run already are shown from their next change on. A breakpoint blocks the ticking
    thread; when no request came for `max_heartbeat_delay`, all hooks are disabled, so that a client
    that died blocks nobody.

    Args:
        tree: must not be ticking now
        port: requests are answered there, reached breakpoints published at ``port + 1``
        address: interface to bind to; ``*`` makes the tree visible, and its breakpoints usable, to
            the whole network

    Raises:
        Groot2Error: a port is taken, or pyzmq or msgpack is not installed
    """

    def __init__(self, tree: Tree, port: int = 1667, *, address: str = "127.0.0.1") -> None:
        if not GROOT2_AVAILABLE:
            raise Groot2Error(
                "Groot2Publisher needs pyzmq and msgpack: pip install 'behavior_tree[groot2]'"
            )
        self._server = _Server(tree, port, address)
        self._finalizer = weakref.finalize(self, self._server.close)

    def set_enabled(self, enabled: bool) -> None:
        """Pause or resume following status changes; requests are answered in any case."""
        self._server.enabled = enabled

    def max_heartbeat_delay(self) -> int:
        """Time without requests after which all hooks are disabled [ms]."""
        return round(self._server.heartbeat * 1000)

    def set_max_heartbeat_delay(self, milliseconds: int) -> None:
        """Change it; the default is 5000 [ms]."""
        self._server.heartbeat = milliseconds / 1000

    def close(self) -> None:
        """Let waiting nodes go on, free the ports and end the thread; may be called repeatedly."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Server:
    """Everything behind `Groot2Publisher`; the tree and the thread refer to this, so that the
    publisher itself can be deleted.
    """

    def __init__(self, tree: Tree, port: int, address: str) -> None:
        self.enabled = True
        self.heartbeat = 5.0
        self._tree = tree
        self._uuid = uuid.uuid4().bytes
        self._document = tree_document(tree).encode()
        nodes = [node for subtree in tree.subtrees for node in subtree.nodes]
        self._offsets = {node.uid(): 3 * index + 2 for index, node in enumerate(nodes)}
        self._states = bytearray(
            b"".join(node.uid().to_bytes(2, "little") + b"\0" for node in nodes)
        )
        self._transitions: deque[bytes] = deque(maxlen=_MAX_TRANSITIONS)
        self._recording_since: int | None = None
        self._closing = threading.Event()
        self._publishing = threading.Lock()
        self._last_request = time.monotonic()
        self._alive = True
        self._bind(port, address)
        unsubscribe = tree.subscribe_status_change(self._changed)
        self._hooks = HookTable(tree, self._publish_reached, unsubscribe)
        self._answers: dict[bytes, Callable[[], bytes | None]] = {
            b"T": lambda: self._document,
            b"S": lambda: bytes(self._states),
            b"D": lambda: hooks_to_json(self._hooks.dump()),
            b"A": self._hooks.remove_all,
            b"X": lambda: self._hooks.enable_all(False),
            b"t": self._take_transitions,
        }
        self._payload_answers: dict[bytes, Callable[[bytes], bytes | None]] = {
            b"B": lambda payload: pack_blackboards(tree, payload.decode(errors="replace")),
            b"I": self._insert_hooks,
            b"U": lambda payload: self._hooks.unlock(Unlock.from_json(payload)),
            b"R": lambda payload: self._hooks.remove(hook_key(payload)),
            b"r": self._toggle_recording,
        }
        self._thread = threading.Thread(target=self._serve, name=f"groot2-{port}", daemon=True)
        self._thread.start()

    def _bind(self, port: int, address: str) -> None:
        import zmq

        self._context = zmq.Context()
        self._context.linger = 0
        self._replies: zmq.Socket[bytes] = self._context.socket(zmq.REP)
        self._notices: zmq.Socket[bytes] = self._context.socket(zmq.PUB)
        self._replies.maxmsgsize = _MAX_REQUEST
        self._replies.sndtimeo = 1000
        for socket, number in ((self._replies, port), (self._notices, port + 1)):
            try:
                socket.bind(f"tcp://{address}:{number}")
            except (zmq.ZMQError, OverflowError) as error:
                self._context.destroy(linger=0)
                raise Groot2Error(
                    f"Groot2Publisher: cannot bind tcp://{address}:{number}: {error}: choose "
                    f"another port, the publisher needs it and the next one"
                ) from error

    # -- the ticking thread ---------------------------------------------------------------------

    def _changed(self, node: TreeNode, previous: NodeStatus, new: NodeStatus) -> None:
        uid = node.uid()
        offset = self._offsets.get(uid)
        if offset is None or not self.enabled:
            return
        self._states[offset] = _IDLE_FROM + previous.value if new is IDLE else new.value
        since = self._recording_since
        if since is not None:
            elapsed = time.monotonic_ns() // 1000 - since
            self._transitions.append(pack_transition(elapsed, uid, new.value))

    def _publish_reached(self, uid: int) -> None:
        number = int.from_bytes(os.urandom(4), "little")
        header = pack_header(Request.BREAKPOINT_REACHED.value.encode(), number)
        with self._publishing:
            if not self._notices.closed:
                self._notices.send_multipart([header, str(uid).encode()])

    # -- the server thread ----------------------------------------------------------------------

    def _serve(self) -> None:
        try:
            while not self._closing.is_set():
                wait = _POLL
                if self._alive:
                    left = self._last_request + self.heartbeat - time.monotonic()
                    wait = max(min(left, _POLL), 0.0)
                if self._replies.poll(int(wait * 1000) + 1):
                    self._serve_one()
                self._watch_heartbeat()
        finally:
            self._hooks.close()
            with self._publishing:
                self._context.destroy(linger=0)

    def _serve_one(self) -> None:
        import zmq

        try:
            request = self._replies.recv_multipart(zmq.NOBLOCK)
            self._last_request = time.monotonic()
            self._replies.send_multipart(self._reply(request))
        except zmq.Again:
            pass  # the message was gone, or the client no longer takes the reply

    def _watch_heartbeat(self) -> None:
        alive = time.monotonic() - self._last_request < self.heartbeat
        if alive is not self._alive:
            self._alive = alive
            self._hooks.enable_all(alive)

    def _reply(self, request: list[bytes]) -> list[bytes]:
        try:
            character, number = unpack_header(request[0])
            payload = self._answer(character, request)
        except Exception as error:  # whatever a client sends, the server goes on
            return [b"error", str(error).encode(errors="replace")]
        header = pack_header(character, number) + self._uuid
        return [header] if payload is None else [header, payload]

    def _answer(self, character: bytes, request: list[bytes]) -> bytes | None:
        plain = self._answers.get(character)
        if plain is not None:
            return plain()
        with_payload = self._payload_answers.get(character)
        if with_payload is None:
            raise Groot2Error("Request not recognized")
        if len(request) != 2:
            raise Groot2Error("must be 2 parts message")
        return with_payload(request[1])

    def _insert_hooks(self, payload: bytes) -> None:
        for hook in hooks_from_json(payload):
            self._hooks.insert(hook)

    def _toggle_recording(self, payload: bytes) -> bytes | None:
        if payload == b"start":
            self._transitions.clear()
            self._recording_since = time.monotonic_ns() // 1000
            return str(time.time_ns() // 1000).encode()
        if payload == b"stop":
            self._recording_since = None
        return None

    def _take_transitions(self) -> bytes:
        taken = []
        while self._transitions:
            taken.append(self._transitions.popleft())
        return b"".join(taken)

    # -- end ------------------------------------------------------------------------------------

    def close(self) -> None:
        """End the thread; the tree loses its callbacks at its next tick."""
        self.enabled = False
        self._closing.set()
        self._hooks.close()
        self._thread.join()
