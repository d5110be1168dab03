# SPDX-License-Identifier: Apache-2.0
"""docs/conformance.md says what is so."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("behaviortreepy")
pytest.importorskip("zmq")

BENCHMARKS = Path(__file__).resolve().parents[4] / "benchmarks"


@pytest.mark.parametrize("program", ["upstream_scenarios.py", "quirk_list.py"])
def test_page_is_current(program):
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / program), "--check"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
