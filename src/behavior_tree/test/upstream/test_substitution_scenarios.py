# SPDX-License-Identifier: Apache-2.0
"""Other nodes in the place of some: the scenarios of gtest_substitution.cpp."""

import json
from functools import partial

import pytest
from scenario_kit import document, subtree

from behavior_tree import BehaviorTreeError, NodeStatus, TestNodeConfig

covers = partial(pytest.mark.upstream, "gtest_substitution.cpp")

SCRIPTED = "(broken == true) ? FAILURE : SUCCESS"


def rules(stage, substitutions, **configs):
    """Load rules from JSON, with the test nodes' configurations if there are any."""
    described = {"TestNodeConfigs": configs} if configs else {}
    text = json.dumps({**described, "SubstitutionRules": substitutions})
    stage.factory.load_substitution_rules_from_json(text)
    return stage


@covers("Substitution.Parser")
def test_rules_from_json(ours):
    rules(
        ours,
        {"a": "Slow", "b": "Bad", "c": "SomeNode", "d": "Scripted"},
        Slow={"async_delay": 2000, "return_status": "SUCCESS", "post_script": "msg = 'done'"},
        Bad={"return_status": "FAILURE"},
        Scripted={"return_status_script": SCRIPTED, "failure_script": "branch := 'failure'"},
    )
    found = ours.factory.substitution_rules()
    assert found["a"] == TestNodeConfig(async_delay=2.0, post_script="msg = 'done'")
    assert found["b"] == TestNodeConfig(NodeStatus.FAILURE)
    assert found["c"] == "SomeNode"
    assert found["d"].return_status_script == SCRIPTED
    assert found["d"].failure_script == "branch := 'failure'"


@covers("Substitution.JsonWithEmptyTestNodeConfigs_Issue930")
@covers("Substitution.JsonWithoutTestNodeConfigs_Issue930")
@pytest.mark.parametrize("extra", ['"TestNodeConfigs": {},', ""])
def test_rules_without_test_nodes(ours, extra):
    text = f'{{{extra} "SubstitutionRules": {{"a": "Other"}}}}'
    ours.factory.load_substitution_rules_from_json(text)
    assert ours.factory.substitution_rules() == {"a": "Other"}


@covers("Substitution.ParserRejectsMissingReturnStatusAndScript")
def test_test_node_without_a_result(ours):
    with pytest.raises(BehaviorTreeError, match="return_status"):
        rules(ours, {"a": "Broken"}, Broken={"post_script": "x := 1"})


@covers("Substitution.TestNodePostScriptUsesRegisteredEnums")
def test_script_of_a_test_node_knows_the_names_of_numbers(ours):
    ours.factory.register_scripting_enum("LIMIT", 31)
    ours.factory.add_substitution_rule("a", TestNodeConfig(post_script="seen := LIMIT"))
    assert ours.load('<Do name="a"/>').run() == "S"
    assert ours.number("seen") == 31
    assert ours.log == []


@covers("Substitution.TestNodePostScriptReadsStatusNamedBlackboardKey")
def test_status_names_are_entries_in_a_post_script(ours):
    ours.factory.add_substitution_rule("a", TestNodeConfig(post_script="seen := SUCCESS"))
    ours.load('<Do name="a"/>').set(SUCCESS=77)
    assert ours.run() == "S"
    assert ours.number("seen") == 77


SCRIPT_BODY = '<Sequence><Script code="broken := {0}"/><AlwaysSuccess name="a"/></Sequence>'


@covers("Substitution.ScriptedReturnStatusFromJson")
@pytest.mark.parametrize(
    ("broken", "result", "branch"), [("true", "F", "failure"), ("false", "S", "success")]
)
def test_result_by_script(ours, broken, result, branch):
    config = {"return_status_script": SCRIPTED}
    config |= {f"{name}_script": f"branch := '{name}'" for name in ("success", "failure")}
    rules(ours, {"a": "Mock"}, Mock=config).load(SCRIPT_BODY.format(broken))
    assert ours.run() == result
    assert ours.text("branch") == branch


@covers("Substitution.ScriptedReturnStatusOverridesFixedStatus")
def test_script_counts_before_the_fixed_status(ours):
    config = TestNodeConfig(
        NodeStatus.SUCCESS, return_status_script=SCRIPTED, failure_script="branch := 'failure'"
    )
    ours.factory.add_substitution_rule("a", config)
    assert ours.load(SCRIPT_BODY.format("true")).run() == "F"
    assert ours.text("branch") == "failure"


@covers("Substitution.ScriptedReturnStatusAsyncSubstitution")
@covers("Substitution.TestNodeConfigAsyncSubstitution_Issue930")
@pytest.mark.parametrize("script", [SCRIPTED, ""])
def test_test_node_that_takes_time(ours, script):
    config = TestNodeConfig(async_delay=0.05, return_status_script=script)
    ours.factory.add_substitution_rule("a", config)
    ours.load(SCRIPT_BODY.format("false"))
    started = ours.now
    assert ours.run() == "S"
    assert ours.now - started == pytest.approx(0.05, abs=0.011)


@covers("Substitution.ScriptedReturnStatusRejectsIdle")
def test_idle_is_no_result(ours):
    ours.factory.add_substitution_rule("a", TestNodeConfig(return_status_script="IDLE"))
    assert "IDLE" in ours.load('<Do name="a"/>').raises()


@covers("Substitution.SubTreeNodeSubstitution")
def test_subtree_is_replaced(ours):
    ours.factory.add_substitution_rule("child", TestNodeConfig(post_script="mocked := 1"))
    ours.load('<SubTree ID="T" name="child"/>', subtree("T", '<Do name="inner"/>'))
    assert ours.run() == "S"
    assert ours.log == []


def mock(stage):
    """Register ``Mock``; returns the list of the names of those that ran."""
    done = []

    def run(node):
        done.append(node.name())
        return NodeStatus.SUCCESS

    stage.factory.register_simple_action("Mock", run)
    return done


@covers("Substitution.StringSubstitutionWithSimpleAction_Issue930")
@covers("Substitution.StringSubstitutionRegistrationID_Issue930")
@pytest.mark.parametrize("pattern", ["say", "Do", "*say"])
def test_node_is_replaced_by_one_of_another_type(ours, pattern):
    done = mock(ours)
    ours.factory.add_substitution_rule(pattern, "Mock")
    ours.load(
        '<Sequence><Delay delay_msec="30"><Work name="w"/></Delay><Do name="say"/></Sequence>'
    )
    ours.plan(w="S")
    assert ours.run() == "S"
    assert done == ["say"]
    assert ours.take_log() == "w"


@covers("Substitution.JsonStringSubstitution_Issue930")
@covers("Substitution.JsonStringSubstitutionWithDelay_Issue930")
def test_node_is_replaced_by_json(ours):
    done = mock(ours)
    rules(ours, {"step 2": "Mock"})
    ours.load(
        '<Sequence><Delay delay_msec="30"><Do name="a"/></Delay>'
        '<Script name="step 2" code="v := 1"/></Sequence>'
    )
    assert ours.run() == "S"
    assert done == ["step 2"]
    assert "v" not in ours.board


def test_unknown_substitute_is_told_when_the_tree_is_built(ours):
    rules(ours, {"a": "Nobody"})
    with pytest.raises(BehaviorTreeError, match="Nobody"):
        ours.load_xml(document('<Do name="a"/>'))
