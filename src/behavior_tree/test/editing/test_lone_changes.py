# SPDX-License-Identifier: Apache-2.0
"""When attributes alone change, less is read and checked, and the outcome is the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_tree import (
    BehaviorTreeFactory,
    InputPort,
    NodeStatus,
    OutputPort,
    SyncActionNode,
    ports_list,
)
from behavior_tree.authoring import register_authoring_nodes
from behavior_tree.editing import TreeFiles
from behavior_tree.errors import LoadError, LogicError
from behavior_tree.sharing.live_tree import LiveTree
from behavior_tree.xml.document import parse_xml
from behavior_tree.xml.edit import XmlEditor

EXAMPLES = settings(deadline=None, max_examples=30)
TREE = """<?xml version="1.0"?>
<root BTCPP_format="4" main_tree_to_execute="Main">
  <!-- größer -->
  <BehaviorTree ID="Main">
    <ConcurrentSequence name="é > all"><Count n="1" name="ä"/><Count n="2"/>
      <Step execute_after="beginning" name="s"><Move side="left" speed='1.5'
            far="{where}"/></Step>
      <Step execute_after="beginning" name="r"><Move side="right"/></Step>
      <Count n="{where}" out="{seen}"/> text <Picky limit="3" key="{three}"/>
      <SubTree ID="Inner" three="3"/><Sleep msec="5" _skipIf="1 &gt; 2"
      /><Script code="a:=1;&#10;b:=2"/></ConcurrentSequence>
  </BehaviorTree>
  <BehaviorTree ID="Inner"><Picky limit="5" key="{three}"/></BehaviorTree>
</root>
"""
NAMES = ("n", "name", "side", "speed", "far", "out", "limit", "key", "msec", "code", "three", "ID")
TEXTS = ("1", "2", "7", "", "x", "left", "é > & \"'", "{where}", "{=}", "=", "{seen}", "a b", "3.5")


class Count(SyncActionNode):
    @classmethod
    def provided_ports(cls):
        return ports_list(InputPort("n", int), OutputPort("out", int))

    def tick(self):
        return NodeStatus.SUCCESS


class Move(Count):
    commands = ("{side} arm",)

    @classmethod
    def provided_ports(cls):
        return ports_list(
            InputPort("side", str), InputPort("speed", float, 1.0), InputPort("far", int, 0)
        )


class Picky(Count):
    """Refuses some literals, and reads the blackboard while it is made."""

    @classmethod
    def provided_ports(cls):
        return ports_list(InputPort("limit", int, 0), InputPort("key", int, 0))

    def __init__(self, name, config):
        super().__init__(name, config)
        if self.get_input("limit") == 7:
            raise LogicError("not seven")
        board = config.blackboard
        known = board.get("three", 0)
        if known and self.get_input("limit") == 2:
            raise LogicError("not two below a tree that gives three")


def factory():
    made = BehaviorTreeFactory()
    register_authoring_nodes(made)
    for each in (Count, Move, Picky):
        made.register_node_type(each, each.__name__)
    return made


def everything(element):
    return (
        *(element.tag, element.attributes, element.offset, element.line, element.column),
        *(element.text, element.close, element.source.file, element.source.elements),
        [everything(child) for child in element.children],
    )


def addresses(element, here=()):
    yield here
    for index, child in enumerate(element.children):
        yield from addresses(child, (*here, index))


CHANGES = st.lists(
    st.tuples(st.integers(0, 99), st.sampled_from(NAMES), st.none() | st.sampled_from(TEXTS)),
    min_size=1,
    max_size=5,
)


def change(editor, places, which, name, text):
    address = places[which % len(places)]
    if text is None:
        editor.remove_attribute(address, name)
    else:
        editor.set_attribute(address, name, text)


@EXAMPLES
@given(CHANGES, st.sampled_from(["\n", "\r\n"]))
def test_elements_are_where_reading_would_find_them(changes, newline):
    editor = XmlEditor(TREE.replace("\n", newline).encode(), "a.xml")
    places = list(addresses(editor.root))
    for each in changes:
        change(editor, places, *each)
        assert editor.root.source.data == editor.data
        assert everything(editor.root) == everything(parse_xml(editor.data, "a.xml"))
    assert editor.retagged is not None


@EXAMPLES
@given(st.lists(CHANGES, min_size=1, max_size=4))
def test_what_is_accepted_and_refused_is_what_checking_all_finds(tmp_path_factory, edits):
    path = tmp_path_factory.mktemp("trees") / "a.xml"
    path.write_text(TREE)
    files = TreeFiles(path, factory())
    places = list(addresses(files.root(path)))
    for changes in edits:
        before = files.data
        wanted = XmlEditor(before[path], str(path))
        for each in changes:
            change(wanted, places, *each)
        _, problems = files.factory.check_documents(path, {path: wanted.data})
        found = []
        try:
            files.change(lambda editors: [change(editors[path], places, *e) for e in changes])  # noqa: B023 - at once
        except LoadError as error:
            found = error.problems
        assert [str(each) for each in found] == [str(each) for each in problems]
        assert files.data == (before if problems else {path: wanted.data})
        root = files.documents.root
        assert everything(root) == everything(parse_xml(files.data[path], str(path)))


@pytest.mark.parametrize(
    ("name", "text", "looks_at_all"),
    [
        ("n", "5", False),
        ("n", "{where}", True),
        ("name", "b", True),
        ("out", "{seen}", True),
    ],
)
def test_only_literals_are_checked_alone(tmp_path, monkeypatch, name, text, looks_at_all):
    path = tmp_path / "a.xml"
    path.write_text(TREE)
    files = TreeFiles(path, factory())
    whole = []
    check = BehaviorTreeFactory._problems
    monkeypatch.setattr(
        BehaviorTreeFactory,
        "_problems",
        lambda self, documents: whole.append(documents) or check(self, documents),
    )
    files.change(lambda editors: editors[path].set_attribute((0, 0, 0), name, text))
    assert bool(whole) == looks_at_all


def test_what_somebody_commands_by_a_port_is_checked_with_all_others(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(TREE)
    files = TreeFiles(path, factory())
    with pytest.raises(LoadError, match="both command 'right arm'"):
        files.change(lambda editors: editors[path].set_attribute((0, 0, 2, 0), "side", "right"))


def test_a_class_that_reads_the_blackboard_is_made_with_all_others(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(TREE)
    files = TreeFiles(path, factory())
    with pytest.raises(LoadError, match="not two below"):
        files.change(lambda editors: editors[path].set_attribute((1, 0), "limit", "2"))


def test_a_tree_that_ticks_is_not_compared_as_a_whole(monkeypatch, tmp_path):
    from behavior_tree.sharing import Code, Edit, SharedTree

    path = tmp_path / "a.xml"
    path.write_text(TREE)
    shared = SharedTree(path, factory())
    shared.build(factory())
    monkeypatch.setattr(LiveTree, "_plan", lambda self, state: pytest.fail("it was"))
    (node,) = (i for i, s in shared.state.spots.items() if s.element.get("name") == "ä")
    text = f'{{"op": "set", "node": "{node}", "attributes": {{"n": "9"}}}}'
    assert shared.submit(Edit("ann", 1, text)).code is Code.MADE
    assert shared.live.tree.node_by_path("ä").raw_port("n") == "9"
