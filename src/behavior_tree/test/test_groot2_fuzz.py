# SPDX-License-Identifier: Apache-2.0
"""Two seconds of ``benchmarks/fuzz_groot2_server.py``, which says what it checks."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("zmq")

PROGRAM = Path(__file__).resolve().parents[3] / "benchmarks" / "fuzz_groot2_server.py"


@pytest.mark.skipif(not PROGRAM.exists(), reason="the package alone, without the repository")
def test_fuzz_for_two_seconds() -> None:
    run = subprocess.run(
        [sys.executable, str(PROGRAM), "--seconds", "2", "--seed", "1"],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.returncode == 0, run.stdout + run.stderr
