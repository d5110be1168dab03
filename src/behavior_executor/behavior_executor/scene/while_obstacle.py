# SPDX-License-Identifier: Apache-2.0
"""Obstacles that count only while a branch runs: the decorator WhileObstacle.

It keeps a list of names in an entry of the blackboard; whoever moves the arm below it reads that
entry, as ``<Reach obstacles_off="zone_*" obstacles_on="{@obstacles}"/>`` does at every tick. So
nothing is left switched on, however the branch ends, and no message can be lost on the way.
"""

from __future__ import annotations

from collections.abc import Callable

from behavior_tree import (
    BidirectionalPort,
    DecoratorNode,
    InputPort,
    NodeConfig,
    NodeStatus,
    ports_list,
)
from behavior_tree.script import compile_script


class WhileObstacle(DecoratorNode):
    """Tick the child; meanwhile, where the script ``if`` is true, obstacles are switched on.

    The script is evaluated at every tick. Obstacles that several nodes switch on stay on until the
    last of them ends.
    """

    script_ports = ("if",)
    restorable = ("_added",)

    ports = ports_list(
        InputPort("enable", list[str], description="names or patterns of obstacles, a;b"),
        InputPort("if", str, "true", "script that is true where they are needed"),
        BidirectionalPort(
            "obstacles", list[str], description="entry that lists what is switched on"
        ),
    )

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._added: list[str] = []
        self._source: str | None = None
        self._needed: Callable[[], bool] = lambda: True

    def tick(self) -> NodeStatus:
        """Switch, then tick the child."""
        self._switch(self._wanted())
        try:
            status = self._tick_child()
        except BaseException:
            self._switch([])
            raise
        if status is not NodeStatus.RUNNING:
            self._switch([])
            self.reset_child()
        return status

    def halt(self) -> None:
        """Halt the child, and switch off."""
        super().halt()
        if self._added:
            self._switch([])

    def _wanted(self) -> list[str]:
        source: str = self.get_input("if")
        if source != self._source:
            self._needed = compile_script(source, self._rt.quirks).bind_test(self._bb)
            self._source = source
        if not self._needed():
            return []
        names: list[str] = self.get_input("enable")
        return names

    def _switch(self, wanted: list[str]) -> None:
        present: list[str] | None = self.get_input("obstacles", None)
        if present is not None and wanted == self._added:
            return
        names = list(present or ())
        for name in self._added:
            if name in names:
                names.remove(name)
        self._added = list(wanted)
        self.set_output("obstacles", names + self._added)
