# SPDX-License-Identifier: Apache-2.0
"""Robots of several arms: groups of joints that are planned each by itself, beside the others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from conftest import ROBOT_FILE

from behavior_motion import RobotModel, create_planner, load_robot
from behavior_motion.__main__ import main
from behavior_motion.collision.other_links import place_other_links
from behavior_motion.robot import robot_file
from behavior_motion.robot.groups import resources
from behavior_motion.robot.robot_file import (
    load_group_names,
    load_resources,
    load_robot_file,
    parse_robot_file,
    read_robot_file,
)

TIAGO = ROBOT_FILE.parent / "tiago_pro.yaml"
OTHER_HAND_THERE = [-3.8, -2.01, 0.4, -1.72, 0.94, 0.51, -1.93]
"""Of the right arm [rad], with its hand where the left one is when it is ready."""


@pytest.fixture(scope="module")
def left() -> RobotModel:
    """The left arm of a robot with two."""
    return load_robot(TIAGO, group="left_arm")


@pytest.fixture(scope="module")
def whole() -> RobotModel:
    """All of that robot."""
    return load_robot(TIAGO)


def posture(**joints: float) -> dict[str, float]:
    """Positions of the other groups: torso and right arm at home, and changes."""
    right = load_robot_file(TIAGO, group="right_arm")
    return dict(zip(right.arm.joints, right.named["home"], strict=True)) | joints


def test_a_group_is_a_robot_of_its_own(left: RobotModel) -> None:
    assert load_group_names(TIAGO) == ("left_arm", "right_arm", "torso", "head")
    assert left.joint_names == tuple(f"arm_left_{i}_joint" for i in range(1, 8))
    assert (left.base_frame, left.tool_frame) == ("torso_lift_link", "left_tool")
    assert left.gripper.link == "gripper_left_base_link"
    controllers = left.config.controllers
    assert controllers.arm.options["action"] == "arm_left_controller/follow_joint_trajectory"
    assert controllers.base.driver == "cmd_vel", "what the file says for all holds for a group"


def test_both_arms_are_mirror_images(left: RobotModel, whole: RobotModel) -> None:
    right = load_robot_file(TIAGO, group="right_arm")
    q = dict(zip(left.joint_names, left.named["ready"], strict=True))
    q |= dict(zip(right.arm.joints, right.named["ready"], strict=True))
    poses = whole.link_poses([q.get(joint, 0.0) for joint in whole.joint_names])
    over = poses["left_tool"][:3, 3] * [1.0, -1.0, 1.0]
    assert poses["right_tool"][:3, 3] == pytest.approx(over, abs=2e-3)


def test_the_rest_of_the_robot_is_where_the_whole_robot_has_it(
    left: RobotModel, whole: RobotModel
) -> None:
    joints = posture(torso_lift_joint=0.2, head_1_joint=0.5)
    links = whole.link_poses([joints.get(joint, 0.0) for joint in whole.joint_names])
    found = left.others.poses(joints)
    base_T_root = np.linalg.inv(links["torso_lift_link"])
    geometries = {g.name: g for g in whole.pin_geometry.geometryObjects}
    assert "robot/arm_right_7_link_0" in found
    assert "robot/base_link_0" in found
    for name, pose in found.items():
        item = geometries[name.removeprefix("robot/")]
        link = whole.pin_model.frames[item.parentFrame].name
        frame_T_shape = whole.pin_model.frames[item.parentFrame].placement.inverse()
        expected = base_T_root @ links[link] @ (frame_T_shape * item.placement).homogeneous
        assert pose == pytest.approx(expected, abs=1e-9), name


def test_what_other_links_may_touch_is_asked_of_links_of_the_group_alone(left: RobotModel) -> None:
    """All pairs that a robot disables were rules of the scene: four hundred, and 30 ms."""
    asked = {link for _, link in left.others.may_touch}
    assert asked <= set(left.collision_links)
    assert ("robot/arm_right_2_link_0", "arm_left_2_link") in left.others.may_touch


@pytest.mark.slow
def test_an_arm_keeps_clear_of_the_other_one(left: RobotModel) -> None:
    planner = create_planner(left, "embedded")
    place_other_links(planner.scene, posture(torso_lift_joint=0.1))
    home, ready = left.named["home"], left.named["ready"]
    assert planner.plan_to_joints(home, ready).ok
    right = load_robot_file(TIAGO, group="right_arm").arm.joints
    there = dict(zip(right, OTHER_HAND_THERE, strict=True)) | {"torso_lift_joint": 0.1}
    place_other_links(planner.scene, there)
    assert planner.check_state(home).ok
    plan = planner.plan_to_joints(home, ready)
    assert not plan.ok
    assert "robot/" in plan.message


def test_turning_fingers_have_a_width(left: RobotModel, whole: RobotModel) -> None:
    """The gap between the tips is where the model of the fingers has them, within 3 mm."""
    off = []
    for width in np.linspace(left.gripper.closed_width, left.gripper.open_width, 8):
        joints = left.gripper.joint_positions(width)
        assert left.gripper.width(joints) == pytest.approx(width)
        fingers = dict(zip(left.gripper.joint_names, joints, strict=True))
        poses = whole.link_poses([fingers.get(joint, 0.0) for joint in whole.joint_names])
        tips = [poses[f"gripper_left_fingertip_{side}_link"] for side in ("left", "right")]
        assert tips[0][:3, 1] == pytest.approx(tips[1][:3, 1], abs=1e-2), "the tips stay parallel"
        off.append(np.linalg.norm(tips[0][:3, 3] - tips[1][:3, 3]) - width)
    assert np.ptp(off) < 6e-3


def changed(**changes: Any) -> dict[str, Any]:
    data = read_robot_file(TIAGO)
    torso = dict(data["groups"]["torso"])
    torso |= changes.pop("torso", {})
    return data | {"groups": data["groups"] | {"torso": torso}} | changes


def test_what_is_commanded_together_is_made_of_groups() -> None:
    found = load_resources(TIAGO)
    assert found["left_arm arm"] == {"left_arm arm"}
    assert found["left_arm"] == {"left_arm arm", "left_arm gripper"}
    assert found["both_arms arm"] == {"left_arm arm", "right_arm arm"}
    assert found["both_arms gripper"] == {"left_arm gripper", "right_arm gripper"}
    assert found["upper_body arm"] >= {"torso arm", "head arm"}
    assert found["head gripper"] == frozenset(), "a head has no fingers"
    driven = resources(changed(combined={"all": ["base", "left_arm"]}))
    assert driven["all arm"] == {"base", "left_arm arm"}
    assert load_resources(ROBOT_FILE) == {}, "a robot of one arm has nothing to combine"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (changed(groups={}), "groups: write a mapping of names"),
        (changed(groups={"Arm 1": {}}), "'Arm 1' is no name"),
        (changed(groups={"arm": []}), "groups.arm: write a mapping"),
        (changed(torso={"tool": "x"}), "groups.torso: unknown tool; known are base_frame"),
        (changed(torso={"arm": {"group": "torso"}}), "groups.torso.arm.joints: name the joints"),
        (changed(torso={"arm": {"joints": -1.0}}), "groups.torso.arm.joints: name the joints"),
        (changed(torso={"arm": {"joints": [1.0]}}), "groups.torso.arm.joints: name the joints"),
        (changed(torso={"gripper": {"joints": {1: 1.0}}}), "groups.torso.gripper.joints: write a"),
        (
            changed(torso={"gripper": {"joints": -1.0, "open_width": 0.1}}),
            "groups.torso.gripper.joints: Input should be a valid dictionary",
        ),
        (changed(torso={"base_frame": 3}), "groups.torso.base_frame: Input should be a valid str"),
        (changed(tool_frame="left_tool"), "tool_frame: in a file with groups these are of a group"),
        (
            changed(torso={"arm": {"joints": ["head_1_joint"], "acceleration": 1, "jerk": 1}}),
            "head_1_joint are of two groups",
        ),
        (changed(combined=[]), "combined: write a mapping of names to lists"),
        (changed(combined={"torso": ["head"]}), "combined: 'torso' is no name"),
        (changed(combined={"base": ["head"]}), "combined: 'base' is no name"),
        (changed(combined={"both": []}), "combined.both: list the groups"),
        (changed(combined={"both": "head"}), "combined.both: list the groups"),
        (changed(combined={"both": ["legs"]}), "combined.both: no such name 'legs'"),
        (changed(other_joints=["a"]), "unknown other_joints; groups are written below"),
    ],
)
def test_what_is_wrong_with_groups_is_said(data: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"robot: .*{message}"):
        parse_robot_file(data, "robot", group="left_arm")


def test_the_line_of_a_wrong_key_is_told(tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    lines = TIAGO.read_text(encoding="utf-8").splitlines()
    for key, value, message in (
        (
            "      acceleration",
            ".nan",
            "groups.left_arm.arm.acceleration: a fi",
        ),
        ("      joints", "-1.0", "groups.left_arm.arm.joints: name the joints"),
    ):
        at = next(i for i, line in enumerate(lines) if line.startswith(f"{key}: "))
        file.write_text("\n".join([*lines[:at], f"{key}: {value}", *lines[at + 1 :]]))
        with pytest.raises(ValueError, match=f"^{re.escape(str(file))}:{at + 1}: {message}"):
            load_robot_file(file)
    for load in (load_group_names, load_resources):
        with pytest.raises(ValueError, match=f"^{re.escape(str(file))}:{at + 1}: groups.left_arm"):
            load(file)


def test_unknown_groups_are_named() -> None:
    with pytest.raises(ValueError, match="did you mean 'left_arm'"):
        load_robot_file(TIAGO, group="left_arn")
    with pytest.raises(ValueError, match=r"has no groups, so none called 'arm'"):
        load_robot_file(ROBOT_FILE, group="arm")


def test_a_file_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    def counted(path: str | Path) -> dict[str, Any]:
        read.append(path)
        return read_robot_file(path)

    monkeypatch.setattr(robot_file, "read_robot_file", counted)
    load_robot(TIAGO, group="torso")
    with pytest.raises(KeyError, match="gone"):  # of its SRDF
        load_robot(ROBOT_FILE, group="gone")
    robot_file.load_drive(TIAGO)
    assert read == [TIAGO, ROBOT_FILE, TIAGO]


def test_zero_positions_are_of_the_fingers(tmp_path: Path) -> None:
    data = read_robot_file(ROBOT_FILE)
    data["gripper"]["zero"] = {"finger": 0.1}
    with pytest.raises(ValueError, match="zero names finger, which joints does not"):
        parse_robot_file(data, "panda")


@pytest.mark.slow
def test_each_group_is_examined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = read_robot_file(TIAGO)
    data["groups"] = {name: data["groups"][name] for name in ("torso", "head")}
    data["combined"] = {"sight": ["torso", "head"]}
    path = tmp_path / "robot.yaml"
    path.write_text(yaml.safe_dump(data))
    assert main([str(path)]) == 0
    report = capsys.readouterr().out
    assert "tiago_pro, torso: 1 joints" in report
    assert "tiago_pro, head: 2 joints" in report
    assert report.count("can be planned for") == 2


@pytest.mark.slow
def test_one_joint_has_a_jacobian() -> None:
    torso = load_robot(TIAGO, group="torso")
    assert torso.jacobian([0.1]).ravel() == pytest.approx([0, 0, 1, 0, 0, 0])
    assert torso.forward_kinematics([0.2])[2, 3] - torso.forward_kinematics([0.0])[2, 3] == (
        pytest.approx(0.2)
    )
