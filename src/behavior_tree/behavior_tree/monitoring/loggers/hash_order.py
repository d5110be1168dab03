# SPDX-License-Identifier: Apache-2.0
"""`HashOrder`: keys in the order in which a C++ hash table holds them.

BehaviorTree.CPP keeps ports and hooks in ``std::unordered_map`` and sends them in its order. That
order is no randomness but a function of the keys and of their insertion, which this module
computes for the GNU library, with which the releases for Linux and ROS are built: a bucket's first
key goes to the front of one list of all keys, a further one in front of the others of its bucket,
and the number of buckets is a prime that at least doubles when the table is full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

Key = TypeVar("Key")

_SIZES = (13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10273, 20753, 42043, 85229, 172933)
"""Numbers of buckets that a table has, one after the other."""
_MASK = 2**64 - 1
_MULTIPLIER = 0xC6A4A7935BD1E995
_SEED = 0xC70F6907


def hash_text(text: str) -> int:
    """Hash of a string: 64-bit MurmurHash2 with one more mixing of each word's upper bits."""
    data = text.encode()
    whole = len(data) & ~7
    value = _SEED ^ (len(data) * _MULTIPLIER & _MASK)
    for at in range(0, whole, 8):
        word = int.from_bytes(data[at : at + 8], "little") * _MULTIPLIER & _MASK
        value = (value ^ (_mix(word) * _MULTIPLIER & _MASK)) * _MULTIPLIER & _MASK
    if whole < len(data):
        rest = int.from_bytes(data[whole:], "little")
        value = (value ^ rest) * _MULTIPLIER & _MASK
    return _mix(_mix(value) * _MULTIPLIER & _MASK)


def _mix(value: int) -> int:
    return value ^ (value >> 47)


class HashOrder(Generic[Key]):
    """Keys of one table, in its order.

    Args:
        hash_of: hash of a key, 64 bits
        keys: inserted one after the other
    """

    def __init__(self, hash_of: Callable[[Key], int], keys: Iterable[Key] = ()) -> None:
        self._hash_of = hash_of
        self._size = _SIZES[0]
        self._order: list[Key] = []
        self._first: dict[int, Key] = {}  # of each bucket that is not empty
        for key in keys:
            self.add(key)

    def add(self, key: Key) -> None:
        """Insert a key, which must not be there."""
        if len(self._order) == self._size:
            self._grow()
        self._place(key)

    def remove(self, key: Key) -> None:
        """Take out a key, which must be there; the others keep their order."""
        at = self._order.index(key)
        del self._order[at]
        bucket = self._bucket(key)
        if self._first[bucket] == key:
            follower = self._order[at] if at < len(self._order) else None
            if follower is not None and self._bucket(follower) == bucket:
                self._first[bucket] = follower
            else:
                del self._first[bucket]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._order)

    def _place(self, key: Key) -> None:
        bucket = self._bucket(key)
        at = self._order.index(self._first[bucket]) if bucket in self._first else 0
        self._order.insert(at, key)
        self._first[bucket] = key

    def _grow(self) -> None:
        self._size = next(size for size in _SIZES if size >= 2 * self._size)
        before, self._order = self._order, []
        self._first.clear()
        for key in before:
            self._place(key)

    def _bucket(self, key: Key) -> int:
        return self._hash_of(key) % self._size


def text_order(names: Iterable[str]) -> list[str]:
    """Names in the order of a table into which they were inserted one after the other."""
    return list(HashOrder(hash_text, dict.fromkeys(names)))
