# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from conftest import ROBOT_FILE
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from behavior_motion import RobotModel, create_planner, load_robot
from behavior_motion.robot.robot_file import load_group_names, read_robot_file

# Modified Denavit-Hartenberg parameters of the Panda from its maker's documentation
# (a, d, alpha), written out here as an independent closed form.
DH = [
    (0.0, 0.333, 0.0),
    (0.0, 0.0, -np.pi / 2),
    (0.0, 0.316, np.pi / 2),
    (0.0825, 0.0, np.pi / 2),
    (-0.0825, 0.384, -np.pi / 2),
    (0.0, 0.0, np.pi / 2),
    (0.088, 0.0, np.pi / 2),
]


def closed_form(q: np.ndarray) -> np.ndarray:
    pose = np.eye(4)
    for (a, d, alpha), theta in zip(DH, q, strict=True):
        ct, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
        pose = pose @ np.array(
            [
                [ct, -s, 0, a],
                [s * ca, ct * ca, -sa, -d * sa],
                [s * sa, ct * sa, ca, d * ca],
                [0, 0, 0, 1],
            ]
        )
    turn = np.eye(4)
    c = np.cos(-np.pi / 4)
    turn[:2, :2] = [[c, c], [-c, c]]
    turn[2, 3] = 0.107 + 0.1034
    return pose @ turn


def test_forward_kinematics_agrees_with_the_closed_form(robot: RobotModel) -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        q = robot.random_configuration(rng)
        np.testing.assert_allclose(robot.forward_kinematics(q), closed_form(q), atol=1e-9)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_jacobian_agrees_with_differences(seed: int) -> None:
    robot = load_robot(ROBOT_FILE)
    q = robot.random_configuration(np.random.default_rng(seed))
    h = 1e-6
    jacobian = robot.jacobian(q)
    for i in range(robot.dof):
        ahead, behind = q.copy(), q.copy()
        ahead[i] += h
        behind[i] -= h
        a, b = robot.forward_kinematics(ahead), robot.forward_kinematics(behind)
        np.testing.assert_allclose(jacobian[:3, i], (a - b)[:3, 3] / (2 * h), atol=1e-6)
        spin = (a - b)[:3, :3] @ robot.forward_kinematics(q)[:3, :3].T / (2 * h)
        expected = [spin[2, 1], spin[0, 2], spin[1, 0]]
        np.testing.assert_allclose(jacobian[3:, i], expected, atol=1e-6)


def test_link_poses_hold_every_frame_and_the_fingers_open(robot: RobotModel) -> None:
    q = robot.named["home"]
    poses = robot.link_poses(q, 0.06)
    assert {"panda_link0", "tool", "panda_leftfinger"} <= set(poses)
    np.testing.assert_allclose(poses["panda_link0"], np.eye(4), atol=1e-12)
    np.testing.assert_allclose(poses["tool"], robot.forward_kinematics(q), atol=1e-12)
    gap = poses["panda_leftfinger"][:3, 3] - poses["panda_rightfinger"][:3, 3]
    assert np.linalg.norm(gap) == pytest.approx(0.06)


def test_poses_in_the_frames_above_are_those_between_the_links(robot: RobotModel) -> None:
    frames = [
        ("panda_link2", "panda_link3"),
        ("panda_link7", "tool"),
        ("panda_hand", "panda_leftfinger"),
    ]
    rng = np.random.default_rng(1)
    for _ in range(20):
        q, width = robot.random_configuration(rng), rng.uniform(0.0, 0.08)
        poses = robot.link_poses(q, width)
        found = robot.poses_above(frames, q, width)
        for (upper, frame), numbers in zip(frames, found, strict=True):
            pose = np.linalg.solve(poses[upper], poses[frame])
            np.testing.assert_allclose(numbers[:3], pose[:3, 3], atol=1e-12)
            turn = Rotation.from_quat(numbers[3:]).as_matrix()
            np.testing.assert_allclose(turn, pose[:3, :3], atol=1e-12)


def test_limits_and_gripper(robot: RobotModel) -> None:
    assert robot.joint_names[0] == "panda_joint1"
    assert robot.velocity_limits.tolist() == [2.175] * 4 + [2.61] * 3
    assert robot.gripper.width(robot.gripper.joint_positions(0.05)) == pytest.approx(0.05)
    with pytest.raises(ValueError, match="read-only"):
        robot.lower[0] = 0.0


def test_arguments_are_named_in_errors(robot: RobotModel) -> None:
    with pytest.raises(ValueError, match=r"q: shape \(7,\) wanted"):
        robot.forward_kinematics([0.0] * 6)
    with pytest.raises(ValueError, match="NaN"):
        robot.forward_kinematics([np.nan] * 7)
    with pytest.raises(KeyError, match="tool"):
        robot.forward_kinematics([0.0] * 7, "tol")


def changed(tmp_path: Path, **changes: object) -> Path:
    config = yaml.safe_load(ROBOT_FILE.read_text())
    config.update(changes)
    path = tmp_path / "robot.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


@pytest.mark.slow
def test_faults_of_a_robot_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such robot file"):
        load_robot(tmp_path / "absent.yaml")
    with pytest.raises(ValueError, match="wheels"):
        load_robot(changed(tmp_path, wheels=4))
    with pytest.raises(FileNotFoundError, match="looked for"):
        load_robot(changed(tmp_path, urdf="wheel://nowhere/x.urdf"))
    with pytest.raises(KeyError, match="panda_link0"):
        load_robot(changed(tmp_path, base_frame="panda_link_0"))
    with pytest.raises(ValueError, match=r"named\.home"):
        load_robot(changed(tmp_path, named={"home": [9.0] * 7}))
    arm = yaml.safe_load(ROBOT_FILE.read_text())["arm"]
    with pytest.raises(KeyError, match="panda_joint1"):
        load_robot(changed(tmp_path, arm={**arm, "joints": ["joint1", *arm["joints"][1:]]}))


@pytest.mark.slow
@pytest.mark.parametrize(
    "file",
    [file for file in sorted(ROBOT_FILE.parent.glob("*.yaml")) if not load_group_names(file)],
    ids=lambda f: f.stem,
)
def test_shipped_robots_plan(file: Path) -> None:
    robot = load_robot(file)
    assert robot.name == file.stem
    planner = create_planner(robot)
    home = robot.named["home"]
    assert planner.check_state(home).ok
    target = robot.forward_kinematics(home)
    target[:3, 3] += [0.05, 0.1, 0.05]
    assert planner.plan_to_pose(home, target).ok
    assert planner.plan_cartesian(home, target).ok


@pytest.mark.slow
def test_pairs_may_be_disabled(tmp_path: Path) -> None:
    file = ROBOT_FILE.parent / "ur10.yaml"
    config = read_robot_file(file)
    pairs = load_robot(file).pin_geometry.collisionPairs
    config["disabled_collisions"] += [["forearm_link", "wrist_3_link"]]
    path = tmp_path / "robot.yaml"
    path.write_text(yaml.safe_dump(config))
    assert len(load_robot(path).pin_geometry.collisionPairs) == len(pairs) - 1
    config["disabled_collisions"] = [["forearm", "wrist_2_link"]]
    path.write_text(yaml.safe_dump(config))
    with pytest.raises(KeyError, match="forearm_link"):
        load_robot(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("joints", "pair"),
    [
        ([-0.89, -2.49, -2.53, 0.30, 1.57, 2.24], None),
        ([-2.24, -2.74, -1.22, -0.75, -1.57, 1.07], None),
        ([-3.36, -2.84, -1.90, 0.03, 1.57, -4.93], None),
        ([0.0, -1.57, 3.0, 0.0, 0.0, 0.0], {"upper_arm_link", "wrist_1_link"}),
        ([-2.8, -1.9, 1.0, 0.4, -2.0, 2.7], {"forearm_link", "suction_cup"}),
    ],
    ids=["low before it", "upside down", "folded far round", "elbow shut", "cup at the forearm"],
)
def test_the_ur10_folds_until_it_touches_itself(joints: list[float], pair: set[str] | None) -> None:
    planner = create_planner(load_robot(ROBOT_FILE.parent / "ur10.yaml"))
    found = [set(names[:2]) for names in planner.check_state(np.array(joints)).pairs]
    assert pair in found if pair else not found


def test_another_robot_by_configuration_alone(tmp_path: Path) -> None:
    path = tmp_path / "ur5.yaml"
    base = "wheel://cmeel.prefix/share/example-robot-data/robots/ur_description"
    names = ["shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3"]
    path.write_text(
        yaml.safe_dump(
            {
                "name": "ur5",
                "urdf": f"{base}/urdf/ur5_robot.urdf",
                "srdf": f"{base}/srdf/ur5.srdf",
                "package_dirs": ["wheel://cmeel.prefix/share"],
                "base_frame": "base_link",
                "tool_frame": "cup",
                "frames": {"cup": {"parent": "tool0", "xyz": [0.0, 0.0, 0.1]}},
                "arm": {
                    "joints": [f"{n}_joint" for n in names],
                    "acceleration": [8.0] * 6,
                    "jerk": [200.0] * 6,
                },
            }
        )
    )
    robot = load_robot(path)
    assert robot.dof == 6
    assert robot.gripper.joint_names == ()
    q = np.array([0.1, -1.0, 1.2, -1.5, -1.5, 0.3])
    pose = robot.forward_kinematics(q)
    offset = np.linalg.inv(robot.forward_kinematics(q, "tool0")) @ pose
    np.testing.assert_allclose(offset[:3, 3], [0, 0, 0.1], atol=1e-12)
    planner = create_planner(robot)
    plan = planner.plan_to_pose(q, planner.robot.forward_kinematics(q + 0.3))
    assert plan.ok, plan.message
