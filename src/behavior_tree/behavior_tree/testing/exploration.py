# SPDX-License-Identifier: Apache-2.0
"""Exploration: what if something goes wrong, and something else besides?

Every attempt of a stand-in that a run shows may go wrong in the next one. Runs with one fault are
tried first, then those with two, each combination once, in an order that is the same each time.
So what is found first has the fewest faults; it is made smaller still where a fault can be left
out. What comes of a failing combination with one more fault is not told again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from behavior_tree.testing.plan import FAULT_KINDS, Attempt, Fault
from behavior_tree.testing.tree_under_test import Run

RunWith = Callable[[tuple[Fault, ...]], Run]
"""Runs the case with these faults."""
Judge = Callable[[Run], str]
"""What is wrong with a run; empty: nothing."""


class TooManyError(Exception):
    """There are more combinations than may be tried."""


@dataclass(frozen=True)
class Exploration:
    """What is tried."""

    faults: int
    """Most faults at once."""
    attempts: int = 2
    """Attempts of each stand-in that may go wrong, the first ones."""
    kinds: tuple[str, ...] = ("FAILURE",)
    """Of `FAULT_KINDS`."""
    most: int = 2000
    """Runs."""
    leaves: frozenset[object] | None = None
    """Addresses of the stand-ins that may fail; None: all."""


@dataclass
class Explored:
    """What came of it."""

    runs: int
    failures: list[tuple[Run, str]]
    """Smallest stories that fail, and what is wrong with them."""


_Passed = tuple[tuple[Fault, ...], list[Attempt]]
"""Faults with which a run passed, and its attempts."""


def explore(plan: Exploration, run: RunWith, judge: Judge) -> Explored:
    """Try all combinations.

    Args:
        plan: what is tried
        run: runs the case
        judge: says what is wrong with a run

    Raises:
        TooManyError: there are more than `Exploration.most`
    """
    explored = Explored(0, [])
    level: list[_Passed] = [((), run(()).attempts)]
    for _ in range(plan.faults):
        following = []
        for more in _combinations(plan, level, explored):
            explored.runs += 1
            tried = run(more)
            wrong = judge(tried)
            if not wrong:
                following.append((more, tried.attempts))
                continue
            smallest, wrong = _smallest(tried, wrong, run, judge)
            if not _includes(smallest.faults, explored.failures):
                explored.failures.append((smallest, wrong))
        level = following
    return explored


def _combinations(
    plan: Exploration, level: Iterable[_Passed], explored: Explored
) -> list[tuple[Fault, ...]]:
    """What is to be tried next; told before it takes its time if that is too much."""
    found = (
        (*faults, fault)
        for faults, attempts in level
        for fault in _next_faults(plan, faults, attempts)
    )
    new = (each for each in found if not _includes(each, explored.failures))
    left = plan.most - explored.runs
    chosen = list(islice(new, left + 1))
    if len(chosen) > left:
        raise TooManyError
    return chosen


def _next_faults(
    plan: Exploration, faults: Sequence[Fault], attempts: Sequence[Attempt]
) -> Iterable[Fault]:
    """What may go wrong besides, after the last fault: so each combination comes once."""
    start = attempts.index(faults[-1].attempt) + 1 if faults else 0
    for attempt in attempts[start:]:
        wanted = plan.leaves is None or attempt.node in plan.leaves
        if wanted and attempt.number <= plan.attempts:
            for kind in (each for each in plan.kinds if each != attempt.status):
                yield Fault(attempt, kind)


def _includes(faults: Iterable[Fault], failures: Iterable[tuple[Run, str]]) -> bool:
    """True if a smaller story told of these already."""
    own = set(faults)
    return any(own.issuperset(run.faults) for run, _ in failures)


def _smallest(tried: Run, wrong: str, run: RunWith, judge: Judge) -> tuple[Run, str]:
    """Leave out what is not needed, and take the simplest kind of fault."""
    kinds = list(FAULT_KINDS)
    for candidate in _simpler(tried.faults, kinds):
        again = run(candidate)
        still = judge(again)
        if still:
            return _smallest(again, still, run, judge)
    return tried, wrong


def _simpler(faults: tuple[Fault, ...], kinds: list[str]) -> Iterable[tuple[Fault, ...]]:
    for index, fault in enumerate(faults):
        if len(faults) > 1:
            yield (*faults[:index], *faults[index + 1 :])
        for kind in kinds[: kinds.index(fault.kind)]:
            yield (*faults[:index], Fault(fault.attempt, kind), *faults[index + 1 :])
