# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions with faults: each is told with its file, its link or joint, and what to do."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml

from behavior_motion import RobotModel, load_robot
from behavior_motion.__main__ import main
from behavior_motion.robot.model import robot_file_fault
from behavior_motion.robot.resources import resolve
from behavior_motion.robot.urdf_faults import urdf_faults
from behavior_motion.robot.xml_file import read_robot_xml

LIMIT = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'
SLIDE = '<limit lower="0" upper="0.04" velocity="1" effort="1"/>'


def link(name: str, shape: str = '<box size="0.1 0.1 0.1"/>') -> str:
    return f'<link name="{name}"><collision><geometry>{shape}</geometry></collision></link>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", more: str = LIMIT) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/><axis xyz="0 0 1"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{more}</joint>'


FIRST, SECOND = joint("first", "base", "upper"), joint("second", "upper", "lower")
ARM = [link("base"), link("upper"), link("lower"), FIRST, SECOND]
FINGERS = [
    *(link("left"), link("right")),
    joint("left_joint", "lower", "left", "prismatic", SLIDE),
    joint("right_joint", "lower", "right", "prismatic", SLIDE + '<mimic joint="left_joint"/>'),
]


def urdf(*parts: str) -> str:
    return f'<robot name="r">{"".join(parts)}</robot>'


def without(*parts: str) -> list[str]:
    return [part for part in ARM if part not in parts]


Load = Callable[..., RobotModel]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Writes URDF, SRDF and robot file, and loads them; what is wrong is a `ValueError` then."""

    def loaded(text: str, groups: str = "", **changes: object) -> RobotModel:
        (tmp_path / "robot.urdf").write_text(text)
        (tmp_path / "robot.srdf").write_text(f'<robot name="r">{groups}</robot>')
        arm = {"joints": ["first", "second"], "acceleration": 1.0, "jerk": 10.0}
        config = {"name": "r", "urdf": "robot.urdf", "base_frame": "base", "tool_frame": "lower"}
        if groups:
            arm = {"group": "arm", "acceleration": 1.0, "jerk": 10.0}
            config["srdf"] = "robot.srdf"
        path = tmp_path / "robot.yaml"
        path.write_text(yaml.safe_dump({**config, "arm": arm, **changes}))
        try:
            return load_robot(path)
        except (OSError, ValueError, KeyError) as error:
            raise ValueError(robot_file_fault(path, error)) from error

    return loaded


XACRO = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not valid XML"),
        ('<?xml version="1.0" encoding="foo"?><robot/>', "not valid XML: unknown encoding"),
        ("<sdf/>", "<robot> wanted, got <sdf>"),
        (urdf(), "there is no link"),
        ("<robot><link name='a'/></robot>", "the robot has no name"),
        (urdf("<link/>"), "a link has no name"),
        (urdf('<xacro:include filename="x"/>'), "unbound prefix.*run `xacro"),
        (f'{XACRO}<xacro:include filename="x"/></robot>', "<include> is for xacro; run `xacro"),
        (urdf(*ARM, ARM[2]), "link 'lower': there are several"),
        (urdf(*ARM, link("c"), joint("first", "base", "c")), "joint 'first': there are several"),
        (urdf(*ARM, link("c")), "links 'base', 'c': hang on nothing"),
        (urdf(*ARM, joint("third", "lower", "c")), "'third': child: there is no link 'c'"),
        (urdf(*ARM, joint("third", "lower", "base")), "'base', 'lower', 'upper': hang in a circle"),
        (
            urdf(*ARM, link("c"), link("d"), joint("cd", "c", "d"), joint("dc", "d", "c")),
            "links 'c', 'd': hang in a circle",
        ),
        (urdf(*ARM, joint("third", "base", "lower")), "'lower': hangs on both 'upper' and 'base'"),
    ],
)
def test_what_is_no_urdf_of_one_robot_is_said(load: Load, text: str, words: str) -> None:
    with pytest.raises(ValueError, match=rf"robot\.urdf: .*{words}"):
        load(text)


@pytest.mark.parametrize(
    ("kind", "more", "words"),
    [
        ("hinge", LIMIT, "type: one of revolute.* wanted, got 'hinge'"),
        ("revolute", "", "needs velocity and effort; .* is continuous"),
        ("prismatic", '<limit velocity="1"/>', "a prismatic joint needs effort"),
        ("revolute", LIMIT.replace('"-1"', '"-inf"'), "limit.lower: a finite number wanted"),
        ("revolute", LIMIT.replace('"-1"', '"${-pi}"'), "limit.lower: a finite number wanted"),
        ("revolute", LIMIT + '<origin xyz="nan 0 0"/>', "origin.xyz: 3 finite numbers wanted"),
        ("revolute", LIMIT + '<origin xyz="0 0"/>', "origin.xyz: 3 finite numbers wanted"),
    ],
)
def test_faults_of_joints_are_named(load: Load, kind: str, more: str, words: str) -> None:
    with pytest.raises(ValueError, match=rf"robot\.urdf: joint 'first': .*{words}"):
        load(urdf(*without(FIRST), joint("first", "base", "upper", kind, more)))


def test_a_joint_about_no_axis_is_refused(load: Load) -> None:
    with pytest.raises(ValueError, match="joint 'first': axis: a direction wanted"):
        load(urdf(*without(FIRST), FIRST.replace("0 0 1", "0 0 0")))


@pytest.mark.parametrize(
    "shape",
    [
        *('<box size="0 0 0"/>', '<box size="-1 1 1"/>', '<box size="nan 1 1"/>', "<box/>"),
        *('<box size="1 1"/>', '<sphere radius="-1"/>', '<cylinder radius="1"/>', ""),
        *('<capsule radius="1" length="1"/>', "<mesh/>", '<mesh filename="x" scale="0 1 1"/>'),
        '<mesh filename="x" scale="0.001"/>',
    ],
)
def test_no_link_loses_its_collision_geometry_without_a_word(load: Load, shape: str) -> None:
    with pytest.raises(ValueError, match=r"link 'lower': .*wanted|name the file"):
        load(urdf(*without(ARM[2]), link("lower", shape)))


def stl(*triangles: list[list[float]]) -> bytes:
    rows = [struct.pack("<12fH", 0, 0, 0, *np.ravel(t), 0) for t in triangles]
    return b"\0" * 80 + struct.pack("<I", len(rows)) + b"".join(rows)


CORNER: list[list[float]] = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
SOLID = stl(*(CORNER[:i] + CORNER[i + 1 :] for i in range(4)))
FLAT = stl([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[1, 0, 0], [1, 1, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (FLAT, "link 'lower': mesh .*part.stl: 4 corners that span no volume"),
        (stl(), "mesh .*part.stl cannot be read: STL: file is empty"),
        (SOLID[:120], "mesh .*part.stl cannot be read"),
        (
            stl([[np.nan, 0, 0], *CORNER[1:3]], *(CORNER[:i] + CORNER[i + 1 :] for i in range(4))),
            "link 'lower': mesh .*part.stl: contains NaN",
        ),
        (None, "link 'lower': mesh part.stl: no such file"),
    ],
    ids=["flat", "empty", "torn", "NaN", "missing"],
)
def test_faults_of_meshes_are_named(
    load: Load, tmp_path: Path, content: bytes | None, words: str
) -> None:
    if content is not None:
        (tmp_path / "part.stl").write_bytes(content)
    with pytest.raises(ValueError, match=words):
        load(urdf(*without(ARM[2]), link("lower", '<mesh filename="part.stl"/>')))


@pytest.mark.parametrize("address", ["m/part.stl", "./m/part.stl", "file://{}/m/part.stl"])
def test_meshes_lie_beside_the_urdf_too(load: Load, tmp_path: Path, address: str) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "part.stl").write_bytes(SOLID)
    mesh = f'<mesh filename="{address.format(tmp_path)}" scale="-0.1 0.1 0.1"/>'
    robot = load(urdf(*without(ARM[2]), link("lower", mesh)))
    assert "lower" in robot.collision_links


def test_a_package_that_is_not_found_is_told_with_the_link(load: Load) -> None:
    mesh = '<mesh filename="package://nowhere/part.stl"/>'
    with pytest.raises(ValueError, match=r"link 'lower': mesh package://nowhere.*package_dirs"):
        load(urdf(*without(ARM[2]), link("lower", mesh)))


@pytest.mark.slow
def test_no_urdf_of_real_robots_is_refused() -> None:
    share = resolve("wheel://cmeel.prefix/share/example-robot-data/robots", Path())
    files = sorted(share.rglob("*.urdf"))
    faults = {file.name: list(urdf_faults(read_robot_xml(file))) for file in files}
    # This one holds a comment alone.
    assert {name for name, found in faults.items() if found} <= {"ur3.urdf"}
    assert len(files) > 50


CHAIN = '<group name="arm"><chain base_link="base" tip_link="lower"/></group>'
GROUP = '<group name="arm">{}</group>'


@pytest.mark.parametrize(
    ("srdf", "joints"),
    [
        (CHAIN, ("first", "second")),
        (GROUP.format('<link name="lower"/><link name="upper"/>'), ("first", "second")),
        (GROUP.format('<link name="base"/><link name="upper"/>'), ("first",)),
        (GROUP.format('<group name="g"/>') + CHAIN.replace("arm", "g"), ("first", "second")),
        (CHAIN + '<passive_joint name="second"/>', ("first",)),
        (GROUP.format('<chain base_link="base" tip_link="right"/>'), ("first", "second")),
    ],
    ids=["chain", "links", "the base", "a group in it", "passive", "mimic"],
)
def test_an_srdf_groups_joints_that_are_driven(load: Load, srdf: str, joints: tuple) -> None:
    assert load(urdf(*ARM, *FINGERS), srdf).joint_names == joints


STATE = '<group_state name="s" group="arm"><joint name="first" value="{}"/></group_state>'


@pytest.mark.parametrize(
    ("srdf", "words"),
    [
        (CHAIN.replace("lower", "lowre"), "group 'arm': chain: no such name 'lowre'.*'lower'"),
        (GROUP.format('<link name="l"/>'), "group 'arm': link: no such name 'l'"),
        (GROUP.format('<joint name="frist"/>'), "group 'arm': joint: no such name 'frist'.*first"),
        (GROUP.format('<group name="g"/>'), "group: no such name 'g'"),
        (GROUP.format('<group name="arm"/>'), "'arm' contains itself: arm > arm"),
        (GROUP.format('<chain base_link="lower" tip_link="base"/>'), "'base' does not hang on"),
        (GROUP.format('<chain base_link="left" tip_link="right"/>'), "'right' does not hang on"),
        (CHAIN + STATE.format("up"), "group_state 's': 'first': a finite number wanted, got 'up'"),
        (CHAIN + STATE.format("nan"), "group_state 's': 'first': a finite number wanted"),
        ("<xacro:macro/>", "unbound prefix"),
    ],
)
def test_faults_of_an_srdf_are_named(load: Load, srdf: str, words: str) -> None:
    with pytest.raises(ValueError, match=rf"robot\.srdf: .*{words}"):
        load(urdf(*ARM, *FINGERS), srdf)


@pytest.mark.parametrize("key", ["urdf", "srdf"])
def test_a_folder_in_place_of_a_file_is_said(load: Load, key: str) -> None:
    with pytest.raises(ValueError, match="a file wanted, this is a folder"):
        load(urdf(*ARM), **{key: "."})


HAND = {"joints": {"left_joint": 0.5, "right_joint": 0.5}, "open_width": 0.08}
NARROW = LIMIT.replace('upper="1"', 'upper="-1"')


@pytest.mark.parametrize(
    ("parts", "changes", "words"),
    [
        (
            [*without(FIRST), joint("first", "base", "upper", "continuous")],
            {},
            r"yaml:\d+: arm.joints: 'first' is continuous",
        ),
        (
            [*without(FIRST), joint("first", "base", "upper", more=NARROW)],
            {},
            r"yaml:\d+: arm: the lower limit of 'first', -1, is not below",
        ),
        (
            [*without(FIRST), FIRST.replace('velocity="1"', 'velocity="0"')],
            {},
            r"yaml:\d+: arm.velocity: limits must be above zero, that of 'first' is 0",
        ),
        (
            [*without(SECOND), SECOND.replace("<axis", '<mimic joint="first"/><axis')],
            {},
            r"yaml:\d+: arm.joints: 'second' follows 'first'",
        ),
        (
            [*ARM, link("c"), joint("third", "lower", "c", more=LIMIT + '<mimic joint="first"/>')],
            {},
            r"arm.joints: 'third' follows 'first' .* which plans would not know",
        ),
        (
            ARM,
            {"arm": {"joints": ["first", "first"], "acceleration": 1.0, "jerk": 1.0}},
            r"yaml:\d+: arm: joints: first stand there twice",
        ),
        (
            [*ARM, *FINGERS],
            {"gripper": HAND | {"open_width": 80.0}},
            r"yaml:\d+: gripper.open_width: 80 m takes 'left_joint' to 40, .* 0 and 0.04",
        ),
        (
            [*ARM, *FINGERS],
            {"gripper": HAND | {"joints": {"second": 0.5}}},
            r"yaml:\d+: gripper.joints: second are joints of the arm too",
        ),
        (
            [*ARM, *FINGERS[:2], FINGERS[2].replace("prismatic", "continuous"), FINGERS[3]],
            {"gripper": HAND},
            r"yaml:\d+: gripper.joints: 'left_joint' is continuous",
        ),
        (ARM, {"workspace": {"inner": 2.0, "outer": 1.0}}, r"inner, 2, is not below outer, 1"),
        (ARM, {"workspace": {"outer": 1.0, "low": 2.0}}, r"low, 2, is not below high, 0.9"),
    ],
)
def test_joints_that_cannot_be_planned_for_are_named(
    load: Load, parts: list[str], changes: dict, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        load(urdf(*parts), **changes)


def test_a_finger_that_follows_and_was_left_out_is_a_fault(
    load: Load, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    load(urdf(*ARM, *FINGERS), gripper=HAND | {"joints": {"left_joint": 1.0}, "open_width": 0.04})
    assert main([str(tmp_path / "robot.yaml")]) == 1
    assert "'right_joint' follows 'left_joint'" in capsys.readouterr().out


def test_frames_that_the_urdf_has_are_its_links(load: Load) -> None:
    """A file may name them all the same; they hang where the URDF has them."""
    frames = {"lower": {"parent": "lower"}, "upper": {"parent": "base"}, "tip": {"parent": "lower"}}
    robot = load(urdf(*ARM), frames=frames, tool_frame="tip")
    assert robot.urdf_links == ("base", "upper", "lower")
    assert robot.carrier("tip")[0] == "lower"
    assert robot.carrier("lower")[0] == "lower"
    assert robot.carrier("upper")[0] == "upper"


def test_joints_may_have_the_names_of_links(load: Load) -> None:
    parts = [FIRST.replace('"first"', '"upper"'), SECOND.replace('"second"', '"lower"')]
    arm = {"joints": ["upper", "lower"], "acceleration": 1.0, "jerk": 10.0}
    robot = load(urdf(*ARM[:3], *parts), arm=arm, frames={"base_tip": {"parent": "base"}})
    np.testing.assert_allclose(robot.forward_kinematics([0.0, 0.0], "lower"), np.eye(4), atol=1e-12)
    assert load(urdf(*ARM[:3], *parts), CHAIN).joint_names == ("upper", "lower")


def test_a_frame_does_not_take_a_joint_its_name(load: Load) -> None:
    fixed = joint("tip_joint", "base", "c", "fixed", "")
    robot = load(urdf(*ARM, link("c"), fixed), frames={"tip": {"parent": "lower"}})
    assert "tip" in robot.frame_names
