# SPDX-License-Identifier: Apache-2.0
"""An operator writes blackboard entries of a tree that runs."""

import pytest

from behavior_tree import BehaviorTreeError, BehaviorTreeFactory, NodeStatus
from behavior_tree.run_control import RunControl
from behavior_tree.run_control.commands import RunCommands

XML = """<root BTCPP_format="4" main_tree_to_execute="main">
  <BehaviorTree ID="main"><Sequence>
    <Script code="n := 1; word := 'a'; on := false"/>
    <SubTree ID="sub" name="inner"/>
  </Sequence></BehaviorTree>
  <BehaviorTree ID="sub"><Sequence>
    <Script code="depth := 0.5"/>
    <ScriptCondition code="depth &gt; 1" _onFailure="depth := 0.5"/>
  </Sequence></BehaviorTree>
</root>"""


@pytest.fixture
def tree():
    factory = BehaviorTreeFactory()
    factory.register_behavior_tree_from_text(XML)
    tree = factory.create_tree("main")
    tree.tick_once()
    return tree


def value(tree, board, key):
    boards = {each.instance_name: each.blackboard for each in tree.subtrees}
    return boards[board].get(key)


@pytest.mark.parametrize(
    ("line", "board", "key", "expected"),
    [
        ("set n = 7", "", "n", 7),
        ("set  word = two  blanks = kept", "", "word", "two  blanks = kept"),
        ("set on = 1", "", "on", 1),  # in a script false is 0
        ("set word =", "", "word", ""),
        ("set inner/depth = 2.25", "inner", "depth", 2.25),
    ],
)
def test_values_are_set_in_the_type_that_they_have(tree, line, board, key, expected):
    with RunControl(tree) as control:
        RunCommands(control).obey(line)
        assert value(tree, board, key) == expected
        assert type(value(tree, board, key)) is type(expected)
        control.reset_failures()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("set n = many", "many"),
        ("set m = 1", "no blackboard has an entry 'm'"),
        ("set inner/dept = 1", "did you mean 'inner/depth'"),
        ("set", "'' is not of the form KEY = VALUE"),
        ("set n", "not of the form KEY = VALUE"),
        ("set = 1", "not of the form KEY = VALUE"),
    ],
)
def test_what_cannot_be_set_changes_nothing(tree, line, why):
    with RunControl(tree) as control:
        with pytest.raises(BehaviorTreeError, match=why):
            RunCommands(control).obey(line)
        assert value(tree, "", "n") == 1
        control.reset_failures()


def test_a_value_that_is_set_counts_in_the_next_tick():
    factory = BehaviorTreeFactory()
    tree = factory.create_tree_from_text("""
        <root BTCPP_format="4"><BehaviorTree ID="main"><Sequence>
          <Script code="go := false"/>
          <Precondition if="go" else="RUNNING"><AlwaysSuccess/></Precondition>
        </Sequence></BehaviorTree></root>""")
    assert tree.tick_once() is NodeStatus.RUNNING
    with RunControl(tree) as control:
        control.set_value("go", "1")
        assert tree.tick_once() is NodeStatus.SUCCESS
