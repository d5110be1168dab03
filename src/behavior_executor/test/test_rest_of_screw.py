# SPDX-License-Identifier: Apache-2.0
"""A screw with an absolute end: what is left of it, whatever was done before."""

from __future__ import annotations

import math

import numpy as np
import pytest
from geometry_msgs.msg import Pose
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from test_scene_conditions import FAILURE, SUCCESS, FakeScene, TickedTree, box

from behavior_ros import matrix_to_pose, pose_to_matrix
from behavior_ros.messages.field_values import message_from_text

AXIS = "1;0.5;0.3;0.1;-0.2;0.3;0.9274"
OUTPUTS = 'rotation="{turn}" translation="{along}"'


def screwed(pose: np.ndarray, axis: np.ndarray, rotation: float, translation: float) -> np.ndarray:
    """A pose moved about and along the x axis of another: the closed form of a screw."""
    step = np.eye(4)
    step[:3, :3] = Rotation.from_rotvec([rotation, 0.0, 0.0]).as_matrix()
    step[0, 3] = translation
    moved: np.ndarray = axis @ step @ np.linalg.inv(axis) @ pose
    return moved


class Rig:
    """A post that bears an axis, a tool, and a node that asks what is left."""

    def __init__(self, end: str, axis: str = f"post;{AXIS}") -> None:
        self.scene = FakeScene(box("post", 0.4, -0.2, 0.1, yaw=0.7))
        self.post = self.scene.snapshot.bodies["post"].pose
        self.axis = self.post @ pose_to_matrix(message_from_text(Pose, AXIS))
        xml = f'<RestOfScrew axis="{axis}" frame="tool" {end} {OUTPUTS}/>'
        self.asked = TickedTree(self.scene, xml)

    def left(self, tool: np.ndarray) -> tuple[float, float]:
        self.scene.frames["tool"] = tool
        assert self.asked.tick() is SUCCESS, self.asked.reason
        get = self.asked.blackboard.get
        return get("turn"), get("along")

    def at(self, angle: float, along: float, radius: float = 0.3) -> np.ndarray:
        tool = np.eye(4)
        tool[:3, 3] = along, 0.0, radius
        return screwed(self.axis @ tool, self.axis, angle, 0.0)


ANGLES = st.floats(-3.1, 3.1)
PLACES = st.floats(-1.0, 1.0)


@given(begin=ANGLES, end=ANGLES, place=PLACES, goal=PLACES)
def test_what_is_left_leads_to_the_end_from_anywhere(
    begin: float, end: float, place: float, goal: float
) -> None:
    rig = Rig(f'angle="{end}" along="{goal}" angle_tolerance="1e-6" along_tolerance="1e-6"')
    tool = rig.at(begin, place)
    turn, along = rig.left(tool)
    assert abs(turn) <= math.pi
    there = screwed(tool, rig.axis, turn, along)
    np.testing.assert_allclose(there[:3, 3], rig.at(end, goal)[:3, 3], atol=1e-5)
    assert rig.left(there) == (0.0, 0.0)


def test_a_screw_that_was_broken_off_goes_on_and_one_that_is_done_does_not() -> None:
    rig = Rig('angle="0.9"')
    tool = rig.at(0.2, 0.0)
    turn, along = rig.left(tool)
    assert (turn, along) == (pytest.approx(0.7), 0.0)
    half = screwed(tool, rig.axis, 0.4 * turn, 0.0)
    assert rig.left(half)[0] == pytest.approx(0.6 * 0.7)
    assert rig.left(screwed(tool, rig.axis, turn + 0.01, 0.05)) == (0.0, 0.0)
    assert rig.left(rig.at(1.1, 0.0))[0] == pytest.approx(-0.2), "too far: back"


def test_a_drawer_is_pulled_to_a_place() -> None:
    rig = Rig('along="0.25"')
    assert rig.left(rig.at(0.5, 0.1)) == (0.0, pytest.approx(0.15))
    assert rig.left(rig.at(0.5, 0.1, radius=0.0)) == (0.0, pytest.approx(0.15)), "on the axis"
    assert rig.left(rig.at(2.0, 0.252)) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("end", "axis", "radius", "reason"),
    [
        ("", f"post;{AXIS}", 0.3, "neither angle nor along"),
        ('angle="1"', f"post;{AXIS}", 0.004, "tool is 4 mm from the axis, where its place has no"),
        ('angle="1"', f"door;{AXIS}", 0.3, "'door' is no object (post), and no frame"),
        ('angle="1"', AXIS, 0.3, "'' is no object (post), and no frame"),
    ],
)
def test_what_cannot_be_measured_is_said(end: str, axis: str, radius: float, reason: str) -> None:
    rig = Rig(end, axis)
    rig.scene.frames["tool"] = rig.at(0.0, 0.0, radius)
    assert rig.asked.tick() is FAILURE
    assert reason in rig.asked.reason


def test_the_mirrored_one_is_left_as_much_the_other_way() -> None:
    """As `mirror` writes it: the axis's x and z axes reflected, the angle negative."""
    mirror = np.diag([1.0, -1.0, 1.0, 1.0])
    axis, tool = Rig("").axis, Rig("").at(0.3, 0.1)
    axis_there = mirror @ axis @ mirror
    pose = matrix_to_pose(axis_there)
    p, q = pose.position, pose.orientation
    text = ";".join(map(repr, (p.x, p.y, p.z, q.x, q.y, q.z, q.w)))
    here, there = Rig('angle="0.9"'), Rig('angle="-0.9"', f"world;{text}")
    there.scene.frames["world"] = np.eye(4)
    assert there.left(mirror @ tool @ mirror)[0] == pytest.approx(-here.left(tool)[0])
