# SPDX-License-Identifier: Apache-2.0
"""Ticks of Sequence and Fallback written out for a number of children.

With few children the loops over them cost more than the children; and a short function has a small
frame, of which only so many fit into one piece of Python's stack: deep trees gain twice. The code
is made once per kind and number, not per node, of nothing but the names below. For a Sequence of
two children it reads::

    def tick(self):
        if self.status is not IDLE:
            return in_order(self)
        self.status = RUNNING
        self._skipped = 0
        children = self.children
        try:
            child = children[0]
            run = child._run  # apart from the call: Python finds an attribute faster than a method
            status = run(child)
            if status is not SUCCESS:
                if status is not FAILURE:
                    return odd_result(self, 0, status)
                ...                             # as at the end, with FAILURE and the first child
            child = children[1]
            run = child._run
            status = run(child)
            if status is not SUCCESS:
                ...
        except Exception as error:
            raise lost_tick(self, error)
        children[0].status = children[1].status = IDLE
        self.status = SUCCESS
        return SUCCESS
"""

from __future__ import annotations

from functools import cache
from typing import Any

from behavior_tree.fast_tick import Tick
from behavior_tree.generated import write_function
from behavior_tree.node import FAILURE, IDLE, RUNNING, SUCCESS
from behavior_tree.specialised.in_order import in_order, lost_tick, odd_result

__all__ = ["unrolled"]

MOST_CHILDREN = 8
"""The code grows with the square of this."""

_NAMES: dict[str, Any] = {
    "IDLE": IDLE,
    "RUNNING": RUNNING,
    "SUCCESS": SUCCESS,
    "FAILURE": FAILURE,
    "in_order": in_order,
    "lost_tick": lost_tick,
    "odd_result": odd_result,
}


@cache
def unrolled(goes_on: str, ends: str, children: int) -> Tick | None:
    """Tick of a node with so many children; None if they are too many.

    Args:
        goes_on: name of the result of a child after which the next one is ticked
        ends: name of the result that ends the node
        children: how many
    """
    if not 0 < children <= MOST_CHILDREN:
        return None
    lines = [
        "def tick(self):",
        "    if self.status is not IDLE:",
        "        return in_order(self)",
        "    self.status = RUNNING",
        "    self._skipped = 0",
        "    children = self.children",
        "    try:",
    ]
    for index in range(children):
        lines += [
            f"        child = children[{index}]",
            "        run = child._run",
            "        status = run(child)",
            f"        if status is not {goes_on}:",
            f"            if status is not {ends}:",
            f"                return odd_result(self, {index}, status)",
            *_end("            ", ends, index + 1),
        ]
    lines += ["    except Exception as error:", "        raise lost_tick(self, error)"]
    lines += _end("    ", goes_on, children)
    tick: Tick = write_function("tick", lines, f"<{children} children, {goes_on}>", _NAMES)
    return tick


def _end(indent: str, result: str, ticked: int) -> list[str]:
    """Code that resets the ticked children and ends the tick with a result."""
    lines = [f"children[{index}].status = IDLE" for index in range(ticked)]
    lines += [f"self.status = {result}"]
    if result == "FAILURE":
        lines += ["if self._up is not None:", "    self._up._failed_child = self"]
    return [indent + line for line in [*lines, f"return {result}"]]
