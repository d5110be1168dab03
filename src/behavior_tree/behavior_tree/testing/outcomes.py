# SPDX-License-Identifier: Apache-2.0
"""What leaves do in a test: outcomes by node and attempt, as a case writes them.

A node stands for itself by its name, its path, the end of its path, its type, or a pattern with
``*``. An outcome is a status, or says more; a list has one for each attempt, of which the last
stays::

    pick: FAILURE
    place: [FAILURE, {status: SUCCESS, after: 2.5, outputs: {code: 0}}]
    goal is reached?: [{status: FAILURE, until: 4.0}, SUCCESS]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import ScriptError
from behavior_tree.nodes.actions.test_node import TestNodeConfig
from behavior_tree.script import check_script
from behavior_tree.script.parser import Assign, parse
from behavior_tree.testing.parts import Part

STATUSES = ("SUCCESS", "FAILURE", "RUNNING", "SKIPPED")
_KEYS = (
    *("status", "after", "outputs", "reason", "raises", "script", "succeeds_if", "times", "until"),
)
_NOT_BESIDE = {
    "raises": ("status", "reason", "succeeds_if", "outputs", "script"),
    "succeeds_if": ("status",),
    "until": ("times",),
}
"""Keys that would not count beside another one."""


@dataclass(frozen=True)
class Outcome:
    """What a leaf does in one attempt, or in several that follow each other."""

    does: TestNodeConfig = field(default_factory=TestNodeConfig)
    times: int = 1
    """Attempts in a row; the last outcome of a list stays for all that follow."""
    until: float | None = None
    """[s]; it is for every attempt that begins before, however many, and one that is RUNNING goes
    on as the next outcome says then; None: by attempts."""
    place: str = ""
    """``FILE:LINE`` of a case file."""

    def __str__(self) -> str:
        """What happens, for messages and stories."""
        does = self.does
        if does.exception:
            return f"raises {does.exception!r}"
        what = does.return_status_script or does.return_status.name
        after = f" after {does.async_delay:g} s" if does.async_delay else ""
        return f"{what}{after}"


@dataclass(frozen=True)
class OutcomeRule:
    """The outcomes of the nodes that a text selects."""

    selector: str
    outcomes: tuple[Outcome, ...]
    part: Part
    """Where it stands."""
    shared: bool = False
    """It is for all cases of a file, so that one of them need not use it."""


class Turns:
    """Whose turn of some outcomes it is, attempt by attempt.

    Args:
        outcomes: one at least
        clock: [s]
        used: gets the `id` of each that had its turn
    """

    def __init__(
        self, outcomes: Sequence[Outcome], clock: Callable[[], float], used: set[int]
    ) -> None:
        self._outcomes = (*outcomes, Outcome())
        self._clock = clock
        self._used = used
        self._place = 0
        self._attempts = 0

    def next(self) -> TestNodeConfig:
        """What the attempt does that begins now."""
        outcome, place = self._turn(), self._place
        self._used.add(id(outcome))
        begun = now = self._clock()
        while outcome.until is not None and outcome.does.return_status is NodeStatus.RUNNING:
            now = outcome.until
            while outcome.until is not None and outcome.until <= now:
                place += 1
                outcome = self._outcomes[place]
            self._used.add(id(outcome))
        does = outcome.does
        return replace(does, async_delay=does.async_delay + now - begun) if now > begun else does

    def _turn(self) -> Outcome:
        while True:
            outcome = self._outcomes[self._place]
            if outcome.until is not None:
                if self._clock() < outcome.until:
                    return outcome
            elif self._attempts < outcome.times or self._place >= len(self._outcomes) - 2:
                self._attempts += 1
                return outcome
            self._place += 1
            self._attempts = 0


def read_rules(part: Part, *, shared: bool = False) -> list[OutcomeRule]:
    """Rules of a mapping from nodes to outcomes; the first that selects a node counts."""
    return [
        OutcomeRule(selector, tuple(map(_outcome, _listed(each))), each, shared)
        for selector, each in part.mapping().items()
    ]


def _listed(part: Part) -> Sequence[Part]:
    items = part.items()
    if not items:
        part.fail("has no outcome", "write SUCCESS, FAILURE, or a list of them")
    return items


def _outcome(part: Part) -> Outcome:
    if isinstance(part.value, str):
        return Outcome(TestNodeConfig(NodeStatus[part.choice(STATUSES)]), place=part.place)
    keys = part.mapping(_KEYS)
    _check_together(keys)
    given: dict[str, Any] = {}
    if "status" in keys:
        given["return_status"] = NodeStatus[keys["status"].choice(STATUSES)]
    if "after" in keys:
        given["async_delay"] = keys["after"].number()
    if "outputs" in keys:
        given["outputs"] = {name: each.plain() for name, each in keys["outputs"].mapping().items()}
    for key, name in (("reason", "reason"), ("raises", "exception")):
        if key in keys:
            given[name] = keys[key].text()
    if "script" in keys:
        given["post_script"] = checked_script(keys["script"])
    if "succeeds_if" in keys:
        test = checked_question(keys["succeeds_if"])
        given["return_status_script"] = f"({test}) ? SUCCESS : FAILURE"
    if "reason" in keys and "status" not in keys and "succeeds_if" not in keys:
        given["return_status"] = NodeStatus.FAILURE
    return Outcome(
        TestNodeConfig(**given),
        keys["times"].count(1) if "times" in keys else 1,
        keys["until"].number() if "until" in keys else None,
        part.place,
    )


def _check_together(keys: Mapping[str, Part]) -> None:
    """Refuse what would be left out in silence."""
    for key, others in _NOT_BESIDE.items():
        for other in others:
            if key in keys and other in keys:
                keys[other].fail(f"does not count beside '{key}'", "leave one of them out")
    status = keys["status"].value if "status" in keys else None
    if "reason" in keys and status not in (None, "FAILURE"):
        keys["reason"].fail(f"is why it fails, and it is {status}", "write FAILURE, or no reason")
    if "script" in keys and status == "RUNNING":
        keys["script"].fail("would run at its end, and RUNNING never ends", "leave one of them out")


def checked_question(part: Part) -> str:
    """The text of a script that can be compiled and changes nothing."""
    text = checked_script(part)
    if _assigns(parse(text)):
        part.fail("writes an entry, so that asking it changes the run", "compare by ==")
    return text


def _assigns(node: object) -> bool:
    if isinstance(node, list | tuple):
        return any(map(_assigns, node))
    if not is_dataclass(node):
        return False
    below = (getattr(node, each.name) for each in fields(node))
    return isinstance(node, Assign) or any(map(_assigns, below))


def checked_script(part: Part) -> str:
    """The text of a script that can be compiled."""
    text = part.text()
    try:
        check_script(text)
    except ScriptError as error:
        part.fail(f"is no script: {error}", "write it as in the tree's XML")
    return text
