# SPDX-License-Identifier: Apache-2.0
"""Names that are allowed, as of 4.8.4: the scenarios of gtest_name_validation.cpp."""

from functools import partial

import pytest
from scenario_kit import Stage, subtree

from behavior_tree import BehaviorTreeFactory, InputPort, LogicError
from behavior_tree.blackboard.ports import forbidden_character, is_port_attribute

covers = partial(pytest.mark.upstream, "gtest_name_validation.cpp")


@pytest.fixture
def strict():
    """Our engine, told to refuse what it otherwise warns of."""
    stage = Stage("ours")
    stage.factory = BehaviorTreeFactory(strict=True)
    return stage


PLAIN = ("Reach", "open_door", "Pick-Up", "step42", "to-and-fro")
FOREIGN = ("抓取杯子", "つかむ", "Öffne_Tür", "захват", "قبض")


@covers("NameValidation.ForbiddenCharDetection_ValidNames")
@covers("NameValidation.ForbiddenCharDetection_Unicode")
@pytest.mark.parametrize("name", PLAIN + FOREIGN)
def test_good_names(name):
    assert forbidden_character(name) is None


@covers("NameValidation.ForbiddenCharDetection_ForbiddenChars")
@covers("NameValidation.ForbiddenCharDetection_ControlChars")
@pytest.mark.parametrize("character", [*" \t\n\r<>&\"'/\\:*?|.", "\x00", "\x07", "\x1f", "\x7f"])
def test_forbidden_characters(character):
    assert forbidden_character(f"Tür{character}name") == character


@covers("NameValidation.IsAllowedPortName_Valid")
@pytest.mark.parametrize("name", ["goal", "goal_pose", "goalPose2", "Goal_Pose", "größe"])
def test_good_port_names(name):
    assert is_port_attribute(name)
    assert InputPort(name).name == name


RESERVED = (
    *("name", "ID", "_failureIf", "_successIf", "_skipIf", "_while", "_onSuccess", "_onFailure"),
    *("_onHalted", "_post", "_autoremap"),
)


@covers("NameValidation.IsAllowedPortName_Invalid")
@pytest.mark.parametrize(
    "name", ["", "2nd", "42", "_hidden", *RESERVED, "goal pose", "goal.pose", "goal<T>"]
)
def test_bad_port_names(name):
    assert not is_port_attribute(name)
    with pytest.raises(LogicError, match="Port name"):
        InputPort(name)


def tree(tree_id):
    body = f'<BehaviorTree ID="{tree_id}"><AlwaysSuccess/></BehaviorTree>'
    return f'<root BTCPP_format="4">{body}</root>'


@pytest.mark.parametrize(
    "tree_id",
    [
        pytest.param(tree_id, marks=covers(f"NameValidationXMLTest.{case}"))
        for case, tree_id in (
            ("ValidBehaviorTreeID", "Mission"),
            ("ValidBehaviorTreeID_WithUnderscore", "Fetch_The_Cup"),
            ("UnicodeTreeID_Chinese", "取杯子"),
            ("UnicodeTreeID_German", "Türsteher"),
        )
    ],
)
def test_good_tree_ids(stage, tree_id):
    assert stage.load_xml(tree(tree_id)).run() == "S"


@pytest.mark.parametrize(
    "tree_id",
    [
        pytest.param(tree_id, marks=covers(f"NameValidationXMLTest.InvalidBehaviorTreeID_{case}"))
        for case, tree_id in (
            ("Root", "Root"),
            ("root_lowercase", "root"),
            ("WithSpace", "Fetch Cup"),
            ("WithPeriod", "Fetch.Cup"),
        )
    ],
)
def test_bad_tree_ids(strict, tree_id):
    assert tree_id in strict.refuses_xml(tree(tree_id))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=covers(f"NameValidationXMLTest.{case}"))
        for case, name in (
            ("ValidInstanceName", "grasp_it"),
            ("ValidInstanceName_WithSpace", "grasp the cup"),
            ("ValidInstanceName_WithPeriod", "cup.left"),
            ("UnicodeInstanceName_Japanese", "コップ"),
        )
    ],
)
def test_good_instance_names(stage, name):
    assert stage.load(f'<Do name="{name}"/>').run() == "S"
    assert stage.take_log() == name


@covers("NameValidationXMLTest.ValidSubTreeID")
def test_good_subtree_id(stage):
    stage.load('<SubTree ID="Step1"/>', subtree("Step1", "<AlwaysSuccess/>"))
    assert stage.run() == "S"


@covers("NameValidationXMLTest.InvalidSubTreeID_WithSpace")
def test_bad_subtree_id(strict):
    message = strict.refuses('<SubTree ID="Step One"/>', subtree("Step One", "<AlwaysSuccess/>"))
    assert "Step One" in message


MODEL = '<TreeNodesModel><SubTree ID="T"><input_port name="{}"/></SubTree></TreeNodesModel>'


@covers("NameValidationXMLTest.ValidSubTreePortName")
def test_good_port_in_a_model(stage):
    stage.load(
        '<Sequence><Script code="v := 1"/><SubTree ID="T" given="{v}"/></Sequence>',
        subtree("T", '<ScriptCondition code="given == 1"/>') + MODEL.format("given"),
    )
    assert stage.run() == "S"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=covers(f"NameValidationXMLTest.InvalidSubTreePortName_{case}"))
        for case, name in (
            ("WithSpace", "goal pose"),
            ("Reserved", "ID"),
            ("StartsWithDigit", "2nd"),
        )
    ],
)
def test_bad_port_in_a_model(mended, name):
    assert name in mended.refuses("<AlwaysSuccess/>", MODEL.format(name))


@pytest.mark.upstream("gtest_xml_null_subtree_id.cpp", "XMLParserTest.SubTreeModelMissingID_Bug7")
def test_model_of_a_nameless_subtree(mended):
    model = '<TreeNodesModel><SubTree><input_port name="p"/></SubTree></TreeNodesModel>'
    assert "ID" in mended.refuses("<AlwaysSuccess/>", model)
