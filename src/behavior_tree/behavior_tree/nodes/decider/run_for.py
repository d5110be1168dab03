# SPDX-License-Identifier: Apache-2.0
"""RunFor: a part that runs for a time."""

from __future__ import annotations

from typing import Any, ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.conversion import Unsigned
from behavior_tree.blackboard.ports import InputPort, ports_list
from behavior_tree.kernel.node import FAILURE, RUNNING, SUCCESS, NodeConfig
from behavior_tree.kernel.runtime import Timer
from behavior_tree.nodes.decider.locks import is_held
from behavior_tree.nodes.decider.session import DecoratorSession


class RunFor(DecoratorSession):
    """Tick the child for ``msec``, at least once, then halt it: SUCCESS. A child that succeeds
    earlier rests until then, its FAILURE counts at once. A lock below is waited for.
    """

    role = "RunFor"
    bounds_locks = True
    restorable: ClassVar[tuple[str, ...]] = (*DecoratorSession.restorable, "_timer", "_rests")

    ports = ports_list(
        InputPort("msec", Unsigned, description="how long [ms]; 0: one tick"),
        *DecoratorSession.ports.values(),
    )

    def __init__(self, name: str, config: NodeConfig | None = None, context: Any = None) -> None:
        super().__init__(name, config, context)
        self._timer: Timer | None = None
        self._rests = False

    def enter(self) -> None:
        msec: int = self.get_input("msec")
        self._timer = self._rt.start_timer(msec / 1000)
        super().enter()

    def sweep(self) -> NodeStatus:
        if not self._rests:
            child = self._child
            run = child._run
            status = run(child)
            if status is FAILURE:
                return FAILURE
            if status is not RUNNING:
                self._rests = True
                self.stop_child(child)
        over = self._timer is None or self._timer.expired
        return SUCCESS if over and not is_held(self) else RUNNING

    def forget(self) -> None:
        self._rests = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
