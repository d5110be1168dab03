# SPDX-License-Identifier: Apache-2.0
"""Blackboards as MessagePack, packed as BehaviorTree.CPP's JSON library packs them."""

from __future__ import annotations

import math
import struct
from typing import Any

from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.groot2.errors import Groot2Error

_ROOT = "ROOT"
_MAX_DEPTH = 32
_MAX_FLOAT32 = 3.4028234663852886e38


def pack_blackboards(tree: Tree, names: str) -> bytes:
    """MessagePack map from subtree name to its entries; nil for an empty blackboard.

    Args:
        tree: the tree
        names: joined by ``;``: paths of SubTree nodes, the main tree under its ID; unknown names
            are left out

    Raises:
        Groot2Error: the blackboard above the tree cannot be told, see `_add_outer`
    """
    boards: dict[str, Blackboard] = {}
    for each in tuple(tree.subtrees):
        boards.setdefault(each.instance_name or each.tree_id, each.blackboard)
    wanted = {name: boards[name] for name in sorted(set(names.split(";")) & boards.keys())}
    if not tree.runtime.quirks.outer_blackboard_hidden:
        wanted = _add_outer(wanted, boards)
    return _pack({name: _entries(board) for name, board in wanted.items()} or None, 0)


def _add_outer(
    wanted: dict[str, Blackboard], boards: dict[str, Blackboard]
) -> dict[str, Blackboard]:
    """Add the blackboard above the tree, if there is one, as ``ROOT``.

    Raises:
        Groot2Error: there are several, or a tree is called like that
    """
    own = {id(board) for board in boards.values()}
    outer = {id(board.root): board.root for board in wanted.values() if id(board.root) not in own}
    if not outer:
        return wanted
    if len(outer) > 1:
        raise Groot2Error(
            "the trees have multiple external root blackboards: ask for one at a time"
        )
    if _ROOT in wanted:
        raise Groot2Error(
            "a tree has the reserved name [ROOT], which stands for the blackboard above the tree"
        )
    return dict(sorted({**wanted, _ROOT: next(iter(outer.values()))}.items()))


def _entries(board: Blackboard) -> dict[str, Any] | None:
    values = {}
    for key in sorted(board.get_keys()):  # a copy, since the tree may be writing meanwhile
        # Quirk B leaves keys here that mean an entry of the root.
        entry = board.root.entry(key[1:]) if key.startswith("@") else board.entry(key)
        if entry is not None:
            values[key] = _plain(board, entry.value)
    return values or None


def _plain(board: Blackboard, value: Any) -> Any:
    """An entry's value as upstream's JSON has it: a bool is a number there, unless it is inside of
    something, and a class has the form that was registered for it.
    """
    if isinstance(value, bool):
        return int(value)
    json_types = board.types.json
    if json_types.knows(type(value)):
        try:
            return json_types.to_json(value)
        except Exception:  # the conversion is the user's
            return None
    return value


def _pack(value: Any, depth: int) -> bytes:
    """MessagePack of a value; nil where it has no JSON form."""
    import msgpack

    packer = msgpack.Packer()
    if isinstance(value, bool):
        return bytes(packer.pack(value))
    if isinstance(value, int):
        number = int(value)
        fits = -(2**63) <= number < 2**64
        return bytes(packer.pack(number if fits else None))
    if isinstance(value, float):
        return _pack_float(value)
    if isinstance(value, str):
        # A lone surrogate has no UTF-8.
        return bytes(packer.pack(value.encode(errors="replace").decode()))
    if depth < _MAX_DEPTH:
        if isinstance(value, dict):
            items = sorted((str(key), each) for key, each in list(value.items()))
            parts = [_pack(key, 0) + _pack(each, depth + 1) for key, each in items]
            return bytes(packer.pack_map_header(len(parts))) + b"".join(parts)
        if isinstance(value, list | tuple):
            parts = [_pack(each, depth + 1) for each in list(value)]
            return bytes(packer.pack_array_header(len(parts))) + b"".join(parts)
    return bytes(packer.pack(None))


def _pack_float(value: float) -> bytes:
    exact = math.isfinite(value) and abs(value) <= _MAX_FLOAT32
    if exact and struct.unpack(">f", struct.pack(">f", value))[0] == value:
        return b"\xca" + struct.pack(">f", value)
    return b"\xcb" + struct.pack(">d", value)
