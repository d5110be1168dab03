# SPDX-License-Identifier: Apache-2.0
"""`behavior preview` beside a real stack: two whole stacks, a few minutes on a busy machine."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commanded import behavior, eventually, stack_processes

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

WORLD = "block_stacking"
TOWER = ("stack_blocks", "--param", "order=blue_block;yellow_block")


def places(row: dict[str, Any]) -> dict[str, np.ndarray]:
    return {name: np.array(item["position"]) for name, item in row["objects"].items()}


def copy_number() -> int:
    """Process number of the copy's supervisor."""
    state = Stack("default.preview").state()
    assert state is not None
    return state.supervisor_pid


def test_a_mission_is_previewed_approved_and_run(
    runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(own_domain()))
    try:
        arguments = {"world": WORLD, "speed": 2.0, "headless": True, "groot2_port": 0}
        bring_up(Stack(), world=WORLD, arguments=arguments, patience=400.0)
        a_wrong_request_is_refused_before_a_copy_starts()
        an_endless_mission_is_bounded(tmp_path)
        what_is_approved_is_run_as_previewed(tmp_path)
    finally:
        code, out, err = behavior("down")
    assert code == 0, out + err
    # The copy's processes end with the stack's, and its supervisor a moment after its lock.
    eventually(lambda: not stack_processes(runtime), "the copy goes with its stack", 90.0)
    assert known_stacks() == []


def a_wrong_request_is_refused_before_a_copy_starts() -> None:
    code, _, err = behavior("preview", "stack_blokcs")
    assert code == 2
    assert "stack_blokcs" in err
    assert known_stacks() == ["default"]


def an_endless_mission_is_bounded(tmp_path: Path) -> None:
    file = tmp_path / "bounded.json"
    code, out, err = behavior("preview", *TOWER, "--limit", "2", "--json", str(file))
    assert code == 1, out + err
    row = json.loads(file.read_text(encoding="utf-8"))
    assert row["success"] is False
    assert "did not end within 2 s" in row["reason"]
    assert known_stacks() == ["default", "default.preview"]


def what_is_approved_is_run_as_previewed(tmp_path: Path) -> None:
    """That the preview has left the real world alone is looked at before it is run for real."""
    file = tmp_path / "approved.json"
    before, warm = observed(Stack()).row(), copy_number()
    code, out, err = behavior("preview", *TOWER, "--json", str(file), "--approve")
    assert code == 0, out + err
    assert "stack_blocks would succeed" in out
    assert "Changed since" not in out
    assert re.search(r"It took [\d.]+ s; the preview [\d.]+ s", out), out
    done = re.search(r"(\d+) of (\d+) planned motions were the previewed ones", out)
    assert done, out
    assert 2 * int(done[1]) >= int(done[2]) > 0, out
    assert copy_number() == warm, "the copy that is up is used again"
    row: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    assert not [note for note in row["notes"] if "copy" in note], row["notes"]
    assert {touch["name"] for touch in row["touched"]} >= {"blue_block", "yellow_block"}
    assert row["tool_path_length_m"] > 1.0
    assert 0.0 <= row["clearance"]["distance_m"] < 0.3
    start, end, real = places(row["begin"]), places(row["end"]), places(observed(Stack()).row())
    for name, place in places(before).items():
        assert np.linalg.norm(start[name] - place) < 0.01
    assert end["blue_block"][:2] == pytest.approx([0.25, 0.30], abs=0.02)
    assert end["yellow_block"][2] > end["blue_block"][2] + 0.04
    for name in places(before):
        assert np.linalg.norm(real[name] - end[name]) < 0.02, name
