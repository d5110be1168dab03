# SPDX-License-Identifier: Apache-2.0
"""Enumerations in ports, scripts and switches: the scenarios of gtest_enums.cpp."""

from enum import Enum, IntEnum
from functools import partial

import pytest
from port_kit import keeper
from scenario_kit import subtree

from behavior_tree import InputPort, NodeStatus, NodeType

covers = partial(pytest.mark.upstream, "gtest_enums.cpp")


class Color(Enum):
    Red = 0
    Blue = 1
    Green = 2


@covers("Enums.StrintToEnum")
def test_enum_by_name_number_and_entry(ours):
    kept = keeper(ours, Color)
    ours.factory.register_scripting_enums(Color)
    ours.load(
        '<Sequence><Script code="c := Red"/><Keep value="Blue"/><Keep value="2"/>'
        '<Keep value="{c}"/></Sequence>'
    )
    assert ours.run() == "S"
    assert kept == [Color.Blue, Color.Green, Color.Red]


@covers("Enums.SwitchNodeWithEnum")
def test_enum_chooses_a_case(ours):
    ours.factory.register_scripting_enums(Color)
    ours.load(
        '<Sequence><Script code="c := Blue"/><Switch3 variable="{c}" case_1="Red" case_2="Blue"'
        ' case_3="Green"><Do name="r"/><Do name="b"/><Do name="g"/><Do name="other"/></Switch3>'
        "</Sequence>"
    )
    assert ours.run() == "S"
    assert ours.take_log() == "b"


class Battery(IntEnum):
    GOOD = 0
    LOW = 1


@covers("Enums.SubtreeRemapping")
def test_enum_literal_of_a_subtree_reaches_the_outer_entry(ours):
    kept = keeper(ours, Battery)
    ours.factory.register_scripting_enums(Battery)

    def healthy(node):
        return NodeStatus.SUCCESS if node.get_input("value") else NodeStatus.FAILURE

    ours.factory.register_simple_condition("Healthy", healthy, [InputPort("value", bool)])
    ours.load(
        '<Sequence><Script code="state := GOOD"/><Keep value="{state}"/>'
        '<SubTree ID="Watch" ok="false" alarm="LOW" state="{=}"/>'
        '<Keep value="{state}"/></Sequence>',
        subtree(
            "Watch",
            '<ForceSuccess><Healthy value="{ok}" _onFailure="state = alarm"/></ForceSuccess>',
        ),
    )
    assert ours.run() == "S"
    assert kept == [Battery.GOOD, Battery.LOW]
    assert ours.board.get_as("state", Battery) is Battery.LOW


@covers("Enums.ParseEnumWithConvertFromString_Issue948")
def test_enum_of_the_engine(ours):
    kept = keeper(ours, NodeType)
    ours.load('<Sequence><Keep value="Action"/><Keep value="Control"/></Sequence>')
    assert ours.run() == "S"
    assert kept == [NodeType.ACTION, NodeType.CONTROL]
