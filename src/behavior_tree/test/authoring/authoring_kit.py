# SPDX-License-Identifier: Apache-2.0
"""Leaves that take a time and end as they are told, on a clock that jumps to the next end."""

from __future__ import annotations

from typing import Any

from tree_kit import Clock, xml

from behavior_tree import (
    BehaviorTreeFactory,
    InputPort,
    NodeStatus,
    StatefulActionNode,
    Tree,
    ports_list,
)
from behavior_tree.authoring import register_authoring_nodes

RUNNING, SUCCESS, FAILURE = NodeStatus.RUNNING, NodeStatus.SUCCESS, NodeStatus.FAILURE


class Act(StatefulActionNode):
    """Takes its time [s], then ends as it is told."""

    restorable = ("_timer", "_halt_requested")

    @classmethod
    def provided_ports(cls):
        return ports_list(
            InputPort("seconds", float, 1.0), InputPort("result", NodeStatus, SUCCESS)
        )

    def __init__(self, name: str, config: Any, rig: Rig) -> None:
        super().__init__(name, config)
        self._rig = rig
        self._timer: Any = None

    def on_start(self):
        self._rig.note("+", self)
        if self.get_input("seconds") <= 0:
            return self._end()
        self._timer = self._rt.start_timer(self.get_input("seconds"))
        return RUNNING

    def on_running(self):
        return self._end() if self._timer.expired else RUNNING

    def _end(self):
        result = self.get_input("result")
        if result is FAILURE:
            self.set_failure_reason(f"{self.name} went wrong")
        self._rig.note("-", self)
        return result

    def on_halted(self):
        self._timer.cancel()
        self._rig.note("!", self)


class Rig:
    """Trees of ``Act``. What happened is told as ``time sign name``: + begun, - ended, ! halted."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.factory = BehaviorTreeFactory(self.clock)
        register_authoring_nodes(self.factory)
        self.factory.register_node_type(Act, "Act", self)
        self.log: list[tuple[float, str, str]] = []

    def note(self, sign: str, node: Any) -> None:
        self.log.append((round(self.clock.now - 100.0, 6), sign, str(node.name)))

    def tree(self, body: str, more: str = "") -> Tree:
        return self.factory.create_tree_from_text(xml(body, more))

    def run(self, tree: Tree, until: float = 1e9) -> NodeStatus:
        """Tick at each deadline until the tree ends, or the time [s] is over."""
        while True:
            status = tree.tick_exactly_once()
            following = tree.runtime.next_deadline()
            if status is not RUNNING or following is None or following > 100.0 + until:
                return status
            self.clock.now = following

    def result(self, body: str, more: str = "") -> tuple[str, float]:
        """Result and duration [s] of a tree."""
        start = self.clock.now
        status = self.run(self.tree(body, more))
        return status.name, round(self.clock.now - start, 6)

    def take(self) -> str:
        text = ", ".join(f"{time:g} {sign}{name}" for time, sign, name in self.log)
        self.log.clear()
        return text

    def times(self, sign: str) -> dict[str, float]:
        """When each leaf has begun or ended [s]."""
        return {name: time for time, what, name in self.log if what == sign}


def act(name: str, seconds: float = 1.0, result: str = "SUCCESS", after: str | None = None) -> str:
    """A leaf, in a Step if it comes after something else than the one before."""
    text = f'<Act name="{name}" seconds="{seconds}" result="{result}"/>'
    return text if after is None else f'<Step execute_after="{after}">{text}</Step>'


def concurrent(*children: str, **ports: str) -> str:
    given = "".join(f' {name}="{text}"' for name, text in ports.items())
    return f'<ConcurrentSequence name="all"{given}>{"".join(children)}</ConcurrentSequence>'
