# SPDX-License-Identifier: Apache-2.0
"""Which links of a robot never touch."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROBOT_FILE

from behavior_motion import load_robot
from behavior_motion.__main__ import main
from behavior_motion.robot.collision_pairs import never_touching, to_srdf
from behavior_motion.robot.robot_file import load_group_names
from behavior_motion.robot.srdf import read_srdf

TIAGO = ROBOT_FILE.parent / "tiago_pro.yaml"


def test_pairs_of_the_shipped_srdf_do_not_touch_in_other_states_either() -> None:
    robots = [load_robot(TIAGO, group=group) for group in load_group_names(TIAGO)]
    shipped = read_srdf(TIAGO.with_suffix(".srdf")).disabled
    never = {frozenset(pair) for pair in never_touching(robots, samples=500, margin=0.0, seed=7)}
    assert len(shipped) > 200
    assert shipped <= never
    assert frozenset(("gripper_left_base_link", "gripper_right_base_link")) not in shipped
    assert frozenset(("arm_left_5_link", "torso_lift_link")) not in shipped


def test_more_states_leave_fewer_pairs_and_a_margin_fewer_still() -> None:
    robots = [load_robot(ROBOT_FILE)]
    few = set(never_touching(robots, samples=20))
    many = set(never_touching(robots, samples=400))
    wide = set(never_touching(robots, samples=400, margin=0.05))
    assert wide < many < few
    assert many == set(never_touching(robots, samples=400)), "the same seed, the same pairs"
    assert not {pair for pair in few if "panda_link1" in pair and "panda_link2" in pair}, "joined"


def test_an_srdf_is_written_and_read_again(tmp_path: Path, capsys) -> None:
    file = tmp_path / "panda.srdf"
    assert main([str(ROBOT_FILE), "--srdf", str(file), "--samples", "20"]) == 0
    pairs = never_touching([load_robot(ROBOT_FILE)], samples=20)
    assert read_srdf(file).disabled == {frozenset(pair) for pair in pairs}
    assert f"{len(pairs)} pairs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--srdf", "absent/folder/x.srdf"], "there is no folder absent/folder"),
        (["--srdf", "."], "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_told(arguments: list[str], text: str, capsys) -> None:
    assert main([str(ROBOT_FILE), "--samples", "1", *arguments]) == 1
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["--samples", "0"], ["--srdf", "x.srdf", "--group", "panda_arm"]]
)
def test_wrong_options_are_told(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        main([str(ROBOT_FILE), *arguments])


def test_names_are_quoted(tmp_path: Path) -> None:
    file = tmp_path / "odd.srdf"
    file.write_text(to_srdf('a "b" & <c>', [("x<1>", 'y"2"')]))
    assert read_srdf(file).disabled == {frozenset(("x<1>", 'y"2"'))}
