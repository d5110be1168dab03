# SPDX-License-Identifier: Apache-2.0
"""Requests to other processes: begun in one tick, answered in a later one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from behavior_ros.node.elapsed import Elapsed
from behavior_tree import (
    InputPort,
    NodeConfig,
    NodeStatus,
    StatefulActionNode,
    ports_list,
)
from behavior_tree.cause import Cause


@dataclass(frozen=True, slots=True)
class CallResult:
    """How a request ended."""

    success: bool
    text: str = ""
    """Why not, or what the server remarked."""


class Call(Protocol):
    """A request that is under way."""

    def poll(self) -> CallResult | None:
        """How it ended; None: not yet."""

    def forget(self) -> None:
        """Nobody wants to know any more."""


class CallNode(StatefulActionNode):
    """Makes a request, waits for the answer, and fails when it stays away."""

    ports = ports_list(InputPort("timeout", float, default=3.0, description="[s] for an answer"))

    def __init__(
        self,
        name: str,
        config: NodeConfig,
        begin: Callable[[], Call | None],
        now: Callable[[], float],
        what: str,
    ) -> None:
        """Make the node.

        Args:
            name: of the node.
            config: of the node.
            begin: makes the request; None: there is nobody to ask, which is fine.
            now: [s] of node time.
            what: names the request in failure reasons.
        """
        super().__init__(name, config)
        self._begin = begin
        self._now = now
        self._what = what
        self._call: Call | None = None
        self._passed = Elapsed(now)

    def on_start(self) -> NodeStatus:
        """Make the request."""
        self._passed = Elapsed(self._now)
        self._call = self._begin()
        return NodeStatus.SUCCESS if self._call is None else self.on_running()

    def on_running(self) -> NodeStatus:
        """Look for the answer."""
        call = self._call
        assert call is not None
        result = call.poll()
        timeout = self.get_input("timeout")
        if result is None:
            if self._passed() <= timeout:
                return NodeStatus.RUNNING
            call.forget()
            result = CallResult(False, f"no answer within {timeout:g} s")
        self._call = None
        if result.success:
            return NodeStatus.SUCCESS
        self.set_failure_reason(Cause.of(result.text or "refused").at(self._what))
        return NodeStatus.FAILURE

    def on_halted(self) -> None:
        """Lose interest in the answer."""
        if self._call is not None:
            self._call.forget()
            self._call = None
