# SPDX-License-Identifier: Apache-2.0
"""Mirrored about any plane; twice is the identity."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_tree import BehaviorTreeFactory, LogicError
from behavior_tree.authoring import register_authoring_nodes
from behavior_tree.editing import TreeFiles
from behavior_tree.editing.mirror import MirrorPlane, _value, mirror
from behavior_tree.placeholders import register_placeholders

MODEL = """<root BTCPP_format="4"><TreeNodesModel>
  <Action ID="Move"><input_port name="pose" type="geometry_msgs.msg._pose_stamped.PoseStamped"/>
    <input_port name="path" type="nav_msgs.msg._path.Path"/>
    <input_port name="way" type="list[geometry_msgs.msg._point.Point]"/>
    <input_port name="arm" type="std::string"/></Action>
  <Action ID="Screw"><input_port name="axis" type="geometry_msgs.msg._pose_stamped.PoseStamped"/>
    <input_port name="rotation" type="double"/></Action>
  <Action ID="RestOfScrew"><input_port name="angle" type="double"/></Action>
  <Action ID="MoveBase"><input_port name="angle" type="double"/></Action>
</TreeNodesModel></root>"""
MAIN = """<root BTCPP_format="4" main_tree_to_execute="Main">
  <BehaviorTree ID="Main">
    <Sequence name="bright LeftArm" _skipIf="a &gt; 'bright'">
      <Move   name="left hand" arm='right_arm' pose="left_hand;1.50;2;-3" way="1;2;3|4;-5;6"/>
      <Screw axis="door;0;0.1;0;0;-0.70711;0;0.70711" rotation="0.5"/>
      <SubTree ID="Inner" at="1;0.25;0"/>
      <Move path="odom;1;0.75;0;0;0;0.6;0.8|2;-0.5;0"/>
      <MoveBase angle="-0.25"/>
      <RestOfScrew angle="0.9"/>
    </Sequence>
  </BehaviorTree>
  <BehaviorTree ID="Inner"><Move arm="upright" pose="{at}" way="{way}"/></BehaviorTree>
</root>
"""


def opened(folder, text=MAIN):
    path = folder / "main.xml"
    path.write_text(text)
    factory = BehaviorTreeFactory()
    register_authoring_nodes(factory)
    register_placeholders(factory, MODEL)
    return TreeFiles(path, factory), path


def test_poses_sides_and_turns_change_their_side(tmp_path):
    files, path = opened(tmp_path)
    notes = mirror(files, "Main")
    mirrored = files.data[path].decode()
    for old, new in (
        ('"bright LeftArm" _skipIf="a &gt;', '"bright RightArm" _skipIf="a &gt;'),
        ('"left hand"', '"right hand"'),
        ("'right_arm'", "'left_arm'"),
        ("left_hand;1.50;2;-3", "right_hand;1.50;-2;-3"),
        ("1;2;3|4;-5;6", "1;-2;3|4;5;6"),
        ("door;0;0.1;", "door;0;-0.1;"),
        ('rotation="0.5"', 'rotation="-0.5"'),
        ("1;0.25;0", "1;-0.25;0"),
        ("odom;1;0.75;0;0;0;0.6;0.8|2;-0.5;0", "odom;1;-0.75;0;0;0;-0.6;0.8|2;0.5;0"),
        ('angle="-0.25"', 'angle="0.25"'),
        ('angle="0.9"', 'angle="-0.9"'),
    ):
        assert old not in mirrored
        assert new in mirrored
    assert notes == ["'Main/bright LeftArm/Inner' uses tree 'Inner', which is not mirrored"]
    assert mirror(files, "Inner") == [
        "[pose] of 'Inner/Move' comes from the blackboard",
        "[way] of 'Inner/Move' comes from the blackboard",
    ]
    mirror(files, "Main")
    assert files.data[path].decode() == MAIN
    assert files.undo()
    assert files.data[path].decode() == mirrored


def test_what_has_no_known_form_is_told(tmp_path):
    for text in ("json:{}", "1;2", "door"):
        files, _ = opened(tmp_path, MAIN.replace("1;0.25;0", text))
        with pytest.raises(LogicError, match=r"\[at\] of 'Main/bright LeftArm/Inner'"):
            mirror(files, "Main")
    with pytest.raises(LogicError, match="is a direction"):
        MirrorPlane((0, 0, 0))


def test_entries_keep_their_names_and_names_their_meaning(tmp_path):
    body = """<Try><Move name="left" arm="{left_arm}" pose="{left}" _skipIf="left_x == 'left'"/>
      <Catch of="left"><AlwaysSuccess/></Catch></Try>"""
    text = f'<root BTCPP_format="4"><BehaviorTree ID="Main">{body}</BehaviorTree></root>'
    files, path = opened(tmp_path, text)
    with pytest.raises(LogicError, match=r"\[of\] of 'Main/Try/Catch' would mean other nodes"):
        mirror(files, "left")
    mirror(files, "Main")
    assert files.data[path].decode() == text.replace('"left"', '"right"').replace(
        "'left'", "'right'"
    )


def test_frames_from_the_blackboard_stay_and_their_numbers_change(tmp_path):
    """`frame` names a frame here, it is no pose: what is given for it is only another side's."""
    text = """<root BTCPP_format="4" main_tree_to_execute="Main">
  <BehaviorTree ID="Main"><SubTree ID="In" left="left_door"/></BehaviorTree>
  <BehaviorTree ID="In"><Move pose="{left};1;2;3" path="{left};1;2;0|{left};3;-4;0"/></BehaviorTree>
</root>"""
    files, path = opened(tmp_path, text)
    mirror(files, "Main")
    mirror(files, "In")
    mirrored = files.data[path].decode()
    assert 'left="right_door"' in mirrored
    assert 'pose="{left};1;-2;3" path="{left};1;-2;0|{left};3;4;0"' in mirrored


@pytest.mark.parametrize("turn", [" 1.5", " -1.5 ", "1.5 "])
def test_blanks_around_an_angle_stay(tmp_path, turn):
    files, path = opened(tmp_path, MAIN.replace('rotation="0.5"', f'rotation="{turn}"'))
    before = files.data[path]
    mirror(files, "Main")
    other = turn.replace("-", "") if "-" in turn else turn.replace("1.5", "-1.5")
    assert f'rotation="{other}"' in files.data[path].decode()
    mirror(files, "Main")
    assert files.data[path] == before


def test_a_plane_so_far_away_that_nothing_is_a_number_is_refused(tmp_path):
    files, path = opened(tmp_path)
    with pytest.raises(LogicError, match="is no coordinate"):
        mirror(files, "Main", MirrorPlane(distance=1e308))
    assert files.data[path].decode() == MAIN


def rotation(quaternion):
    x, y, z, w = quaternion
    v = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * v + 2 * v @ v


NUMBER = st.integers(-999, 999).map(lambda n: n / 100)
VECTOR = st.tuples(NUMBER, NUMBER, NUMBER)
PLANES = st.builds(
    MirrorPlane, VECTOR.filter(lambda n: math.hypot(*n) > 0.1), st.sampled_from([0.0, 0.5, -2.0])
)
QUATERNIONS = st.tuples(NUMBER, NUMBER, NUMBER, NUMBER).filter(lambda q: math.hypot(*q) > 0.1)


@settings(max_examples=200, deadline=None)
@given(PLANES, VECTOR, QUATERNIONS)
def test_the_reflection_is_that_of_the_matrices_and_twice_the_identity(plane, position, turn):
    turn = np.array(turn) / math.hypot(*turn)
    text = ";".join(map(str, (*position, *turn)))
    once = _value(text, "pose", plane, "x")
    numbers = [float(each) for each in once.split(";")]
    n = np.array(plane.normal)
    h = np.eye(3) - 2 * np.outer(n, n)
    assert np.allclose(numbers[:3], h @ position + 2 * plane.distance * n, atol=1e-9)
    assert np.allclose(rotation(numbers[3:]), h @ rotation(turn) @ np.diag([1, -1, 1]), atol=1e-9)
    twice = [float(each) for each in _value(once, "pose", plane, "x").split(";")]
    assert np.allclose(twice, (*position, *turn), atol=1e-9)


AXES = st.sampled_from([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -2.0)])


@given(AXES, st.sampled_from(["pose", "point", "vector", "quaternion"]), QUATERNIONS, VECTOR)
def test_about_the_planes_of_a_frame_twice_is_the_same_text(axis, kind, turn, position):
    numbers = turn if kind == "quaternion" else position
    text = ";".join(["left_hand", *(f"{each:.3f}".replace("-0.000", "0.000") for each in numbers)])
    plane = MirrorPlane(axis)
    assert _value(_value(text, kind, plane, "x"), kind, plane, "x") == text
