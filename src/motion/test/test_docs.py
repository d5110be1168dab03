# SPDX-License-Identifier: Apache-2.0
"""What docs/adding_a_robot.md shows works as it stands there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from behavior_motion import load_robot
from behavior_motion.__main__ import main

PAGE = Path(__file__).resolve().parents[3] / "docs" / "adding_a_robot.md"


ROOT = PAGE.parent.parent


def blocks(language: str) -> list[str]:
    """Code blocks of the page."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_page_shows_the_files_that_ship() -> None:
    named = re.findall(
        r"`(config/\w+/\w+\.yaml)`:\n\n```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL
    )
    assert [name for name, _ in named] == [
        "config/robots/xarm7.yaml",
        "config/worlds/xarm7_blocks.yaml",
        "config/stacks/xarm7_blocks.yaml",
    ]
    for name, text in named:
        assert text == (ROOT / name).read_text(encoding="utf-8"), name


def test_examination_and_program_of_the_page_run() -> None:
    (program,) = blocks("python")
    words = shlex.split(blocks("bash")[0])
    assert words[0] == "python"
    for arguments in (words[1:], ["-c", program]):
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "s of motion planned in" in done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the page's robot, its arm named by a group of the SRDF."""
    config = yaml.safe_load((ROOT / "config/robots/xarm7.yaml").read_text(encoding="utf-8"))
    jerk = {f"joint{i}": 100 if i < 5 else 150 for i in range(1, 8)}
    config["arm"] = {"group": "xarm7", "acceleration": 10.0, "jerk": jerk}
    config["named"] = {"ready": config["named"]["home"]}
    (tmp_path / "xarm7.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_groups_and_named_states_come_from_the_srdf(folder: Path) -> None:
    robot = load_robot(folder / "xarm7.yaml")
    assert robot.joint_names == tuple(f"joint{i}" for i in range(1, 8))
    assert set(robot.named) == {"ready", "home", "hold-up"}
    assert robot.acceleration_limits.tolist() == [10.0] * 7
    assert robot.jerk_limits.tolist() == [100.0] * 4 + [150.0] * 3


def changed(folder: Path, **arm: object) -> Path:
    file = folder / "xarm7.yaml"
    config = yaml.safe_load(file.read_text())
    config["arm"] |= arm
    file.write_text(yaml.safe_dump(config))
    return file


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arm", "text"),
    [
        ({"group": "xarm"}, "did you mean 'xarm7'"),
        ({"joints": ["joint1"]}, "either joints or the SRDF's group"),
        ({"jerk": {"joint1": 100}}, "no value for joint2"),
        ({"jerk": {"joint0": 100}}, "no such name 'joint0'"),
    ],
)
def test_faults_are_named(folder: Path, arm: dict[str, object], text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        load_robot(changed(folder, **arm))


@pytest.mark.slow
def test_the_examination_finds_faults(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "xarm7.yaml"
    config = yaml.safe_load(file.read_text())
    del config["srdf"]
    config["arm"] |= {"group": None, "joints": [f"joint{i}" for i in range(1, 8)]}
    # Folded into itself.
    config["named"]["folded"] = [5.7, -1.9, -5.5, -0.1, 2.1, -0.6, 1.0]
    file.write_text(yaml.safe_dump(config))
    assert main([str(file)]) == 1
    said = capsys.readouterr().out
    assert "fault: named.folded: " in said
    assert "overlap by" in said
    assert main([str(folder / "absent.yaml")]) == 1
    assert "no such robot file" in capsys.readouterr().err


def test_another_group_by_name() -> None:
    file = ROOT / "config" / "robots" / "panda.yaml"
    with pytest.raises(ValueError, match=r"arm\.velocity: shape \(8,\) wanted"):
        load_robot(file, group="arm_and_hand")
    assert load_robot(file, group="arm").dof == 7
