# SPDX-License-Identifier: Apache-2.0
"""The verdict of `make test`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from behavior_workspace.test_run import Tally, reruns, tally

TESTS = """
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
"""


def test_what_fails_is_run_again_and_named(tmp_path: Path) -> None:
    package = tmp_path / "shop"
    (package / "shop.egg-info").mkdir(parents=True)
    (package / "test_it.py").write_text(TESTS)
    options = ["--junit-xml=pytest.xml", "--reruns=1", "--numprocesses=2", "--dist=loadfile"]
    subprocess.run([sys.executable, "-m", "pytest", *options], cwd=package, check=False)
    assert tally(tmp_path) == Tally(passed=2, failed=1, skipped=0)
    assert reruns(tmp_path) == ["shop/test_it.py::test_flaky", "shop/test_it.py::test_broken"]
