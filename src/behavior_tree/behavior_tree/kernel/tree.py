# SPDX-License-Identifier: Apache-2.0
"""`Tree`: a built tree, ready to tick."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.errors import FailureReason
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.kernel.node import (
    FAILURE,
    IDLE,
    RUNNING,
    SUCCESS,
    TreeNode,
    select_kernels,
)
from behavior_tree.kernel.record import (
    CallbackRecord,
    ChangeReader,
    LastTick,
    StatusCallback,
    TickRecord,
)
from behavior_tree.kernel.recorder import TickRecorder
from behavior_tree.kernel.runtime import TreeRuntime, WakeUpSignal
from behavior_tree.kernel.structure import StructureCallback, StructureChange
from behavior_tree.kernel.subtree import Subtree

_LOG = logging.getLogger(__name__)


class Tree:
    """All nodes of a tree, with its SubTrees. Made by `BehaviorTreeFactory.create_tree`."""

    def __init__(self, root: TreeNode, subtrees: list[Subtree], runtime: TreeRuntime) -> None:
        self._runtime = runtime
        self._root = root
        self._watchers: list[StatusCallback] = []
        self._recorder: TickRecorder | None = None
        self._last_tick: LastTick | None = None
        self._forget_ticks: Callable[[], None] | None = None
        self._structure_watchers: list[StructureCallback] = []
        self._halts = 0
        self._sleeping = False
        self._last = IDLE
        self.subtrees: list[Subtree] = subtrees
        """Instances of trees, the main one first."""
        self.manifests: Mapping[str, TreeNodeManifest] = {}
        """Node types that the factory knew when it built the tree, by ID."""
        for subtree in subtrees:
            for node in subtree.nodes:
                node.join_tree()

    def __del__(self) -> None:
        if self._runtime.quirks.destroyed_tree_halts:
            with suppress(Exception):  # nobody is left to be told
                self.halt_tree()

    # -- structure ------------------------------------------------------------------------------

    def root_node(self) -> TreeNode:
        """The topmost node; a py_trees Behaviour, so
        ``py_trees.trees.BehaviourTree(tree.root_node())`` works.
        """
        return self._root

    def root_blackboard(self) -> Blackboard:
        """Blackboard of the main tree."""
        return self.subtrees[0].blackboard

    @property
    def runtime(self) -> TreeRuntime:
        """Clock, timers and wake-up event of the tree."""
        return self._runtime

    def nodes(self) -> Iterator[TreeNode]:
        """All nodes, parents before children, SubTrees entered."""
        stack = [self._root]
        while stack:
            node = stack.pop()
            yield node
            if node.has_nodes:
                stack.extend(reversed(node.children))

    def node_by_path(self, path: str) -> TreeNode:
        """The first node with this full path; raises KeyError."""
        for node in self.nodes():
            if node.full_path() == path:
                return node
        raise KeyError(f"no node with path '{path}'")

    def change_structure(
        self,
        root: TreeNode,
        instances: Callable[[], list[Subtree]],
        change: StructureChange,
        complete: Callable[[], None] = lambda: None,
    ) -> None:
        """Take note that nodes have been added or removed, by `behavior_tree.editing`.

        Args:
            root: the topmost node now
            instances: gives the instances of trees, called when all nodes are known
            change: told to the subscribers, completed by the nodes added and removed
            complete: does the rest of the edit, before the subscribers are told
        """
        before = {node: None for subtree in self.subtrees for node in subtree.nodes}
        self._root = root
        self.subtrees[:] = instances()
        for node in self.nodes():
            node.join_tree()
            node.select_kernel()
        after = dict.fromkeys(self.nodes())
        added = tuple(node for node in after if node not in before)
        removed = tuple(node for node in before if node not in after)
        complete()
        self.announce_change(replace(change, added=added, removed=removed))

    def announce_change(self, change: StructureChange) -> None:
        """Tell the subscribers of an edit that is complete; an error in one is logged."""
        self.drain_changes()
        for callback in tuple(self._structure_watchers):
            try:
                callback(change)
            except Exception:  # the edit is done, and others want to know of it
                _LOG.exception("a subscriber of structure changes failed")

    def subscribe_structure_change(self, callback: StructureCallback) -> Callable[[], None]:
        """Call ``callback(change)`` after each edit of the tree, undo and redo included.

        Returns:
            function that ends the subscription
        """
        self._structure_watchers.append(callback)

        def unsubscribe() -> None:
            if callback in self._structure_watchers:
                self._structure_watchers.remove(callback)

        return unsubscribe

    # -- ticking --------------------------------------------------------------------------------

    def tick_exactly_once(self) -> NodeStatus:
        """Tick the root once."""
        if self._last_tick is not None:
            self.drain_changes()
            self._last_tick.clear()
        return self._tick()

    def tick_once(self) -> NodeStatus:
        """Tick the root, and again as long as it is RUNNING and a node asks for another tick."""
        status = self.tick_exactly_once()
        runtime = self._runtime
        while status is RUNNING and runtime.consume_wake_up():
            status = self._tick()
        return status

    def tick_while_running(self, sleep_ms: int = 10) -> NodeStatus:
        """Tick until the root is no longer RUNNING, sleeping up to ``sleep_ms`` [ms] between ticks.

        Returns:
            the result; IDLE if `halt_tree` was called meanwhile, for example from another thread
        """
        halts = self._halts
        status = self.tick_once()
        while status is RUNNING:
            if sleep_ms > 0:
                self._sleeping = True
                self._runtime.wait(sleep_ms / 1000)
                self._sleeping = False
            if halts != self._halts:
                return IDLE
            status = self.tick_once()
        return status

    def sleep(self, milliseconds: int) -> bool:
        """Sleep on the tree's clock; True if a node or a timer ended the sleep early."""
        return self._runtime.wait(milliseconds / 1000)

    def emit_wake_up(self) -> None:
        """End a sleep from any thread."""
        self._runtime.emit_wake_up()

    def wake_up_signal(self) -> WakeUpSignal:
        """What ends a sleep: for a sleep of your own, on another clock say."""
        return WakeUpSignal(self._runtime)

    def halt_tree(self) -> None:
        """Halt all running nodes; every node becomes IDLE.

        What moves has to stop, so all the others are halted too if one raises an error, which may
        be asked a second time then; the first error is raised when that is done.
        """
        self._halts += 1
        recorder = self._recorder
        if recorder is not None:
            recorder.begin()
        try:
            self._halt()
        finally:
            if recorder is not None:
                recorder.end(True)
        if self._sleeping:
            self._runtime.emit_wake_up()

    def _halt(self) -> None:
        if self._runtime.quirks.halt_tree_halts_all:
            self._runtime.expire_timers()
            root = self._root
            root.halt_node()
            for node in self.nodes():
                node.halt_node()
            root.reset_status()
            return
        first: Exception | None = None
        try:
            self._runtime.expire_timers()
        except Exception as error:  # a Timeout halts what it is around
            first = error
        for node in self.nodes():
            try:
                if node.status is RUNNING:
                    node.halt_node()
            except Exception as error:  # of one node; those beside and below it still run
                first = first or error
            node.reset_status()
        if first is not None:
            raise first

    def _tick(self) -> NodeStatus:
        recorder, runtime = self._recorder, self._runtime
        if recorder is not None:
            recorder.begin()
        status = RUNNING
        lock = runtime.tick_lock  # nobody edits the tree meanwhile
        lock.acquire()  # a with statement takes twice the time
        outer = runtime.ticking
        try:
            runtime.ticking = True
            if runtime._timers:
                runtime.expire_timers()
            runtime.ticks += 1
            root = self._root
            status = self._last = root.execute_tick()
            if status is SUCCESS or status is FAILURE:
                root.set_status(IDLE)
        finally:
            runtime.ticking = outer
            lock.release()
            if recorder is not None:
                recorder.end(status is not RUNNING)
        return status

    # -- observing ------------------------------------------------------------------------------

    def active_path(self) -> str:
        """Full path of the deepest RUNNING node, the first where several run; empty if none."""
        node = self._root
        if node.status is not RUNNING:
            return ""
        while node.has_nodes:
            for child in node.children:
                if child.status is RUNNING:
                    node = child
                    break
            else:
                break
        return node.full_path()

    def failure_reason(self) -> FailureReason | None:
        """Why the last tick was FAILURE: the deepest node that made the root fail, with all
        reasons where several children had to fail, and of a RetryUntilSuccessful the first attempt
        besides the last one. Of a text longer than 2000 characters the middle is left out.

        None unless the last tick of the tree was FAILURE.
        """
        return self._root.explain_failure() if self._last is FAILURE else None

    def subscribe_status_change(self, callback: StatusCallback) -> Callable[[], None]:
        """Call ``callback(node, previous, new)`` at every change of a node's status.

        Costs nothing while nobody subscribes. Whoever needs not be told within the tick takes
        `subscribe_changes`, which costs the tick less than half of this.

        Returns:
            function that ends the subscription
        """
        self._watchers.append(callback)
        self._choose_record()

        def unsubscribe() -> None:
            if callback in self._watchers:
                self._watchers.remove(callback)
                self._choose_record()

        return unsubscribe

    def subscribe_changes(self, reader: ChangeReader) -> Callable[[], None]:
        """Tell ``reader`` of every tick and change of status of a node, many at once; see
        `behavior_tree.kernel.record`.

        Returns:
            function that ends the subscription, after telling of everything so far
        """
        if self._recorder is None:
            self._recorder = TickRecorder()
        recorder = self._recorder
        recorder.add(reader)
        self._choose_record()

        def unsubscribe() -> None:
            recorder.remove(reader)
            if not recorder.readers and self._recorder is recorder:
                self._recorder = None
                self._choose_record()
                recorder.close()

        return unsubscribe

    def drain_changes(self) -> None:
        """Tell the readers of `subscribe_changes` of everything up to now."""
        if self._recorder is not None:
            self._recorder.drain()

    def _choose_record(self) -> None:
        """Let nodes write what is asked for."""
        recorder = self._recorder
        record: TickRecord | None = None
        if self._watchers:
            record = CallbackRecord(self._watchers, kept=recorder is not None)
        elif recorder is not None:
            record = TickRecord()
        if recorder is not None and record is not None:
            recorder.write_into(record)
        self._runtime.record = record

    def trace_work(self, enabled: bool) -> None:
        """Keep `TreeRuntime.at_work` up to date, or stop it."""
        self._runtime.tracing = enabled
        select_kernels(self.nodes())

    def record_ticks(self, enabled: bool = True) -> None:
        """Keep what `ticked_nodes` and `given_reasons` tell."""
        if enabled and self._last_tick is None:
            self._last_tick = LastTick()
            self._forget_ticks = self.subscribe_changes(self._last_tick)
        elif not enabled and self._forget_ticks is not None:
            self._forget_ticks()
            self._last_tick = self._forget_ticks = None

    def ticked_nodes(self) -> list[TreeNode]:
        """Nodes ticked since the last tick of the tree began, in the order of the tree; empty
        unless `record_ticks`.
        """
        if self._last_tick is None:
            return []
        self.drain_changes()
        return [node for node in self.nodes() if node in self._last_tick.nodes]

    def given_reasons(self) -> list[tuple[TreeNode, str]]:
        """Failure reasons given since the last tick of the tree began, in order, also those of
        nodes that started again in the same tick; empty unless `record_ticks`.
        """
        if self._last_tick is None:
            return []
        self.drain_changes()
        return list(self._last_tick.reasons)
