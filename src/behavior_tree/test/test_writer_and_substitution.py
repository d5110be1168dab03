# SPDX-License-Identifier: Apache-2.0
"""XML of models and trees; rules that replace nodes."""

# ruff: noqa: E501

import json

import pytest
from tree_kit import Rig, letter

from behavior_tree import (
    BehaviorTreeError,
    BehaviorTreeFactory,
    InputPort,
    LoadError,
    NodeExecutionError,
    NodeStatus,
    OutputPort,
    TestNodeConfig,
    write_tree_nodes_model_xml,
    write_tree_to_xml,
)
from behavior_tree.monitoring.loggers.document import tree_document


def test_model_of_node_types():
    factory = BehaviorTreeFactory()
    ports = [
        InputPort("goal", str, description="where <to>"),
        InputPort("speed", float, 0.5),
        OutputPort("n", int),
    ]
    factory.register_simple_action("Move", lambda node: NodeStatus.SUCCESS, ports)
    factory.register_simple_condition("Ask", lambda node: NodeStatus.SUCCESS)
    assert write_tree_nodes_model_xml(factory.manifests().values()) == (
        '<root BTCPP_format="4">\n'
        "    <TreeNodesModel>\n"
        '        <Condition ID="Ask"/>\n'
        '        <Action ID="Move">\n'
        '            <input_port name="goal" type="std::string">where &lt;to&gt;</input_port>\n'
        '            <input_port name="speed" type="double" default="0.5"/>\n'
        '            <output_port name="n" type="int"/>\n'
        "        </Action>\n"
        "    </TreeNodesModel>\n"
        "</root>\n"
    )


def test_model_with_built_in_nodes_can_be_loaded():
    factory = BehaviorTreeFactory()
    text = write_tree_nodes_model_xml(factory.manifests().values(), include_builtin=True)
    assert text.count("<Control ") == 17
    factory.register_behavior_tree_from_text(text)


def test_a_written_tree_loads_again_and_does_the_same():
    body = (
        '<Sequence name="it\'s &quot;top&quot;"><SetBlackboard value="a&#10;b" output_key="k" _color="red"/>'
        '<SubTree ID="T" name="t" p="{k}"/><Repeat num_cycles="2" _skipIf="1 &lt; 0"><A/></Repeat></Sequence>'
    )
    more = '<BehaviorTree ID="T"><Script code="q := p"/></BehaviorTree>'
    rig = Rig(A="S")
    tree = rig.tree(body, more)
    text = write_tree_to_xml(tree, rig.factory.manifests().values())
    assert '<BehaviorTree ID="T" _fullpath="t">' in text
    assert '<SubTree ID="T" _fullpath="t" name="t" _uid="3" p="{k}"/>' in text
    again = rig.factory.create_tree_from_text(
        text.replace("<root ", '<root main_tree_to_execute="Main" ')
    )
    assert [n.full_path() for n in again.nodes()] == [n.full_path() for n in tree.nodes()]
    assert write_tree_to_xml(again, rig.factory.manifests().values()) == text
    assert again.tick_once() is NodeStatus.SUCCESS
    assert again.root_blackboard().get("k") == "a\nb"


BODY = '<Sequence><A name="first"/><SubTree ID="T" name="t"/></Sequence>'
MORE = '<BehaviorTree ID="T"><Fallback><A/><B name="b1"/></Fallback></BehaviorTree>'


@pytest.mark.parametrize("name", ["", ' name="Side"', ' name="other"'])
def test_a_subtree_keeps_its_name_and_its_path(name):
    """Also the name that its tree has: only without one does the path end in a number."""
    xml = (
        '<root BTCPP_format="4" main_tree_to_execute="Main"><BehaviorTree ID="Main">'
        f'<SubTree ID="Side"{name}/></BehaviorTree>'
        '<BehaviorTree ID="Side"><AlwaysSuccess/></BehaviorTree></root>'
    )
    first = BehaviorTreeFactory().create_tree_from_text(xml)
    again = BehaviorTreeFactory()
    again.register_behavior_tree_from_text(write_tree_to_xml(first))
    second = again.create_tree("Main")
    assert [s.instance_name for s in second.subtrees] == [s.instance_name for s in first.subtrees]


@pytest.mark.parametrize(
    ("pattern", "rule", "log"),
    [
        ("first", "AlwaysSuccess", "A B"),
        ("A", "AlwaysFailure", ""),
        ("t/*", "AlwaysSuccess", "A"),
        ("t/b?", "AlwaysFailure", "A A"),
        ("nothing", "AlwaysFailure", "A A B"),
    ],
)
def test_which_nodes_a_rule_replaces(pattern, rule, log):
    rig = Rig(A="SFFF", B="S")
    rig.factory.add_substitution_rule(pattern, rule)
    if pattern == "first":
        rig = Rig(A="F", B="S")
        rig.factory.add_substitution_rule(pattern, rule)
    rig.tree(BODY, MORE).tick_once()
    assert rig.take_log() == log


def test_a_replaced_node_keeps_its_id_ports_and_conditions():
    rig = Rig(A="S")
    rig.factory.add_substitution_rule(
        "A", TestNodeConfig(NodeStatus.FAILURE, post_script="done := 1")
    )
    tree = rig.tree('<A name="x" _onFailure="after := 1"/>')
    assert tree.tick_once() is NodeStatus.FAILURE
    assert tree.root_node().registration_id() == "A"
    assert dict(tree.root_blackboard().items()) == {"done": 1, "after": 1}


def test_a_rule_with_an_unknown_type_is_a_load_error():
    rig = Rig(A="S")
    rig.factory.add_substitution_rule("A", "Nothing")
    with pytest.raises(LoadError, match=r"node type \[Nothing\], which is not registered"):
        rig.tree("<A/>")
    rig.factory.clear_substitution_rules()
    rig.tree("<A/>")


def test_delay_scripts_and_computed_status():
    rig = Rig(A="S", B="S")
    rules = {
        "TestNodeConfigs": {
            "slow": {"return_status": "SUCCESS", "async_delay": 500, "success_script": "ok := 1"},
            "computed": {
                "return_status_script": "ok == 1 ? 'FAILURE' : 'SUCCESS'",
                "failure_script": "bad := 1",
            },
        },
        "SubstitutionRules": {"A": "slow", "B": "computed"},
    }
    rig.factory.load_substitution_rules_from_json(json.dumps(rules))
    tree = rig.tree("<Sequence><A/><B/></Sequence>")
    assert letter(tree.tick_once()) == "R"
    rig.clock.now += 0.6
    assert letter(tree.tick_once()) == "F"
    assert dict(tree.root_blackboard().items()) == {"ok": 1, "bad": 1}


@pytest.mark.parametrize(
    ("script", "result"),
    [
        ("SUCCESS", "S"),
        ("k == 1 ? FAILURE : SUCCESS", "F"),
        ("'SKIPPED'", "K"),
        ("2", "S"),
        ("PREFERRED", "F"),
    ],
)
def test_the_status_script_knows_status_names_and_registered_enums(script, result):
    rig = Rig(A="S")
    rig.factory.register_scripting_enum("PREFERRED", 3)
    config = {"return_status_script": script, "post_script": "SUCCESS := 5; done := k"}
    rules = {"TestNodeConfigs": {"t": config}, "SubstitutionRules": {"A": "t"}}
    rig.factory.load_substitution_rules_from_json(json.dumps(rules))
    tree = rig.tree("<A/>")
    tree.root_blackboard().set("k", 1)
    assert letter(tree.tick_exactly_once()) == result
    # The other scripts do not know the names: there SUCCESS is an entry.
    assert (tree.root_blackboard().get("SUCCESS"), tree.root_blackboard().get("done")) == (5, 1)


@pytest.mark.parametrize("script", ["IDLE", "0", "9", "1.5", "'success'"])
def test_a_status_script_that_gives_no_result_is_an_error(script):
    rig = Rig(A="S")
    rig.factory.add_substitution_rule("A", TestNodeConfig(return_status_script=script))
    with pytest.raises(NodeExecutionError, match="it must give RUNNING, SUCCESS, FAILURE or SKIP"):
        rig.tree("<A/>").tick_once()


def test_a_test_node_may_ask_a_function_and_may_run_on():
    rig = Rig(A="S")
    answers = iter("RRS")
    letters = {"R": NodeStatus.RUNNING, "S": NodeStatus.SUCCESS}
    rig.factory.add_substitution_rule(
        "A", TestNodeConfig(complete_func=lambda: letters[next(answers)], post_script="n := n + 1")
    )
    tree = rig.tree("<A/>")
    tree.root_blackboard().set("n", 0.0)
    assert [letter(tree.tick_exactly_once()) for _ in range(3)] == ["R", "R", "S"]
    assert tree.root_blackboard().get("n") == 3  # it also runs for RUNNING, as upstream


def test_a_halted_test_node_starts_its_delay_anew_and_runs_no_script():
    rig = Rig(A="S")
    rig.factory.add_substitution_rule(
        "A", TestNodeConfig(async_delay=1.0, success_script="ok := 1", post_script="done := 1")
    )
    tree = rig.tree("<A/>")
    tree.tick_once()
    rig.clock.now += 0.9
    tree.halt_tree()
    assert tree.root_blackboard().get_keys() == []
    tree.tick_once()
    rig.clock.now += 0.9
    assert tree.tick_once() is NodeStatus.RUNNING
    rig.clock.now += 0.2
    assert tree.tick_once() is NodeStatus.SUCCESS
    assert tree.root_blackboard().get_keys() == ["ok", "done"]


def test_scripts_of_test_nodes_are_checked_when_the_tree_is_built():
    rig = Rig(A="S")
    rig.factory.add_substitution_rule("A", TestNodeConfig(post_script="a := "))
    with pytest.raises(LoadError, match="Error in the script"):
        rig.tree('<Sequence><A name="here"/></Sequence>')


def test_a_leaf_may_stand_in_for_a_control_node_and_all_below():
    rig = Rig(A="S", B="F")
    rig.factory.add_substitution_rule("f", TestNodeConfig())
    tree = rig.tree('<Sequence><Fallback name="f"><B/><B/></Fallback><A name="a"/></Sequence>')
    assert [node.uid() for node in tree.subtrees[0].nodes] == [1, 2, 5]
    assert tree.tick_once() is NodeStatus.SUCCESS
    assert rig.take_log() == "A"


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "[]",
        "{}",
        '{"TestNodeConfigs": {"x": {}}, "SubstitutionRules": {}}',
        '{"TestNodeConfigs": {"x": {"return_status": "success"}}, "SubstitutionRules": {}}',
        '{"TestNodeConfigs": {"x": {"return_status": "IDLE"}}, "SubstitutionRules": {}}',
        '{"TestNodeConfigs": {"x": {"status": "SUCCESS"}}, "SubstitutionRules": {}}',
        '{"TestNodeConfigs": {"x": {"return_status": ["SUCCESS"]}}, "SubstitutionRules": {}}',
        '{"TestNodeConfigs": {"x": {"return_status_script": 2}}, "SubstitutionRules": {}}',
        '{"TestNodeConfigs": {"x": "SUCCESS"}, "SubstitutionRules": {}}',
        '{"TestNodeConfigs": [], "SubstitutionRules": {}}',
        '{"TestNodeConfigs": {"x": {"return_status": "SUCCESS", "async_delay": "1"}},'
        ' "SubstitutionRules": {}}',
        '{"SubstitutionRules": []}',
        '{"SubstitutionRules": {"a": 5}}',
    ],
)
def test_bad_rules(text):
    with pytest.raises(BehaviorTreeError):
        BehaviorTreeFactory().load_substitution_rules_from_json(text)


def test_a_subtree_can_be_replaced():
    rig = Rig(A="S", B="S")
    rig.factory.add_substitution_rule("t", "AlwaysFailure")
    assert rig.tree(BODY, MORE).tick_once() is NodeStatus.FAILURE


def test_logs_and_monitors_get_the_models_of_unused_types_too():
    rig = Rig(A="S", B="S")
    text = tree_document(rig.tree("<A/>"))
    assert text.index('<Action ID="A"/>') < text.index('<Action ID="B"/>')
    assert '<Control ID="Fallback"/>' in text
    assert tree_document(rig.tree("<A/>")) == text
