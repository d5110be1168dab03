# SPDX-License-Identifier: Apache-2.0
"""A short run of the kills; ``benchmarks/recorder_kills.py`` does the long one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "recorder_kills.py"


@pytest.mark.timeout(600)
def test_what_was_told_to_be_safe_survives_the_recorder(ros: None, tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--kills", "2", "--json", str(file)],
        check=False,
        timeout=580,
    )
    found = json.loads(file.read_text())
    assert done.returncode == 0, found
    assert found["kills"] == 2
    assert found["records told"] > 20
