# SPDX-License-Identifier: Apache-2.0
"""What each child of a ConcurrentSequence comes after.

The same rules serve the check of a file, where children are elements, and the tick, where they are
nodes: both describe them by `Child`.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from behavior_tree.shown_text import shorten

PREVIOUS = "previous"
BEGINNING = "beginning"
CALLED = "gosub"
"""Not in the order at all: only a Gosub runs it."""


@dataclass(frozen=True)
class Child:
    """One child, as far as its place in time goes."""

    names: tuple[str, ...]
    """What others may call it, the one for messages first."""
    after: str = PREVIOUS
    """`PREVIOUS`, `BEGINNING`, or names of other children, ``;`` between them."""


@dataclass(frozen=True)
class Mistake:
    """Why there is no order."""

    index: int
    """Of the child to blame."""
    message: str
    remedy: str


@dataclass(frozen=True)
class Order:
    """Which children each child waits for."""

    before: list[tuple[int, ...]]
    """Indices of the children that must have ended, for each child."""
    sequence: list[int]
    """All children one after the other, in the order of the list as far as they may be."""


def listed(text: str) -> list[str]:
    """Names with ``;`` between them."""
    return [name for name in map(str.strip, text.split(";")) if name]


def find_order(children: Sequence[Child]) -> Order | list[Mistake]:
    """The order that the children ask for, or all that is wrong with it."""
    mistakes: list[Mistake] = []
    called: dict[str, list[int]] = {}
    for index, child in enumerate(children):
        for name in dict.fromkeys(child.names):
            called.setdefault(name, []).append(index)
    before = [_before(index, children, called, mistakes) for index in range(len(children))]
    sequence = _sequence(before)
    if len(sequence) < len(children):
        mistakes.append(_cycle(children, before, set(range(len(children))) - set(sequence)))
    return mistakes or Order(before, sequence)


def _before(
    index: int,
    children: Sequence[Child],
    called: Mapping[str, list[int]],
    mistakes: list[Mistake],
) -> tuple[int, ...]:
    after = children[index].after.strip()
    if after == BEGINNING or (after == PREVIOUS and index == 0):
        return ()
    if after == PREVIOUS:
        return (index - 1,)
    found: list[int] = []
    for name in listed(after) or [after]:
        named = called.get(name, [])
        if len(named) == 1:
            found += named
            continue
        if name in (PREVIOUS, BEGINNING, CALLED):
            message, remedy = f"'{name}' stands alone", "name the children instead"
        elif named:
            message = f"execute_after names '{shorten(name)}', and {len(named)} children are called"
            message, remedy = f"{message} so", "give each another name"
        else:
            known = ", ".join(shorten(each.names[0]) for each in children if each.names)
            message = f"execute_after names '{shorten(name)}', which is not there"
            remedy = f"{PREVIOUS}, {BEGINNING}, or one of {known}"
        mistakes.append(Mistake(index, message, remedy))
    return tuple(dict.fromkeys(found))


def _sequence(before: Sequence[tuple[int, ...]]) -> list[int]:
    """Indices in an order that respects ``before``, smallest first; shorter if there is a cycle."""
    waits = [len(each) for each in before]
    followers: list[list[int]] = [[] for _ in before]
    for index, others in enumerate(before):
        for other in others:
            followers[other].append(index)
    ready = [index for index, count in enumerate(waits) if count == 0]
    found = []
    while ready:
        index = heapq.heappop(ready)
        found.append(index)
        for follower in followers[index]:
            waits[follower] -= 1
            if waits[follower] == 0:
                heapq.heappush(ready, follower)
    return found


def _cycle(
    children: Sequence[Child], before: Sequence[tuple[int, ...]], stuck: Iterable[int]
) -> Mistake:
    """The mistake that children wait for each other; each of the stuck ones waits for another."""
    waiting = set(stuck)
    chain = [min(waiting)]
    while True:
        following = next(other for other in before[chain[-1]] if other in waiting)
        if following in chain:
            chain = chain[chain.index(following) :]
            break
        chain.append(following)
    start = chain.index(min(chain))
    chain = [*chain[start:], *chain[:start], chain[start]]
    names = " -> ".join(shorten(children[index].names[0]) for index in chain)
    blamed = next(index for index in chain if children[index].after.strip() != PREVIOUS)
    message = f"these wait for each other and none can start: {names}"
    return Mistake(blamed, message, f"let one of them come after '{BEGINNING}'")
