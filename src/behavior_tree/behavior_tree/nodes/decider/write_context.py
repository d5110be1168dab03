# SPDX-License-Identifier: Apache-2.0
"""WriteContext: note down what cannot be observed."""

from __future__ import annotations

from typing import Any

from behavior_tree.blackboard.conversion import TypeRegistry
from behavior_tree.blackboard.ports import InputPort, pointer_key, ports_list
from behavior_tree.errors import ConversionError
from behavior_tree.nodes.decider.instant import Instant


class WriteContext(Instant):
    """Write ``value`` to the blackboard entry ``key``, a number as a number: for logical state that
    no sensor tells, such as "I have closed the gripper on it".
    """

    role = "WriteContext"

    ports = ports_list(
        InputPort("key", str, description="name of the entry"),
        InputPort("value", Any, description="a text or number, or {key} to copy"),
        *Instant.ports.values(),
    )

    def act(self) -> None:
        value = self.get_input("value")
        if isinstance(value, str) and pointer_key(self.raw_port("value") or "", "value") is None:
            value = _number_or_text(self._rt.types, value)
        self._bb.set(self.get_input("key"), value)


def _number_or_text(types: TypeRegistry, text: str) -> Any:
    for kind in (int, float):
        try:
            return types.from_text(text, kind)
        except ConversionError:
            continue
    return text
