# SPDX-License-Identifier: Apache-2.0
"""Steps of missions in files and on the command line, and the messages that they become."""

import math
from pathlib import Path

import pytest
from behavior_msgs.msg import MissionAction

from behavior_bringup.conversion import sequence_action
from behavior_bringup.errors import UsageError
from behavior_bringup.missions.mission_cli import _CONTROLS
from behavior_bringup.missions.mission_steps import read_steps

FILE = """
steps:
  - load_map: hall
  - navigate: {x: 1, y: -2.5, yaw: 1.5707963, frame: hall}
  - route: [[3.0, 2.0], [4.0, 2.0, 3.1415926]]
  - run: stack_blocks
    with: {max_failures: 5, careful: true}
"""


def test_file_becomes_one_mission(tmp_path: Path) -> None:
    file = tmp_path / "tour.yaml"
    file.write_text(FILE)
    message = sequence_action(read_steps(file))
    assert message.type == MissionAction.SEQUENCE
    load, navigate, route, run = message.steps
    assert (load.type, load.map_id) == (MissionAction.LOAD_MAP, "hall")
    assert navigate.goal.header.frame_id == "hall"
    assert navigate.goal.pose.position.y == -2.5
    assert navigate.goal.pose.orientation.w == pytest.approx(math.sqrt(0.5))
    assert route.route.header.frame_id == "map"
    assert [pose.pose.position.x for pose in route.route.poses] == [3.0, 4.0]
    assert route.route.poses[1].pose.orientation.z == pytest.approx(1.0)
    assert {pair.key: pair.value for pair in run.parameters} == {
        "max_failures": "5",
        "careful": "true",
    }


def test_single_step_is_a_mission_of_its_kind(tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text("steps: [{load_map: hall}]")
    message = sequence_action(read_steps(file))
    assert (message.type, message.map_id) == (MissionAction.LOAD_MAP, "hall")


def test_everything_wrong_in_a_file_is_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(
        "steps: [{navigate: {x: .nan, y: 1}}, {run: a, load_map: b}, {route: [[1]]}, {fly: high}]"
    )
    with pytest.raises(UsageError) as error:
        read_steps(file)
    for words in ("steps.0.navigate.x", "steps.1: a step is one of", "steps.3.fly"):
        assert words in str(error.value)
    for text in ("", "steps: []", "steps: [", "steps: 2024-13-45", "[" * 3000):
        file.write_text(text)
        with pytest.raises(UsageError, match=r"wrong\.yaml"):
            read_steps(file)


def test_numbers_of_controls_agree_with_the_message() -> None:
    assert {name: getattr(MissionAction, name.upper()) for name in _CONTROLS} == _CONTROLS
