# SPDX-License-Identifier: Apache-2.0
"""The parameter `robot`: whatever is wrong with the file is one sentence that names it."""

import re
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from fakes import ROBOT_FILE

from behavior_ros import ParameterError
from behavior_skills.node.robot_file import robot_of


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("panda_joint3", "panda_joint33"), "no such name 'panda_joint33'; did you mean"),
        (("urdf:", "urdg:"), "urdf: Field required"),
        ((r"home: \[.*", "home: [9, 9, 9, 9, 9, 9, 9]"), "named.home: outside the joint limits"),
        ((r"(?s).*", "- a list"), "write a mapping of keys and values"),
        ((r"(?s).*", "a: [b"), "not valid YAML"),
    ],
)
def test_a_wrong_file_is_told_with_its_name(tmp_path, change, words):
    file = tmp_path / "robot.yaml"
    file.write_text(re.sub(*change, Path(ROBOT_FILE).read_text(), count=1))
    with pytest.raises(ParameterError) as caught:
        robot_of(str(file))
    told = str(caught.value)
    assert told.startswith(f"parameter robot: {file}: ")
    assert words in told
    assert told.count(str(file)) == 1


def test_no_file_is_told():
    with pytest.raises(ParameterError, match="robot is empty: name the robot's YAML file"):
        robot_of("")
    with pytest.raises(ParameterError, match=r"/nowhere\.yaml: no such robot file"):
        robot_of("/nowhere.yaml")
