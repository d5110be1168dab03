# SPDX-License-Identifier: Apache-2.0
"""A short run of the fault benchmark; ``benchmarks/journal_faults.py`` does the long one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "journal_faults.py"
SHORT = {"full": ["--rounds", "3"], "damage": ["--damages", "24"], "kill": ["--kills", "2"]}


@pytest.mark.parametrize("part", SHORT)
def test_nothing_is_lost_and_nothing_done_twice(part: str, tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    options = ["--only", part, *SHORT[part], "--json", str(file)]
    done = subprocess.run([sys.executable, str(BENCHMARK), *options], check=False, timeout=280)
    found = json.loads(file.read_text())[part]
    assert done.returncode == 0, found
    if part == "damage":
        assert found["first file"] == found["second file"] == {"nothing lost": 8}
        assert found["both files"]["loss is told"]
    else:
        assert found["accepted"] > 20
