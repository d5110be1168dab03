# SPDX-License-Identifier: Apache-2.0
"""SubTrees and their ports: the scenarios of gtest_subtree.cpp."""

from functools import partial

import pytest
from port_kit import Point, keeper, point_type
from scenario_kit import document, subtree

from behavior_tree import BidirectionalPort, InputPort, NodeStatus, SyncActionNode
from behavior_tree import ports_list as ports

covers = partial(pytest.mark.upstream, "gtest_subtree.cpp")

HEARD = subtree("Hear", """<Script code="heard = heard .. said .. ','"/>""")
"""Appends the port ``said`` to the port ``heard``."""


@covers("SubTree.SiblingPorts_Issue_72")
def test_same_tree_twice_with_the_same_port(stage):
    use = '<SubTree ID="Hear" said="{word}" heard="{all}"/>'
    stage.load(
        f"""<Sequence><Script code="all := ''; word := 'one'"/>{use}"""
        f"""<Script code="word = 'two'"/>{use}</Sequence>""",
        HEARD,
    )
    assert stage.run() == "S"
    assert stage.text("all") == "one,two,"
    assert stage.real or len(stage.tree.subtrees) == 3


@covers("SubTree.GoodRemapping")
def test_ports_in_and_out(stage):
    stage.load(
        """<Sequence><Script code="thought := 'hello'"/>"""
        """<SubTree ID="Copy" from="{thought}" to="{greeting}"/>"""
        """<ScriptCondition code="greeting == 'hello'"/></Sequence>""",
        subtree("Copy", '<Script code="to := from"/>'),
    )
    assert stage.run() == "S"


@covers("SubTree.BadRemapping")
@pytest.mark.parametrize("given", ['to="{greeting}"', 'from="{thought}"'])
def test_port_that_is_not_remapped_is_local(stage, given):
    stage.load(
        f"""<Sequence><Script code="thought := 'hello'"/><SubTree ID="Copy" {given}/>"""
        """<ScriptCondition code="greeting == 'hello'"/></Sequence>""",
        subtree("Copy", '<Script code="to := from"/>'),
    )
    assert "from" in stage.raises() if "to=" in given else "greeting" in stage.raises()


@covers("SubTree.SubtreePlusA")
def test_pointer_literal_and_autoremap(stage):
    stage.load(
        """<Sequence><Script code="heard := ''; word := 'a'"/>"""
        """<SubTree ID="Hear" said="{word}" heard="{heard}"/>"""
        """<SubTree ID="Hear" said="b" heard="{heard}"/><Script code="said := 'c'"/>"""
        """<SubTree ID="Hear" _autoremap="1"/></Sequence>""",
        HEARD,
    )
    assert stage.run() == "S"
    assert stage.text("heard") == "a,b,c,"


@covers("SubTree.SubtreePlusB")
def test_all_three_in_one_subtree(stage):
    stage.load(
        """<Sequence><Script code="word := 'a'; three := 'c'"/>"""
        """<SubTree ID="T" _autoremap="1" one="{word}" two="b and b"/>"""
        """<ScriptCondition code="all == 'ab and bc'"/></Sequence>""",
        subtree("T", '<Script code="all := one .. (two .. three)"/>'),
    )
    assert stage.run() == "S"


@covers("SubTree.SubtreePlusD")
def test_node_reads_its_port_while_it_is_made(ours):
    class Early(SyncActionNode):
        @classmethod
        def provided_ports(cls):
            return ports(InputPort("message", str))

        def __init__(self, name, config):
            super().__init__(name, config)
            self.message = self.get_input("message")

        def tick(self):
            return NodeStatus.SUCCESS if self.message == "hello" else NodeStatus.FAILURE

    ours.factory.register_node_type(Early, "Early")
    board = ours.module.Blackboard.create()
    board.set("message", "hello")
    text = document(
        '<SubTree ID="T" _autoremap="1"/>', subtree("T", '<Early message="{message}"/>')
    )
    assert ours.load_xml(text, board).run() == "S"


@covers("SubTree.ScriptRemap")
def test_script_writes_through_the_remapping(stage):
    stage.load(
        '<Sequence><Script code="v := 0"/><SubTree ID="T" v="{v}"/></Sequence>',
        subtree("T", '<Script code="v := 1"/>'),
    )
    assert stage.run() == "S"
    assert stage.number("v") == 1
    assert stage.real or stage.tree.subtrees[1].blackboard.get_int("v") == 1


@covers("SubTree.StringConversions_Issue530")
def test_script_writes_text_into_a_typed_entry(ours):
    def double(node):
        point = node.get_input("point")
        node.set_output("point", Point(point.x * 2, point.y * 2))
        return NodeStatus.SUCCESS

    point_type(ours).factory.register_simple_action(
        "Double", double, [BidirectionalPort("point", Point)]
    )
    ours.load(
        """<Sequence><Script code="p := '1;2'"/><Double point="{p}"/><Script code="q := p"/>"""
        """<Script code="p := '3;4'"/></Sequence>"""
    )
    assert ours.run() == "S"
    assert (ours.board.get("q"), ours.board.get("p")) == (Point(2, 4), Point(3, 4))


@covers("SubTree.SubtreeNav2_Issue563")
def test_autoremap_through_three_levels(stage):
    board = stage.module.Blackboard.create()
    board.set_string("node", "outside")
    text = document(
        """<Sequence><SetBlackboard output_key="question" value="hello"/>"""
        """<SubTree ID="A" _autoremap="true"/><ScriptCondition code="answer == 'hello!'"/>"""
        """</Sequence>""",
        subtree("A", '<SubTree ID="B" _autoremap="true"/>')
        + subtree("B", '<SubTree ID="C" _autoremap="true"/>')
        + subtree(
            "C",
            """<Sequence><ScriptCondition code="node == 'outside'"/>"""
            """<Script code="answer := question .. '!'"/></Sequence>""",
        ),
    )
    assert stage.load_xml(text, board).run() == "S"


@covers("SubTree.SubtreeNav2_Issue724")
def test_remapping_through_three_levels(stage):
    board = stage.module.Blackboard.create()
    board.set_string("node", "outside")
    down = '<SubTree ID="{}" node="{{node}}"/>'
    text = document(
        down.format("A"),
        subtree("A", down.format("B"))
        + subtree("B", down.format("C"))
        + subtree("C", """<ScriptCondition code="node == 'outside'"/>"""),
    )
    assert stage.load_xml(text, board).run() == "S"


@covers("SubTree.SubtreeIssue592")
def test_condition_in_subtrees_with_and_without_autoremap(stage):
    stage.load(
        """<Sequence><Script code="mode := 'on'; m := 'on'"/>"""
        """<SubTree ID="T" _autoremap="false" mode="{m}"/><SubTree ID="T" _autoremap="true"/>"""
        """</Sequence>""",
        subtree("T", """<Sequence><Do name="a" _skipIf="mode != 'on'"/></Sequence>"""),
    )
    assert stage.run() == "S"
    assert stage.count("a") == [2]


@covers("SubTree.Issue623_String_to_Pose2d")
def test_literal_of_a_subtree_becomes_a_typed_input(ours):
    kept = keeper(point_type(ours), Point)
    ours.load(
        '<ReactiveSequence><SubTree ID="T" goal="1;2"/></ReactiveSequence>',
        subtree("T", '<Sequence><Keep value="{goal}"/></Sequence>'),
    )
    assert ours.run() == "S"
    assert kept == [Point(1, 2)]


@covers("SubTree.Issue653_SetBlackboard")
def test_set_blackboard_inside_feeds_a_typed_input_outside(ours):
    kept = keeper(ours, bool)
    ours.load(
        '<Sequence><SubTree ID="Init" flag="{flag}"/><Keep value="{flag}"/></Sequence>',
        subtree("Init", '<SetBlackboard output_key="flag" value="true"/>'),
    )
    assert ours.run() == "S"
    assert kept == [True]


MODEL = (
    '<TreeNodesModel><SubTree ID="T"><input_port name="given" default="17"/>'
    '<input_port name="who"/><output_port name="result" default="{result}"/>'
    '<output_port name="state"/></SubTree></TreeNodesModel>'
)


@covers("SubTree.SubtreeModels")
def test_model_gives_the_defaults(stage):
    stage.load(
        """<Sequence><Script code="me := 'anna'"/><SubTree ID="T" who="{me}" state="{my_state}"/>"""
        """<ScriptCondition code="result == 96 &amp;&amp; my_state == 'ready'"/></Sequence>""",
        subtree(
            "T",
            """<Sequence><ScriptCondition code="who == 'anna' &amp;&amp; given == 17"/>"""
            """<Script code="result := 96; state := 'ready'"/></Sequence>""",
        )
        + MODEL,
    )
    assert stage.run() == "S"


@covers("SubTree.RemappingIssue696")
def test_literal_is_handed_down_by_autoremap(stage):
    stage.load(
        """<Sequence><Script code="all := ''"/><SubTree ID="Outer" tail="bar" all="{all}"/>"""
        """</Sequence>""",
        subtree(
            "Outer",
            """<Sequence><SubTree ID="Inner" head="1" _autoremap="true"/>"""
            """<SubTree ID="Inner" head="2" _autoremap="true"/></Sequence>""",
        )
        + subtree("Inner", """<Script code="all = all .. (head .. (tail .. ' '))"/>"""),
    )
    assert stage.run() == "S"
    assert stage.text("all") == "1bar 2bar "


@covers("SubTree.PrivateAutoRemapping")
def test_private_keys_are_not_remapped(stage):
    stage.load(
        '<Sequence><SubTree ID="T" _autoremap="true"/><Do name="a"/></Sequence>',
        subtree(
            "T",
            '<Sequence><SetBlackboard output_key="public" value="hello"/>'
            '<SetBlackboard output_key="_private" value="world"/></Sequence>',
        ),
    )
    assert stage.run() == "S"
    assert stage.board.get_keys() == ["public"]


@covers("SubTree.SubtreeNameNotRegistered")
def test_tree_may_not_have_the_name_of_a_node_type(stage):
    message = stage.refuses(
        '<Sequence><Do name="a"/><SubTree ID="Do"/></Sequence>',
        subtree("Do", '<Sequence><Do name="b"/></Sequence>'),
    )
    assert "registered" in message
    with pytest.raises(RuntimeError):
        stage.factory.register_behavior_tree_from_text(
            document('<Do name="a"/>', subtree("Do", "<AlwaysSuccess/>"))
        )


@pytest.mark.parametrize(
    "more",
    [
        pytest.param(
            subtree("Loop", '<SubTree ID="Loop"/>'), marks=covers("SubTree.RecursiveSubtree")
        ),
        pytest.param(
            subtree("Loop", '<Sequence><Do name="a"/><SubTree ID="A"/></Sequence>')
            + subtree("A", '<SubTree ID="B"/>')
            + subtree("B", '<Inverter><SubTree ID="Loop"/></Inverter>'),
            marks=covers("SubTree.RecursiveCycle"),
        ),
    ],
)
def test_tree_inside_itself_is_refused(ours, more):
    message = ours.refuses('<SubTree ID="Loop"/>', more)
    assert "Loop" in message
    assert "Recursive" in message


@covers("SubTree.SubstringTreeIDsAreNotRecursive")
def test_longer_name_is_another_tree(stage):
    stage.load('<SubTree ID="MainTwo"/>', subtree("MainTwo", '<Do name="a"/>'))
    assert stage.run() == "S"


TWINS = '<Sequence><SubTree ID="T" {0}/><SubTree ID="T" {1}/></Sequence>'
TASK = subtree("T", '<Do name="work"/>')


@covers(
    "SubTree.DuplicateSubTreeName_Groot2Issue56",
    "SubTree.DuplicateSubTreeName_ErrorMessage",
    "SubTree.NestedDuplicateNames_ShouldFail",
)
@pytest.mark.parametrize("name", ["task", "T"])
def test_two_subtrees_of_the_same_path_are_refused(stage, name):
    body = TWINS.format(*[f'name="{name}"'] * 2)
    if stage.mended:
        message = stage.refuses(body, TASK)
        assert "Duplicate SubTree path" in message
        assert f"'{name}'" in message
    else:  # only since 4.8.4
        assert stage.load(body, TASK).run() == "S"


@pytest.mark.parametrize(
    ("names", "paths"),
    [
        pytest.param(
            ('name="one"', 'name="two"'),
            ["Sequence::1", "one", "one/work", "two", "two/work"],
            marks=covers("SubTree.UniqueSubTreeNames_WorksCorrectly"),
        ),
        pytest.param(
            ("", ""),
            ["Sequence::1", "T::2", "T::2/work", "T::4", "T::4/work"],
            marks=covers("SubTree.NoNameAttribute_AutoGeneratesUniquePaths"),
        ),
    ],
)
def test_paths_are_unique(ours, names, paths):
    ours.load(TWINS.format(*names), TASK)
    assert [node.full_path() for node in ours.tree.nodes()] == paths
    assert len(ours.tree.subtrees) == 3
    assert ours.run() == "S"


@covers("SubTree.LiteralNumericPortsPreserveType")
def test_numeric_literals_are_numbers(mended):
    mended.load(
        '<SubTree ID="T" whole="11" part="3.25" word="hello" other="{outer}"/>',
        subtree(
            "T",
            "<Sequence><ScriptCondition code='whole + 1 == 12'/>"
            "<ScriptCondition code='part * 2 == 6.5'/><ScriptCondition code='other - 1 == 29'/>"
            """<ScriptCondition code="word == 'hello'"/></Sequence>""",
        ),
    )
    mended.set(outer=30)
    assert mended.run() == "S"
