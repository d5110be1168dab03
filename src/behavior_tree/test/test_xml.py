# SPDX-License-Identifier: Apache-2.0
"""Documents: includes, SubTrees, names, uids, paths; every kind of load error with its place."""

# ruff: noqa: E501

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_kit import Rig, xml

from behavior_tree import BehaviorTreeFactory, LoadError, NodeStatus


def problems(text, compat=None):
    with pytest.raises(LoadError) as caught:
        BehaviorTreeFactory(compat=compat).create_tree_from_text(text)
    return caught.value.problems


def in_main(body, more=""):
    return problems(xml(body, more))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no element found"),
        ("<root", "unclosed token"),
        ("<root></toor>", "mismatched tag"),
        ("<tree/>", "root node called <root>"),
        ("<root BTCPP_format='4'/>", "defines no tree"),
        (
            "<root BTCPP_format='5'><BehaviorTree ID='M'><AlwaysSuccess/></BehaviorTree></root>",
            "not supported",
        ),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><root/>", "document types"),
        ("<root><include/></root>", "missing 'path'"),
        ("<root><include path='/nowhere/x.xml'/></root>", "cannot read"),
        ("<root><include path='x.xml' ros_pkg='no_such_package'/></root>", "AMENT_PREFIX_PATH"),
        ("<root><TreeNodesModel/><TreeNodesModel/></root>", "Only a single node <TreeNodesModel>"),
        ("<root><TreeNodesModel><SubTree/></TreeNodesModel></root>", "Missing attribute 'ID'"),
        (
            "<root><TreeNodesModel><SubTree ID='a'><input_port/></SubTree></TreeNodesModel></root>",
            r"Missing attribute \[name\]",
        ),
        (
            "<root><TreeNodesModel><SubTree ID='a'><input_port name='1'/></SubTree></TreeNodesModel></root>",
            "ASCII letter",
        ),
        (
            "<root><BehaviorTree/><BehaviorTree ID='x'><AlwaysSuccess/></BehaviorTree></root>",
            "must have the attribute",
        ),
        (
            "<root><BehaviorTree ID='a/b'><AlwaysSuccess/></BehaviorTree></root>",
            "forbidden character '/'",
        ),
        ("<root><BehaviorTree ID='Root'><AlwaysSuccess/></BehaviorTree></root>", "reserved"),
        ("<root><BehaviorTree ID=''><AlwaysSuccess/></BehaviorTree></root>", "cannot be empty"),
        (
            "<root><BehaviorTree ID='Sequence'><AlwaysSuccess/></BehaviorTree></root>",
            "name of a registered Node",
        ),
        ("<root><BehaviorTree ID='M'/></root>", "exactly 1 child, it has 0"),
        (xml("<AlwaysSuccess/><AlwaysSuccess/>"), "exactly 1 child, it has 2"),
        (xml("<Sequnce/>"), "did you mean Sequence"),
        (xml("<Main/>"), '<SubTree ID="Main"/>'),
        (xml("<Action/>"), r"must have the attribute \[ID\]"),
        (xml('<Action ID="Nope"/>'), "Node not recognized: Nope"),
        (xml("<SubTree/>"), r"must have the attribute \[ID\]"),
        (xml('<SubTree ID="Mian"/>'), "did you mean Main"),
        (xml('<SubTree ID="Main"/>'), "references itself"),
        (xml('<SubTree ID="Sequence"/>'), "name of a registered Node"),
        (xml('<SubTree ID="T"><AlwaysSuccess/></SubTree>'), "should not have any child"),
        (xml('<AlwaysSuccess ID="AlwaysSuccess"/>'), r"Attribute \[ID\] is not allowed"),
        (xml("<AlwaysSuccess><AlwaysSuccess/></AlwaysSuccess>"), "not have any child"),
        (xml('<AlwaysSuccess name="a&#9;b" foo="1"/>'), r"name \[foo\] is found in the XML"),
        (xml('<Sleep mesc="1"/>'), "did you mean msec"),
        (xml('<Sleep msec="abc"/>'), "can not be converted to unsigned int"),
        (xml('<Sleep msec=" {k} x"/>'), "can not be converted"),
        (
            xml('<Precondition if="true" else="MAYBE"><AlwaysSuccess/></Precondition>'),
            "use one of IDLE",
        ),
        (xml('<Precondition if="(" else="FAILURE"><AlwaysSuccess/></Precondition>'), r"in \[if\]"),
        (xml('<LoopInt queue="1" value="3"><AlwaysSuccess/></LoopInt>'), "name a blackboard entry"),
        (xml('<Script code="x := "/>'), r"in \[code\]"),
        (
            xml(
                '<SubTree ID="T" _autoremap="maybe"/>',
                "<BehaviorTree ID='T'><AlwaysSuccess/></BehaviorTree>",
            ),
            "bool",
        ),
        (xml("<Inverter>" * 260 + "<AlwaysSuccess/>" + "</Inverter>" * 260), "nesting depth"),
    ],
)
def test_each_error_is_reported_with_place_and_remedy(text, words):
    import re

    found = problems(text)
    hits = [p for p in found if re.search(words, f"{p.message} {p.remedy}")]
    assert hits, [str(p) for p in found]


def test_all_problems_of_a_document_come_at_once_with_line_column_and_path():
    text = """<root BTCPP_format="4">
  <BehaviorTree ID="Main">
    <Sequence>
      <Sequnce/>
      <Sleep
        name="wait" msec="soon"/>
      <Fallback name="pick"> <Sleep/> <Script code="1 +"/> </Fallback>
    </Sequence>
  </BehaviorTree>
  <BehaviorTree ID="Other"> <Nothing/> </BehaviorTree>
</root>"""
    found = [(p.line, p.column, p.path) for p in problems(text)]
    assert found == [
        (1, 1, ""),  # which of the trees to build
        (4, 7, "Main/Sequence/Sequnce"),
        (6, 21, "Main/Sequence/wait"),
        (7, 30, "Main/Sequence/pick/Sleep"),
        (7, 47, "Main/Sequence/pick/Script"),
        (10, 29, "Other/Nothing"),
    ]
    message = str(LoadError(problems(text)))
    assert message.startswith("6 problems in behavior tree:\n<text>:1:1: [main_tree_to_execute]")


def test_columns_count_characters_not_bytes():
    (problem,) = in_main('<Sequence name="ärmel"><Nothing/></Sequence>')
    assert (
        problem.column == xml('<Sequence name="ärmel"><Nothing/></Sequence>').index("<Nothing") + 1
    )


def test_problems_of_included_files_name_their_file(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "main.xml").write_text(
        '<root BTCPP_format="4" main_tree_to_execute="Main"><include path="sub/a.xml"/>'
        '<BehaviorTree ID="Main"><Nothing/></BehaviorTree></root>'
    )
    (tmp_path / "sub/a.xml").write_text(
        '<root BTCPP_format="4"><include path="b.xml"/>\n<BehaviorTree ID="A"><Wrong/></BehaviorTree></root>'
    )
    (tmp_path / "sub/b.xml").write_text("<root>\n<BehaviorTree ID='B'>")
    with pytest.raises(LoadError) as caught:
        BehaviorTreeFactory().create_tree_from_file(tmp_path / "main.xml")
    places = {(p.file.rsplit("/", 1)[1], p.line) for p in caught.value.problems}
    assert places == {("main.xml", 1), ("a.xml", 2), ("b.xml", 2)}


def test_includes_are_relative_and_the_includer_wins(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "main.xml").write_text(
        '<root BTCPP_format="4" main_tree_to_execute="Main"><include path="sub/a.xml"/>'
        '<BehaviorTree ID="Main"><Sequence><SubTree ID="A"/><SubTree ID="B"/></Sequence></BehaviorTree>'
        '<BehaviorTree ID="B"><AlwaysSuccess/></BehaviorTree></root>'
    )
    (tmp_path / "sub/a.xml").write_text(
        '<root BTCPP_format="4" main_tree_to_execute="B"><include path="b.xml"/>'
        '<BehaviorTree ID="A"><AlwaysSuccess/></BehaviorTree></root>'
    )
    (tmp_path / "sub/b.xml").write_text(
        '<root BTCPP_format="4"><BehaviorTree ID="B"><AlwaysFailure/></BehaviorTree></root>'
    )
    factory = BehaviorTreeFactory()
    tree = factory.create_tree_from_file(str(tmp_path / "main.xml"))
    assert factory.registered_behavior_trees() == ["A", "B", "Main"]
    assert tree.tick_once() is NodeStatus.SUCCESS


def test_include_by_ros_package(tmp_path, monkeypatch):
    share = tmp_path / "share"
    (share / "ament_index/resource_index/packages").mkdir(parents=True)
    (share / "ament_index/resource_index/packages/my_trees").touch()
    (share / "my_trees").mkdir()
    (share / "my_trees/a.xml").write_text(
        '<root BTCPP_format="4"><BehaviorTree ID="A"><AlwaysSuccess/></BehaviorTree></root>'
    )
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    factory = BehaviorTreeFactory()
    factory.register_behavior_tree_from_text(
        '<root BTCPP_format="4"><include ros_pkg="my_trees" path="a.xml"/></root>'
    )
    assert factory.registered_behavior_trees() == ["A"]


def test_include_cycle(tmp_path):
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{name}.xml").write_text(
            f'<root BTCPP_format="4"><include path="{other}.xml"/></root>'
        )
    with pytest.raises(LoadError, match=r"include cycle: a\.xml -> b\.xml -> a\.xml"):
        BehaviorTreeFactory().register_behavior_tree_from_file(tmp_path / "a.xml")


def test_missing_file_is_a_load_error():
    with pytest.raises(LoadError, match="cannot read"):
        BehaviorTreeFactory().create_tree_from_file("/nowhere/tree.xml")


def test_a_bad_file_leaves_the_factory_as_it_was_and_a_good_one_replaces(tmp_path):
    path = tmp_path / "tree.xml"
    factory = BehaviorTreeFactory()
    path.write_text(
        xml("<AlwaysSuccess/>", '<BehaviorTree ID="Old"><AlwaysSuccess/></BehaviorTree>')
    )
    factory.register_behavior_tree_from_file(path)
    path.write_text(xml("<AlwaysFailure/>", '<BehaviorTree ID="New"><Nothing/></BehaviorTree>'))
    with pytest.raises(LoadError):
        factory.register_behavior_tree_from_file(path)
    assert factory.registered_behavior_trees() == ["Main", "Old"]
    assert factory.create_tree("Main").tick_once() is NodeStatus.SUCCESS
    path.write_text(xml("<AlwaysFailure/>"))
    factory.register_behavior_tree_from_file(path)
    assert factory.create_tree("Main").tick_once() is NodeStatus.FAILURE


def test_which_tree_is_the_main_one():
    trees = "".join(f'<BehaviorTree ID="{t}"><AlwaysSuccess/></BehaviorTree>' for t in "AB")
    factory = BehaviorTreeFactory()
    with pytest.raises(LoadError, match=r"main_tree_to_execute.*\n?.*A, B"):
        factory.create_tree_from_text(f'<root BTCPP_format="4">{trees}</root>')
    tree = factory.create_tree_from_text(
        f'<root BTCPP_format="4" main_tree_to_execute="B">{trees}</root>'
    )
    assert tree.subtrees[0].tree_id == "B"
    with pytest.raises(LoadError, match=r"Can't find a tree with name: C.*registered: A, B"):
        factory.create_tree("C")
    tree = factory.create_tree_from_text(
        '<root BTCPP_format="4"><BehaviorTree><AlwaysSuccess/></BehaviorTree></root>'
    )
    assert tree.subtrees[0].tree_id == "BehaviorTree_0"


def test_declaration_with_another_encoding_and_white_space_before_it():
    text = '\n <?xml version="1.0" encoding="ISO-8859-1"?>\n' + xml(
        '<Sequence name="ü"><AlwaysSuccess/></Sequence>'
    )
    assert BehaviorTreeFactory().create_tree_from_text(text).root_node().name() == "ü"


def test_explicit_syntax_comments_and_text():
    body = '<!-- go --><Control ID="Sequence" name="s">text<Action ID="AlwaysSuccess"/><!-- x --></Control>'
    tree = BehaviorTreeFactory().create_tree_from_text(xml(body))
    assert [n.full_path() for n in tree.nodes()] == ["s", "AlwaysSuccess::2"]


def test_uids_and_paths():
    rig = Rig(A="S")
    tree = rig.tree(
        '<Sequence><A/><SubTree ID="T"/><SubTree ID="T" name="second"/><A name="A"/><A name="x/y z"/></Sequence>',
        '<BehaviorTree ID="T"><Inverter name="inv"><A/></Inverter></BehaviorTree>',
    )
    assert [(n.uid(), n.full_path()) for n in tree.nodes()] == [
        (1, "Sequence::1"),
        (2, "A::2"),
        (3, "T::3"),
        (4, "T::3/inv"),
        (5, "T::3/A::5"),
        (6, "second"),
        (7, "second/inv"),
        (8, "second/A::8"),
        (9, "A::9"),
        (10, "x/y z"),
    ]
    assert [(s.instance_name, s.tree_id) for s in tree.subtrees] == [
        ("", "Main"),
        ("T::3", "T"),
        ("second", "T"),
    ]


T = '<BehaviorTree ID="T"><Sequence><Script code="{}"/></Sequence></BehaviorTree>'


@pytest.mark.parametrize(
    ("attributes", "code", "expected"),
    [
        ('p="{x}"', "p = 5", {"x": 5}),
        ('x="{=}"', "x = 5", {"x": 5}),
        ('_autoremap="true"', "x = 5", {"x": 5}),
        ('_autoremap="1" x="7"', "x = 5", {"x": 1}),
        ('_autoremap="true"', "_x := 5", {"x": 1}),
        ("", "x := 5", {"x": 1}),
        ("", "@x = 5", {"x": 5}),
        ('q="5"', "@x = q + 1", {"x": 6}),
        ('q="2.5"', "@y := q", {"x": 1, "y": 2.5}),
        ('q="true"', "@y := q", {"x": 1, "y": "true"}),
        ('q="1;2"', "@y := q", {"x": 1, "y": "1;2"}),
        ('p="{new}"', "p := 'a'", {"x": 1, "new": "a"}),
        ('p="{@x}"', "p = 9", {"x": 9}),
    ],
)
def test_subtree_ports(attributes, code, expected):
    rig = Rig()
    tree = rig.tree(f'<SubTree ID="T" {attributes}/>', T.format(code))
    tree.root_blackboard().set("x", 1)
    assert tree.tick_once() is NodeStatus.SUCCESS
    assert dict(tree.root_blackboard().items()) == expected


MODEL = (
    '<TreeNodesModel><SubTree ID="T"><input_port name="must"/><input_port name="may" default="7"/>'
    '<inout_port name="out" default="{result}"/></SubTree></TreeNodesModel>'
)


def test_subtree_models_give_defaults_and_demand_ports():
    rig = Rig()
    tree = rig.tree('<SubTree ID="T" must="1"/>', MODEL + T.format("out := must + may"))
    tree.tick_once()
    assert tree.root_blackboard().get("result") == 8
    with pytest.raises(LoadError, match=r"mandatory port called \[must\]"):
        rig.tree('<SubTree ID="T"/>', MODEL + T.format("1"))
    rig.tree('<SubTree ID="T" _autoremap="true"/>', MODEL + T.format("1"))


def test_nested_remaps_reach_the_top():
    rig = Rig()
    tree = rig.tree(
        '<SubTree ID="A" a="{top}"/>',
        '<BehaviorTree ID="A"><SubTree ID="B" b="{a}"/></BehaviorTree>'
        '<BehaviorTree ID="B"><Script code="b := 3"/></BehaviorTree>',
    )
    tree.tick_once()
    assert dict(tree.root_blackboard().items()) == {"top": 3}


def test_an_outer_blackboard_is_the_root():
    from behavior_tree import Blackboard

    rig = Rig()
    board = Blackboard.create()
    board.set("x", 4)
    tree = rig.factory.create_tree_from_text(xml('<Script code="x += 1; @x += 1"/>'), board)
    tree.tick_once()
    assert board.get("x") == 6
    assert tree.root_blackboard() is board


def test_duplicate_subtree_paths_and_indirect_recursion():
    found = in_main(
        '<Sequence><SubTree ID="T" name="t"/><SubTree ID="T" name="t"/></Sequence>',
        '<BehaviorTree ID="T"><AlwaysSuccess/></BehaviorTree>',
    )
    assert "Duplicate SubTree path" in found[0].message
    found = in_main(
        '<SubTree ID="T"/>',
        '<BehaviorTree ID="T"><Inverter><SubTree ID="Main"/></Inverter></BehaviorTree>',
    )
    assert "Main -> T -> Main" in found[0].message


def test_reactive_sequence_with_two_async_children():
    body = (
        "<ReactiveSequence><AsyncSequence><AlwaysSuccess/></AsyncSequence>"
        "<AsyncSequence><AlwaysSuccess/></AsyncSequence></ReactiveSequence>"
    )
    assert "more than one async child" in in_main(body)[0].message


def test_deep_documents_and_entity_bombs_are_refused_quickly():
    deep = "<root>" + "<Inverter>" * 10000 + "</Inverter>" * 10000 + "</root>"
    assert "nesting depth" in problems(deep)[0].message
    bomb = '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><root>&b;</root>'
    assert "document types" in problems(bomb)[0].message


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="<>/='\" \nrotBehaviorTreeID4MainSequence{}&;!-[]", max_size=120))
def test_any_text_loads_or_is_a_load_error(text):
    for document in (text, xml(text)):
        with contextlib.suppress(LoadError):
            BehaviorTreeFactory().create_tree_from_text(document)
