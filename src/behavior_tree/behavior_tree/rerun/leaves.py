# SPDX-License-Identifier: Apache-2.0
"""Leaves that do what a record says, in the place of those that need a robot."""

from __future__ import annotations

from collections.abc import Callable

from behavior_tree.basic_types import NodeStatus, NodeType
from behavior_tree.blackboard.blackboard import Blackboard, Entry
from behavior_tree.kernel.leaf import LeafNode
from behavior_tree.kernel.node import NodeConfig
from behavior_tree.kernel.tree import Tree
from behavior_tree.rerun.answers import Answers
from behavior_tree.rerun.history import RecordedWrite
from behavior_tree.rerun.writers import assigned_names


def write_entry(tree: Tree, write: RecordedWrite) -> None:
    """Repeat a recorded write, whatever type the entry has; nothing happens where the tree has no
    such blackboard.
    """
    board = _board(tree, write)
    if board is None:
        return
    entry = board.own_entry(write.key)
    if entry is None:
        entry = board.restored_entry(write.key)
        tree.runtime.types.names_changed()
    if entry.type is _ANY and write.value is not None and not isinstance(write.value, str):
        entry.type = type(write.value)
    entry.store(write.value)


def _board(tree: Tree, write: RecordedWrite) -> Blackboard | None:
    """Blackboard of an instance; one without a name of its own may be called with its uid."""
    for each in tree.subtrees:
        if each.instance_name == write.board:
            return each.blackboard
    for node in tree.nodes():
        if node.type() is NodeType.SUBTREE and node.full_path() == write.board and node.children:
            return node.children[0].config().blackboard
    return None


_ANY = Entry().type


class RecordedLeaf(LeafNode):
    """A leaf that asks `Answers`."""

    __slots__ = ("_answers", "_moment", "_scripted", "_tree")

    def __init__(self, name: str, config: NodeConfig) -> None:
        super().__init__(name, config)
        scripts = config.condition_attributes.values()
        self._scripted = {key for text in scripts for key in assigned_names(text)}

    def follow(self, tree: Tree, answers: Answers, moment: Callable[[], float]) -> None:
        """Do what these say from now on; `moment` tells the time by which they are asked [s]."""
        self._tree, self._answers, self._moment = tree, answers, moment
        if self._conditions is not None:
            self.set_post_tick(self._end_tick)

    def _end_tick(self, node: object, status: NodeStatus) -> NodeStatus:
        self._answers.end_tick(self._moment())
        return NodeStatus.IDLE  # leave the result alone

    def tick(self) -> NodeStatus:
        status, reason, writes = self._answers.ask(self._moment(), self.status)
        for write in writes:
            if not self._by_script(write):
                write_entry(self._tree, write)
        if reason:
            self.set_failure_reason(reason)
        return status

    def _by_script(self, write: RecordedWrite) -> bool:
        """Whether a script of this very node makes the write, and will do so again."""
        board = _board(self._tree, write)
        entry = None if board is None else board.own_entry(write.key)
        return entry is not None and any(self._bb.entry(key) is entry for key in self._scripted)

    def halt(self) -> None:
        self._answers.halted()
        self.reset_status()


class RecordedAction(RecordedLeaf):
    """Stands for an action."""

    __slots__ = ()
    node_type = NodeType.ACTION


class RecordedCondition(RecordedLeaf):
    """Stands for a condition."""

    __slots__ = ()
    node_type = NodeType.CONDITION
