# SPDX-License-Identifier: Apache-2.0
"""A short run of the fault benchmark; ``benchmarks/executor_faults.py`` does the long one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "executor_faults.py"


@pytest.mark.timeout(600)
def test_the_mission_is_not_lost_when_the_executor_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    # How soon the robot stands is judged by the long run, on a machine with time to spare.
    options = ["--missions", "1", "--processes", "executor", "--speed", "4", "--deadline", "60"]
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), *options, "--json", str(file)], check=False, timeout=580
    )
    found = json.loads(file.read_text())
    assert done.returncode == 0, found
    assert found["finished"] == found["kills"]["executor"] == 1
