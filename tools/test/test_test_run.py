# SPDX-License-Identifier: Apache-2.0
"""The verdict of `make test`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from behavior_workspace.test_run import Tally, reruns, tally

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


def test_what_fails_is_run_again_and_named(tmp_path: Path) -> None:
    package = tmp_path / "shop"
    (package / "shop.egg-info").mkdir(parents=True)
    (package / "test_it.py").write_text(TESTS)
    # As colcon hands its options on.
    options = ("--reruns=1", "--rerun-except=pytest-timeout", "--timeout=2", "--numprocesses=2")
    env = {**os.environ, "PYTEST_ADDOPTS": " ".join(("--junit-xml=pytest.xml", *options))}
    subprocess.run([sys.executable, "-m", "pytest"], cwd=package, env=env, check=False)
    assert tally(tmp_path) == Tally(passed=3, failed=2, skipped=0)
    assert {*reruns(tmp_path)} == {f"shop/test_it.py::test_{name}" for name in ("flaky", "broken")}
