# SPDX-License-Identifier: Apache-2.0
"""Blackboards as MessagePack, packed as BehaviorTree.CPP's JSON library packs them."""

from __future__ import annotations

import math
import struct
from typing import Any

from behavior_tree.blackboard import Blackboard
from behavior_tree.tree import Tree

__all__ = ["pack_blackboards"]

_MAX_DEPTH = 32
_MAX_FLOAT32 = 3.4028234663852886e38


def pack_blackboards(tree: Tree, names: str) -> bytes:
    """MessagePack map from subtree name to its entries; nil for an empty blackboard.

    Args:
        tree: the tree
        names: joined by ``;``: paths of SubTree nodes, the main tree under its ID; unknown names
            are left out
    """
    boards: dict[str, Blackboard] = {}
    for each in tuple(tree.subtrees):
        boards.setdefault(each.instance_name or each.tree_id, each.blackboard)
    wanted = sorted(set(names.split(";")) & boards.keys())
    return _pack({name: _entries(boards[name]) for name in wanted} or None, 0)


def _entries(board: Blackboard) -> dict[str, Any] | None:
    values = {}
    for key in sorted(board.get_keys()):  # a copy, since the tree may be writing meanwhile
        # Quirk B leaves keys here that mean an entry of the root.
        entry = board.root.entry(key[1:]) if key.startswith("@") else board.entry(key)
        if entry is not None:
            values[key] = entry.value
    return values or None


def _pack(value: Any, depth: int) -> bytes:
    """MessagePack of a value; nil where it has no JSON form."""
    import msgpack

    packer = msgpack.Packer()
    if isinstance(value, bool | int):
        number = int(value)  # upstream stores bool as integer
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
