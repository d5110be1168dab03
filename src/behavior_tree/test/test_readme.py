# SPDX-License-Identifier: Apache-2.0
"""What the package's README shows runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

README = Path(__file__).parents[1] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.S)


def test_the_blocks_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    readme = ModuleType("readme")  # dataclasses look their module up
    monkeypatch.setitem(sys.modules, "readme", readme)
    assert len(blocks("python")) >= 10
    for block in blocks("python"):
        line = README.read_text(encoding="utf-8").split(block)[0].count("\n")
        exec(compile("\n" * line + block, str(README), "exec"), vars(readme))


def test_the_commands_run(tmp_path):
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    assert lines
    for line in lines:
        command = [sys.executable, *line.split()[1:]]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False
        )
        assert done.returncode == 0, line + done.stderr


def test_nothing_else_is_shown_as_code():
    languages = re.findall(r"^```(\w*)$", README.read_text(encoding="utf-8"), re.M)
    assert set(languages) <= {"python", "sh", ""}
