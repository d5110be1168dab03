# SPDX-License-Identifier: Apache-2.0
"""`Groot2Publisher`: serves a tree to Groot2 and to other clients of its protocol."""

from __future__ import annotations

import importlib.util
import time
import weakref
from collections.abc import Callable

from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.closing import Closing
from behavior_tree.monitoring.groot2.errors import Groot2Error
from behavior_tree.monitoring.groot2.protocol import DEFAULT_PORTS
from behavior_tree.monitoring.groot2.server import Server

GROOT2_AVAILABLE = all(importlib.util.find_spec(name) for name in ("zmq", "msgpack"))
"""True if the packages are installed that `Groot2Publisher` needs."""


class Groot2Publisher(Closing):
    """Serves a tree from a thread of its own, until closed or deleted.

    Nodes that run already are shown from their next change on. A breakpoint blocks the ticking
    thread; when no request came for `max_heartbeat_delay`, all hooks are disabled, so that a client
    that died blocks nobody.

    Edits of the live tree (`behavior_tree.editing`) are followed: the tree gets another UUID, which
    is in each reply, so that a client sees that it should ask for the tree again. Nodes that stay
    keep uid, status and hooks.

    Args:
        tree: must not be ticking now
        port: requests are answered there, reached breakpoints published at the port behind it. A
            range, or None for `DEFAULT_PORTS`: the first pair that is free; `discover` finds it
        address: interface to bind to; ``*`` makes the tree visible, and its breakpoints usable, to
            the whole network
        name: what `discover` shows besides the ID of the tree
        read_only: refuse breakpoints and injected results: whoever reaches the port may look only
        clock: monotonic time for the heartbeat [s]

    Raises:
        Groot2Error: a port is taken, or pyzmq or msgpack is not installed
        BehaviorTreeError: the tree has uids above 65535
    """

    def __init__(
        self,
        tree: Tree,
        port: int | range | None = 1667,
        *,
        address: str = "127.0.0.1",
        name: str = "",
        read_only: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not GROOT2_AVAILABLE:
            raise Groot2Error(
                "Groot2Publisher needs pyzmq and msgpack: pip install 'behavior_tree[groot2]'"
            )
        ports = DEFAULT_PORTS if port is None else [port] if isinstance(port, int) else port
        self._server = Server(tree, name, ports, address, clock=clock, read_only=read_only)
        self._finalizer = weakref.finalize(self, self._server.close)

    def serve(self, tree: Tree, *, name: str | None = None) -> None:
        """Serve another tree at the same ports; it gets a UUID of its own.

        Hooks of the former tree are removed, its waiting nodes go on; a recording goes on with the
        new tree. Neither tree may be ticking now.

        Args:
            tree: the tree
            name: None keeps the name

        Raises:
            BehaviorTreeError: the tree has uids above 65535; the former one is still served
            Groot2Error: the publisher is closed
        """
        if not self._finalizer.alive:
            raise Groot2Error("Groot2Publisher.serve(): closed: make a new publisher")
        self._server.replace_tree(tree, self._server.name if name is None else name)

    @property
    def port(self) -> int:
        """Where requests are answered."""
        return self._server.port

    @property
    def tree_uuid(self) -> bytes:
        """The 16 bytes in each reply that identify the tree as it is now."""
        return self._server.served.structure.uuid

    def set_enabled(self, enabled: bool) -> None:
        """Pause or resume following status changes; requests are answered in any case."""
        self._server.served.enabled = enabled

    def max_heartbeat_delay(self) -> int:
        """Time without requests after which all hooks are disabled [ms]."""
        return round(self._server.heartbeat * 1000)

    def set_max_heartbeat_delay(self, milliseconds: int) -> None:
        """Change it; the default is 5000 [ms]."""
        self._server.heartbeat = milliseconds / 1000

    def close(self) -> None:
        """Let waiting nodes go on, free the ports and end the thread; may be called repeatedly."""
        self._finalizer()
