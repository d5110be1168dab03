# SPDX-License-Identifier: Apache-2.0
"""The tracking benchmark in its quick form: better than the greedy rule in every scenario."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).resolve().parents[3] / "benchmarks/scene_tracking.py"


@pytest.mark.skipif(not BENCHMARK.exists(), reason="the package is tested without its repository")
def test_tracks_follow_the_truth_better_than_by_the_greedy_rule():
    run = subprocess.run(
        [sys.executable, str(BENCHMARK), "--quick"],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
