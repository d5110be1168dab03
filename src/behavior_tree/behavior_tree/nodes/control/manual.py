# SPDX-License-Identifier: Apache-2.0
"""ManualSelector: somebody outside the tree chooses which child runs.

Upstream's node of this name blocks the tick with a terminal menu. This one never blocks: it is
RUNNING until an answer comes, by any of

* `ManualSelector.choose`, from any thread
* port ``selection``: each write of that blackboard entry is an answer; a literal answers always
* ``ask``, a function given at the registration, called with the node at each tick that waits::

    factory.register_node_type(ManualSelector, "ManualSelector", ask)

An answer is the index of a child (from 0), its name, or a status that the node returns without
running a child: SUCCESS, FAILURE or RUNNING.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.ports import InputPort, pointer_key, ports_list
from behavior_tree.errors import LogicError
from behavior_tree.kernel.node import FAILURE, RUNNING, SUCCESS, NodeConfig
from behavior_tree.nodes.control.base import ControlNode
from behavior_tree.nodes.decorators.updated import SeenWrites

Choice = int | str | NodeStatus
"""Index of a child from 0, name of a child or of a status, or a status."""

_STATUSES = {status.name: status for status in (SUCCESS, FAILURE, RUNNING)}


class ManualSelector(ControlNode):
    """Run the child that somebody chooses, RUNNING until then. An answer that comes while a child
    runs halts that child, unless it names the same one.
    """

    min_children = 0
    restorable = ("_answer", "_last", "_running")

    ports = ports_list(
        InputPort("repeat_last_selection", bool, False, "choose as the last time without asking"),
        InputPort("selection", Any, None, "the answer: index or name of a child, or a status"),
    )

    def __init__(
        self,
        name: str,
        config: NodeConfig | None = None,
        ask: Callable[[ManualSelector], Choice | None] | None = None,
    ) -> None:
        super().__init__(name, config)
        self._ask = ask
        self._answer: int | NodeStatus | None = None
        self._last: int | NodeStatus | None = None
        self._running: int | None = None
        self._seen = SeenWrites()

    @property
    def waiting(self) -> bool:
        """True while the node runs and nobody has answered."""
        return self.status is RUNNING and self._running is None and self._answer is None

    def choices(self) -> list[str]:
        """Names of the children, in order."""
        return [child.name() for child in self.children]

    def choose(self, choice: Choice) -> None:
        """Answer; it counts at the next tick, which is asked for. May be called from any thread.

        Raises:
            LogicError: no such child, or several of that name
        """
        self._answer = self._understood(choice)
        self.emit_wake_up()

    def save_state(self) -> Any:
        return {**super().save_state(), "_seen": self._seen.count}

    def restore_state(self, state: Any) -> None:
        super().restore_state(state)
        self._seen.restore(state["_seen"])

    # -- ticking --------------------------------------------------------------------------------

    def tick(self) -> NodeStatus:
        self._start()
        answer = self._next_answer()
        if answer is not None:
            self._leave(answer)
        if isinstance(answer, NodeStatus):
            return self._without_child(answer)
        index = self._running if answer is None else answer
        if index is None:
            return RUNNING
        self._last = self._running = index
        status = self.tick_child(index)
        if status is not RUNNING:
            self._running = None
            self.reset_children()
        return status

    def _next_answer(self) -> int | NodeStatus | None:
        answer, self._answer = self._answer, None
        if answer is None:
            answer = self._selected()
        if answer is None and self._running is None:
            if self._last is not None and self.get_input("repeat_last_selection"):
                return self._last
            choice = self._ask(self) if self._ask is not None else None
            answer = None if choice is None else self._understood(choice)
        return answer

    def _selected(self) -> int | NodeStatus | None:
        """What port ``selection`` says: once for each write of an entry."""
        text = self.raw_port("selection")
        if text is None:
            return None
        key = pointer_key(text, "selection")
        if key is None:
            return self._understood(text) if self._running is None else None
        entry = self._bb.entry(key)
        if not self._seen.is_new(entry) or entry is None:
            return None
        choice = entry.value
        return None if choice is None or choice == "" else self._understood(choice)

    def _leave(self, answer: int | NodeStatus) -> None:
        if self._running is not None and answer != self._running:
            self.halt_child(self._running)
            self._running = None

    def _without_child(self, status: NodeStatus) -> NodeStatus:
        self._last = None if status is RUNNING else status  # RUNNING is not repeated for ever
        if status is FAILURE:
            self.set_failure_reason("FAILURE was chosen")
        return status

    def _understood(self, choice: Any) -> int | NodeStatus:
        names = self.choices()
        if isinstance(choice, str):
            if names.count(choice) == 1:
                return names.index(choice)
            if choice in _STATUSES and choice not in names:
                return _STATUSES[choice]
            if choice.isdecimal() and choice not in names:
                choice = int(choice)
        if isinstance(choice, NodeStatus) and choice in _STATUSES.values():
            return choice
        if isinstance(choice, int | float) and not isinstance(choice, bool):
            index = int(choice)
            if index == choice and 0 <= index < len(names):
                return index
        several = isinstance(choice, str) and choice in names
        why = "several children have this name" if several else "there is no such choice"
        known = ", ".join(f"{index} '{name}'" for index, name in enumerate(names))
        raise LogicError(
            f"'{self.full_path()}' cannot take the answer {choice!r}: {why}; choose one of "
            f"{known or 'no child'}, or SUCCESS, FAILURE, RUNNING"
        )

    def halt(self) -> None:
        self._running = None
        self._answer = None
        super().halt()
