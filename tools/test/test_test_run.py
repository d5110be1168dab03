# SPDX-License-Identifier: Apache-2.0
"""The verdict of `make test`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from behavior_workspace.test_run import Tally, run_twice

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
