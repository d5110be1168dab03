# SPDX-License-Identifier: Apache-2.0
"""Switch2 to Switch6: a blackboard value chooses the child."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.casts_4_8 import to_int32
from behavior_tree.blackboard.number_text import leading_double
from behavior_tree.blackboard.ports import InputPort, PortInfo, pointer_key, ports_list
from behavior_tree.errors import ConversionError, LogicError, PortError
from behavior_tree.kernel.node import RUNNING, SKIPPED, NodeConfig
from behavior_tree.nodes.control.base import ControlNode

Number = TypeVar("Number", int, float)

_PLAIN = frozenset((str, int, float, bool))
"""Types whose values are equal only if they choose the same child."""
_MOST_KNOWN = 100
_EPSILON = 1.1920929e-07
_REAL = re.compile(r"-?(?:inf|nan|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)", re.IGNORECASE)


class Switch(ControlNode):
    """Tick the child whose ``case_i`` equals ``variable``, else the last child. Texts are equal if
    they are the same or stand for the same number (enum names count). A case that changes halts
    the old child.
    """

    cases = 2
    restorable = ("_running",)

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        return ports_list(
            InputPort("variable", str, None, "value to compare, usually {key}"),
            *(
                InputPort(f"case_{i}", str, None, f"value for child {i}")
                for i in range(1, cls.cases + 1)
            ),
        )

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._running: int | None = None
        self._known: dict[tuple[type, object], int] = {}
        """Child by type and value of the variable, while all cases are literals."""
        self._key: str | None = None
        """Entry of the variable, if its values may be known."""
        self._looked_at: object = None
        """What the names meant when ports and enums were looked at."""

    def port_changed(self, name: str) -> None:
        self._looked_at = None
        super().port_changed(name)

    def tick(self) -> NodeStatus:
        if len(self.children) != self.cases + 1:
            raise LogicError(
                f"{self.registration_id()} needs {self.cases + 1} children ({self.cases} cases "
                f"and the default), "
                f"it has {len(self.children)}"
            )
        chosen = self._choose()
        if self._running is not None and self._running != chosen:
            self.halt_child(self._running)
        child = self.children[chosen]
        run = child._run
        status = run(child)
        if status is RUNNING:
            self._running = chosen
            return status
        if status is not SKIPPED:
            self.reset_children()
        self._running = None
        return status

    def _choose(self) -> int:
        names = self._rt.types.generation
        if self._looked_at is not names:
            self._look_at_ports()
            self._looked_at = names
        key = self._key
        if key is None:
            return self._compare()
        entry = self._bb._entries.get(key) or self._bb.entry(key)
        value = None if entry is None else entry.value
        kind = value.__class__
        if kind not in _PLAIN:
            return self._compare()
        chosen = self._known.get((kind, value))
        if chosen is None:
            chosen = self._compare()
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[kind, value] = chosen
        return chosen

    def _look_at_ports(self) -> None:
        self._known.clear()
        fixed = all(self.is_literal(f"case_{index + 1}") for index in range(self.cases))
        self._key = pointer_key(self.raw_port("variable") or "", "variable") if fixed else None

    def _compare(self) -> int:
        variable = self._text("variable")
        if variable is not None:
            for index in range(self.cases):
                case = self._text(f"case_{index + 1}")
                if case is not None and self._matches(variable, case):
                    return index
        return self.cases

    def _text(self, port: str) -> str | None:
        try:
            return self.get_input(port, None)  # type: ignore[no-any-return]
        except PortError:
            if self._rt.quirks.unreadable_ports_ignored:
                return None
            raise

    def _matches(self, variable: str, case: str) -> bool:
        if variable == case:
            return True
        for parse in (self._integer, self._real):
            left, right = parse(variable), parse(case)
            if left is not None and right is not None and abs(left - right) <= _EPSILON:
                return True
        return False

    def _integer(self, text: str) -> int | None:
        enums = self._rt.types.enums
        if text in enums:
            return enums[text]
        if self._rt.quirks.switch_prefix_match:
            return _or_none(lambda: to_int32(text))
        return int(text) if re.fullmatch(r"-?\d+", text) else None

    def _real(self, text: str) -> float | None:
        if self._rt.quirks.switch_prefix_match:
            return _or_none(lambda: leading_double(text))
        if text in self._rt.types.enums:
            return float(self._rt.types.enums[text])
        return float(text) if _REAL.fullmatch(text) else None

    def halt(self) -> None:
        self._running = None
        super().halt()


def _or_none(convert: Callable[[], Number]) -> Number | None:
    try:
        return convert()
    except ConversionError:
        return None


@cache
def switch_class(cases: int) -> type[Switch]:
    """Class of ``Switch<cases>``."""
    return type(
        f"Switch{cases}",
        (Switch,),
        {"cases": cases, "min_children": cases + 1, "max_children": cases + 1},
    )
