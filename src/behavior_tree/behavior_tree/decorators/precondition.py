# SPDX-License-Identifier: Apache-2.0
"""Precondition: a script decides whether the child starts."""

from __future__ import annotations

from collections.abc import Callable

from behavior_tree.basic_types import NodeStatus
from behavior_tree.decorators.base import SelfResettingDecorator
from behavior_tree.errors import LogicError
from behavior_tree.node import FAILURE, SUCCESS, NodeConfig
from behavior_tree.ports import InputPort, PortInfo, ports_list
from behavior_tree.script import Script, compile_script

__all__ = ["Precondition"]


class Precondition(SelfResettingDecorator):
    """Tick the child if the script ``if`` is true, else return ``else``. The script is not
    evaluated again while the child runs.
    """

    script_ports = ("if",)
    restorable = ("_child_started",)

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        return ports_list(
            InputPort("if", str, description="script that must be true for the child to start"),
            InputPort("else", NodeStatus, NodeStatus.FAILURE, "result if the script is false"),
        )

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._child_started = False
        self._literal: tuple[Callable[[], bool], NodeStatus] | None = None  # if and else
        if self._rt.quirks.missing_ports_at_tick:  # except this one, which upstream reads at once
            self._script(self.get_input("if"))

    def _script(self, source: str) -> Script | None:
        return compile_script(source, self._rt.quirks) if source else None

    def tick(self) -> NodeStatus:
        source: str = self.get_input("if")
        otherwise: NodeStatus = self.get_input("else")
        script = self._script(source)
        if not self._child_started:
            if script is None:
                raise LogicError("[if] of Precondition is empty: write a script")
            if not script.test(self._bb):
                self._failed_child = None
                self._reason = "precondition is false: " + source
                return otherwise
        self._child_started = True
        status = self._tick_child()
        if status is SUCCESS or status is FAILURE:
            self._child_started = False
            self.reset_child()
        return status

    def halt(self) -> None:
        if not self._rt.quirks.precondition_latch_survives_halt:
            self._child_started = False
        super().halt()
