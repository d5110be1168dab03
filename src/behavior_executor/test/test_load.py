# SPDX-License-Identifier: Apache-2.0
"""A short run of the load benchmark; ``benchmarks/executor_load.py`` does the long one."""

import json
import os
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "executor_load.py"


def test_memory_stays_over_missions_of_every_outcome(ros: None, tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    options = ["--only", "memory", "--missions", "30", "--hours", "0.08", "--json", str(file)]
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), *options], env=os.environ, check=False, timeout=280
    )
    found = json.loads(file.read_text())["memory"]
    assert done.returncode == 0, found
    assert found["outcomes"] == {
        "SUCCESS": 21,
        "TREE_FAILED": 3,
        "INVALID_TREE": 3,
        "CANCELED_BY_CLIENT": 3,
    }
    assert found["simulated_hours"] > 0.06
    assert found["journal_records"] == 10
