# SPDX-License-Identifier: Apache-2.0
"""AlwaysSuccess, AlwaysFailure, Sleep, Script, ScriptCondition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.conversion import Unsigned
from behavior_tree.blackboard.ports import InputPort, pointer_key, ports_list
from behavior_tree.errors import LogicError
from behavior_tree.kernel.leaf import ConditionNode, LeafNode, StatefulActionNode, SyncActionNode
from behavior_tree.kernel.node import FAILURE, RUNNING, SUCCESS, NodeConfig
from behavior_tree.kernel.runtime import Timer
from behavior_tree.script import compile_script


class AlwaysSuccess(SyncActionNode):
    """SUCCESS."""

    __slots__ = ()

    def tick(self) -> NodeStatus:
        return SUCCESS


class AlwaysFailure(SyncActionNode):
    """FAILURE."""

    __slots__ = ()

    def tick(self) -> NodeStatus:
        return FAILURE


class _Scripted(LeafNode):
    """Keeps the script of port ``code`` compiled for its blackboard, and reads the port again only
    if it can have changed.
    """

    __slots__ = ("_evaluate", "_fixed", "_source")

    script_ports = ("code",)
    tests: ClassVar[bool] = False
    """True if the script's truth matters."""

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._source: str | None = None
        self._fixed = False
        self._evaluate: Callable[[], Any] | None = None
        if self._rt.quirks.missing_ports_at_tick:  # except these, which upstream reads at once
            self._read_script()

    def port_changed(self, name: str) -> None:
        self._fixed = False
        super().port_changed(name)

    def _read_script(self) -> None:
        source: str = self.get_input("code")
        if source != self._source:
            script = compile_script(source, self._rt.quirks) if source else None
            if script is None:
                self._evaluate = None
            else:
                bind = script.bind_test if self.tests else script.bind_run
                self._evaluate = bind(self._bb)
            self._source = source
        self._fixed = pointer_key(self.raw_port("code") or "", "code") is None


class ScriptNode(_Scripted, SyncActionNode):
    """Run the script ``code``, SUCCESS."""

    __slots__ = ()

    ports = ports_list(InputPort("code", str, description="script to run"))

    def tick(self) -> NodeStatus:
        if not self._fixed:
            self._read_script()
        evaluate = self._evaluate
        if evaluate is not None:
            evaluate()
        return SUCCESS


class ScriptCondition(_Scripted, ConditionNode):
    """SUCCESS if the script ``code`` is true."""

    __slots__ = ()
    tests = True

    ports = ports_list(InputPort("code", str, description="script that is true or false"))

    def tick(self) -> NodeStatus:
        if not self._fixed:
            self._read_script()
        evaluate = self._evaluate
        if evaluate is None:
            raise LogicError("[code] of ScriptCondition is empty: write a script")
        return SUCCESS if evaluate() else FAILURE

    def failure_reason(self) -> str:
        return f"condition is false: {self._source}"


class Sleep(StatefulActionNode):
    """RUNNING for ``msec``, then SUCCESS."""

    restorable = ("_timer",)

    ports = ports_list(InputPort("msec", Unsigned, description="time to sleep [ms]"))

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._timer: Timer | None = None

    def on_start(self) -> NodeStatus:
        msec: int = self.get_input("msec")
        if msec <= 0:
            return SUCCESS
        self._timer = self._rt.start_timer(msec / 1000)
        return RUNNING

    def on_running(self) -> NodeStatus:
        if self._timer is not None and not self._timer.expired:
            return RUNNING
        self.on_halted()
        return SUCCESS

    def on_halted(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
