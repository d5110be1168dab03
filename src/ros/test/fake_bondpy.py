# SPDX-License-Identifier: Apache-2.0
"""bondpy 4.1 by its public signatures: who is bonded to whom, and for how long."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from std_msgs.msg import Empty


class Bond:
    """As bondpy's: may be started once, and takes no other timeouts then."""

    made: list[Bond]

    def __init__(
        self,
        node: Any,
        topic: str,
        id: str,
        on_broken: Callable[[], None] | None = None,
        on_formed: Callable[[], None] | None = None,
    ) -> None:
        self.node, self.topic, self.id = node, topic, id
        self.started = self.is_shutdown = False
        self._period, self._timeout = 1.0, 4.0
        self.pub = node.create_publisher(Empty, topic, 1)
        self.made.append(self)

    @property
    def heartbeat_period(self) -> float:
        return self._period

    @heartbeat_period.setter
    def heartbeat_period(self, seconds: float) -> None:
        assert not self.started
        self._period = seconds

    @property
    def heartbeat_timeout(self) -> float:
        return self._timeout

    @heartbeat_timeout.setter
    def heartbeat_timeout(self, seconds: float) -> None:
        assert not self.started
        self._timeout = seconds

    def start(self) -> None:
        assert not self.started
        self.started = True
        self.sub = self.node.create_subscription(Empty, self.topic, lambda message: None, 1)

    def shutdown(self) -> None:
        if not self.is_shutdown:
            self.is_shutdown = True
            self.sub.destroy()
            self.pub.destroy()


def install(monkeypatch: pytest.MonkeyPatch) -> list[Bond]:
    """Have `bondpy` imported; returns the bonds that are made from now on."""
    Bond.made = []
    module = ModuleType("bondpy.bondpy")
    module.Bond = Bond  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "bondpy", ModuleType("bondpy"))
    monkeypatch.setitem(sys.modules, "bondpy.bondpy", module)
    return Bond.made
