# SPDX-License-Identifier: Apache-2.0
"""What public trees hold and BehaviorTree.CPP takes: loaded with a warning, refused if strict."""

import pytest

from behavior_tree import BehaviorTreeFactory, LoadError, NodeStatus, OutputPort
from behavior_tree.placeholders import register_placeholders
from behavior_tree.xml.migrate import migrate

MAIN = 'BTCPP_format="4" main_tree_to_execute="Main"'


def document(body, model="", root='BTCPP_format="4"'):
    return (
        f'<root {root}>\n<BehaviorTree ID="Main">\n{body}\n</BehaviorTree>\n'
        f'<BehaviorTree ID="Below"><AlwaysSuccess/></BehaviorTree>\n'
        f"<TreeNodesModel>{model}</TreeNodesModel></root>"
    )


def warnings(text):
    """Messages of a document that loads, and that is refused for the same if strict."""
    factory = BehaviorTreeFactory()
    register_placeholders(factory, text)
    factory.register_behavior_tree_from_text(text)
    factory.create_tree("Main")
    found = [each for each in factory.load_warnings() if each.line > 1]
    strict = BehaviorTreeFactory(strict=True)
    register_placeholders(strict, text)
    if found:
        with pytest.raises(LoadError) as caught:
            strict.register_behavior_tree_from_text(text)
        told = [(each.line, each.column, each.message) for each in caught.value.problems]
        assert told == [(each.line, each.column, each.message) for each in found]
        assert all(each.remedy for each in found)
    else:
        strict.register_behavior_tree_from_text(text)
    return [(each.line, each.message) for each in found]


LOOK = '<Action ID="Look"><output_port name="found"/></Action>'


def test_an_output_with_a_literal_is_a_warning():
    ((line, message),) = warnings(document('<Look found="cup"/>', LOOK))
    assert line == 3
    assert '[found] has the literal value "cup"' in message


def test_an_empty_output_is_not_connected():
    assert warnings(document('<Look found=""/>', LOOK)) == []


def test_a_leaf_may_write_what_is_not_connected():
    factory = BehaviorTreeFactory()
    connected = []

    def look(node):
        connected.append(node.set_output("found", "cup"))
        return NodeStatus.SUCCESS

    factory.register_simple_action("Look", look, [OutputPort("found", str)])
    tree = factory.create_tree_from_text(
        '<root BTCPP_format="4"><BehaviorTree ID="Main"><Look found=""/></BehaviorTree></root>'
    )
    assert tree.tick_once() is NodeStatus.SUCCESS
    assert connected == [False]


def test_the_wrong_category_is_a_warning():
    ((line, message),) = warnings(document('<Action ID="ScriptCondition" code="true"/>'))
    assert (line, message) == (3, "ScriptCondition is a Condition, not an Action")


@pytest.mark.parametrize("name", ["__shared_blackboard", "_collapsed"])
def test_what_editors_write_into_the_model_of_a_tree_is_no_port(name):
    model = f'<SubTree ID="Below"><input_port name="{name}"/></SubTree>'
    ((_, message),) = warnings(document('<SubTree ID="Below"/>', model))
    assert f"[{name}] is no port" in message


def test_trees_with_an_empty_name_have_paths_of_their_own():
    body = '<Sequence><SubTree ID="Below" name=""/><SubTree ID="Below" name=""/></Sequence>'
    assert warnings(document(body)) == []


def test_models_may_say_any():
    model = (
        '<Action ID="Give"><output_port name="to" type="BT::Any"/></Action>'
        '<Action ID="Take"><input_port name="from" type="std::string"/></Action>'
    )
    assert (
        warnings(document('<Sequence><Give to="{x}"/><Take from="{x}"/></Sequence>', model)) == []
    )


def test_version_3_wrote_the_entry_that_an_output_names():
    old = document('<Look found="cup"/>', LOOK, root='main_tree_to_execute="Main"')
    new = migrate(old.encode()).data.decode()
    assert '<Look found="{cup}"/>' in new
    same = document('<Look found="{cup}"/>', LOOK, root='main_tree_to_execute="Main"')
    assert '<Look found="{cup}"/>' in migrate(same.encode()).data.decode()


@pytest.mark.parametrize("compat", [None, "4.8"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_script_goes_on_behind_a_backslash_at_the_end_of_its_line(compat, end):
    factory = BehaviorTreeFactory(compat=compat)
    text = document(f'<ScriptCondition code="1 == 1 \\{end} &amp;&amp; 2 == 2"/>', root=MAIN)
    tree = factory.create_tree_from_text(text)
    assert tree.tick_once() is NodeStatus.SUCCESS


def test_behavior_tree_cpp_takes_such_a_script():
    upstream = pytest.importorskip("behaviortreepy")
    text = document('<ScriptCondition code="1 == 1 \\\n &amp;&amp; 2 == 2"/>', root=MAIN)
    tree = upstream.BehaviorTreeFactory().create_tree_from_text(text)
    assert tree.tick_once() == upstream.NodeStatus.SUCCESS
