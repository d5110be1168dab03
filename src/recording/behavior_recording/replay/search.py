# SPDX-License-Identifier: Apache-2.0
"""Finds the moment at which a node came to something: ``Pick FAILURE``."""

from __future__ import annotations

from dataclasses import dataclass

from behavior_recording.errors import RecordingError
from behavior_recording.moments import RecordedRecord
from behavior_recording.replay.history import History
from behavior_recording.tree_document import TreeDocument
from behavior_tree.basic_types import NodeStatus

_WORDS = {**{each.name: each for each in NodeStatus}, "HALTED": NodeStatus.IDLE}


@dataclass(frozen=True)
class Wanted:
    """What is looked for."""

    node: str
    """Path, name or type."""
    status: NodeStatus

    @classmethod
    def read(cls, text: str) -> Wanted:
        """What a text like ``Pick FAILURE`` asks for.

        Raises:
            RecordingError: it is no such text
        """
        node, _, word = text.strip().rpartition(" ")
        if not node or word.upper() not in _WORDS:
            raise RecordingError(
                f'"{text}" names no moment: write a node and what it comes to, like '
                f'"Pick FAILURE"; the last word is one of {", ".join(_WORDS)}'
            )
        return cls(node.strip(), _WORDS[word.upper()])

    def met(self, tree: TreeDocument, record: RecordedRecord) -> bool:
        """Whether it happens in a record."""
        found = {node.uid for node in tree.find(self.node)}
        return any(c.uid in found and c.after is self.status for c in record.changes)


def find(
    history: History, wanted: Wanted, *, after: int | None = None, backwards: bool = False
) -> RecordedRecord:
    """The first record in which it happens.

    Args:
        history: where to look
        wanted: what to look for
        after: time from which on, not included, or with ``backwards`` before which [ns]
        backwards: the last one before instead

    Raises:
        RecordingError: it does not happen, or no tree has such a node
    """
    trees = {
        (record.life, record.sequence): TreeDocument.read(record.xml)
        for record in history.records()
        if record.kind.full
    }
    if not any(tree.find(wanted.node) for tree in trees.values()):
        raise RecordingError(
            f"{history.path}: no tree of this recording has a node '{wanted.node}': give its path, "
            f"name or type, as `behavior replay {history.path} --at 0` shows them"
        )
    tree = next(iter(trees.values()))
    found = None
    for record in history.records():
        tree = trees.get((record.life, record.sequence), tree) if record.kind.full else tree
        if after is not None and (record.time >= after if backwards else record.time <= after):
            continue
        if wanted.met(tree, record):
            found = record
            if not backwards:
                break
    if found is None:
        raise RecordingError(
            f"{history.path}: '{wanted.node}' does not become {wanted.status.name} "
            f"{'before' if backwards else 'after'} this moment"
            if after is not None
            else f"{history.path}: '{wanted.node}' never becomes {wanted.status.name}"
        )
    return found
