# SPDX-License-Identifier: Apache-2.0
"""`make test`: colcon build, colcon test, and a verdict that the exit code shares."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from behavior_workspace.errors import SetupError
from behavior_workspace.layout import Layout
from behavior_workspace.pytest_plugin import RERUNS
from behavior_workspace.workspace import build_workspace, package_folders

TIMEOUT = 300
"""[s] after which a test that hangs fails, and shows where it hangs."""


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
    passed = failed = skipped = 0
    for package in sorted(build.glob("*/*.egg-info")):
        report = package.parent / "pytest.xml"
        try:
            suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
        except (OSError, ElementTree.ParseError):
            failed += 1
            continue
        for suite in suites:
            bad = int(suite.get("errors", 0)) + int(suite.get("failures", 0))
            left_out = int(suite.get("skipped", 0))
            passed += int(suite.get("tests", 0)) - bad - left_out
            failed += bad
            skipped += left_out
    return Tally(passed, failed, skipped)


def reruns(build: Path) -> list[str]:
    """The tests of all packages under `build` that failed and were run again."""
    return [
        f"{file.parent.name}/{test}"
        for file in sorted(build.glob(f"*/{RERUNS}"))
        for test in file.read_text(encoding="utf-8").splitlines()
    ]


def main() -> int:
    """Entry point; the exit code is 0 only when every test of every package passed."""
    # A shell that starts this in its background has it ignore interrupts, and so every program
    # that a test starts and interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    layout = Layout.of(Path(__file__).resolve().parents[2])
    build = layout.build
    for report in (*build.glob("*/pytest.xml"), *build.glob(f"*/{RERUNS}")):
        report.unlink()
    try:
        build_workspace(layout)
    except SetupError as error:
        print(f"test: {error}", file=sys.stderr)
        return 1
    common = ["--build-base", str(build)]
    tested = subprocess.run(
        [
            *("colcon", "--log-base", str(layout.root / "log"), "test", "--merge-install", *common),
            *("--install-base", str(layout.install), "--return-code-on-test-failure"),
            *("--executor", "sequential", "--event-handlers", "console_cohesion+"),
            *("--retest-until-pass", "1"),
            *("--base-paths", *(str(folder) for folder in package_folders(layout))),
            *("--pytest-args", "--durations=5", f"--timeout={TIMEOUT}"),
            *("--numprocesses=auto", "--dist=loadfile"),
            # Run again it would have no time limit any more.
            "--rerun-except=pytest-timeout",
        ],
        cwd=layout.root,
        check=False,
    )
    told = subprocess.run(
        ["colcon", "test-result", "--verbose", "--test-result-base", str(build)],
        cwd=layout.root,
        check=False,
    )
    result = tally(build)
    for test in reruns(build):
        print(f"flaky or broken: {test} failed and was run again", flush=True)
    print(f"{result.passed} passed, {result.failed} failed, {result.skipped} skipped", flush=True)
    good = tested.returncode == 0 and told.returncode == 0 and result.failed == 0
    return 0 if good and result.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
