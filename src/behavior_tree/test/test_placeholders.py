# SPDX-License-Identifier: Apache-2.0
"""Placeholders for node types whose program is not here."""

from __future__ import annotations

from typing import Any

import pytest
from tree_kit import letter, xml

from behavior_tree import (
    BehaviorTreeFactory,
    InputPort,
    LoadError,
    LogicError,
    NodeStatus,
    NodeType,
    OutputPort,
    TreeNodeManifest,
    Unsigned,
    register_placeholders,
)

MODELS = """<TreeNodesModel>
  <Action ID="Look"><input_port name="where"/><input_port name="times" type="int"/>
    <output_port name="seen" type="bool"/></Action>
  <Decorator ID="Slowly"/><Control ID="Mix"/><Condition ID="Ready"/>
  <SubTree ID="Main"/><Action ID="Sleep"/>
</TreeNodesModel>"""
BODY = """<Mix><Slowly><Look seen="{seen}"/></Slowly><Ready/>
  <ScriptCondition code="seen"/></Mix>"""


def run(factory, text):
    return letter(factory.create_tree_from_text(text).tick_while_running())


def test_described_leaves_run_and_inputs_without_default_are_optional():
    factory = BehaviorTreeFactory()
    assert register_placeholders(factory, xml("<AlwaysSuccess/>", MODELS)) == [
        *("Look", "Slowly", "Mix", "Ready")
    ]
    assert run(factory, xml(BODY)) == "S"
    with pytest.raises(LoadError, match='value "often" can not be converted to int'):
        run(factory, xml('<Look times="often"/>'))
    assert register_placeholders(factory, xml("<AlwaysSuccess/>", MODELS)) == []


def test_a_port_that_the_model_lacks_is_only_warned_of():
    """A model may be out of date: nobody knows what the program behind it takes."""
    factory = BehaviorTreeFactory()
    register_placeholders(factory, xml("<AlwaysSuccess/>", MODELS))
    tree = factory.create_tree_from_text(xml('<Look sen="{x}" far="1"/>'))
    (sen, far) = factory.load_warnings()
    assert "port with name [sen] is found in the XML" in sen.message
    assert sen.remedy == "did you mean seen?"
    assert (far.severity, far.line, far.column) == (
        "warning",
        sen.line,
        sen.column + len('sen="{x}" '),
    )
    assert tree.root_node().config().input_ports == {"sen": "{x}", "far": "1"}
    assert tree.root_node().config().ports["far"].type is Any
    assert letter(tree.tick_while_running()) == "S"


def test_strictly_a_port_that_the_model_lacks_is_refused():
    factory = BehaviorTreeFactory(strict=True)
    register_placeholders(factory, xml("<AlwaysSuccess/>", MODELS))
    with pytest.raises(LoadError, match=r"port with name \[sen\]"):
        factory.create_tree_from_text(xml('<Look sen="{x}"/>'))


def test_used_leaves_are_known_by_their_use():
    text = xml(
        '<Both><Fly to="{x}" name="a"/><Twice><Fly by="air"/></Twice><Condition ID="Is Up"/>'
        '<SubTree ID="Rest"/></Both>',
        '<BehaviorTree ID="Rest"><Sequence><Fly/><Twice><Nap/></Twice></Sequence></BehaviorTree>',
    )
    factory = BehaviorTreeFactory()
    found = register_placeholders(factory, text)
    kinds = {each: factory.manifests()[each].type for each in found}
    assert kinds == {
        "Both": NodeType.CONTROL,
        "Fly": NodeType.ACTION,
        "Twice": NodeType.DECORATOR,
        "Is Up": NodeType.CONDITION,
        "Nap": NodeType.ACTION,
    }
    assert list(factory.manifests()["Fly"].ports) == ["to", "by"]
    assert run(factory, text) == "S"


def test_files_with_their_includes(tmp_path):
    (tmp_path / "models.xml").write_text(f'<root BTCPP_format="4">{MODELS}</root>')
    main = tmp_path / "main.xml"
    main.write_text(xml(BODY).replace("<Behavior", '<include path="models.xml"/><Behavior', 1))
    factory = BehaviorTreeFactory()
    assert "Look" in register_placeholders(factory, main)
    assert factory.create_tree_from_file(main).tick_while_running() is NodeStatus.SUCCESS
    for source in (tmp_path / "none.xml", "<root", "<!DOCTYPE r><root/>"):
        with pytest.raises(LoadError):
            register_placeholders(BehaviorTreeFactory(), source)


def test_manifests_of_another_program():
    robot = BehaviorTreeFactory()
    robot.register_simple_action(
        "Move", lambda node: NodeStatus.FAILURE, [InputPort("goal"), OutputPort("at", str)]
    )
    desk = BehaviorTreeFactory()
    assert register_placeholders(desk, robot.manifests().values()) == ["Move"]
    tree = xml(
        '<Sequence><Move goal="home" at="{a}"/><ScriptCondition code="a == \'\'"/></Sequence>'
    )
    assert run(desk, tree) == "S"
    with pytest.raises(LoadError, match=r"port with name \[gaol\]"):  # the program knows its ports
        run(desk, xml('<Move gaol="home"/>'))
    with pytest.raises(LogicError, match="reserved"):
        register_placeholders(desk, [TreeNodeManifest("Root", NodeType.ACTION)])


def test_substitution_rules_say_what_a_placeholder_does():
    factory = BehaviorTreeFactory()
    register_placeholders(factory, xml("<Grasp/>"))
    factory.load_substitution_rules_from_json(
        '{"TestNodeConfigs": {"slips": {"return_status": "FAILURE"}}, '
        '"SubstitutionRules": {"Grasp": "slips"}}'
    )
    assert run(factory, xml("<Grasp/>")) == "F"


def test_what_the_factory_knows_stays():
    factory = BehaviorTreeFactory()
    factory.register_simple_action("Look", lambda node: NodeStatus.FAILURE)
    assert "Look" not in register_placeholders(factory, xml("<Look/>", MODELS))
    assert run(factory, xml("<Look/>")) == "F"


def test_types_of_models_written_by_hand_are_the_engines():
    factory = BehaviorTreeFactory()
    model = (
        '<root BTCPP_format="4"><TreeNodesModel><Action ID="Back">'
        '<input_port name="who" type="string"/><output_port name="code" type="uint16"/>'
        "</Action></TreeNodesModel></root>"
    )
    register_placeholders(factory, model)
    ports = factory.manifests()["Back"].ports
    assert (ports["who"].type, ports["code"].type) == (str, Unsigned)
