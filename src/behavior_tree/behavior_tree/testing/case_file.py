# SPDX-License-Identifier: Apache-2.0
"""Case files: ``NAME.test.yaml`` beside ``NAME.xml``; what is in them: docs/tree_tests.md."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from behavior_tree.errors import LoadError, XmlProblem
from behavior_tree.testing.observing import HALTED
from behavior_tree.testing.outcomes import OutcomeRule, checked_script, read_rules
from behavior_tree.testing.parts import Part, read_yaml
from behavior_tree.testing.plan import FAULT_KINDS
from behavior_tree.testing.properties import PropertySpec, read_properties
from behavior_tree.testing.tree_under_test import TimedEvent

SUFFIX = ".test.yaml"
"""End of the name of a case file."""
ENDS = ("SUCCESS", "FAILURE", "SKIPPED", "RUNNING", "EXCEPTION", HALTED)
"""How a run may end."""
_FILE_KEYS = (
    *("tree", "blackboard", "outcomes", "properties", "limit", "period", "cases"),
    "servers",  # for `behavior_ros.testing.FakeServers`
)
_CASE_KEYS = (
    *("tree", "blackboard", "outcomes", "events", "limit", "period", "expect", "properties"),
    "explore",
)
_EXPECT_KEYS = (
    *("status", "reason", "order", "never", "begins", "halted", "blackboard", "within", "story"),
)


@dataclass(frozen=True)
class Expectation:
    """What must come of a run."""

    part: Part
    status: str = "SUCCESS"
    reason: str = ""
    """Text that the reason contains."""
    order: tuple[Part, ...] = ()
    """Leaves that begin in this order, others between them; a node with children stands for those
    below it, here and in the next two."""
    never: tuple[Part, ...] = ()
    """Leaves that never begin."""
    begins: Mapping[str, Part] = field(default_factory=dict)
    """How often leaves begin."""
    halted: tuple[Part, ...] = ()
    """Leaves that are halted while they run."""
    blackboard: Mapping[str, Part] = field(default_factory=dict)
    within: float | None = None
    """[s]"""
    story: Part | None = None
    """File with the story."""


@dataclass(frozen=True)
class Explore:
    """What may go wrong besides; see `behavior_tree.testing.exploration`."""

    part: Part
    faults: int = 1
    attempts: int = 2
    kinds: tuple[str, ...] = ("FAILURE",)
    most: int = 2000
    leaves: tuple[Part, ...] = ()
    status: tuple[str, ...] = ("SUCCESS", "FAILURE")
    """How the runs may end."""


@dataclass(frozen=True)
class Case:
    """One case."""

    name: str
    part: Part
    expect: Expectation
    tree: Part | None = None
    blackboard: Mapping[str, Any] = field(default_factory=dict)
    rules: tuple[OutcomeRule, ...] = ()
    events: tuple[TimedEvent, ...] = ()
    properties: tuple[PropertySpec, ...] = ()
    limit: float = 60.0
    period: float = 0.1
    explore: Explore | None = None


@dataclass(frozen=True)
class CaseFile:
    """A file of cases."""

    file: Path
    tree_file: Path
    cases: tuple[Case, ...]


def case_files(paths: list[Path]) -> list[Path]:
    """The case files among these, and in these folders; of a tree's file the one beside it.

    Raises:
        LoadError: there is no such path, or no case beside a tree
    """
    found: dict[str, Path] = {}

    def add(files: Iterable[Path]) -> None:
        for file in files:
            found.setdefault(_place(file), file)

    for path in paths:
        given = Part(None, "", str(path))
        if path.is_dir():
            add(sorted(path.rglob(f"*{SUFFIX}")))
        elif path.name.endswith(SUFFIX) and path.is_file():
            add([path])
        elif path.suffix == ".xml" and path.is_file():
            beside = path.with_suffix(SUFFIX)
            if not beside.is_file():
                given.fail("has no cases", f"write them into {beside.name}")
            add([beside])
        else:
            given.fail("is no folder, case file or tree", f"give a folder or NAME{SUFFIX}")
    return list(found.values())


def _place(file: Path) -> str:
    """Where a file lies, whatever leads there; links in a circle are told when it is read."""
    return os.path.realpath(file)


def trees_without_cases(folders: list[Path], files: list[CaseFile]) -> list[Path]:
    """Tree files of folders that no case file is for."""
    tested = {_place(each.tree_file) for each in files}
    inside = [sorted(folder.rglob("*.xml")) for folder in folders if folder.is_dir()]
    trees = [file for files_there in inside for file in files_there]
    return [
        file
        for file in dict.fromkeys(trees)
        if _place(file) not in tested and b"BTCPP_format" in file.read_bytes()
    ]


def read_case_file(file: Path) -> CaseFile:
    """Read a file.

    Raises:
        LoadError: what is wrong in it, with file and line; of several cases all that is
    """
    whole = read_yaml(file)
    keys = whole.mapping(_FILE_KEYS)
    tree_file = _tree_file(file, keys.get("tree"))
    if "cases" not in keys:
        whole.fail("has no cases", "write 'cases: {NAME: {...}}'")
    shared = _Shared(keys)
    problems: list[XmlProblem] = []
    cases: list[Case] = []
    for name, part in keys["cases"].mapping().items():
        try:
            cases.append(shared.case(name, replace(part, what=f"case '{name}'")))
        except LoadError as error:
            problems += error.problems
    if problems:
        raise LoadError(problems)
    return CaseFile(file, tree_file, tuple(cases))


def _tree_file(file: Path, given: Part | None) -> Path:
    """The file of the tree that a case file is for."""
    name = file.name.removesuffix(SUFFIX) + ".xml" if given is None else given.text()
    found = file.parent / name
    if not found.is_file():
        at = given or Part(None, "", str(file), 1)
        at.fail(f"there is no file {found}", "name the tree's file: 'tree: FILE.xml'")
    return found


class _Shared:
    """What a file says for all of its cases."""

    def __init__(self, keys: Mapping[str, Part]) -> None:
        self._keys = keys
        self._board = _values(keys.get("blackboard"))
        self._rules = read_rules(keys["outcomes"], shared=True) if "outcomes" in keys else []
        self._properties = read_properties(keys["properties"]) if "properties" in keys else []

    def case(self, name: str, part: Part) -> Case:
        keys = {} if part.value is None else part.mapping(_CASE_KEYS)
        both = {**self._keys, **keys}
        rules = read_rules(keys["outcomes"]) if "outcomes" in keys else []
        properties = read_properties(keys["properties"]) if "properties" in keys else []
        return Case(
            name,
            part,
            _expectation(keys.get("expect", part), given="expect" in keys),
            tree=keys.get("tree"),
            blackboard={**self._board, **_values(keys.get("blackboard"))},
            rules=(*rules, *self._rules),
            events=tuple(_events(keys.get("events"))),
            properties=(*properties, *(() if "tree" in keys else self._properties)),
            limit=both["limit"].number() if "limit" in both else 60.0,
            period=both["period"].number(0.001) if "period" in both else 0.1,
            explore=_explore(keys["explore"]) if "explore" in keys else None,
        )


def _values(part: Part | None) -> dict[str, Any]:
    return {} if part is None else {key: each.plain() for key, each in part.mapping().items()}


def _expectation(part: Part, *, given: bool) -> Expectation:
    if not given:
        return Expectation(part)
    if isinstance(part.value, str):
        return Expectation(part, part.choice(ENDS))
    keys = part.mapping(_EXPECT_KEYS)

    def leaves(key: str) -> tuple[Part, ...]:
        parts = keys[key].items() if key in keys else []
        return tuple(each for each in parts if each.text())

    begins = keys["begins"].mapping() if "begins" in keys else {}
    for each in begins.values():
        each.count()
    if "story" in keys and not keys["story"].text():
        keys["story"].fail("is empty", "write the name of a file")
    return Expectation(
        part,
        keys["status"].choice(ENDS) if "status" in keys else "SUCCESS",
        keys["reason"].text() if "reason" in keys else "",
        *(leaves("order"), leaves("never"), begins, leaves("halted")),
        keys["blackboard"].mapping() if "blackboard" in keys else {},
        keys["within"].number() if "within" in keys else None,
        keys.get("story"),
    )


def _events(part: Part | None) -> Iterator[TimedEvent]:
    for each in [] if part is None else part.items():
        keys = each.mapping(("at", "set", "script", "halt"))
        if "at" not in keys:
            each.fail("says no time", "write 'at: SECONDS'")
        halt = keys["halt"].flag() if "halt" in keys else False
        if not halt and "set" not in keys and "script" not in keys:
            each.fail("says nothing that happens", "write 'set', 'script' or 'halt: true'")
        yield TimedEvent(
            keys["at"].number(),
            _values(keys.get("set")),
            checked_script(keys["script"]) if "script" in keys else "",
            halt,
            each.place,
        )


def _explore(part: Part) -> Explore:
    keys = part.mapping(("faults", "attempts", "kinds", "most", "leaves", "status"))
    given: dict[str, Any] = {
        key: keys[key].count(1) for key in ("faults", "attempts", "most") if key in keys
    }
    for key, choices in (("kinds", tuple(FAULT_KINDS)), ("status", ENDS)):
        if key in keys:
            given[key] = tuple(each.choice(choices) for each in keys[key].items())
    if "leaves" in keys:
        given["leaves"] = tuple(keys["leaves"].items())
    for key in ("kinds", "status", "leaves"):
        if given.get(key) == ():
            keys[key].fail("is empty", "name some, or leave it out")
    return Explore(part, **given)
