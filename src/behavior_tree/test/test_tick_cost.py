# SPDX-License-Identifier: Apache-2.0
"""The tick benchmark in its quick form, with limits so wide that only a real loss misses them."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).resolve().parents[3] / "benchmarks/tree_tick.py"


@pytest.mark.skipif(not BENCHMARK.exists(), reason="the package is tested without its repository")
def test_no_kind_of_tree_became_slow():
    pytest.importorskip("behaviortreepy")
    run = subprocess.run(
        [sys.executable, str(BENCHMARK), "--quick", "--slack", "2.5"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
