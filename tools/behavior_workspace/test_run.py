# SPDX-License-Identifier: Apache-2.0
"""`make test`: colcon build, colcon test, and a verdict that the exit code shares."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from behavior_workspace.errors import SetupError
from behavior_workspace.layout import Layout
from behavior_workspace.workspace import build_workspace, package_folders

TIMEOUT = 300
"""[s] after which a test that hangs fails, and shows where it hangs."""
_BROKE_OFF = "pytest.missing_result"
"""Test that colcon reports as failed, before the tests begin; their report takes its place."""
STACKS = "behavior_bringup"
"""Its tests bring whole stacks up, one after the other, and wait more than they compute: they run
beside those of all other packages."""


@dataclass(frozen=True)
class Tally:
    """How many tests there were, by outcome."""

    passed: int
    failed: int
    skipped: int


def tally(build: Path) -> Tally:
    """Count the outcomes in the pytest reports of all packages under `build`.

    A package without a readable report counts as one failure: its tests did not run to the end.
    """
    counted = [_counted(report) for report in build.glob("*/pytest.xml")]
    return Tally(
        passed=sum(each.passed for each in counted),
        failed=sum(each.failed for each in counted) + len(unreported(build)),
        skipped=sum(each.skipped for each in counted),
    )


def _counted(report: Path) -> Tally:
    """What a report tells; nothing where it is not readable."""
    passed = failed = skipped = 0
    for suite in _suites(report):
        bad = int(suite.get("errors", 0)) + int(suite.get("failures", 0))
        left_out = int(suite.get("skipped", 0))
        passed += int(suite.get("tests", 0)) - bad - left_out
        failed += bad
        skipped += left_out
    return Tally(passed, failed, skipped)


def unreported(build: Path) -> list[str]:
    """Packages under `build` without a readable report."""
    packages = sorted({package.parent for package in build.glob("*/*.egg-info")})
    return [package.name for package in packages if not _suites(package / "pytest.xml")]


def _suites(report: Path) -> list[ElementTree.Element]:
    """Of a report; none: it is not there, or torn."""
    try:
        return list(ElementTree.parse(report).getroot().iter("testsuite"))
    except (OSError, ElementTree.ParseError):
        return []


def broken_off(build: Path) -> list[str]:
    """Packages under `build` whose tests, as they were run last, ended with another code than 0.

    Also where all had passed before: a process may break off at its end.
    """
    codes = ((file, file.read_text(encoding="utf-8")) for file in build.glob("*/colcon_test.rc"))
    return sorted(file.parent.name for file, code in codes if code.strip() != "0")


def failures(build: Path) -> dict[str, list[str]]:
    """The tests that failed, by package, as the reports of the packages under `build` tell."""
    found: dict[str, list[str]] = {}
    for report in sorted(build.glob("*/pytest.xml")):
        try:
            cases = list(ElementTree.parse(report).getroot().iter("testcase"))
        except ElementTree.ParseError:
            continue
        names = sorted(
            f"{case.get('classname')}.{case.get('name')}"
            for case in cases
            if case.find("failure") is not None or case.find("error") is not None
        )
        if names:
            found[report.parent.name] = names
    return found


def run_twice(build: Path, run: Callable[[Sequence[str], Sequence[str]], None]) -> Tally:
    """Run all tests, and those that failed once more; of a package that broke off, all.

    Args:
        build: where the packages' reports are.
        run: runs the tests of some packages, none: of all, with some options of pytest.

    Returns:
        Outcomes; what failed first and passed then counts as passed, and is named on the terminal.
    """
    run([], [])
    first, failed = tally(build), failures(build)
    if not failed:
        return first
    # Pytest does not know what failed where it did not come to its end.
    whole = [package for package, names in failed.items() if f"{package}.{_BROKE_OFF}" in names]
    if rest := [package for package in failed if package not in whole]:
        run(rest, ["--last-failed", "--last-failed-no-failures=none"])
    if whole:
        run(whole, [])
    second, still = tally(build), failures(build)
    for package, names in failed.items():
        for name in names:
            how = "fails" if name in still.get(package, ()) else "passed when it was run again"
            print(f"{name} {how}", flush=True)
    again = [_counted(build / package / "pytest.xml") for package in failed]
    skipped = sum(_counted(build / package / "pytest.xml").skipped for package in whole)
    return Tally(
        passed=first.passed + sum(each.passed for each in again),
        failed=second.failed,
        skipped=first.skipped + skipped,
    )


def main() -> int:
    """Entry point; the exit code is 0 only when every test of every package passed."""
    # A shell that starts this in its background has it ignore interrupts, and so every program
    # that a test starts and interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    layout = Layout.of(Path(__file__).resolve().parents[2])
    for name in ("pytest.xml", "colcon_test.rc"):
        for report in layout.build.glob(f"*/{name}"):
            report.unlink()
    try:
        build_workspace(layout)
    except SetupError as error:
        print(f"test: {error}", file=sys.stderr)
        return 1
    codes: list[int] = []
    again: list[int] = []

    def run(packages: Sequence[str], options: Sequence[str]) -> None:
        if packages:
            again.append(_colcon_test(layout, ["--packages-select", *packages], options))
            return
        with ThreadPoolExecutor() as pool:
            stacks = ["--packages-select", STACKS]
            beside = pool.submit(_colcon_test, layout, stacks, options, logs="log/stacks")
            codes[:] = [_colcon_test(layout, ["--packages-skip", STACKS], options), beside.result()]

    result = run_twice(layout.build, run)
    told = subprocess.run(
        ["colcon", "test-result", "--verbose", "--test-result-base", str(layout.build)],
        cwd=layout.root,
        check=False,
    )
    for package in unreported(layout.build):
        print(f"{package}: its tests did not run to the end")
    ended = broken_off(layout.build)
    for package in ended:
        print(f"{package}: its tests, or the process that ran them, ended with an error")
    print(f"{result.passed} passed, {result.failed} failed, {result.skipped} skipped", flush=True)
    good = not any(again or codes) and not ended and told.returncode == 0 and result.failed == 0
    return 0 if good and result.passed > 0 else 1


def _colcon_test(
    layout: Layout, packages: Sequence[str], options: Sequence[str], logs: str = "log"
) -> int:
    """Exit code of `colcon test` for the packages that colcon's options name."""
    return subprocess.run(
        [
            *("colcon", "--log-base", str(layout.root / logs), "test", "--merge-install"),
            *("--build-base", str(layout.build), "--install-base", str(layout.install)),
            *("--return-code-on-test-failure", "--executor", "sequential"),
            *("--event-handlers", "console_cohesion+"),
            *("--base-paths", *(str(folder) for folder in package_folders(layout))),
            *packages,
            *("--pytest-args", "--durations=5", f"--timeout={TIMEOUT}"),
            *("--numprocesses=auto", "--dist=loadfile", *options),
        ],
        cwd=layout.root,
        check=False,
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
