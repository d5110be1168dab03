# SPDX-License-Identifier: Apache-2.0
"""``replay``: what a ``.btlog`` recorded, as a list, in its own time, or the tree at one moment."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from behavior_tree.basic_types import NodeStatus, NodeType
from behavior_tree.cli.drawing import Drawn, drawn_trees
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.monitoring.loggers.btlog import BtLog
from behavior_tree.nodes.builtin_nodes import builtin_manifests
from behavior_tree.xml.document import Element, parse_xml
from behavior_tree.xml.elements import resolve_type


@dataclass(frozen=True)
class Step:
    """One status change of a log."""

    seconds: float
    """Since the log was opened [s]."""
    uid: int
    path: str
    previous: NodeStatus
    status: NodeStatus

    def __str__(self) -> str:
        return f"{self.seconds:10.3f} {self.path}: {self.previous.name} -> {self.status.name}"

    def json(self) -> str:
        """One line."""
        return json.dumps(
            {
                "seconds": round(self.seconds, 6),
                "uid": self.uid,
                "path": self.path,
                "previous": self.previous.name,
                "status": self.status.name,
            }
        )


class Replay:
    """A log with the tree it belongs to.

    Args:
        log: from `read_btlog`
        file: its name, for messages

    Raises:
        LoadError: the tree in the log cannot be read
    """

    def __init__(self, log: BtLog, file: str) -> None:
        self._log = log
        self._root = parse_xml(log.xml.encode(), file, "utf-8")
        self._paths = dict(_paths(self._root))

    def steps(self) -> Iterator[Step]:
        """All changes in order."""
        statuses: dict[int, NodeStatus] = {}
        for each in self._log.transitions:
            before = statuses.get(each.uid, NodeStatus.IDLE)
            statuses[each.uid] = each.status
            path = self._paths.get(each.uid, f"node {each.uid}")
            seconds = (each.timestamp - self._log.start) / 1e6
            yield Step(seconds, each.uid, path, before, each.status)

    def play(self, show: Callable[[Step], object], speed: float | None) -> None:
        """Show each change, when its time has come or, with None, at once.

        Args:
            show: called with each change
            speed: times the recorded speed
        """
        begin = time.monotonic()
        for step in self.steps():
            if speed is not None:
                wait = begin + step.seconds / speed - time.monotonic()
                if wait > 0:
                    time.sleep(wait)
            show(step)

    def at(self, seconds: float) -> dict[int, NodeStatus]:
        """Status of every node at a moment, by uid."""
        statuses = dict.fromkeys(self._paths, NodeStatus.IDLE)
        for step in self.steps():
            if step.seconds > seconds:
                break
            statuses[step.uid] = step.status
        return statuses

    def statuses_json(self, seconds: float) -> str:
        """`at` as a JSON list, in the order of the uids."""
        statuses = self.at(seconds)
        return json.dumps(
            [
                {"uid": uid, "path": self._paths.get(uid, ""), "status": statuses[uid].name}
                for uid in sorted(statuses)
            ],
            indent=1,
        )

    def trees(self, seconds: float) -> list[tuple[str, Drawn]]:
        """The trees as they were at a moment, to be drawn."""
        return drawn_trees(self._root, _models(self._root), self.at(seconds))


def _paths(root: Element) -> Iterator[tuple[int, str]]:
    """Full path of each node by uid."""
    for tree in root.children:
        if tree.tag != "BehaviorTree":
            continue
        prefix = tree.get("_fullpath") or ""
        stack = list(tree.children)
        while stack:
            element = stack.pop()
            stack.extend(element.children)
            uid = element.get("_uid") or ""
            if not uid.isdecimal() or len(uid) > 9:
                continue
            type_id = resolve_type(element) or element.tag
            name = element.get("name") or type_id
            label = f"{name}::{uid}" if name == type_id else name
            path = f"{prefix}/{label}" if prefix else label
            yield int(uid), element.get("_fullpath") or path
    if not any(tree.tag == "BehaviorTree" for tree in root.children):
        raise BehaviorTreeError(f"{root.source.file}: the log contains no tree: record it again")


def _models(root: Element) -> dict[str, TreeNodeManifest]:
    """Categories of the node types, from the log's own ``<TreeNodesModel>``."""
    found = dict(builtin_manifests())
    kinds = {each.tag: each for each in NodeType}
    for child in root.children:
        for model in child.children if child.tag == "TreeNodesModel" else ():
            type_id = model.get("ID")
            if type_id and model.tag in kinds:
                found.setdefault(type_id, TreeNodeManifest(type_id, kinds[model.tag]))
    return found
