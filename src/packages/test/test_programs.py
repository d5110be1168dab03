# SPDX-License-Identifier: Apache-2.0
"""Programs with nodes that are stopped before their nodes are there."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

SLOW = """
import sys, time
print("importing", flush=True)
for _ in range(12_000):  # Python looks for signals between two steps: one sleep may miss its own
    time.sleep(0.05)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_that_comes_while_importing_is_a_stop(tmp_path: Path, how: signal.Signals) -> None:
    (tmp_path / "slow_nodes.py").write_text(SLOW, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "behavior_packages.node_program", "slow_nodes.main"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "importing\n"
    process.send_signal(how)
    _, errors = process.communicate(timeout=240)
    assert errors == ""
    assert process.returncode == 0
