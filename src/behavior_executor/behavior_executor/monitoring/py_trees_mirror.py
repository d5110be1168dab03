# SPDX-License-Identifier: Apache-2.0
"""A tree and its blackboards as py_trees' own tools expect them. No ROS.

The nodes of a tree are py_trees behaviours, but they are made IDLE as soon as their parent ends, as
BehaviorTree.CPP does, and their blackboard is not py_trees'. So whoever watches is shown twins:
plain py_trees behaviours with the results of the last tick, and entries on py_trees' blackboard.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

from py_trees import blackboard as py_trees_blackboard
from py_trees.behaviour import Behaviour
from py_trees.blackboard import Blackboard as PyTreesBlackboard
from py_trees.common import Access, ParallelPolicy, Status
from py_trees.composites import Parallel, Selector, Sequence
from py_trees.decorators import Decorator

from behavior_executor.running.tree_run import TreeRun
from behavior_tree import Blackboard, NodeStatus, NodeType, PortDirection, Tree, TreeNode
from behavior_tree.blackboard.ports import pointer_key
from behavior_tree.shown_text import reason_text, visible

_SHOWN = 200
"""Characters of a value that is no plain one."""


class _Twin:
    """What twins do otherwise than py_trees' behaviours, which are ticked."""

    children: list[Behaviour]
    status: Status

    def tip(self) -> Any:
        """Deepest behaviour with a result, following the last such child; never None: a tree in
        which nothing has one is shown, too.
        """
        active = [child for child in self.children if child.status is not Status.INVALID]
        return active[-1].tip() if active else self

    def update(self) -> Status:
        """Nobody ticks it."""
        return self.status


class ShownLeaf(_Twin, Behaviour):  # type: ignore[misc]
    """A behaviour that is shown and does nothing."""


class TreeMirror:
    """Twins of the nodes of a tree."""

    def __init__(self, tree: Tree) -> None:
        """Make them; the tree's structure may not change from now on."""
        self._twins: dict[TreeNode, Behaviour] = {}
        self.root = self._twin(tree.root_node())
        """Twin of the root."""
        self._clients: list[Any] = []
        self._connect(tree)

    def update(self, run: TreeRun) -> list[Behaviour]:
        """Give the twins the results of the last tick; returns those of the nodes it ticked."""
        changes, ticked = run.changes, []
        for node, twin in self._twins.items():
            status, was_ticked = changes.get(node.uid(), (node.status, False))
            twin.status = status.as_py_trees()
            twin.feedback_message = reason_text(node.feedback_message)
            if was_ticked:
                ticked.append(twin)
        for twin in self._twins.values():
            if isinstance(twin, Sequence | Selector | Parallel):
                active = (each for each in twin.children if each.status is not Status.INVALID)
                twin.current_child = next(reversed(list(active)), None)
        return ticked

    def close(self) -> None:
        """Take what the twins use off py_trees' blackboard."""
        for client in self._clients:
            client.unregister(clear=False)
        self._clients.clear()

    def _twin(self, node: TreeNode) -> Behaviour:
        children = [self._twin(child) for child in node.children] if node.has_nodes else []
        made = _make(node, children)
        self._twins[node] = made
        return made

    def _connect(self, tree: Tree) -> None:
        """Tell py_trees which entries each node uses, by a client of its own."""
        places = _places(tree)
        for node, twin in self._twins.items():
            uses = list(_uses(node, places))
            if not uses:
                continue
            client = py_trees_blackboard.Client(name=str(node.name))
            for key, access in uses:
                client.register_key(key=key, access=access)
            twin.blackboards.append(client)
            self._clients.append(client)


class BlackboardMirror:
    """The entries of a tree on py_trees' blackboard: ``/key``, and ``/subtree/key`` of SubTrees."""

    def __init__(self) -> None:
        self._shown: dict[str, Any] = {}
        """What was copied, by its name: values as they are in the tree."""

    def update(self, tree: Tree) -> None:
        """Copy what has changed; what others have put there stays."""
        storage, metadata = PyTreesBlackboard.storage, PyTreesBlackboard.metadata
        activity = PyTreesBlackboard.activity_stream
        now = dict(_entries(tree))
        for name in self._shown.keys() - now.keys():
            self._take_off(name)
        for name, value in now.items():
            known = name in self._shown
            if name not in metadata and (known or name not in storage):
                metadata[name] = py_trees_blackboard.KeyMetaData()  # whom py_trees knows has one
            if known and self._shown[name] is value and isinstance(value, _UNCHANGING):
                continue
            if not known and name in storage:
                continue
            before, storage[name] = storage.get(name), _plain(value)
            self._shown[name] = value
            if activity is not None and before != storage[name]:
                write = py_trees_blackboard.ActivityType.WRITE.value
                activity.push(
                    py_trees_blackboard.ActivityItem(
                        key=name,
                        client_name=tree.subtrees[0].tree_id,
                        client_id=tree.root_node().id,
                        activity_type=write,
                        previous_value=before,
                        current_value=storage[name],
                    )
                )

    def clear(self) -> None:
        """Take off what was copied."""
        for name in list(self._shown):
            self._take_off(name)

    def _take_off(self, name: str) -> None:
        del self._shown[name]
        PyTreesBlackboard.storage.pop(name, None)
        use = PyTreesBlackboard.metadata.get(name)
        if use is not None and not (use.read or use.write or use.exclusive):
            del PyTreesBlackboard.metadata[name]


_UNCHANGING = (bool, int, float, str, bytes, type(None))


@functools.cache
def _twin_class(kind: type[Behaviour], name: str) -> type[Any]:
    bases = (kind,) if issubclass(kind, _Twin) else (_Twin, kind)
    return type(name, bases, {"__module__": "behavior_tree"})


def _make(node: TreeNode, children: Iterable[Behaviour]) -> Behaviour:
    """A twin of a node, of py_trees' kind that comes nearest."""
    name, kind = str(node.name), node.registration_id()
    made: Behaviour
    if node.type() in (NodeType.DECORATOR, NodeType.SUBTREE):
        (child,) = children
        made = _twin_class(Decorator, kind)(name=name, child=child)
        return made
    if node.type() is not NodeType.CONTROL:
        made = _twin_class(ShownLeaf, kind)(name=name)
        made.children = _embedded(node)
        return made
    memory = bool(getattr(node, "memory", False))
    if kind.startswith("Parallel"):
        policy = ParallelPolicy.SuccessOnAll(synchronise=False)
        made = _twin_class(Parallel, kind)(name=name, policy=policy)
    elif getattr(node, "passes", None) is NodeStatus.FAILURE:
        made = _twin_class(Selector, kind)(name=name, memory=memory)
    else:
        made = _twin_class(Sequence, kind)(name=name, memory=memory)
    made.add_children(children)
    return made


def _embedded(node: TreeNode) -> list[Any]:
    """py_trees behaviours that a leaf holds; they show themselves."""
    return [] if node.has_nodes else list(node.children)


def _places(tree: Tree) -> dict[int, str]:
    """Where the entries of a blackboard are on py_trees', by its identity."""
    main = tree.subtrees[0].blackboard
    return {
        id(each.blackboard): "/" if each.blackboard is main else f"/{each.instance_name}/"
        for each in tree.subtrees
    }


def _entries(tree: Tree) -> Iterator[tuple[str, Any]]:
    places = _places(tree)
    for each in tree.subtrees:
        for key, value in each.blackboard.items():
            if value is not None:
                yield _name(places[id(each.blackboard)], key), value


def _name(place: str, key: str) -> str:
    """What py_trees calls an entry; a dot would lead into its value."""
    return f"{place}{key}".replace(".", "_")


def _uses(node: TreeNode, places: dict[int, str]) -> Iterator[tuple[str, Access]]:
    for port in node.config().ports.values():
        text = node.raw_port(port.name)
        key = pointer_key(text, port.name) if text is not None else None
        if key is None:
            continue
        board, own = _owner(node.config().blackboard, key)
        place = places.get(id(board))
        if place is not None:
            reads = port.direction is PortDirection.INPUT
            yield _name(place, own), Access.READ if reads else Access.WRITE


def _owner(board: Blackboard, key: str) -> tuple[Blackboard, str]:
    """The blackboard that holds an entry, and its key there."""
    if key.startswith("@"):
        return board.root, key[1:]
    outer = board.remapped_key(key)
    while outer is not None and board.parent is not None:
        board, key = board.parent, outer
        outer = board.remapped_key(key)
    return board, key


def _plain(value: Any) -> Any:
    """A value that tools may copy, pickle and look into."""
    if isinstance(value, _UNCHANGING) or hasattr(value, "get_fields_and_field_types"):
        return value
    if isinstance(value, list | tuple) and all(isinstance(each, _UNCHANGING) for each in value):
        return list(value)
    return visible(repr(value), _SHOWN)
