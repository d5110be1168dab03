# SPDX-License-Identifier: Apache-2.0
"""`Groot2Client`: asks a publisher, ours or BehaviorTree.CPP's, what Groot2 asks."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.monitoring.groot2.errors import Groot2Error
from behavior_tree.monitoring.groot2.protocol import (
    Hook,
    Position,
    Request,
    hooks_from_json,
    hooks_to_json,
    pack_header,
)

if TYPE_CHECKING:
    import zmq

from behavior_tree.monitoring.closing import Closing


@dataclass(frozen=True)
class Snapshot:
    """A tree and its states, which belong together."""

    tree_uuid: bytes
    """Another one than in the snapshot before: another tree, or an edited one."""
    xml: str
    status: dict[int, int]
    """As `Groot2Client.status` gives it."""


class Groot2Client(Closing):
    """A connection to a publisher. Not for use by several threads at once.

    Args:
        port: of the publisher
        address: host of the publisher
        timeout: longest wait for a reply or notice [s]
    """

    def __init__(
        self, port: int = 1667, *, address: str = "127.0.0.1", timeout: float = 2.0
    ) -> None:
        import zmq

        self._timeout_ms = round(timeout * 1000)
        self._context = zmq.Context()
        self._context.linger = 0
        self._requests: zmq.Socket[bytes] = self._context.socket(zmq.REQ)
        self._notices: zmq.Socket[bytes] = self._context.socket(zmq.SUB)
        for socket in (self._requests, self._notices):
            socket.rcvtimeo = socket.sndtimeo = self._timeout_ms
        self._requests.req_relaxed = 1  # a lost reply does not end the connection
        self._requests.req_correlate = 1
        self._requests.connect(f"tcp://{address}:{port}")
        self._connected = self._notices.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
        self._notices.connect(f"tcp://{address}:{port + 1}")
        self._notices.subscribe(b"")
        self.tree_uuid = b""
        """16 bytes, from the last reply; another one than before means another or edited tree."""
        self._known = b"", ""

    def wait_until_connected(self) -> None:
        """From here on no notice is missed; call it before the first hook is inserted.

        Raises:
            Groot2Error: no publisher is there
        """
        if not self._connected.poll(self._timeout_ms):
            raise Groot2Error("no connection: is the publisher running at this port?")
        self.status()  # the subscription is on its way before this request

    def raw(self, parts: list[bytes]) -> list[bytes]:
        """Send any parts and return the reply's; raises Groot2Error if none comes."""
        import zmq

        try:
            self._requests.send_multipart(parts)
            return list(self._requests.recv_multipart())
        except zmq.Again as error:
            raise Groot2Error("no reply: is the publisher running at this port?") from error

    def request(self, request: Request, payload: bytes | None = None) -> bytes | None:
        """Send a request and return the payload of its reply.

        Raises:
            Groot2Error: the publisher answers with an error, or not at all
        """
        header = pack_header(request.value.encode(), int.from_bytes(os.urandom(4), "little"))
        reply = self.raw([header] if payload is None else [header, payload])
        if reply[0] == b"error":
            raise Groot2Error(b" ".join(reply[1:]).decode(errors="replace"))
        if reply[0][:6] != header or len(reply[0]) != 22:
            raise Groot2Error(f"the reply to {request.name} has the header {reply[0]!r}")
        self.tree_uuid = reply[0][6:]
        return reply[1] if len(reply) > 1 else None

    def tree(self) -> str:
        """XML of the tree."""
        xml = (self.request(Request.FULLTREE) or b"").decode()
        self._known = self.tree_uuid, xml
        return xml

    def snapshot(self) -> Snapshot:
        """States and tree as they are now; the tree is asked for only if it is another one.

        Raises:
            Groot2Error: no reply, or the tree changes faster than it can be read
        """
        for _ in range(10):
            status = self.status()
            if self.tree_uuid == self._known[0]:
                return Snapshot(*self._known, status)
            self.tree()
        raise Groot2Error("the tree changes faster than it can be read: ask again later")

    def status(self) -> dict[int, int]:
        """Status byte of each uid; 11, 12, 13 are IDLE after RUNNING, SUCCESS, FAILURE."""
        data = self.request(Request.STATUS) or b""
        return {
            int.from_bytes(data[at : at + 2], "little"): data[at + 2]
            for at in range(0, len(data), 3)
        }

    def blackboards(self, names: Iterable[str]) -> dict[str, Any]:
        """Entries by name of the subtree."""
        import msgpack

        data = self.request(Request.BLACKBOARD, ";".join(names).encode())
        return msgpack.unpackb(data) or {}

    def insert_hooks(self, *hooks: Hook) -> None:
        """Add or change hooks."""
        self.request(Request.HOOK_INSERT, hooks_to_json(list(hooks)))

    def hooks(self) -> list[Hook]:
        """All hooks."""
        return hooks_from_json(self.request(Request.HOOKS_DUMP) or b"[]")

    def unlock(
        self,
        uid: int,
        position: Position = Position.PRE,
        status: NodeStatus = NodeStatus.SKIPPED,
        *,
        remove: bool = False,
    ) -> None:
        """Let a node go on from its breakpoint, with a result if ``status`` is one."""
        data = {
            "uid": uid,
            "position": position.value,
            "desired_status": status.name,
            "remove_when_done": remove,
        }
        self.request(Request.BREAKPOINT_UNLOCK, json.dumps(data).encode())

    def reached(self) -> int:
        """Wait for the next notice of a reached hook; its uid. Raises Groot2Error if none comes."""
        import zmq

        try:
            return int(self._notices.recv_multipart()[1])
        except zmq.Again as error:
            raise Groot2Error("no hook was reached") from error

    def close(self) -> None:
        """Disconnect."""
        self._context.destroy(linger=0)
