# SPDX-License-Identifier: Apache-2.0
"""`TreeNode`, the base of every node.

A node is a real ``py_trees.behaviour.Behaviour``: it may be drawn by ``py_trees.display``,
visited, or ticked as (part of) a ``py_trees.trees.BehaviourTree``. Three names mean something else
there than in BehaviorTree.CPP; both meanings work:

``node.name``
    a `str` that returns itself when called, so ``node.name`` and ``node.name()`` agree
``node.status``
    a `NodeStatus`, callable likewise, equal to the ``py_trees.common.Status`` of the same meaning
``node.tick``
    a node *class* defines ``tick()`` as its body, returning a `NodeStatus`; on a node *in a tree*
    the attribute ``tick`` is py_trees' generator. The kernel calls the class's body, nobody else
    should: to tick one node by hand call ``execute_tick()``.

What a node does stands in layers, each a class of its own: its attributes (`NodeState`), its ports
(`PortAccess`), how it is ticked and halted (`NodeKernel`), what py_trees expects of it
(`PyTreesProtocol`), and here who it is and what it says of itself.
"""

from __future__ import annotations

from typing import Any, ClassVar

from behavior_tree.basic_types import NodeStatus, NodeType
from behavior_tree.blackboard.ports import as_ports_list
from behavior_tree.errors import FailureReason
from behavior_tree.kernel.claims import claiming
from behavior_tree.kernel.conditions import Conditions
from behavior_tree.kernel.failure import explain
from behavior_tree.kernel.node_config import NodeConfig, NodeName
from behavior_tree.kernel.node_kernel import select_kernels, stores_status
from behavior_tree.kernel.node_state import PostTickHook, PreTickHook, Tick
from behavior_tree.kernel.py_trees_protocol import PyTreesProtocol

__all__ = [
    "FAILURE",
    "IDLE",
    "RUNNING",
    "SKIPPED",
    "SUCCESS",
    "Conditions",
    "NodeConfig",
    "NodeName",
    "PostTickHook",
    "PreTickHook",
    "Tick",
    "TreeNode",
    "select_kernels",
    "stores_status",
]

IDLE = NodeStatus.IDLE
RUNNING = NodeStatus.RUNNING
SUCCESS = NodeStatus.SUCCESS
FAILURE = NodeStatus.FAILURE
SKIPPED = NodeStatus.SKIPPED


class TreeNode(PyTreesProtocol):
    """Base of all nodes. Derive from `StatefulActionNode`, `SyncActionNode`, `ConditionNode`,
    `ControlNode` or `DecoratorNode` instead.
    """

    __slots__ = ()

    node_type: ClassVar[NodeType] = NodeType.UNDEFINED
    has_nodes: ClassVar[bool] = True
    """False if ``children`` are no nodes of the tree: a leaf may hold py_trees behaviours."""
    children_at_once: ClassVar[bool] = False
    """True if a child may begin while another one goes on."""
    restorable: ClassVar[tuple[str, ...]] = ()
    """Attributes in which the node remembers something between ticks, besides its status; see
    `behavior_tree.kernel.saving`."""

    @classmethod
    def metadata(cls) -> dict[str, str]:
        """What editors shall know of this class: keys and texts for its TreeNodesModel."""
        return {}

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        if config is None:
            config = NodeConfig()
        self.name = name if isinstance(name, NodeName) else NodeName(name)
        self.status = IDLE
        self.parent = None
        self._up = None
        self._config = config
        if not config.registration_id:
            config.registration_id = type(self).__name__
            config.path = config.path or name
            config.ports = config.ports or as_ports_list(self.provided_ports())
        self._bb = config.blackboard
        self._rt = config.runtime
        self._conditions = config.conditions
        self._readers = None
        self._pre_tick = None
        self._post_tick = None
        self._failed_child = None
        self._reason = ""
        self._body = type(self).tick
        commands = tuple(getattr(type(self), "commands", ()))
        if commands and not self.has_nodes:
            self._body = claiming(commands, self._body)
        self.select_kernel()

    # -- identity -------------------------------------------------------------------------------

    def config(self) -> NodeConfig:
        """What the tree gave to the node."""
        return self._config

    def full_path(self) -> str:
        """Path in the tree: names from the root down, ``::uid`` behind unnamed nodes."""
        return self._config.path

    def uid(self) -> int:
        """Number in the tree, pre-order from 1."""
        return self._config.uid

    def registration_id(self) -> str:
        """Name of the node type in XML."""
        return self._config.registration_id

    def type(self) -> NodeType:
        """Category of the node."""
        return self.node_type

    def is_halted(self) -> bool:
        """True while IDLE."""
        return self.status is IDLE

    def __repr__(self) -> str:
        return f"<{self._config.registration_id} '{self._config.path}' {self.status.name}>"

    # -- what a node class defines --------------------------------------------------------------

    def children_changed(self) -> None:
        """Refresh what a parent remembers about its children."""

    def on_paused(self) -> None:
        """Told to a running leaf by a `TreeRunner`: hold still until `on_resumed`."""

    def on_resumed(self) -> None:
        """Told to a running leaf: go on after `on_paused`."""

    def save_state(self) -> Any:
        """What `restore_state` needs to go on: the attributes named in `restorable`. None from a
        RUNNING leaf means that it cannot go on and starts anew.
        """
        if not self.restorable:
            return None
        return {name: getattr(self, name) for name in self.restorable if hasattr(self, name)}

    def restore_state(self, state: Any) -> None:
        """Take up what `save_state` returned; the node becomes RUNNING if it was."""
        self._waits = None
        for name in self.restorable:
            if name in state:
                setattr(self, name, state[name])

    # -- failures -------------------------------------------------------------------------------

    def failure_reason(self) -> str:
        """What `set_failure_reason` was given in this run of the node; empty if nothing."""
        return self._reason

    def failed_children(self) -> list[TreeNode]:
        """Children whose FAILURE made the last run of this node a FAILURE, in order. For a control
        node of your own: the one that failed last, unless it overrides this.
        """
        return [] if self._failed_child is None else [self._failed_child]

    def restore_failure(self, reason: str, failed: list[TreeNode]) -> None:
        """Take up what was saved of a failure: what the node said, and its `failed_children`."""
        self._reason = reason
        self._failed_child = failed[-1] if failed else None

    def explain_failure(self) -> FailureReason:
        """Why the last run of this node was a FAILURE: the deepest cause, see `FailureReason`."""
        return explain(self)

    def emit_wake_up(self) -> None:
        """Ask the tree for another tick soon; may be called from any thread."""
        self._rt.emit_wake_up()
