# SPDX-License-Identifier: Apache-2.0
"""A behavior of another executor as one asynchronous action of a tree, e.g. of the robot's arms."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from behavior_navigation.rules.calls import CallResult
from behavior_ros.node.elapsed import Elapsed
from behavior_tree import (
    BehaviorTreeFactory,
    InputPort,
    NodeConfig,
    NodeStatus,
    OutputPort,
    StatefulActionNode,
    ports_list,
)
from behavior_tree.cause import Cause


@dataclass(slots=True)
class BehaviorProgress:
    """How far a behavior is."""

    progress: float = -1.0
    """0..1, -1: unknown."""
    detail: str = ""


class BehaviorCall(Protocol):
    """A behavior that runs."""

    @property
    def progress(self) -> BehaviorProgress:
        """How far it is."""

    def poll(self) -> CallResult | None:
        """How it ended; None: it runs."""

    def cancel(self) -> None:
        """Have it end."""


Runner = Callable[[str, Mapping[str, str]], BehaviorCall]
"""Starts the behavior of a name with parameters."""


class RunBehavior(StatefulActionNode):
    """Runs a behavior of another executor to its end, and cancels it when halted."""

    ports = ports_list(
        InputPort("behavior", str, description="name of the behavior"),
        InputPort("parameters", str, default="", description="its parameters: key=value;..."),
        InputPort("timeout", float, default=0.0, description="[s] it may take; 0: any"),
        OutputPort("progress", float, description="0..1, -1 when unknown"),
        OutputPort("detail", str, description="one line on what it does"),
    )

    def __init__(
        self, name: str, config: NodeConfig, run: Runner, now: Callable[[], float]
    ) -> None:
        """Make the node, as the factory does.

        Args:
            name: of the node.
            config: of the node.
            run: starts behaviors.
            now: [s] node time.
        """
        super().__init__(name, config)
        self._runner = run
        self._now = now
        self._call: BehaviorCall | None = None
        self._passed = Elapsed(now)

    def on_start(self) -> NodeStatus:
        """Start it."""
        self._passed = Elapsed(self._now)
        parameters = read_parameters(self.get_input("parameters"))
        self._call = self._runner(self.get_input("behavior"), parameters)
        return self.on_running()

    def on_running(self) -> NodeStatus:
        """Look how it is doing."""
        call = self._call
        assert call is not None
        result = call.poll()
        self.set_output("progress", call.progress.progress)
        self.set_output("detail", call.progress.detail)
        timeout = self.get_input("timeout") or math.inf
        if result is None and self._passed() <= timeout:
            return NodeStatus.RUNNING
        if result is None:
            call.cancel()
            result = CallResult(False, f"not finished within {timeout:g} s")
        self._call = None
        if result.success:
            return NodeStatus.SUCCESS
        self.set_failure_reason(Cause.of(result.text).at(self.get_input("behavior")))
        return NodeStatus.FAILURE

    def on_halted(self) -> None:
        """Cancel it."""
        if self._call is not None:
            self._call.cancel()
            self._call = None


def read_parameters(text: str) -> dict[str, str]:
    """The parameters in ``key=value;key=value``.

    Raises:
        ValueError: a part that is not of this form, or a key that comes twice.
    """
    parameters: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        key, equals, value = (word.strip() for word in part.partition("="))
        if not key or not equals or key in parameters:
            raise ValueError(f"parameters '{text}': write key=value;key=value, each key once")
        parameters[key] = value
    return parameters


def register_behavior_nodes(
    factory: BehaviorTreeFactory, run: Runner, now: Callable[[], float]
) -> None:
    """Register the node that runs behaviors."""
    factory.register_node_type(RunBehavior, "runBehavior", run, now)
