# SPDX-License-Identifier: Apache-2.0
"""The robot file, and the one URDF that is made of it."""

from __future__ import annotations

import math
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from conftest import ROBOT_FILE

from behavior_motion import load_robot
from behavior_motion.__main__ import main
from behavior_motion.robot.model import robot_file_fault
from behavior_motion.robot.robot_file import (
    load_group_names,
    load_robot_file,
    parse_robot_file,
    read_robot_file,
    stream_of,
)
from behavior_motion.robot.urdf import link_names, robot_urdf

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="flange"><collision><geometry><mesh filename="{mesh}"/></geometry></collision></link>
  <joint name="lift" type="revolute"><parent link="base"/><child link="flange"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
</robot>"""
HAND = """<robot name="hand">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="stand"/><link name="palm"/><link name="finger"/>
  <joint name="on_stand" type="fixed"><parent link="stand"/><child link="palm"/></joint>
  <joint name="slide" type="prismatic"><parent link="palm"/><child link="finger"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="0.04" velocity="1" effort="1"/></joint>
</robot>"""


@pytest.fixture
def write(tmp_path: Path):
    """Writes a robot file with an arm and a hand, and changes."""
    (tmp_path / "arm.urdf").write_text(ARM.format(mesh="package://meshes/flange.stl"))
    (tmp_path / "hand.urdf").write_text(HAND)
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "flange.stl").write_text("solid\nendsolid\n")

    def written(**changes: object) -> Path:
        hand = {"urdf": "hand.urdf", "link": "palm", "parent": "flange", "xyz": [0, 0, 0.1]}
        config = {
            "name": "both",
            "urdf": "arm.urdf",
            "package_dirs": ["."],
            "mounted": [hand | changes.pop("hand", {})],
            "frames": {"tool": {"parent": "palm", "xyz": [0, 0, 0.2]}},
            "base_frame": "base",
            "tool_frame": "tool",
            "arm": {"joints": ["lift"], "acceleration": 1.0, "jerk": 10.0},
            **changes,
        }
        path = tmp_path / "robot.yaml"
        path.write_text(yaml.safe_dump(config))
        return path

    return written


def test_a_part_of_another_urdf_is_mounted(write, tmp_path: Path) -> None:
    root = robot_urdf(load_robot_file(write()))
    assert link_names(root) == ["base", "flange", "palm", "finger", "tool"]
    assert [joint.get("name") for joint in root.findall("joint")] == [
        "lift",
        "palm_joint",
        "slide",
        "tool_joint",
    ]
    assert [material.get("name") for material in root.findall("material")] == ["red"]
    assert next(root.iter("mesh")).get("filename") == f"file://{tmp_path}/meshes/flange.stl"


@pytest.mark.slow
def test_a_mounted_hand_moves_with_the_arm_and_opens(tmp_path: Path) -> None:
    robot = load_robot(ROBOT_FILE.parent / "xarm7.yaml")
    q = robot.named["home"] + 0.1
    poses = robot.link_poses(q, 0.06)
    flange_T_hand = np.linalg.inv(poses["link_eef"]) @ poses["panda_hand"]
    np.testing.assert_allclose(flange_T_hand, np.eye(4), atol=1e-9)
    gap = poses["panda_leftfinger"][:3, 3] - poses["panda_rightfinger"][:3, 3]
    assert np.linalg.norm(gap) == pytest.approx(0.06)
    pairs = robot.pin_geometry.collisionPairs
    links = [
        {robot.pin_model.frames[robot.pin_geometry.geometryObjects[i].parentFrame].name for i in p}
        for p in ((pair.first, pair.second) for pair in pairs)
    ]
    assert {"link1", "panda_hand"} in links
    assert {"panda_leftfinger", "panda_hand"} not in links


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hand": {"link": "plam"}}, "mounted.link.*palm"),
        ({"hand": {"parent": "flage"}}, "mounted.parent.*flange"),
        ({"hand": {"urdf": "arm.urdf", "link": "flange"}}, "flange of .*arm.urdf are links of"),
        ({"hand": {"urdf": "robot.yaml"}}, "robot.yaml: not valid XML"),
        ({"hand": {"on": "flange"}}, "mounted.0.on: Extra inputs"),
        ({"frames": {"tool": {"parent": "plam"}}}, "frames.tool.parent.*palm"),
    ],
)
def test_faults_of_mounted_parts_are_named(write, changes, words: str) -> None:
    with pytest.raises((ValueError, KeyError), match=words):
        robot_urdf(load_robot_file(write(**changes)))


def test_what_a_file_holds_can_be_kept_elsewhere(write, tmp_path: Path) -> None:
    data = read_robot_file(write())
    assert data["urdf"] == str(tmp_path / "arm.urdf")
    assert data["mounted"][0]["urdf"] == str(tmp_path / "hand.urdf")
    assert data["package_dirs"] == [str(tmp_path)]


@pytest.mark.parametrize(
    "text",
    ["a: [1", "- 1", "3", "a: 2024-13-45", "a: !!int x", "a: !!timestamp x", "[" * 5000],
    ids=lambda text: text[:16],
)
def test_what_is_no_robot_file_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "robot.yaml").write_text(text)
    words = "not valid YAML|write a mapping|too deep in each other"
    with pytest.raises(ValueError, match=rf"robot\.yaml: .*({words})"):
        load_robot_file(tmp_path / "robot.yaml")


@pytest.mark.slow
def test_all_shipped_robots_have_the_frames_that_trees_name() -> None:
    for file in ROBOT_FILE.parent.glob("*.yaml"):
        config = load_robot_file(file)
        ElementTree.tostring(robot_urdf(config))
        if load_group_names(file):
            continue  # its tools are several
        assert config.tool_frame == "tool", file
        if config.gripper and config.gripper.joints:
            assert config.gripper.link == "gripper", file


def test_a_stream_is_a_driver_as_older_files_write_it_too():
    data = read_robot_file(ROBOT_FILE)
    for written in ("driver", "interface"):
        data["controllers"] = {"arm": "/arm", "stream": {written: "positions", "topic": "/arm/q"}}
        stream = stream_of(parse_robot_file(data, "panda").controllers)
        assert (stream.driver, stream.options) == ("positions", {"topic": "/arm/q"})
    data["controllers"] = {"arm": "/arm", "stream": {"topic": "/arm/q"}}
    with pytest.raises(ValueError, match=r"controllers\.stream\.driver: Field required"):
        parse_robot_file(data, "panda")


def test_without_a_stream_goals_replace_each_other():
    data = read_robot_file(ROBOT_FILE)
    data["controllers"] = {"arm": "/arm"}
    robot = parse_robot_file(data, "panda")
    stream = stream_of(robot.controllers)
    assert (stream.driver, stream.options) == ("replaced_goals", {"action": "/arm"})
    data["controllers"] = {"arm": {"driver": "mine"}}
    with pytest.raises(ValueError, match=r"controllers\.stream is missing"):
        stream_of(parse_robot_file(data, "panda").controllers)


@pytest.mark.slow
def test_an_unknown_driver_is_a_fault_of_the_file(tmp_path, capsys):
    text = ROBOT_FILE.read_text(encoding="utf-8")
    wrong = text.replace("driver: joint_trajectory", "driver: joint_trajektory")
    assert wrong != text
    file = tmp_path / "robot.yaml"
    file.write_text(wrong, encoding="utf-8")
    assert main([str(file)]) == 1
    told = capsys.readouterr().out
    assert (
        "controllers.stream: no driver 'joint_trajektory': choose one of joint_trajectory\n" in told
    )


@pytest.mark.slow
def test_only_drivers_of_the_same_part_are_named(tmp_path, capsys):
    text = ROBOT_FILE.read_text(encoding="utf-8")
    wrong = text.replace("driver: joint_trajectory", "driver: mine")
    file = tmp_path / "robot.yaml"
    file.write_text(wrong, encoding="utf-8")
    assert main([str(file)]) == 1
    names = "joint_trajectory, positions, replaced_goals\n"
    assert f"no driver 'mine': choose one of {names}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("section", "key", "value", "message"),
    [
        (
            "frames",
            "tool",
            {"parent": "palm", "xyz": [math.nan, 0, 0]},
            "frames.tool.xyz.0: .*finite",
        ),
        ("gripper", "joints", {"slide": math.inf}, "gripper.joints.slide: .*finite"),
        ("gripper", "joints", {"slide": 0.0}, "slide would not move; give a number but 0"),
        ("gripper", "closed_width", 0.2, "closed_width is more than open_width"),
        ("gripper", "max_speed", math.inf, "gripper.max_speed: .*finite"),
    ],
)
def test_numbers_that_cannot_be_are_named(
    write, section: str, key: str, value: object, message: str
) -> None:
    usual = {"frames": {}, "gripper": {"joints": {"slide": 1.0}, "open_width": 0.04}}
    file = write(**{section: usual[section] | {key: value}})
    with pytest.raises(ValueError, match=f"robot.yaml:[0-9]+: .*{message}"):
        load_robot_file(file)


@pytest.mark.parametrize(
    ("velocity", "got"),
    [
        (math.nan, "nan"),
        ([math.inf], "inf"),
        ({"lift": "fast"}, "'fast'"),
        ({1: 1.0}, "1"),
        ([[1.0]], r"\[1\.0\]"),
    ],
)
def test_limits_that_cannot_be_are_told_in_one_sentence(write, velocity, got: str) -> None:
    file = write(arm={"joints": ["lift"], "acceleration": 1.0, "jerk": 10.0, "velocity": velocity})
    with pytest.raises(ValueError, match=f":[0-9]+: arm.velocity: a finite number, .*got {got}$"):
        load_robot_file(file)


@pytest.mark.parametrize(
    ("velocity", "says"),
    [(math.nan, "a finite number"), (-1.0, "limits must be above zero"), ([1.0, 2.0], "shape")],
)
def test_a_fault_is_told_with_the_file_once_and_the_line(
    write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, velocity: object, says: str
) -> None:
    file = write(arm={"joints": ["lift"], "acceleration": 1.0, "jerk": 10.0, "velocity": velocity})
    (tmp_path / "meshes" / "flange.stl").unlink()
    (tmp_path / "arm.urdf").write_text(re.sub("<collision>.*</collision>", "", ARM))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=says) as caught:
        load_robot("robot.yaml")
    keys = [line.split(":")[0].strip() for line in file.read_text().splitlines()]
    line = 1 + keys.index("velocity")
    told = robot_file_fault("robot.yaml", caught.value)
    assert told.startswith(f"{file}:{line}: arm.velocity: {says}")


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    file.write_bytes(b"name: \xff\xfe")
    with pytest.raises(ValueError, match=r"robot\.yaml: not valid YAML"):
        load_robot_file(file)
