# SPDX-License-Identifier: Apache-2.0
"""Save the state of a tree between ticks as JSON-able data, and restore it later.

Saved are the status of every node, what it remembers and why it failed, timers by the time left,
and all blackboards. Nodes say what they remember by `TreeNode.restorable`, or by ``save_state()``
and ``restore_state()``. A RUNNING leaf that says nothing cannot go on: it starts anew at the next
tick.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.blackboard.queue_types import QUEUE_TYPES, SharedQueue
from behavior_tree.cause import Cause, CauseKind
from behavior_tree.errors import BehaviorTreeError, FailureReason
from behavior_tree.kernel.leaf import LeafNode
from behavior_tree.kernel.node import IDLE, RUNNING, TreeNode
from behavior_tree.kernel.runtime import Timer, TreeRuntime
from behavior_tree.kernel.tree import Tree

FORMAT = 2
_QUEUES = {queue.__name__: queue for queue in QUEUE_TYPES.values()}
_CONTAINERS: dict[str, type[Any]] = {"$tuple": tuple, "$deque": deque, "$set": set}


def save_tree(tree: Tree, encode: Callable[[Any], Any] | None = None) -> dict[str, Any]:
    """State of a tree as data that `json.dumps` takes.

    Args:
        tree: call between ticks
        encode: makes JSON-able data of blackboard values and node states of other types; those
            registered by `register_json_type` need none

    Raises:
        BehaviorTreeError: values that cannot be written, all of them named
    """
    codec = _Encoder(tree.runtime, encode)
    saved = {
        "format": FORMAT,
        "nodes": [_save_node(node, codec) for node in tree.nodes()],
        "blackboards": {
            each.instance_name: _save_board(each.blackboard, codec) for each in tree.subtrees
        },
        "wake_up": tree.runtime.wake_up_pending(),
        "last": tree._last.name,
    }
    if codec.refused:
        raise BehaviorTreeError(
            "the tree cannot be saved, give an encode function for: " + ", ".join(codec.refused)
        )
    return saved


def restore_tree(
    tree: Tree, saved: Mapping[str, Any], decode: Callable[[Any], Any] | None = None
) -> None:
    """Put a tree of the same structure into a saved state. What runs in it is halted first.

    Args:
        tree: built from the same definition
        saved: from `save_tree`
        decode: reverse of ``encode``

    Raises:
        BehaviorTreeError: not such data, or another structure; nothing has changed then
    """
    nodes = list(tree.nodes())
    _compare(nodes, tree, saved)
    decoder = _Decoder(tree.runtime, decode)
    states = [{**each, "state": decoder.value(each.get("state"))} for each in saved["nodes"]]
    boards = {
        name: {key: (decoder.value(data), *rest) for key, (data, *rest) in entries.items()}
        for name, entries in saved["blackboards"].items()
    }
    tree.halt_tree()
    for each in tree.subtrees:
        _restore_board(each.blackboard, boards[each.instance_name])
    tree.runtime.types.names_changed()  # entries were made
    by_uid = {node.uid(): node for node in nodes}
    for node, state in zip(nodes, states, strict=True):
        _restore_node(node, state)
        failed = [by_uid[uid] for uid in state.get("failed", ()) if uid in by_uid]
        node.restore_failure(decoder.value(state.get("reason", "")), failed)
    tree._last = NodeStatus[saved.get("last", IDLE.name)]
    tree.runtime.consume_wake_up()
    decoder.start_timers()
    if saved["wake_up"]:
        tree.runtime.emit_wake_up()


class _Encoder:
    """Makes JSON-able data, and collects what cannot be made such."""

    def __init__(self, runtime: TreeRuntime, encode: Callable[[Any], Any] | None) -> None:
        self._runtime = runtime
        self._encode = encode
        self.refused: list[str] = []

    def value(self, value: Any, name: str) -> Any:
        """Plain values stay; all others become an object with one key that starts with ``$``."""
        kind = type(value)
        if value is None or kind in (bool, int, float, str):
            return value
        if kind is list:
            return [self.value(item, name) for item in value]
        if kind is dict and all(type(key) is str and key[:1] != "$" for key in value):
            return {key: self.value(item, name) for key, item in value.items()}
        if isinstance(value, NodeStatus):
            return {"$status": value.name}
        if isinstance(value, Cause):
            return {"$cause": [value.kind.name, value.sentence, value.remedy, value.evidence]}
        if isinstance(value, FailureReason):
            parts = [value.path, value.text, list(value.causes), value.cause]
            return {"$failure": self.value(parts, name)}
        if isinstance(value, Timer):
            left = value.deadline - self._runtime.clock()
            return {"$timer": [left, self._runtime.timer_pending(value)]}
        for mark, container in _CONTAINERS.items():
            if kind is container:
                return {mark: [self.value(item, name) for item in value]}
        if isinstance(value, SharedQueue):
            return {"$queue": [kind.__name__, [self.value(item, name) for item in value]]}
        if self._runtime.types.json.knows(kind):
            return {"$typed": self._runtime.types.json.to_json(value)}
        if self._encode is not None:
            return {"$other": self._encode(value)}
        self.refused.append(f"{name} ({kind.__name__})")
        return None


class _Decoder:
    """Reverse of `_Encoder`. Timers are made at once, and started when all is restored."""

    def __init__(self, runtime: TreeRuntime, decode: Callable[[Any], Any] | None) -> None:
        self._runtime = runtime
        self._decode = decode
        self._timers: list[Timer] = []

    def value(self, value: Any) -> Any:
        """What `_Encoder.value` was given."""
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if not isinstance(value, dict):
            return value
        for mark, item in value.items():
            if mark == "$status":
                return NodeStatus[item]
            if mark == "$cause":
                kind, sentence, remedy, evidence = item
                return Cause(CauseKind[kind], sentence, remedy=remedy, evidence=evidence)
            if mark == "$failure":
                path, text, causes, cause = self.value(item)
                return FailureReason(path, text, tuple(causes), cause)
            if mark == "$timer":
                return self._timer(*item)
            if mark in _CONTAINERS:
                return _CONTAINERS[mark](self.value(item))
            if mark == "$queue":
                name, items = item
                return _QUEUES[name](self.value(items))
            if mark == "$typed":
                return self._runtime.types.json.from_json(item)
            if mark == "$other":
                return item if self._decode is None else self._decode(item)
        return {key: self.value(item) for key, item in value.items()}

    def _timer(self, left: float, pending: bool) -> Timer:
        timer = Timer(self._runtime, self._runtime.clock() + left)
        if pending:
            self._timers.append(timer)
        return timer

    def start_timers(self) -> None:
        """Let the timers wake the tree that would have."""
        for timer in self._timers:
            timer.start()


def _save_node(node: TreeNode, codec: _Encoder) -> dict[str, Any]:
    saved: dict[str, Any] = {
        "uid": node.uid(),
        "path": node.full_path(),
        "type": node.registration_id(),
        "status": node.status.name,
    }
    state = node.save_state()
    if state is not None:
        saved["state"] = codec.value(state, f"state of '{node.full_path()}'")
    if node._reason:
        saved["reason"] = codec.value(node._reason, f"reason of '{node.full_path()}'")
    failed = [child.uid() for child in node.failed_children()]
    if failed:
        saved["failed"] = failed
    return saved


def _save_board(board: Blackboard, codec: _Encoder) -> dict[str, list[Any]]:
    """Value, number of writes, whether the entry is typed, whether it is opaque, by key."""
    return {
        key: [
            codec.value(entry.value, f"entry [{key}]"),
            entry.seq,
            entry.type is not Any,
            entry.opaque,
        ]
        for key, entry in board._entries.items()
    }


def _compare(nodes: list[TreeNode], tree: Tree, saved: Mapping[str, Any]) -> None:
    if saved.get("format") != FORMAT:
        raise BehaviorTreeError(f"not a saved tree of format {FORMAT}")
    here = [(node.uid(), node.full_path(), node.registration_id()) for node in nodes]
    there = [(each["uid"], each["path"], each["type"]) for each in saved["nodes"]]
    if here != there:
        pairs = zip([*here, None], [*there, None], strict=False)
        differ = next((a, b) for a, b in pairs if a != b)
        raise BehaviorTreeError(
            f"the state was saved from another tree: here {differ[0]}, saved {differ[1]}"
        )
    missing = {each.instance_name for each in tree.subtrees} - set(saved["blackboards"])
    if missing:
        raise BehaviorTreeError(f"the saved state has no blackboard of {sorted(missing)}")


def _restore_board(board: Blackboard, saved: Mapping[str, tuple[Any, ...]]) -> None:
    for key in set(board.get_keys()) - set(saved):
        board.unset(key)
    for key, (value, seq, typed, opaque) in saved.items():
        entry = board.restored_entry(key)
        if not typed:
            entry.type = Any
        elif entry.type is Any:
            entry.type = type(value)
        entry.opaque = opaque
        entry.store(value)
        entry.seq = seq


def _restore_node(node: TreeNode, saved: Mapping[str, Any]) -> None:
    status = NodeStatus[saved["status"]]
    if saved["state"] is not None:
        node.restore_state(saved["state"])
    elif isinstance(node, LeafNode) and status is RUNNING:
        status = IDLE
    node.set_status(status)
