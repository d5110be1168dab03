# SPDX-License-Identifier: Apache-2.0
"""How many of the scenarios that BehaviorTree.CPP's own tests cover are tested here, and pass.

``python benchmarks/upstream_scenarios.py`` runs the tests marked ``upstream`` and prints a table
per upstream test file; ``--write`` puts it into ``docs/conformance.md``, ``--check`` only says
whether what stands there is current, without running any test. Exit code 1: not all portable cases
are covered and pass, a mark names an unknown case, or the page is out of date.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from page import section, write_section

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "src/behavior_tree/test/upstream"
CASES = TESTS / "cases.toml"


@dataclass
class UpstreamFile:
    """One test file of upstream."""

    name: str
    cases: list[str]
    left_out: list[tuple[str, list[str]]]
    """Reason and the cases that it holds for."""

    @property
    def portable(self) -> set[str]:
        """Cases that make sense in Python."""
        return set(self.cases) - {case for _, cases in self.left_out for case in cases}


@dataclass
class Coverage:
    """Pytest plugin that notes which test covers which case, and how the tests end."""

    tests: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    failed: set[str] = field(default_factory=set)
    ran: set[str] = field(default_factory=set)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            for mark in item.iter_markers("upstream"):
                for case in mark.args[1:]:
                    self.tests[mark.args[0], case].add(item.nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.when == "call" and report.passed:
            self.ran.add(report.nodeid)

    def passing(self, key: tuple[str, str]) -> bool:
        """True if a test of the case ran and none failed."""
        tests = self.tests.get(key, set())
        return bool(tests & self.ran) and not tests & self.failed


def upstream_files() -> list[UpstreamFile]:
    """The list of upstream's cases that is kept beside our tests."""
    files = tomllib.loads(CASES.read_text(encoding="utf-8"))
    return [
        UpstreamFile(
            name,
            entry["cases"].split(),
            [(group["reason"], group["cases"].split()) for group in entry.get("left_out", [])],
        )
        for name, entry in files.items()
    ]


def collect(*, run: bool) -> Coverage:
    """Find, and with ``run`` also run, the marked tests."""
    coverage = Coverage()
    options = [str(TESTS), "-q", "-m", "upstream", "-p", "no:cacheprovider"]
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        code = pytest.main(options + ([] if run else ["--collect-only"]), plugins=[coverage])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        sys.exit(output.getvalue())
    if coverage.failed:
        print(output.getvalue())
    return coverage


def table(files: list[UpstreamFile], coverage: Coverage, *, ran: bool) -> tuple[str, bool]:
    """Markdown table and reasons, and whether all portable cases are covered and pass.

    Without a run every covered case counts as passing.
    """
    rows = []
    sums = [0] * 4
    for file in files:
        covered = {case for case in file.cases if (file.name, case) in coverage.tests}
        covered &= file.portable
        passing = {c for c in covered if not ran or coverage.passing((file.name, c))}
        counts = [len(file.cases), len(file.portable), len(covered), len(passing)]
        sums = [total + count for total, count in zip(sums, counts, strict=True)]
        rows.append((file.name, *counts))
    lines = ["| upstream file | cases | portable | covered | passing |", "|---|--:|--:|--:|--:|"]
    lines += [f"| {row[0]} | {' | '.join(map(str, row[1:]))} |" for row in rows]
    lines.append(f"| **all** | {' | '.join(f'**{total}**' for total in sums)} |")
    lines += ["", "Left out, because they only make sense in C++:", ""]
    lines += [
        f"- {file.name} ({len(cases)}): {reason}"
        for file in files
        for reason, cases in file.left_out
    ]
    return "\n".join(lines) + "\n", sums[1] == sums[2] == sums[3]


def unknown_marks(files: list[UpstreamFile], coverage: Coverage) -> list[str]:
    """Marks that name no case of upstream, or one that is listed as left out."""
    known = {(file.name, case) for file in files for case in file.portable}
    return [f"{name}: {case}" for name, case in sorted(set(coverage.tests) - known)]


def missing_cases(files: list[UpstreamFile], coverage: Coverage) -> list[str]:
    """Portable cases without a test."""
    keys = ((file.name, case) for file in files for case in file.cases if case in file.portable)
    return [f"{name}: {case}" for name, case in keys if (name, case) not in coverage.tests]


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    parser.add_argument("--check", action="store_true", help="only compare with the page")
    arguments = parser.parse_args()
    files = upstream_files()
    coverage = collect(run=not arguments.check)
    text, complete = table(files, coverage, ran=not arguments.check)
    unknown = unknown_marks(files, coverage)
    for each in unknown:
        print(f"mark of an unknown case: {each}")
    if arguments.check:
        current = section("scenarios") == text
        print("the page is current" if current else "docs/conformance.md: run with --write")
        return 0 if current and not unknown else 1
    if arguments.write:
        write_section("scenarios", text)
    print(text)
    for each in missing_cases(files, coverage):
        print(f"not covered: {each}")
    return 0 if complete and not unknown else 1


if __name__ == "__main__":
    sys.exit(main())
