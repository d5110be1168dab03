# SPDX-License-Identifier: Apache-2.0
"""Names that are allowed, as of 4.8.4: the scenarios of gtest_name_validation.cpp."""

from functools import partial

import pytest
from scenario_kit import subtree

from behavior_tree import InputPort, LogicError
from behavior_tree.ports import forbidden_character, is_port_attribute

covers = partial(pytest.mark.upstream, "gtest_name_validation.cpp")

PLAIN = ("ValidName", "my_action", "My-Action", "action123", "kebab-case-node")
FOREIGN = ("检查门状态", "ドアを開ける", "Tür_öffnen", "проверка", "باب")


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
@pytest.mark.parametrize("name", ["input", "output_value", "myPort123", "Port_With", "größe"])
def test_good_port_names(name):
    assert is_port_attribute(name)
    assert InputPort(name).name == name


RESERVED = (
    *("name", "ID", "_failureIf", "_successIf", "_skipIf", "_while", "_onSuccess", "_onFailure"),
    *("_onHalted", "_post", "_autoremap"),
)


@covers("NameValidation.IsAllowedPortName_Invalid")
@pytest.mark.parametrize(
    "name", ["", "1port", "123", "_private", *RESERVED, "port name", "port.name", "port<T>"]
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
            ("ValidBehaviorTreeID", "MainTree"),
            ("ValidBehaviorTreeID_WithUnderscore", "My_Main_Tree"),
            ("UnicodeTreeID_Chinese", "检查门"),
            ("UnicodeTreeID_German", "Türöffner"),
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
            ("WithSpace", "Main Tree"),
            ("WithPeriod", "Main.Tree"),
        )
    ],
)
def test_bad_tree_ids(mended, tree_id):
    assert tree_id in mended.refuses_xml(tree(tree_id))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=covers(f"NameValidationXMLTest.{case}"))
        for case, name in (
            ("ValidInstanceName", "my_node"),
            ("ValidInstanceName_WithSpace", "my success node"),
            ("ValidInstanceName_WithPeriod", "node.name"),
            ("UnicodeInstanceName_Japanese", "成功ノード"),
        )
    ],
)
def test_good_instance_names(stage, name):
    assert stage.load(f'<Do name="{name}"/>').run() == "S"
    assert stage.take_log() == name


@covers("NameValidationXMLTest.ValidSubTreeID")
def test_good_subtree_id(stage):
    stage.load('<SubTree ID="SubTree1"/>', subtree("SubTree1", "<AlwaysSuccess/>"))
    assert stage.run() == "S"


@covers("NameValidationXMLTest.InvalidSubTreeID_WithSpace")
def test_bad_subtree_id(mended):
    message = mended.refuses('<SubTree ID="Sub Tree"/>', subtree("Sub Tree", "<AlwaysSuccess/>"))
    assert "Sub Tree" in message


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
            ("WithSpace", "input value"),
            ("Reserved", "ID"),
            ("StartsWithDigit", "1port"),
        )
    ],
)
def test_bad_port_in_a_model(mended, name):
    assert name in mended.refuses("<AlwaysSuccess/>", MODEL.format(name))


@pytest.mark.upstream("gtest_xml_null_subtree_id.cpp", "XMLParserTest.SubTreeModelMissingID_Bug7")
def test_model_of_a_nameless_subtree(mended):
    model = '<TreeNodesModel><SubTree><input_port name="p"/></SubTree></TreeNodesModel>'
    assert "ID" in mended.refuses("<AlwaysSuccess/>", model)
