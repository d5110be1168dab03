# SPDX-License-Identifier: Apache-2.0
"""Interfaces taken apart, and texts turned into field values."""

import pytest
from behavior_msgs.action import Pick
from geometry_msgs.msg import Point, Pose, PoseStamped
from hypothesis import given
from hypothesis import strategies as st
from nav_msgs.msg import Path
from sensor_msgs.msg import Imu

from behavior_ros.messages.field_values import (
    fit,
    item_type,
    message_from_text,
    messages_from_text,
    plain,
)
from behavior_ros.messages.interfaces import InterfaceError, constant_name, load_interface


def fields(name, kind, index):
    return {field.name: field for field in load_interface(name, kind)[1][index].fields}


def test_descriptions_come_from_the_definition():
    goal = fields("behavior_msgs/action/Pick", "action", 0)
    assert goal["object_name"].description == "object of the scene"
    assert "lift after grasping" in goal["lift_height"].description
    feedback = fields("behavior_msgs/action/Pick", "action", 2)
    assert feedback["progress"].description == "0..1"


def test_constants_belong_to_the_next_field_of_their_type():
    goal = fields("behavior_msgs/action/MoveArm", "action", 0)
    assert goal["mode"].constants["NAMED"] == 1
    assert not goal["named_target"].constants
    assert not goal["velocity_scaling"].constants


def test_constant_names():
    assert constant_name(Pick.Result, Pick.Result.PLANNING_FAILED) == "PLANNING_FAILED"
    assert constant_name(Pick.Result, 9999) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("behavior_msgs/action/Pikc", "Pick"),
        ("no_such_msgs/action/Pick", "build package no_such_msgs"),
        ("behavior_msgs/msg/Pick", "package/action/Type"),
        ("Pick", "package/action/Type"),
    ],
)
def test_unknown_interfaces_are_named(name, text):
    with pytest.raises(InterfaceError, match=text):
        load_interface(name, "action")


@pytest.mark.parametrize(
    ("type_text", "expected"),
    [
        ("double", None),
        ("sequence<double>", ("double", None, None)),
        ("sequence<geometry_msgs/Pose, 3>", ("geometry_msgs/Pose", None, 3)),
        ("double[9]", ("double", 9, None)),
    ],
)
def test_array_types(type_text, expected):
    assert item_type(type_text) == expected


@pytest.mark.parametrize(
    ("value", "type_text"),
    [
        (300, "uint8"),
        (-1, "uint16"),
        (1.5, "int32"),
        ("1", "int32"),
        (True, "int32"),
        ("x", "double"),
        (2, "boolean"),
        (1, "string"),
        ([1.0] * 8, "double[9]"),
        ([1, 2, 3, 4], "sequence<int8, 3>"),
        ("abc", "sequence<double>"),
        (3, "geometry_msgs/Pose"),
        ({"z": {}}, "geometry_msgs/Pose"),
    ],
)
def test_values_that_do_not_fit(value, type_text):
    with pytest.raises(ValueError, match=r".+"):
        fit(value, type_text)


def test_values_that_fit():
    assert fit(3.0, "uint8") == 3
    assert fit(1, "boolean") is True
    assert fit((1, 2), "sequence<double>") == [1.0, 2.0]
    assert fit({"position": {"x": 1}}, "geometry_msgs/Pose").position.x == 1.0


def test_pose_texts():
    pose = message_from_text(Pose, " 1; 2;3 ")
    assert (pose.position.x, pose.position.z, pose.orientation.w) == (1.0, 3.0, 1.0)
    turned = message_from_text(Pose, "0;0;0;0;0;2;0")
    assert turned.orientation.z == 1.0
    stamped = message_from_text(PoseStamped, "world;0.25;0.3;0")
    assert (stamped.header.frame_id, stamped.pose.position.y) == ("world", 0.3)
    assert message_from_text(PoseStamped, "0.25;0.3;0").header.frame_id == ""
    full = message_from_text(PoseStamped, 'json:{"header": {"frame_id": "map"}}')
    assert full.header.frame_id == "map"
    assert [p.position.x for p in messages_from_text(Pose, "1;0;0 | 2;0;0")] == [1.0, 2.0]
    assert [p.x for p in messages_from_text(Point, 'json:[{"x": 5}]')] == [5.0]
    way = message_from_text(Path, "door; 1;0;0 | odom;2;0;0;0;0;1;0").poses
    assert [(p.header.frame_id, p.pose.position.x) for p in way] == [("door", 1.0), ("odom", 2.0)]
    assert [p.pose.orientation.z for p in way] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("message", "text", "part"),
    [
        (Pose, "1;2", "x;y;z or"),
        (Pose, "1;2;x", "numbers"),
        (Pose, "1;2;nan", "finite"),
        (Pose, "0;0;0;0;0;0;0", "no rotation"),
        (Pose, 'json:{"positon": {}}', "position"),
        (Imu, "1;2;3", "json:"),
        (PoseStamped, "world;1;2", "x;y;z or"),
        (Path, "1;2;3|world;1;2", "x;y;z or"),
    ],
)
def test_bad_texts_say_what_is_wanted(message, text, part):
    with pytest.raises(ValueError, match=part):
        message_from_text(message, text)


@given(st.tuples(*[st.floats(-1e6, 1e6)] * 3))
def test_pose_text_round_trips(numbers):
    pose = message_from_text(Pose, ";".join(map(repr, numbers)))
    assert (pose.position.x, pose.position.y, pose.position.z) == numbers


def test_arrays_come_out_as_lists():
    assert plain(Imu().orientation_covariance) == [0.0] * 9
    assert plain("text") == "text"


def test_a_text_is_a_list_of_texts():
    assert fit("red;blue", "sequence<string>") == ["red", "blue"]
    assert fit("red", "sequence<string>") == ["red"]
    assert fit("", "sequence<string>") == []
