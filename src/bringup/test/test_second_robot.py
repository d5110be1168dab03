# SPDX-License-Identifier: Apache-2.0
"""docs/adding_a_robot.md: a robot that no code knows stacks blocks by configuration alone."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from behavior_bringup.cli import main

PAGE = Path(__file__).resolve().parents[3] / "docs" / "adding_a_robot.md"

pytestmark = [
    pytest.mark.skipif(not PAGE.exists(), reason="the package is tested without its repository"),
]


def test_the_commands_of_the_page_stack_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    lines = re.findall(r"^behavior .*$", text, re.MULTILINE)
    assert lines[-1] == "behavior down"
    try:
        for line in lines[:-1]:
            assert main(shlex.split(line)[1:]) == 0, capsys.readouterr()
    finally:
        assert main(["down"]) == 0
    assert "blue_block yellow_block green_block red_block" in capsys.readouterr().out
