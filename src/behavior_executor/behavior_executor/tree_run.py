# SPDX-License-Identifier: Apache-2.0
"""One tree being run for one mission: its ticks, and what can be told of it. No ROS.

A tree tells of itself through entries of its root blackboard, if it writes them:

``mission_progress``
    number 0..1
``mission_detail``
    one line on the job, such as the tower so far
``mission_phase``
    phase of the running skill: connect the port ``phase`` of skills with ``{@mission_phase}``. Any
    text in it also tells that the skill's server is alive.

A skill is a node with an output port ``phase``.
"""

from __future__ import annotations

from dataclasses import dataclass

from behavior_tree import Blackboard, NodeStatus, NodeType, Tree, TreeNode

PROGRESS_KEY = "mission_progress"
DETAIL_KEY = "mission_detail"
PHASE_KEY = "mission_phase"
SERVER_LOST = ("server lost", "no server of")
"""Parts of the failure reasons of leaves whose server went away or is not there."""


@dataclass(frozen=True)
class Activity:
    """What a tree does now."""

    active_path: str = ""
    """Path of the running leaf."""
    skill: str = ""
    """Name of the node type of the running skill."""
    phase: str = ""
    """Phase that the skill reports."""
    progress: float = -1.0
    """0..1, -1 when unknown."""
    detail: str = ""


class TreeRun:
    """Ticks a tree and watches its nodes."""

    def __init__(self, tree: Tree, *, tree_id: str, xml: str) -> None:
        """Take over a tree.

        Args:
            tree: freshly made.
            tree_id: ID of the main tree.
            xml: text of the tree, for monitors.
        """
        self.tree_id = tree_id
        self.xml = xml
        self.ticks = 0
        """Number of ticks so far."""
        self.status = NodeStatus.IDLE
        """Of the root after the last tick."""
        self.changes: dict[int, tuple[NodeStatus, bool]] = {}
        """Nodes that were ticked or changed in the last tick: uid to the result of its tick, or its
        status if it was only halted or reset; and whether it was ticked."""
        self.lost_server: str | None = None
        """Why the newest lost server was lost; None once the skill that missed it has ended in
        another way, or any skill has told its phase."""
        self._lost_by = ""
        self._tree = tree
        self._blackboard: Blackboard = tree.root_blackboard()
        self._running: dict[int, TreeNode] = {}
        tree.subscribe_status_change(self._changed)

    def tick(self) -> NodeStatus:
        """Tick the tree once.

        Raises:
            NodeExecutionError: a node raised an error; it names the node.
        """
        self.ticks += 1
        self.changes = dict.fromkeys(self._running, (NodeStatus.RUNNING, True))
        self.status = self._tree.tick_exactly_once()
        if self.lost_server is not None and self._text(PHASE_KEY):
            self.lost_server = None
        return self.status

    def halt(self) -> None:
        """Halt all nodes; the next tick starts at the root."""
        self._tree.halt_tree()

    def activity(self) -> Activity:
        """What the tree does now."""
        skill = next((node for node in self._running.values() if _is_skill(node)), None)
        progress = self._blackboard.get(PROGRESS_KEY, None)
        return Activity(
            active_path=self._tree.active_path(),
            skill=skill.registration_id() if skill is not None else "",
            phase=self._text(PHASE_KEY) if skill is not None else "",
            progress=float(progress) if progress is not None else -1.0,
            detail=self._text(DETAIL_KEY),
        )

    def failure_text(self) -> str:
        """Why the root failed: reason and path of the node that made it fail."""
        reason = self._tree.failure_reason()
        return f"{reason.text} ({reason.path})" if reason is not None else "the tree failed"

    def _text(self, key: str) -> str:
        return str(self._blackboard.get(key, None) or "")

    def _changed(self, node: TreeNode, before: NodeStatus, after: NodeStatus) -> None:
        """Keep the books; called on every change of a node's status."""
        uid = node.uid()
        if after is NodeStatus.RUNNING:
            self._running[uid] = node
        elif before is NodeStatus.RUNNING:
            self._running.pop(uid, None)
        if after is not NodeStatus.IDLE:
            self.changes[uid] = (after, True)
        elif uid not in self.changes or before is NodeStatus.RUNNING:
            self.changes[uid] = (after, self.changes.get(uid, (after, False))[1])
        if node.type() is NodeType.ACTION and after is not NodeStatus.IDLE:
            self._watch_action(node, after)

    def _watch_action(self, node: TreeNode, status: NodeStatus) -> None:
        """Notice lost servers, and those that came back."""
        if PHASE_KEY in self._blackboard and _is_skill(node):
            self._blackboard.set(PHASE_KEY, "")
        if status is NodeStatus.FAILURE and _tells_of_lost_server(node.failure_reason()):
            self.lost_server, self._lost_by = node.failure_reason(), node.registration_id()
        elif status.completed and node.registration_id() == self._lost_by:
            self.lost_server = None


def _is_skill(node: TreeNode) -> bool:
    return "phase" in node.config().ports


def _tells_of_lost_server(reason: str) -> bool:
    return any(part in reason for part in SERVER_LOST)
