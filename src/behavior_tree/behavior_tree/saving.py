# SPDX-License-Identifier: Apache-2.0
"""Save the state of a tree between ticks as JSON-able data, and restore it later.

Saved are the status and place of every node, timers by the time left, and all blackboards. A
running leaf goes on if it can say how: ``save_state()`` returned something, which
``restore_state()`` gets. A running leaf that cannot starts anew at the next tick.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard import Blackboard, Entry
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.leaf import LeafNode
from behavior_tree.node import IDLE, RUNNING, TreeNode
from behavior_tree.runtime import Timer
from behavior_tree.tree import Tree

__all__ = ["restore_tree", "save_tree"]

FORMAT = 1
_PLACES = (  # what the built-in nodes remember between ticks
    *("_index", "_skipped", "_branch", "_running", "_successes", "_failures", "_catching"),
    *("_count", "_child_runs", "_child_started", "_started"),
)


def save_tree(tree: Tree, encode: Callable[[Any], Any] | None = None) -> dict[str, Any]:
    """State of a tree as data that `json.dumps` takes.

    Args:
        tree: call between ticks
        encode: makes JSON-able data of blackboard values and leaf states of other types

    Raises:
        BehaviorTreeError: values that cannot be written, all of them named
    """
    codec = _Encoder(encode)
    saved = {
        "format": FORMAT,
        "nodes": [_save_node(node, codec) for node in tree.nodes()],
        "blackboards": {
            each.instance_name: {
                key: [codec.value(entry.value, f"entry [{key}]"), entry.seq]
                for key, entry in each.blackboard._entries.items()
            }
            for each in tree.subtrees
        },
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
    tree.halt_tree()
    for each in tree.subtrees:
        _restore_board(each.blackboard, saved["blackboards"][each.instance_name], decode)
    for node, state in zip(nodes, saved["nodes"], strict=True):
        _restore_node(node, state, decode)


class _Encoder:
    """Makes JSON-able data, and collects what cannot be made such."""

    def __init__(self, encode: Callable[[Any], Any] | None) -> None:
        self._encode = encode
        self.refused: list[str] = []

    def value(self, value: Any, name: str) -> Any:
        """Plain values stay; all others become an object with one key that starts with ``$``."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        if type(value) is list:
            return [self.value(item, name) for item in value]
        if isinstance(value, NodeStatus):
            return {"$status": value.name}
        if type(value) in (tuple, deque):
            return {f"${type(value).__name__}": [self.value(item, name) for item in value]}
        if type(value) is dict and all(type(k) is str and k[:1] != "$" for k in value):
            return {key: self.value(item, name) for key, item in value.items()}
        if self._encode is not None:
            return {"$other": self._encode(value)}
        self.refused.append(f"{name} ({type(value).__name__})")
        return None


def _decoded(value: Any, decode: Callable[[Any], Any] | None) -> Any:
    if isinstance(value, list):
        return [_decoded(item, decode) for item in value]
    if not isinstance(value, dict):
        return value
    for key, item in value.items():
        if key == "$status":
            return NodeStatus[item]
        if key == "$other":
            return item if decode is None else decode(item)
        if key in ("$tuple", "$deque"):
            return (tuple if key == "$tuple" else deque)(_decoded(item, decode))
    return {key: _decoded(item, decode) for key, item in value.items()}


def _save_node(node: TreeNode, codec: _Encoder) -> dict[str, Any]:
    state: dict[str, Any] = {
        "uid": node.uid(),
        "path": node.full_path(),
        "type": node.registration_id(),
        "status": node.status.name,
    }
    own = vars(node)
    places = {name: own[name] for name in _PLACES if isinstance(own.get(name), int)}
    if places:
        state["places"] = places
    if own.get("_done"):
        state["done"] = sorted(own["_done"])
    timer = own.get("_timer")
    if isinstance(timer, Timer):
        state["time_left"] = max(timer.deadline - node._rt.clock(), 0.0)
    if hasattr(own.get("_entry"), "_seen"):
        state["seen"] = own["_entry"]._seen
    queue = own.get("_queue")
    if queue is not None and not _is_shared(node, queue):
        state["queue"] = codec.value(queue, f"queue of '{node.full_path()}'")
    inner = node.save_state()
    if inner is not None:
        state["state"] = codec.value(inner, f"state of '{node.full_path()}'")
    return state


def _is_shared(node: TreeNode, queue: Any) -> bool:
    """True if a Loop takes from a queue on the blackboard, which is saved there."""
    text = node.raw_port("queue") or ""
    return node._bb.get(text.strip(" {}"), None) is queue


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


def _restore_board(
    board: Blackboard, saved: Mapping[str, Any], decode: Callable[[Any], Any] | None
) -> None:
    for key, entry in board._entries.items():
        if key not in saved:
            entry.value = None
    for key, (data, seq) in saved.items():
        entry = board._entries.get(key) or board._entries.setdefault(key, Entry())
        value = _decoded(data, decode)
        entry.store(value)
        entry.seq = seq
        if entry.type is Any and value is not None and not isinstance(value, str):
            entry.type = type(value)


def _restore_node(
    node: TreeNode, state: Mapping[str, Any], decode: Callable[[Any], Any] | None
) -> None:
    status = NodeStatus[state["status"]]
    resumable = "state" in state or "time_left" in state
    if isinstance(node, LeafNode) and status is RUNNING and not resumable:
        status = IDLE
    own: dict[str, Any] = node.__dict__
    own.update(state.get("places", {}))
    if "done" in state:
        own["_done"] = set(state["done"])
    if "time_left" in state:
        own["_timer"] = node._rt.start_timer(state["time_left"])
    if "seen" in state:
        own["_entry"]._seen = state["seen"]
    if "queue" in state:
        own["_queue"] = _decoded(state["queue"], decode)
    if "state" in state:
        node.restore_state(_decoded(state["state"], decode))
    node.set_status(status)
