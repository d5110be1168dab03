# SPDX-License-Identifier: Apache-2.0
"""Enumerations shared by every module: node status, node type, port direction.

A node is at once a BehaviorTree.CPP style node, where ``node.status()`` is a method, and a
py_trees Behaviour, where ``node.status`` is an attribute compared with ``py_trees.common.Status``.
Both are served by one value: a `NodeStatus` may be called (it returns itself) and equals the
py_trees status of the same meaning (``IDLE`` equals ``INVALID``; ``SKIPPED`` equals none, it is
never stored in a node).
"""

from __future__ import annotations

import enum

from py_trees.common import Status as PyTreesStatus


class NodeStatus(enum.Enum):
    """Result of a tick, and state of a node between ticks."""

    IDLE = 0
    """Not running; never a valid result of a tick."""
    RUNNING = 1
    SUCCESS = 2
    FAILURE = 3
    SKIPPED = 4
    """Result only: the node was passed over, its stored status did not change."""

    def __call__(self) -> NodeStatus:
        """Return itself, so that ``node.status()`` and ``node.status`` mean the same."""
        return self

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return int(self.value)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, PyTreesStatus):
            return _AS_PY_TREES.get(self._name_) is other
        return NotImplemented

    def __hash__(self) -> int:
        # Equal objects need equal hashes: py_trees looks statuses up in dictionaries.
        return hash("INVALID" if self._name_ == "IDLE" else self._name_)

    @property
    def completed(self) -> bool:
        """True for SUCCESS and FAILURE."""
        return self is NodeStatus.SUCCESS or self is NodeStatus.FAILURE

    @property
    def active(self) -> bool:
        """True for everything except IDLE and SKIPPED."""
        return self is not NodeStatus.IDLE and self is not NodeStatus.SKIPPED

    def as_py_trees(self) -> PyTreesStatus:
        """The py_trees status of the same meaning; SKIPPED, unknown there, becomes INVALID."""
        return _AS_PY_TREES.get(self._name_, PyTreesStatus.INVALID)


_AS_PY_TREES: dict[str, PyTreesStatus] = {
    "IDLE": PyTreesStatus.INVALID,
    "RUNNING": PyTreesStatus.RUNNING,
    "SUCCESS": PyTreesStatus.SUCCESS,
    "FAILURE": PyTreesStatus.FAILURE,
}


class NodeType(enum.Enum):
    """Category of a node; the element names of the explicit XML syntax."""

    UNDEFINED = 0
    ACTION = 1
    CONDITION = 2
    CONTROL = 3
    DECORATOR = 4
    SUBTREE = 5

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return int(self.value)

    @property
    def tag(self) -> str:
        """Element name in XML: ``Action``, ``Control``, ..., ``SubTree``."""
        return "SubTree" if self is NodeType.SUBTREE else str(self._name_).capitalize()


class PortDirection(enum.Enum):
    """Whether a node reads a port, writes it, or both."""

    INPUT = 0
    OUTPUT = 1
    INOUT = 2

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return int(self.value)

    @property
    def tag(self) -> str:
        """Name as upstream writes it: ``Input``, ``Output``, ``InOut``."""
        return "InOut" if self is PortDirection.INOUT else str(self._name_).capitalize()


def to_string(status: NodeStatus | NodeType | PortDirection) -> str:
    """Name of a status, ``"SUCCESS"``, node type, ``"SubTree"``, or port direction, ``"InOut"``.

    Raises:
        TypeError: it is something else
    """
    if isinstance(status, NodeStatus):
        return str(status.name)
    if isinstance(status, NodeType | PortDirection):
        return status.tag
    raise TypeError(f"to_string() takes a NodeStatus, not {status!r}")
