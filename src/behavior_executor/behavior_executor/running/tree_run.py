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

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from behavior_executor.running.preflight import Requirement
from behavior_tree import (
    Blackboard,
    Cause,
    CauseKind,
    FailureReason,
    NodeStatus,
    NodeType,
    Tree,
    TreeNode,
)
from behavior_tree.kernel.failure import LONGEST_REASON, bounded
from behavior_tree.kernel.record import RecordBatch, outcomes
from behavior_tree.kernel.structure import StructureChange
from behavior_tree.monitoring.tree_records import TreeRecords
from behavior_tree.monitoring.uid_document import UidDocument
from behavior_tree.nodes.authoring import Catch
from behavior_tree.nodes.control import TryCatch

PROGRESS_KEY = "mission_progress"
DETAIL_KEY = "mission_detail"
PHASE_KEY = "mission_phase"


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
    """Ticks a tree and reads its record after each tick.

    Only what concerns skills and reasons of failures is looked at in every tick; the rest when
    somebody asks.
    """

    def __init__(
        self,
        tree: Tree,
        *,
        tree_id: str,
        requirements: Sequence[Requirement] = (),
        file: Path | None = None,
    ) -> None:
        """Take over a tree.

        Args:
            tree: freshly made.
            tree_id: ID of the main tree.
            requirements: what its nodes need of others.
            file: where the tree came from; None: from no file.
        """
        self.tree = tree
        self.tree_id = tree_id
        self.requirements = tuple(requirements)
        self.file = file
        self.ticks = 0
        """Number of ticks so far."""
        self.status = NodeStatus.IDLE
        """Of the root after the last tick."""
        self.lost_server: str | None = None
        """Why the newest lost server was lost; None once the skill that missed it has ended in
        another way, or any skill has told its phase."""
        self._lost_by = ""
        self._told_lost = False
        """Whether that was told in the last tick."""
        self._failures: tuple[str, str] = ("", "")
        """The first and the newest failure of a skill, in words; empty without any."""
        self.records: TreeRecords | None = None
        """Writes down what the tree does, while somebody wants to know."""
        self.closed = False
        """Whether the tree is not ticked any more."""
        self._blackboard: Blackboard = tree.root_blackboard()
        self._skills = {node for node in tree.nodes() if _is_skill(node)}
        self._on_close: list[Callable[[], None]] = []
        self._running: dict[TreeNode, None] = {}
        """Skills that run, in the order in which they began."""
        self._new: list[RecordBatch] = []
        self._last: list[RecordBatch] = []
        """Record of the last tick."""
        self._changes: dict[int, tuple[NodeStatus, bool]] | None = None
        self._unsubscribe = tree.subscribe_changes(self)
        self._document = UidDocument(tree, tree_id)
        self._forget_structure = tree.subscribe_structure_change(self._restructured)

    completes_runs = False
    """For the tree: it need not tell of the end of a run at once."""
    reads_times = False
    """For the tree: it need not say when what happened."""

    @property
    def misses_server(self) -> bool:
        """Whether the tree waits for a server that was lost; not while something runs that is there
        for failures, a Catch or the last child of a TryCatch, unless that was told just now.
        """
        if self._told_lost or self.status is not NodeStatus.RUNNING:
            return True
        running = (node for node in self.tree.nodes() if node.status is NodeStatus.RUNNING)
        return not any(
            isinstance(node, Catch) or (isinstance(node, TryCatch) and node.cleans_up)
            for node in running
        )

    def forget_lost_server(self) -> None:
        """Wait for no server any more, until a node tells that it misses one."""
        self.lost_server, self._lost_by = None, ""

    @property
    def xml(self) -> str:
        """Text of the tree as it is now, for monitors."""
        return self._document.text()

    def read(self, batch: RecordBatch) -> None:
        """Keep what has happened; called by the tree, also from a thread of its own."""
        self._new.append(batch)

    def on_interval(self) -> None:
        """Nothing takes long here; called by the tree."""

    def tick(self) -> NodeStatus:
        """Tick the tree once.

        Raises:
            NodeExecutionError: a node raised an error; it names the node.
        """
        self.ticks += 1
        self._told_lost = False
        self.tree.runtime.hold_time()
        try:
            if self.records is not None:
                self.records.before_tick()
            self.status = self.tree.tick_exactly_once()
        finally:
            self.tree.runtime.release_time()
            last, self._last = self._last, self._read_record()
            if self._changes is not None and not _repeats(self._last, last):
                self._changes = None
            reasons: list[tuple[TreeNode, str]] = []
            for batch in self._last:
                reasons += batch.reasons
            if reasons or self._lost_by:
                self._note_failures(reasons)
                self._watch_servers(reasons)
        if self.lost_server is not None and self._text(PHASE_KEY):
            self.lost_server = None
        return self.status

    @property
    def changes(self) -> dict[int, tuple[NodeStatus, bool]]:
        """Nodes that were ticked or changed in the last tick: uid to the result of its tick, or its
        status if it was only halted or reset; and whether it was ticked.
        """
        if self._changes is None:
            results, ticked = outcomes(self._last)
            self._changes = {
                node.uid(): (status, node in ticked) for node, status in results.items()
            }
        return self._changes

    @property
    def waits_for_operator(self) -> bool:
        """Whether the run is controlled, and nothing happens until somebody says so."""
        control = self.tree.runtime.control
        return control is not None and control.stands

    def wake_by(self, wake: Callable[[], None]) -> None:
        """Have a function called whenever the tree has a reason to be ticked: a node asks for it,
        or an entry of its blackboard is set; in whatever thread does that, also within ticks.
        """
        self.tree.runtime.on_wake_up = self._blackboard.on_set = wake

    def next_due(self) -> float | None:
        """Reading of the tree's clock [s] at which a timer of a node expires; None: none is set."""
        return self.tree.runtime.next_deadline()

    def halt(self) -> None:
        """Halt all nodes; the next tick starts at the root."""
        try:
            self.tree.halt_tree()
        finally:  # a node may raise an error while it is halted; the others have been, too
            self._read_record()
            if self.records is not None:
                self.records.write_down()

    def close(self) -> None:
        """Stop watching; the tree is not ticked any more."""
        self.closed = True
        if self.records is not None:
            self.records.close()
            self.records = None
        self._unsubscribe()
        self._forget_structure()
        self.tree.runtime.on_wake_up = self._blackboard.on_set = None
        for callback in self._on_close:
            callback()

    def when_closed(self, callback: Callable[[], None]) -> None:
        """Have a function called when the tree is not ticked any more."""
        self._on_close.append(callback)

    def contents(self) -> dict[Path, bytes]:
        """The files that the tree was made from, as they were then."""
        sources = (instance.definition.source for instance in self.tree.subtrees)
        return {Path(source.file): source.data for source in sources}

    def _restructured(self, change: StructureChange) -> None:
        """The tree was edited."""
        self._changes = None
        self._skills = {node for node in self.tree.nodes() if _is_skill(node)}
        self._running = {node: None for node in self._running if node in self._skills}

    def activity(self) -> Activity:
        """What the tree does now."""
        skill = next(iter(self._running), None)
        return Activity(
            active_path=self.tree.active_path(),
            skill=skill.registration_id() if skill is not None else "",
            phase=self._text(PHASE_KEY) if skill is not None else "",
            progress=self._progress(),
            detail=self._text(DETAIL_KEY),
        )

    def _progress(self) -> float:
        """What the tree tells of its progress, 0..1; -1 if it tells nothing, or no number."""
        try:
            progress = float(self._blackboard.get(PROGRESS_KEY, None))
        except (TypeError, ValueError, OverflowError):  # whatever a script has written
            return -1.0
        return progress if math.isfinite(progress) else -1.0

    def failure(self) -> FailureReason | None:
        """What the leaf told that made the root fail; of several, the first that says of what
        kind its reason is.
        """
        reason = self.tree.failure_reason()
        leaves = list(reason.leaves()) if reason is not None else []
        typed = (leaf for leaf in leaves if leaf.cause and leaf.cause.kind is not CauseKind.OTHER)
        return next(typed, leaves[0] if leaves else None)

    def failure_text(self) -> str:
        """Why the root failed: reason and path of the node that made it fail, and the mission's
        first failure where that is another one: a retry or fallback may have made it good, and yet
        be why the mission failed later.
        """
        reason = self.tree.failure_reason()
        text = f"{reason.text} ({reason.path})" if reason is not None else "the tree failed"
        return text + self._other_failures(text, last=False)

    def trouble_text(self) -> str:
        """What skills failed with so far, to follow another reason; empty if none has."""
        return self._other_failures("", last=True)

    def _other_failures(self, text: str, *, last: bool) -> str:
        first, newest = self._failures
        others = ""
        if first and first.rpartition(" (")[0] not in text:
            others = f"; the mission's first failure: {first}"
        if last and newest != first:
            others += f"; its last failure: {newest}"
        return others

    def _note_failures(self, reasons: list[tuple[TreeNode, str]]) -> None:
        """Remember how the trouble began, and the newest of it."""
        for node, text in reasons:
            if node in self._skills:
                words = f"{bounded(text, LONGEST_REASON)} ({node.full_path()})"
                self._failures = (self._failures[0] or words, words)

    def _text(self, key: str) -> str:
        return str(self._blackboard.get(key, None) or "")

    def _read_record(self) -> list[RecordBatch]:
        """What was recorded since the last call, and keep the books of the skills."""
        self.tree.drain_changes()
        new, self._new = self._new, []
        for batch in new:
            if self._skills and not self._skills.isdisjoint(batch.nodes):
                self._follow_skills(batch)
        return new

    def _follow_skills(self, batch: RecordBatch) -> None:
        for node, before, after in zip(batch.nodes, batch.previous, batch.new, strict=True):
            if node not in self._skills or before is after:
                continue
            if after is NodeStatus.RUNNING:
                self._running[node] = None
            elif before is NodeStatus.RUNNING:
                self._running.pop(node, None)
            if after is not NodeStatus.IDLE and PHASE_KEY in self._blackboard:
                self._blackboard.set(PHASE_KEY, "")

    def _watch_servers(self, reasons: list[tuple[TreeNode, str]]) -> None:
        """Notice lost servers, and those that came back."""
        results, _ = outcomes(self._last)
        lost = {
            node: text
            for node, text in reasons
            if node.type() is NodeType.ACTION
            and Cause.of(text).kind is CauseKind.SERVER_LOST
            and results.get(node) is not NodeStatus.SUCCESS
        }
        self._told_lost = bool(lost)
        if self._lost_by and any(
            status.completed and node not in lost and node.registration_id() == self._lost_by
            for node, status in results.items()
        ):
            self.forget_lost_server()
        for node, text in lost.items():
            self.lost_server, self._lost_by = text, node.registration_id()


def _repeats(new: list[RecordBatch], old: list[RecordBatch]) -> bool:
    """Whether a tick did what the one before did, as most ticks of a tree that waits do."""
    return len(new) == len(old) and all(map(RecordBatch.repeats, new, old))


def _is_skill(node: TreeNode) -> bool:
    return "phase" in node.config().ports
