# SPDX-License-Identifier: Apache-2.0
"""Precondition: a script decides whether the child starts."""

from __future__ import annotations

from collections.abc import Callable

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.ports import InputPort, ports_list
from behavior_tree.errors import LogicError
from behavior_tree.kernel.node import FAILURE, SKIPPED, SUCCESS, NodeConfig
from behavior_tree.nodes.decorators.base import DecoratorNode
from behavior_tree.script import compile_script


class Precondition(DecoratorNode):
    """Tick the child if the script ``if`` is true, else return ``else``. The script is not
    evaluated again while the child runs.
    """

    script_ports = ("if",)
    restorable = ("_child_started",)

    ports = ports_list(
        InputPort("if", str, description="script that must be true for the child to start"),
        InputPort("else", NodeStatus, NodeStatus.FAILURE, "result if the script is false"),
    )

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._child_started = False
        self._source: str | None = None
        self._holds: Callable[[], bool] | None = None
        if self._rt.quirks.missing_ports_at_tick:  # except this one, which upstream reads at once
            self._read_script()

    def _read_script(self) -> None:
        """Compile the script if it is another one; None if it is empty."""
        source: str = self.get_input("if")
        if source != self._source:
            script = compile_script(source, self._rt.quirks) if source else None
            self._holds = None if script is None else script.bind_test(self._bb)
            self._source = source

    def tick(self) -> NodeStatus:
        self._read_script()
        otherwise: NodeStatus = self.get_input("else")
        if not self._child_started:
            if self._holds is None:
                raise LogicError("[if] of Precondition is empty: write a script")
            if not self._holds():
                self._failed_child = None
                if otherwise is FAILURE:
                    self.set_failure_reason(f"precondition is false: {self._source}")
                return otherwise
        self._child_started = True
        status = self._tick_child()
        if status is SUCCESS or status is FAILURE:
            self._child_started = False
            self.reset_child()
        elif status is SKIPPED and not self._rt.quirks.precondition_latch_survives_halt:
            self._child_started = False  # it does not run: the script is asked again
        return status

    def halt(self) -> None:
        if not self._rt.quirks.precondition_latch_survives_halt:
            self._child_started = False
        super().halt()
