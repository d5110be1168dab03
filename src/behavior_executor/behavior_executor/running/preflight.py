# SPDX-License-Identifier: Apache-2.0
"""What the leaves of a mission's trees need of others, looked at before anything starts. No ROS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from behavior_tree import Cause, CauseKind, FailureReason, TreeNode
from behavior_tree.shown_text import listed


@dataclass(frozen=True)
class Requirement:
    """One thing that one node of a tree needs."""

    what: str
    """Kind, name and type: ``action /pick (behavior_msgs/action/Pick)``."""
    ready: Callable[[], bool]
    """Whether it is there."""
    path: str
    """Of the node in its tree."""
    place: str
    """Of the node: ``stack_blocks.xml:41``; empty: not known."""
    offered_by: str = ""
    """Name of the node of ROS that offers it; empty: not known."""
    other_types: Callable[[], Sequence[str]] = tuple
    """Other types under which the name is there."""


@dataclass(frozen=True)
class Finding:
    """Whether a mission could start now."""

    there: tuple[str, ...]
    """What is there of all that it needs, each once."""
    failure: FailureReason | None
    """Why it could not; None: it could."""

    @property
    def text(self) -> str:
        """In words; what is there stands in lines of its own."""
        if self.failure is not None:
            return self.failure.text
        return "\n".join(["everything is there that it needs", *self.there])


def finding_of(requirements: Sequence[Requirement]) -> Finding:
    """Look what is there of what a mission needs."""
    missing = missing_of(requirements)
    lacks = {each.what for each in missing}
    there = dict.fromkeys(each.what for each in requirements if each.what not in lacks)
    return Finding(tuple(there), failure_of(missing) if missing else None)


def place_of(node: TreeNode) -> str:
    """File and line of a node of a tree; empty: it was not made from a file."""
    element = node.config().element
    return f"{element.source.file}:{element.line}" if element is not None else ""


class Preflight:
    """The wait for what a mission's trees need: some time, and no longer."""

    def __init__(self, wall: Callable[[], float], patience: float) -> None:
        """Wait for nothing.

        Args:
            wall: monotonic wall time [s].
            patience: [s] for which is waited.
        """
        self._wall = wall
        self._patience = patience
        self._requirements: list[Requirement] = []
        self._since = 0.0
        self.waits = False
        """Whether something was missing when it was looked."""

    def begin(self, requirements: Iterable[Requirement]) -> None:
        """Wait for these, from now on."""
        self._requirements, self._since = list(requirements), self._wall()
        self.waits = False

    def begin_again(self) -> None:
        """Wait from now on for what is still missing, as after a pause."""
        self._since = self._wall()

    def missing(self) -> list[Requirement]:
        """What is not there; what was there once is not looked at again."""
        self._requirements = missing_of(self._requirements)
        self.waits = self.waits or bool(self._requirements)
        return self._requirements

    @property
    def waited(self) -> float:
        """[s] for which was waited so far."""
        return self._wall() - self._since

    @property
    def over(self) -> bool:
        """Whether it was waited long enough."""
        return self.waited >= self._patience


def missing_of(requirements: Iterable[Requirement]) -> list[Requirement]:
    """Those that are not there; each thing is looked at once, however many nodes need it."""
    there: dict[str, bool] = {}
    missing = []
    for each in requirements:
        if each.what not in there:
            there[each.what] = each.ready()
        if not there[each.what]:
            missing.append(each)
    return missing


def waiting_text(missing: Sequence[Requirement]) -> str:
    """What a mission waits for, in a sentence."""
    names = listed(list(dict.fromkeys(each.what for each in missing)))
    return f"waits with its start for what is not there yet: {names}"


def failure_of(missing: Sequence[Requirement], waited: float = 0.0) -> FailureReason:
    """Why a mission cannot start.

    Args:
        missing: what is not there; at least one.
        waited: [s] for which was waited.
    """
    objects: dict[str, list[Requirement]] = {}
    for each in missing:
        objects.setdefault(each.what, []).append(each)
    for_how_long = f"; waited {waited:.0f} s" if waited >= 1.0 else ""
    sentence = (
        f"not started, as not everything is there that it needs{for_how_long}: "
        f"{listed([_described(nodes) for nodes in objects.values()])}"
    )
    cause = Cause(
        CauseKind.SERVER_LOST,
        sentence,
        remedy=_remedy(missing),
        evidence=listed([what.split(" (")[0] for what in objects]),
    )
    return FailureReason(missing[0].path, cause, cause=cause)


def _described(nodes: Sequence[Requirement]) -> str:
    """One thing, and who needs it."""
    first = nodes[0]
    place = f" ({first.place})" if first.place else ""
    others = len(nodes) - 1
    more = f" and {others} more node{'s' if others > 1 else ''}" if others else ""
    types = first.other_types()
    instead = f", which is there with another type, {' and '.join(types)}," if types else ""
    return f"{first.what}{instead} for {first.path}{place}{more}"


def _remedy(missing: Sequence[Requirement]) -> str:
    owners = sorted({each.offered_by for each in missing if each.offered_by})
    if not owners:
        return "start the nodes that offer it"
    names = " and ".join(f"'{name}'" for name in owners)
    unknown = " and who offers the rest" if any(not each.offered_by for each in missing) else ""
    plural = "s" if len(owners) > 1 else ""
    return f"start the node{plural} {names}{unknown}; 'behavior status' tells which processes ended"
