# SPDX-License-Identifier: Apache-2.0
"""Who made the writes of a record that does not say so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.blackboard.ports import pointer_key
from behavior_tree.kernel.node import TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.rerun.history import UNKNOWN, RecordedTick, RecordedWrite

Place = tuple[str, str]
"""Instance of a tree and key: where an entry lives."""

_ASSIGNED = re.compile(r"(@?[A-Za-z_]\w*)\s*(?::=|[-+*/]?=(?!=))")


def assigned_names(script: str) -> set[str]:
    """Entries that a script may write."""
    return set(_ASSIGNED.findall(script))


class Writers:
    """Finds the leaf that wrote an entry by its output ports.

    Args:
        tree: the recorded tree, built again
        uids: recorded uid of each node
        leaves: those that stand for recorded ones; what other nodes write they will write again
    """

    def __init__(self, tree: Tree, uids: Mapping[TreeNode, int], leaves: set[TreeNode]) -> None:
        self._boards = {id(each.blackboard): each.instance_name for each in tree.subtrees}
        self._leaves: dict[Place, set[int]] = {}
        self._others: dict[Place, set[int]] = {}
        for node, uid in uids.items():
            for key in _output_keys(node):
                table = self._leaves if node in leaves else self._others
                self._note(table, node, key, uid)
            for key in _script_keys(node):
                self._note(self._others, node, key, uid)

    def _note(self, table: dict[Place, set[int]], node: TreeNode, key: str, uid: int) -> None:
        table.setdefault(self._place(node.config().blackboard, key), set()).add(uid)

    def _place(self, board: Blackboard, key: str) -> Place:
        if key.startswith("@"):
            board, key = board.root, key[1:]
        while board.own_entry(key) is None and board.parent is not None:
            outer = board.remapped_key(key)
            if outer is None:
                break
            board, key = board.parent, outer
        return self._boards.get(id(board), ""), key

    def attributed(self, tick: RecordedTick) -> RecordedTick:
        """The tick with a writer for each write; those that the tree itself will make again are
        left out.
        """
        if all(write.uid != UNKNOWN for write in tick.writes):
            return tick
        active = tick.ticked | {uid for uid, _ in tick.changes}
        return replace(tick, writes=tuple(self._found(tick.writes, active)))

    def _found(
        self, writes: tuple[RecordedWrite, ...], active: frozenset[int]
    ) -> Iterator[RecordedWrite]:
        for write in writes:
            if write.uid != UNKNOWN:
                yield write
                continue
            place = write.board, write.key
            leaves = self._leaves.get(place, set()) & active
            if leaves:
                yield replace(write, uid=max(leaves))
            elif not self._others.get(place, set()) & active:
                yield replace(write, uid=None)


def _output_keys(node: TreeNode) -> Iterator[str]:
    for name, text in node.config().output_ports.items():
        key = pointer_key(text, name)
        # SetBlackboard and its like name the entry itself.
        yield key if key is not None else text


def _script_keys(node: TreeNode) -> Iterator[str]:
    config = node.config()
    for text in config.condition_attributes.values():
        yield from assigned_names(text)
    manifest_scripts = getattr(type(node), "script_ports", ())
    for port in manifest_scripts:
        yield from assigned_names(config.input_ports.get(port, ""))
