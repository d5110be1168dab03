# SPDX-License-Identifier: Apache-2.0
"""The verdict of `make test`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from behavior_workspace.test_run import Tally, broken_off, run_twice, unreported

TESTS = """
import os
import time
from pathlib import Path

BEEN_HERE = Path(__file__).with_name("been_here")


def test_flaky():
    if not BEEN_HERE.exists():
        BEEN_HERE.touch()
        raise AssertionError("the first time")


def test_good():
    pass


def test_broken():
    assert False


def test_stuck():
    time.sleep(30.0)


def test_nested():
    assert "PYTEST_ADDOPTS" not in os.environ
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / "shop.egg-info").mkdir(parents=True)
    (folder / "test_it.py").write_text(TESTS)
    return folder


def test_what_fails_is_run_again_and_named(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(packages: Sequence[str], options: Sequence[str]) -> None:
        # As colcon hands options on.
        given = ["--junit-xml=pytest.xml", "--timeout=2", "--numprocesses=2", *options]
        env = {**os.environ, "PYTEST_ADDOPTS": " ".join(given)}
        subprocess.run([sys.executable, "-m", "pytest"], cwd=package, env=env, check=False)

    assert run_twice(package.parent, run) == Tally(passed=3, failed=2, skipped=0)
    assert capsys.readouterr().out.splitlines() == [
        "test_it.test_broken fails",
        "test_it.test_flaky passed when it was run again",
        "test_it.test_stuck fails",
    ]


def test_a_package_without_a_report_has_failed(package: Path) -> None:
    runs: list[tuple[str, ...]] = []
    result = run_twice(package.parent, lambda packages, _: runs.append(tuple(packages)))
    assert result == Tally(passed=0, failed=1, skipped=0)
    assert runs == [()]
    assert unreported(package.parent) == ["shop"]


MISSING = """<testsuite name="shop" tests="1" failures="0" errors="1" skipped="0">
  <testcase classname="shop" name="pytest.missing_result">
    <failure message="The test invocation failed without generating a result file."/>
  </testcase>
</testsuite>"""
"""What colcon writes before the tests of a package begin."""


def test_a_package_that_broke_off_is_run_again_as_a_whole(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pytest knows of no failed tests then, and would run none."""
    runs: list[tuple[Sequence[str], Sequence[str]]] = []

    def run(packages: Sequence[str], options: Sequence[str]) -> None:
        runs.append((packages, options))
        suite = (
            '<testsuites><testsuite tests="3" failures="0" errors="0" skipped="1"/></testsuites>'
        )
        (package / "pytest.xml").write_text(suite if packages else MISSING)

    assert run_twice(package.parent, run) == Tally(passed=2, failed=0, skipped=1)
    assert runs == [([], []), (["shop"], [])]
    assert "missing_result passed when it was run again" in capsys.readouterr().out


def test_a_process_that_breaks_off_after_its_last_test_is_noticed(package: Path) -> None:
    for code, told in (("0", []), ("-11", ["shop"])):
        (package / "colcon_test.rc").write_text(f"{code}\n")
        assert broken_off(package.parent) == told
