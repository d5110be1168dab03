# SPDX-License-Identifier: Apache-2.0
"""Running cases, and what was wrong with them."""

from __future__ import annotations

import difflib
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from behavior_tree.errors import BehaviorTreeError, LoadError, XmlProblem
from behavior_tree.testing.case_file import Case, CaseFile, Expectation, Explore
from behavior_tree.testing.coverage import Coverage
from behavior_tree.testing.exploration import Exploration, TooManyError, explore
from behavior_tree.testing.parts import Part
from behavior_tree.testing.plan import Fault
from behavior_tree.testing.selecting import address, means, select
from behavior_tree.testing.tree_under_test import MakeFactory, Run, TreeUnderTest

_MOST_STORIES = 5
"""Of an exploration that are shown."""


@dataclass
class CaseResult:
    """What came of one case."""

    case: Case
    run: Run | None = None
    """The run without faults; None: it could not begin."""
    failures: list[str] = field(default_factory=list)
    """What was not as expected; empty: it passed."""
    notes: list[str] = field(default_factory=list)
    """What its author should know all the same."""
    explored: int = 0
    """Runs with faults."""
    seconds: float = 0.0
    """Wall time [s]."""


class FileRun:
    """Runs the cases of a file.

    Args:
        cases: of the file
        make: makes the factory; see `TreeUnderTest`
        coverage: counts what runs
        update: write the stories of cases instead of comparing them
    """

    def __init__(
        self,
        cases: CaseFile,
        *,
        make: MakeFactory | None = None,
        coverage: Coverage | None = None,
        update: bool = False,
    ) -> None:
        self._update = update
        self._trees = TreeUnderTest(
            cases.tree_file,
            _any_tree(cases),
            make=make,
            coverage=coverage,
        )
        self._main = self._trees.tree_id
        self._folder = cases.file.parent
        self._check_shared(cases)

    def _check_shared(self, cases: CaseFile) -> None:
        """All trees must be there, and an outcome for all cases mean a node of one of them."""
        named = [case.tree for case in cases.cases if case.tree is not None]
        _all_pass(partial(self._trees.choose, part.text(), part) for part in named)
        every = dict.fromkeys([self._main, *(part.text() for part in named)])
        trees = [self._trees.build(tree) for tree in every]
        rules = {id(rule): rule for case in cases.cases for rule in case.rules if rule.shared}
        _all_pass(
            partial(select, trees[0], rule.selector, rule.part)
            for rule in rules.values()
            if not any(means(tree, rule.selector) for tree in trees)
        )

    def run(self, case: Case) -> CaseResult:
        """Run one case; never raises for what is wrong with it."""
        begun = time.monotonic()
        result = CaseResult(case)
        try:
            self._run(case, result)
        except LoadError as error:
            result.failures.append("\n".join(map(str, error.problems)))
        except BehaviorTreeError as error:
            result.failures.append(f"{case.part.place}: {error}")
        result.seconds = time.monotonic() - begun
        return result

    def _run(self, case: Case, result: CaseResult) -> None:
        if case.tree is None:
            self._trees.choose(self._main, case.part)
        else:
            self._trees.choose(case.tree.text(), case.tree)
        run = result.run = self._once(case, ())
        result.failures += _differences(run, case.expect)
        result.failures += [str(violation) for violation in run.violations]
        if case.expect.story is not None:
            result.failures += self._compare_story(run, case.expect.story)
        result.notes += [
            f"{outcome.place}: outcome {number} of '{rule.selector}' ({outcome}) was never used"
            for rule, number, outcome in run.unused
            if not rule.shared
        ]
        result.notes += [
            f"{event.place}: this event never happened: the run had ended at {run.seconds:g} s"
            for event in run.missed
        ]
        if case.explore is not None and not result.failures:
            self._explore(case, case.explore, run, result)

    def _once(self, case: Case, faults: tuple[Fault, ...]) -> Run:
        return self._trees.run(
            blackboard=case.blackboard,
            rules=case.rules,
            properties=case.properties,
            events=case.events,
            faults=faults,
            limit=case.limit,
            period=case.period,
        )

    def _explore(self, case: Case, wanted: Explore, run: Run, result: CaseResult) -> None:
        leaves = frozenset(
            address(node) for part in wanted.leaves for node in run.leaves(part.text(), part)
        )
        plan = Exploration(
            *(wanted.faults, wanted.attempts, wanted.kinds, wanted.most),
            leaves if wanted.leaves else None,
        )

        def judge(tried: Run) -> str:
            said = [str(each) for each in tried.violations if not each.unknown]
            if tried.status not in wanted.status:
                said.append(
                    f"{wanted.part.place}: ended {tried.status}, not {' or '.join(wanted.status)}"
                    f"{f': {tried.reason}' if tried.reason else ''}"
                )
            return "\n".join(said)

        try:
            explored = explore(plan, lambda faults: self._once(case, faults), judge)
        except TooManyError:
            result.explored = wanted.most
            result.failures.append(
                f"{wanted.part.place}: there are more than {wanted.most} combinations of faults: "
                f"name 'leaves', or raise 'most'"
            )
            return
        result.explored = explored.runs
        if not explored.runs:
            result.notes.append(
                f"{wanted.part.place}: nothing went wrong: only attempts of stand-ins can, and "
                f"none of those that may began"
            )
        for tried, wrong in explored.failures[:_MOST_STORIES]:
            faults = "\n".join(f"  {fault}" for fault in tried.faults)
            result.failures.append(f"with\n{faults}\n{wrong}\n{tried}")
        more = len(explored.failures) - _MOST_STORIES
        if more > 0:
            result.failures.append(f"and {more} more stories that fail")

    def _compare_story(self, run: Run, part: Part) -> list[str]:
        file = self._folder / part.text()
        now = f"{run}\n"
        if self._update:
            try:
                file.write_text(now, encoding="utf-8")
            except OSError as error:
                return [f"{part.place}: {file} cannot be written: {error.strerror}"]
            return []
        try:
            then = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return [f"{part.place}: {file} cannot be read: write it by --update"]
        if then == now:
            return []
        lines = difflib.unified_diff(
            then.splitlines(), now.splitlines(), str(file), "this run", lineterm=""
        )
        return ["\n".join([f"{part.place}: the story is another one (--update keeps it)", *lines])]


def run_file(
    cases: CaseFile,
    *,
    make: MakeFactory | None = None,
    coverage: Coverage | None = None,
    chosen: Sequence[Case] | None = None,
    update: bool = False,
) -> Iterator[CaseResult]:
    """Run the cases of a file, or some of them.

    Raises:
        LoadError: the tree cannot be loaded
    """
    runs = FileRun(cases, make=make, coverage=coverage, update=update)
    for case in cases.cases if chosen is None else chosen:
        yield runs.run(case)


def _all_pass(checks: Iterable[Callable[[], object]]) -> None:
    """Make all checks; raises one `LoadError` with what all of them found."""
    problems: list[XmlProblem] = []
    for check in checks:
        try:
            check()
        except LoadError as error:
            problems += error.problems
    if problems:
        raise LoadError(problems)


def _any_tree(cases: CaseFile) -> str | None:
    """A tree to begin with; None: the main one, which some case does not name."""
    named = [case.tree for case in cases.cases]
    return None if None in named or not named else named[0].text() if named[0] else None


def _differences(run: Run, expect: Expectation) -> list[str]:
    """What is not as expected."""
    place = expect.part.place
    found = []
    if run.status != expect.status:
        why = f": {run.reason}" if run.reason else ""
        found.append(f"{place}: ended {run.status}, expected {expect.status}{why}")
    if expect.reason not in run.reason:
        found.append(f"{place}: the reason is '{run.reason}', not with '{expect.reason}'")
    if expect.within is not None and run.seconds > expect.within:
        found.append(f"{place}: took {run.seconds:g} s, expected {expect.within:g} s at most")
    found += _order(run, expect.order)
    for part in expect.never:
        leaves = run.leaves(part.text(), part)
        begun = next((e.node for e in run.events if e.begins and e.node in leaves), None)
        if begun is not None:
            found.append(f"{part.place}: '{begun.full_path()}' began, which it never should")
    for name, part in expect.begins.items():
        count = run.begun(name, part)
        if count != part.value:
            found.append(f"{part.place}: '{name}' began {_times(count)}, expected {part.value}")
    for part in expect.halted:
        if not run.halted(part.text(), part):
            found.append(f"{part.place}: '{part.value}' was never halted while it ran")
    return [*found, *_entries(run, expect)]


def _same(value: object, wanted: object) -> bool:
    """Equal; numbers but for what arithmetic loses."""
    if isinstance(value, float) and isinstance(wanted, int | float):
        both = math.isnan(value) and math.isnan(wanted)
        return both or math.isclose(value, wanted, rel_tol=1e-9)
    return value == wanted


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{count} times")


def _order(run: Run, order: Sequence[Part]) -> list[str]:
    begun = [event.node for event in run.events if event.begins]
    at = 0
    for number, part in enumerate(order):
        nodes = run.leaves(part.text(), part)
        while at < len(begun) and begun[at] not in nodes:
            at += 1
        if at == len(begun):
            before = f" after '{order[number - 1].value}'" if number else ""
            return [f"{part.place}: '{part.value}' did not begin{before}"]
        at += 1
    return []


def _entries(run: Run, expect: Expectation) -> Iterator[str]:
    for key, part in expect.blackboard.items():
        entry = run.blackboard.entry(key)
        if entry is None:
            yield f"{part.place}: there is no entry '{key}', expected {part.value!r}"
        elif not _same(entry.value, part.value):
            yield f"{part.place}: the entry '{key}' is {entry.value!r}, expected {part.value!r}"
