# SPDX-License-Identifier: Apache-2.0
"""`rerun`: runs a tree once more on the record of an earlier run, without robot.

Leaves that need the world do what they did then, see `behavior_tree.rerun.answers`, and so do
control nodes and decorators whose program is not here. Everything else of the tree is at work:
control nodes, decorators, conditions, scripts, the engine's own leaves, the blackboard. The clock
shows the times of the recorded ticks. So the same tree decides the same, and of a changed tree it
shows where it decides otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.kernel.node import TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.rerun.answers import (
    Answers,
    EventsByNode,
    Unanswered,
    events_by_node,
    node_runs,
)
from behavior_tree.rerun.building import Clock, Rebuilder
from behavior_tree.rerun.capture import Capture
from behavior_tree.rerun.history import RecordedRun, RecordedTick, apart, results
from behavior_tree.rerun.leaves import RecordedCondition, RecordedLeaf, write_entry
from behavior_tree.rerun.matching import match_nodes, same_nodes
from behavior_tree.rerun.parents import RecordedParent
from behavior_tree.rerun.recorded_tree import RecordedTree
from behavior_tree.rerun.writers import Writers


@dataclass(frozen=True)
class Parting:
    """The first decision that is another one."""

    tick: int
    """Number of the tick, from 1."""
    time: float
    """On the tree's clock, since the origin of the record [s]."""
    path: str
    """The node."""
    recorded: str
    """What it did in the record, like `FAILURE` or `not ticked`."""
    now: str
    """What it does now."""

    def __str__(self) -> str:
        return (
            f"tick {self.tick}, {self.time:.3f} s: {self.path}: "
            f"recorded {self.recorded}, now {self.now}"
        )


@dataclass
class Rerun:
    """What came of it."""

    compared: int = 0
    """Ticks with the same decisions, from the first on."""
    parting: Parting | None = None
    """None: all of them are the same."""
    unanswered: list[Unanswered] = field(default_factory=list)
    """What the record does not tell, in order of time."""
    ended: NodeStatus = NodeStatus.IDLE
    """Result of the tree's last tick."""
    reason: str = ""
    """Why that was a FAILURE, or which error a node raised."""
    active_path: str = ""
    """The leaf that runs when the record ends."""
    new_nodes: list[str] = field(default_factory=list)
    """Paths of nodes that the record does not know."""

    @property
    def identical(self) -> bool:
        """Whether every decision is the same."""
        return self.parting is None and not self.unanswered


def rerun(
    run: RecordedRun,
    factory: BehaviorTreeFactory | None = None,
    *,
    changed: str | None = None,
    compat: str | None = None,
) -> Rerun:
    """Run a recorded tree, or a changed one, on the record.

    Args:
        run: the record
        factory: knows the control nodes and decorators that are not the engine's own, and is forked
            before anything is registered; leaves need no registration. None: one that knows the
            engine's own
        changed: tree document to run instead of the recorded one
        compat: as for `BehaviorTreeFactory`

    Raises:
        LoadError: a tree cannot be built
        BehaviorTreeError: the recording contains no tree
    """
    recorded = RecordedTree(run.xml, run.name or "recording")
    clock = Clock(run.ticks[0].time if run.ticks else 0.0)
    rebuilder = Rebuilder(factory, clock, compat)
    tree = original = rebuilder.build(recorded.loadable_xml())
    uids = same_nodes(original, recorded)
    leaves = {node for node in original.nodes() if isinstance(node, RecordedLeaf)}
    writers = Writers(original, uids, leaves)
    ticks = apart(writers.attributed(tick) for tick in run.ticks)
    known = replace(run, ticks=tuple(ticks))
    if changed is not None:
        tree = rebuilder.build(changed)
        uids = match_nodes(tree, recorded)
    return _Player(known, recorded, tree, clock, uids).play()


class _Player:
    """One re-run."""

    def __init__(
        self,
        run: RecordedRun,
        recorded: RecordedTree,
        tree: Tree,
        clock: Clock,
        uids: Mapping[TreeNode, int],
    ) -> None:
        self._recorded, self._tree, self._clock = recorded, tree, clock
        self._ticks, self._origin = run.ticks, run.origin
        self._uids = uids
        self._by_uid = {node.uid(): uid for node, uid in self._uids.items()}
        replayed = {node for node in tree.nodes() if isinstance(node, RecordedParent)}
        for node in replayed:  # what they do is no decision of this run
            self._by_uid.pop(node.uid(), None)
        self._shared = set(self._by_uid.values())
        self._there, self._here = _Decisions(), _Decisions()
        self._doings: tuple[set[TreeNode], set[TreeNode]] = set(), set()
        """Nodes that were ticked in the tick that is under way, and those that became IDLE."""
        self._done = Rerun(
            new_nodes=[node.full_path() for node in tree.nodes() if node not in self._uids]
        )
        by_node = events_by_node(self._ticks)
        for node in tree.nodes():
            if isinstance(node, RecordedLeaf):
                condition = isinstance(node, RecordedCondition)
                answers = self._answers(node, by_node, condition=condition)
                node.follow(tree, answers, self._moment)
            elif isinstance(node, RecordedParent):
                answers = self._answers(node, by_node, condition=True)
                node.follow(answers, lambda: self._doings, self._moment)

    def _moment(self) -> float:
        return self._clock.moment

    def _answers(self, node: TreeNode, by_node: EventsByNode, *, condition: bool) -> Answers:
        uid = self._uids.get(node)
        runs = None
        if uid is not None:
            conditioned = self._recorded.nodes[uid].conditioned
            events = by_node.get(uid, [])
            runs = node_runs(events, uid, condition=condition, conditioned=conditioned)

        def note(asked: Unanswered) -> None:
            self._done.unanswered.append(replace(asked, time=asked.time - self._origin))

        return Answers(node.full_path(), runs, condition=condition, note=note)

    def play(self) -> Rerun:
        done, tree = self._done, self._tree
        with Capture(tree) as capture:
            for number, tick in enumerate(self._ticks, 1):
                self._clock.now, self._clock.moment = tick.time, tick.moment
                error = self._step(tick)
                if done.parting is None:
                    done.parting = self._compare(number, tick, capture.take(tick.time), error)
                    done.compared += done.parting is None
                if error or (done.parting is not None and done.ended.completed):
                    break
        done.active_path = tree.active_path()
        reason = tree.failure_reason()
        done.reason = done.reason or ("" if reason is None else str(reason))
        return done

    def _step(self, tick: RecordedTick) -> str:
        """Do what happened in a tick; returns the error that a node raised."""
        idle = {uid for uid, status in tick.changes if status is NodeStatus.IDLE}
        self._doings = (
            {node for node, uid in self._uids.items() if uid in tick.ticked},
            {node for node, uid in self._uids.items() if uid in idle},
        )
        for write in tick.writes:
            if write.uid is None:
                write_entry(self._tree, write)
        try:
            if tick.ticked:
                self._done.ended = self._tree.tick_exactly_once()
            else:
                self._tree.halt_tree()
        except BehaviorTreeError as error:
            self._done.reason = str(error)
        return self._done.reason

    # -- comparing ------------------------------------------------------------------------------

    def _compare(
        self, number: int, tick: RecordedTick, own: RecordedTick, error: str
    ) -> Parting | None:
        there = [each for each in self._there.of(tick) if each[0] in self._shared]
        here = [
            (self._by_uid[uid], status) for uid, status in self._here.of(own) if uid in self._by_uid
        ]
        ticked_there = tick.ticked & self._shared
        ticked_here = {self._by_uid[uid] for uid in own.ticked if uid in self._by_uid}
        if there == here and ticked_there == ticked_here and not error:
            return None
        uid = _first_different(there, here, ticked_there, ticked_here)
        if uid is None:
            uid = next(iter(self._recorded.nodes))
        return Parting(
            number,
            tick.time - self._origin,
            self._recorded.path(uid),
            _shown(uid, there, ticked_there),
            error or _shown(uid, here, ticked_here),
        )


Changes = list[tuple[int, NodeStatus]]


class _Decisions:
    """Leaves out what is no decision: that nodes which have ended are made ready to run again."""

    def __init__(self) -> None:
        self._statuses: dict[int, NodeStatus] = {}

    def of(self, tick: RecordedTick) -> Changes:
        """The decisions of the next tick."""
        found = []
        for uid, status in results(tick):
            before = self._statuses.get(uid, NodeStatus.IDLE)
            self._statuses[uid] = status
            if status is not NodeStatus.IDLE or before is NodeStatus.RUNNING:
                found.append((uid, status))
        return found


def _first_different(
    there: Changes, here: Changes, ticked_there: set[int] | frozenset[int], ticked_here: set[int]
) -> int | None:
    """The first node that does something else now, or did before; children change before their
    parents.
    """
    for before, now in zip_longest(there, here):
        if before != now:
            return int((now or before)[0])
    return min(ticked_there ^ ticked_here, default=None)


def _shown(uid: int, changes: Changes, ticked: set[int] | frozenset[int]) -> str:
    """What a node did in a tick."""
    halted = {NodeStatus.IDLE: "halted"}
    statuses = [halted.get(status, status.name) for each, status in changes if each == uid]
    if statuses:
        return ", ".join(statuses)
    return "ticked, as before" if uid in ticked else "not ticked"
