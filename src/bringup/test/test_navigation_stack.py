# SPDX-License-Identifier: Apache-2.0
"""The demonstration of the navigation with its whole stack, all of it in a namespace: world, safety
gate, executor."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from behavior_ros.testing import own_domain

pytestmark = pytest.mark.timeout(600)


def test_everything_that_the_tour_asks_for_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(own_domain()))
    command = [sys.executable, "-m", "behavior_bringup.cli", "demo", "navigation"]
    done = subprocess.run(
        [*command, "--namespace", "fleet/left", "--speed", "4", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=570.0,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on /fleet/left/mission/action" in done.stdout
    assert "SUCCESS: all of it happened" in done.stdout
    assert Image.open(tmp_path / "navigation.png").width > 1000
    assert Image.open(tmp_path / "navigation.gif").n_frames > 20
