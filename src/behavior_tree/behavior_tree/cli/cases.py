# SPDX-License-Identifier: Apache-2.0
"""``test``: runs the cases that stand beside trees."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from behavior_tree.errors import BehaviorTreeError, LoadError, XmlProblem
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.stand_ins import make_factory
from behavior_tree.testing.case_file import (
    SUFFIX,
    CaseFile,
    case_files,
    read_case_file,
    trees_without_cases,
)
from behavior_tree.testing.case_run import CaseResult, run_file
from behavior_tree.testing.clock import SimulatedClock
from behavior_tree.testing.coverage import Coverage
from behavior_tree.testing.report_page import coverage_page
from behavior_tree.testing.reports import cobertura_xml, coverage_table, junit_xml
from behavior_tree.testing.tree_under_test import MakeFactory
from behavior_tree.xml.files import replace_file


def add_test(add: Callable[..., argparse.Action]) -> None:
    """Add the arguments of the verb."""
    add("paths", nargs="+", type=Path, metavar="PATH", help=f"folder, NAME{SUFFIX} or NAME.xml")
    add("-k", "--case", metavar="TEXT", help="only cases with this text in their name")
    add("--story", action="store_true", help="also what happened in each run")
    add("--update", action="store_true", help="write the stories that cases compare with")
    add("--coverage", action="store_true", help="also what of the trees was run, and what not")
    add("--threshold", type=_percent, metavar="P", help="fail below P %% of the branches")
    add("--html", type=Path, metavar="FILE", help="coverage as a page")
    add("--cobertura", type=Path, metavar="FILE", help="coverage as Cobertura XML")
    add("--junit", type=Path, metavar="FILE", help="results as JUnit XML")


def test_trees(options: argparse.Namespace) -> int:
    """Run the cases that stand beside trees (NAME.test.yaml beside NAME.xml) on a simulated clock,
    with stand-ins for the leaves. Exit codes: 0 all is as expected, 1 something is not, or the
    coverage is below the threshold, 2 there is no case, or a file is wrong.
    """
    make = _maker(options)
    try:
        _check_reports(options)
        files = _read(case_files(options.paths))
        results, coverage = _run_all(files, options, make)
        for file in trees_without_cases(options.paths, files):
            print(f"{file}: no cases", file=sys.stderr)
            coverage.add_file(file, make(file, SimulatedClock()))
    except LoadError as error:
        print("\n".join(map(str, error.problems)), file=sys.stderr)
        return 2
    except BehaviorTreeError as error:
        print(error, file=sys.stderr)
        return 2
    cases = [result for each in results.values() for result in each]
    if not cases:
        named = f"no case has '{options.case}' in its name: see -k"
        none = named if options.case else f"no case: write NAME{SUFFIX} beside NAME.xml"
        print(none, file=sys.stderr)
        return 2
    _write_reports(options, results, coverage)
    failed = sum(bool(result.failures) for result in cases)
    runs = len(cases) + sum(result.explored for result in cases)
    print(f"{len(cases) - failed} passed, {failed} failed, {runs} runs")
    return 1 if failed or not _enough(coverage, options.threshold) else 0


def _read(files: Iterable[Path]) -> list[CaseFile]:
    """The case files; raises one LoadError with what is wrong in all of them."""
    read: list[CaseFile] = []
    problems: list[XmlProblem] = []
    for file in files:
        try:
            read.append(read_case_file(file))
        except LoadError as error:
            problems += error.problems
    if problems:
        raise LoadError(problems)
    return read


def _maker(options: argparse.Namespace) -> MakeFactory:
    def make(file: Path, clock: SimulatedClock) -> BehaviorTreeFactory:
        return make_factory(
            (file,), options.register, None, options.extend, options.compat, clock=clock
        )

    return make


def _run_all(
    files: Sequence[CaseFile], options: argparse.Namespace, make: MakeFactory
) -> tuple[dict[Path, list[CaseResult]], Coverage]:
    coverage = Coverage()
    results: dict[Path, list[CaseResult]] = {}
    for file in files:
        chosen = [case for case in file.cases if (options.case or "") in case.name]
        if not chosen:
            continue
        results[file.file] = []
        for result in run_file(
            file, make=make, coverage=coverage, chosen=chosen, update=options.update
        ):
            results[file.file].append(result)
            _print_result(file.file, result, story=options.story)
    return results, coverage


def _print_result(file: Path, result: CaseResult, *, story: bool) -> None:
    explored = f" ({result.explored} runs with faults)" if result.explored else ""
    verdict = "FAILED" if result.failures else "passed"
    print(f"{verdict}  {file}: {result.case.name}{explored}")
    told = [*result.failures, *(f"note: {note}" for note in result.notes)]
    if result.run is not None and (story or result.failures):
        told.append(str(result.run))
    for each in told:
        print("\n".join(f"        {line}" for line in each.splitlines()))


def _check_reports(options: argparse.Namespace) -> None:
    """Tell of reports that cannot be written before all cases have run."""
    for file in (options.html, options.cobertura, options.junit):
        if file is not None and (file.is_dir() or not file.parent.is_dir()):
            raise BehaviorTreeError(
                f"{file} cannot be written: name a file in a folder that is there"
            )


def _write_reports(
    options: argparse.Namespace, results: dict[Path, list[CaseResult]], coverage: Coverage
) -> None:
    if options.coverage:
        print("\n".join(coverage_table(coverage)))
    for file, text in (
        (options.html, coverage_page(coverage)),
        (options.cobertura, cobertura_xml(coverage)),
        (options.junit, junit_xml(results)),
    ):
        if file is not None:
            replace_file(file, text.encode())


def _percent(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"'{text}': write a percentage from 0 to 100")
    return value


def _enough(coverage: Coverage, threshold: float | None) -> bool:
    if threshold is None:
        return True
    branches = coverage.ratio("branches")
    if branches.percent < threshold:
        print(f"coverage of branches is {branches}, below {threshold:g} %", file=sys.stderr)
        return False
    return True
