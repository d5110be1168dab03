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
from behavior_tree.failure import LONGEST_REASON, bounded
from behavior_tree.journal import Changes

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
    """Ticks a tree and watches its nodes.

    Changes of status are written down in the tick and looked at after it, all at once: that costs a
    fifth of a call per change.
    """

    def __init__(self, tree: Tree, *, tree_id: str, xml: str) -> None:
        """Take over a tree.

        Args:
            tree: freshly made.
            tree_id: ID of the main tree.
            xml: text of the tree, for monitors.
        """
        self.tree = tree
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
        self._failures: tuple[str, str] = ("", "")
        """The first and the newest failure of a skill, in words; empty without any."""
        self._blackboard: Blackboard = tree.root_blackboard()
        self._skills = {node for node in tree.nodes() if _is_skill(node)}
        self._running: dict[TreeNode, None] = {}
        self._new: list[Changes] = []
        self._unsubscribe = tree.subscribe_changes(self)
        tree.record_ticks()
        tree.record_reasons()

    completes_runs = False
    """For the tree: it need not tell of the end of a run at once."""

    def take(self, changes: Changes) -> None:
        """Keep what has happened; called by the tree, also from a thread of its own."""
        self._new.append(changes)

    def settle(self) -> None:
        """Nothing takes long here; called by the tree."""

    def tick(self) -> NodeStatus:
        """Tick the tree once.

        Raises:
            NodeExecutionError: a node raised an error; it names the node.
        """
        self.ticks += 1
        self.changes = {}
        try:
            self.status = self.tree.tick_exactly_once()
        finally:
            results = self._results()
            self._note_failures()
            self._watch_servers(results)
            ticked = dict.fromkeys(self.tree.ticked_nodes(), True)
            # One that was ticked and did not change has still the status that its tick gave it.
            self.changes = {node.uid(): (results.pop(node, node.status), True) for node in ticked}
            self.changes.update((node.uid(), (status, False)) for node, status in results.items())
        if self.lost_server is not None and self._text(PHASE_KEY):
            self.lost_server = None
        return self.status

    def halt(self) -> None:
        """Halt all nodes; the next tick starts at the root."""
        self.tree.halt_tree()
        self._results()

    def close(self) -> None:
        """Stop watching; the tree is not ticked any more."""
        self._unsubscribe()

    def activity(self) -> Activity:
        """What the tree does now."""
        skill = next((node for node in self._running if node in self._skills), None)
        progress = self._blackboard.get(PROGRESS_KEY, None)
        return Activity(
            active_path=self.tree.active_path(),
            skill=skill.registration_id() if skill is not None else "",
            phase=self._text(PHASE_KEY) if skill is not None else "",
            progress=float(progress) if progress is not None else -1.0,
            detail=self._text(DETAIL_KEY),
        )

    def failure_text(self) -> str:
        """Why the root failed: reason and path of the node that made it fail, and the mission's
        first failure where that is another one: a retry or fallback may have made it good, and yet
        be why the mission failed later.
        """
        reason = self.tree.failure_reason()
        text = f"{reason.text} ({reason.path})" if reason is not None else "the tree failed"
        return text + self._told_besides(text, last=False)

    def trouble_text(self) -> str:
        """What skills failed with so far, to follow another reason; empty if none has."""
        return self._told_besides("", last=True)

    def _told_besides(self, text: str, *, last: bool) -> str:
        first, newest = self._failures
        told = ""
        if first and first.rpartition(" (")[0] not in text:
            told = f"; the mission's first failure: {first}"
        if last and newest != first:
            told += f"; its last failure: {newest}"
        return told

    def _note_failures(self) -> None:
        """Remember how the trouble began, and the newest of it."""
        for node, text in self.tree.given_reasons():
            if node in self._skills:
                words = f"{bounded(text, LONGEST_REASON)} ({node.full_path()})"
                self._failures = (self._failures[0] or words, words)

    def _text(self, key: str) -> str:
        return str(self._blackboard.get(key, None) or "")

    def _results(self) -> dict[TreeNode, NodeStatus]:
        """What every node that has changed came to, and keep the books."""
        self.tree.drain_changes()
        new, self._new = self._new, []
        results: dict[TreeNode, NodeStatus] = {}
        running, skills = self._running, self._skills
        idle, run = NodeStatus.IDLE, NodeStatus.RUNNING
        for changes in new:
            for node, before, after in zip(
                changes.nodes, changes.previous, changes.new, strict=True
            ):
                if after is run:
                    running[node] = None
                elif before is run:
                    running.pop(node, None)
                # A parent resets its children after they have ended: the result is what counts.
                if after is not idle:
                    results[node] = after
                    if node in skills and PHASE_KEY in self._blackboard:
                        self._blackboard.set(PHASE_KEY, "")
                elif before is run or node not in results:
                    results[node] = idle
        return results

    def _watch_servers(self, results: dict[TreeNode, NodeStatus]) -> None:
        """Notice lost servers, and those that came back."""
        given = self.tree.given_reasons()
        lost = {node: text for node, text in given if node.type() is NodeType.ACTION}
        lost = {
            node: text
            for node, text in lost.items()
            if _tells_of_lost_server(text) and results.get(node) is not NodeStatus.SUCCESS
        }
        if self._lost_by and any(
            status.completed and node not in lost and node.registration_id() == self._lost_by
            for node, status in results.items()
        ):
            self.lost_server, self._lost_by = None, ""
        for node, text in lost.items():
            self.lost_server, self._lost_by = text, node.registration_id()


def _is_skill(node: TreeNode) -> bool:
    return "phase" in node.config().ports


def _tells_of_lost_server(reason: str) -> bool:
    return any(part in reason for part in SERVER_LOST)
