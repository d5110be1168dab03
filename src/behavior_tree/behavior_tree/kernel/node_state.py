# SPDX-License-Identifier: Apache-2.0
"""`NodeState`: the attributes of every node, apart from what is done with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from py_trees.behaviour import Behaviour

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.kernel.conditions import Conditions
from behavior_tree.kernel.node_config import NodeConfig, NodeName
from behavior_tree.kernel.runtime import TreeRuntime

if TYPE_CHECKING:
    from behavior_tree.kernel.node import TreeNode

Tick = Callable[[Any], NodeStatus]
"""Function that ticks the node it is given."""
PreTickHook = Callable[["TreeNode"], NodeStatus]
PostTickHook = Callable[["TreeNode", NodeStatus], NodeStatus]


class _TickState(Behaviour):  # type: ignore[misc]
    """What a tick looks at in every node, side by side: large trees do not fit into the caches of
    a processor, so what a tick costs there is the number of cache lines that it touches.
    """

    __slots__ = ("_body", "_rt", "_run", "_stores", "_up", "_waits", "status")

    status: NodeStatus
    _run: Tick
    """How a parent ticks the node; `TreeNode.select_kernel` chooses it."""
    _body: Callable[..., NodeStatus]
    """``tick`` of its class; of a leaf that commands something, with a look at others around."""
    _rt: TreeRuntime
    _stores: bool
    """True while the body itself stores and records the status; see `stores_status`."""
    _up: TreeNode | None
    """The parent, unless that is a foreign py_trees behaviour."""
    _waits: TreeNode | None
    """The child on which the node waits: as long as both run, all that it does in a tick is to tick
    that child. None if it does more, or nothing is known."""


class NodeState(_TickState):
    """All attributes of a node."""

    __slots__ = (
        "_bb",
        "_conditions",
        "_config",
        "_failed_child",
        "_post_tick",
        "_pre_tick",
        "_readers",
        "_reason",
        "name",
        "parent",
    )

    name: NodeName
    parent: Behaviour | None
    _bb: Blackboard
    _conditions: Conditions | None
    _config: NodeConfig
    _failed_child: TreeNode | None
    """The child that failed last in this run of the node."""
    _post_tick: PostTickHook | None
    _pre_tick: PreTickHook | None
    _readers: dict[str, Callable[[Any], Any]] | None
    """Function that reads a port, by port."""
    _reason: str
    """What the node itself says about its failure."""
