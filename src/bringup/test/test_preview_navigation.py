# SPDX-License-Identifier: Apache-2.0
"""`behavior preview` beside a robot that drives by a map: two whole stacks, some minutes."""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path
from typing import Any

import pytest
from commanded import behavior

from behavior_bringup.preview.run import observed
from behavior_bringup.stacks.session import bring_up
from behavior_bringup.stacks.stack import Stack
from behavior_bringup.stacks.state import known_stacks
from behavior_ros.testing import own_domain

pytestmark = [
    pytest.mark.timeout(1500),
    pytest.mark.skipif(
        os.environ.get("BEHAVIOR_LONG_TESTS") != "1",
        reason="two whole stacks beside each other: set BEHAVIOR_LONG_TESTS=1",
    ),
]

WORLD = "navigation"


def pose() -> list[float]:
    return list(observed(Stack()).row()["base"]["pose"])


def previewed(tmp_path: Path, x: float, y: float, *options: str) -> tuple[int, str, dict[str, Any]]:
    file = tmp_path / "preview.json"
    place = ("--param", f"x={x}", "--param", f"y={y}", "--param", "yaw=1.57")
    code, out, err = behavior("preview", "navigate", *place, "--json", str(file), *options)
    print(out, err)
    return code, out + err, json.loads(file.read_text(encoding="utf-8"))


def test_a_drive_is_previewed_approved_and_driven(
    runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(own_domain()))
    try:
        arguments = {"world": WORLD, "headless": True, "groot2_port": 0}
        bring_up(Stack(), world=WORLD, arguments=arguments, patience=400.0)
        what_would_fail_is_told_and_the_robot_stands(tmp_path)
        what_is_approved_is_driven_as_previewed(tmp_path)
    finally:
        code, out, _ = behavior("down")
    assert code == 0, out


def what_would_fail_is_told_and_the_robot_stands(tmp_path: Path) -> None:
    before = pose()
    code, out, row = previewed(tmp_path, 8.5, 8.0)  # within a rack
    assert code == 1, out
    assert row["success"] is False
    assert row["reason"]
    assert "navigate would fail" in out
    assert math.dist(pose()[:2], before[:2]) < 0.1
    assert known_stacks() == ["default", "default.preview"]


def what_is_approved_is_driven_as_previewed(tmp_path: Path) -> None:
    before = pose()
    code, out, row = previewed(tmp_path, 2.0, 5.5, "--approve")
    assert code == 0, out
    assert row["success"] is True
    assert row["begin"]["base"]["tile"] == "west"
    assert row["tool_path"][0][1:3] == pytest.approx(before[:2], abs=0.15)
    assert row["tool_path_length_m"] == pytest.approx(4.0, abs=0.5)
    assert row["touched"] == []
    assert any("picker" in note for note in row["notes"])
    assert "The robot moves" in out
    took = re.search(r"It took ([\d.]+) s; the preview ([\d.]+) s", out)
    assert took, out
    assert math.dist(pose()[:2], (2.0, 5.5)) < 0.5
    assert math.dist(row["end"]["base"]["pose"][:2], pose()[:2]) < 0.3
