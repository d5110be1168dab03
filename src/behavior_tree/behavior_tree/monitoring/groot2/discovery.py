# SPDX-License-Identifier: Apache-2.0
"""`discover`: which trees are served at a range of ports."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree

from behavior_tree.monitoring.groot2.client import Groot2Client
from behavior_tree.monitoring.groot2.errors import Groot2Error
from behavior_tree.monitoring.groot2.protocol import DEFAULT_PORTS, DISCOVERY, pack_header


@dataclass(frozen=True)
class LiveTree:
    """A tree that a publisher serves now."""

    port: int
    """Where requests are answered; reached breakpoints are published at the one behind it."""
    tree_id: str
    """ID of the main tree."""
    name: str
    """As given to the publisher; empty for one of BehaviorTree.CPP."""
    pid: int | None
    """Process; None for one of BehaviorTree.CPP, which does not tell."""


def discover(
    ports: Iterable[int] = DEFAULT_PORTS, *, address: str = "127.0.0.1", timeout: float = 0.5
) -> list[LiveTree]:
    """Ask all ports at once who is there; publishers of BehaviorTree.CPP are found too.

    Args:
        ports: first ports of the pairs
        address: host of the publishers
        timeout: how long to wait for replies [s]

    Returns:
        the trees, by port
    """
    import zmq

    context = zmq.Context()
    poller = zmq.Poller()
    asked = {}
    try:
        for port in ports:
            socket = context.socket(zmq.REQ)
            socket.connect(f"tcp://{address}:{port}")
            socket.send_multipart([pack_header(b"?", port), DISCOVERY])
            poller.register(socket, zmq.POLLIN)
            asked[socket] = port
        replies: dict[int, list[bytes]] = {}
        end = time.monotonic() + timeout
        while len(replies) < len(asked) and (left := end - time.monotonic()) > 0:
            for socket, _ in poller.poll(round(left * 1000)):
                replies[asked[socket]] = socket.recv_multipart()
                poller.unregister(socket)
    finally:
        context.destroy(linger=0)
    trees = (_live_tree(port, replies[port], address, timeout) for port in sorted(replies))
    return [tree for tree in trees if tree is not None]


def _live_tree(port: int, reply: list[bytes], address: str, timeout: float) -> LiveTree | None:
    if reply[:1] == [b"error"]:
        return _upstream_tree(port, address, timeout)
    try:
        facts = json.loads(reply[1])
        return LiveTree(port, facts["tree_id"], facts["name"], facts["pid"])
    except (IndexError, ValueError, KeyError, TypeError):
        return None  # some other service that speaks ZeroMQ


def _upstream_tree(port: int, address: str, timeout: float) -> LiveTree | None:
    try:
        with Groot2Client(port, address=address, timeout=timeout) as client:
            main = ElementTree.fromstring(client.tree()).find("BehaviorTree")
    except (Groot2Error, ElementTree.ParseError):
        return None
    return None if main is None else LiveTree(port, main.get("ID", ""), "", None)
