# SPDX-License-Identifier: Apache-2.0
"""Ports, their defaults and literals: the scenarios of gtest_ports.cpp."""

from functools import partial

import pytest
from port_kit import Point, giver, keeper, point_type
from scenario_kit import subtree

from behavior_tree import (
    InputPort,
    NodeConfig,
    NodeStatus,
    NodeType,
    PortError,
    SyncActionNode,
    ports_list,
)
from behavior_tree.blackboard.ports import is_pointer, pointer_key

covers = partial(pytest.mark.upstream, "gtest_ports.cpp")


class CheckInputs(SyncActionNode):
    @classmethod
    def provided_ports(cls):
        return ports_list(InputPort("a", int, 7, "a good number"), InputPort("b", int))

    def tick(self):
        good = (self.get_input("a"), self.get_input("b")) == (7, 8)
        return NodeStatus.SUCCESS if good else NodeStatus.FAILURE


@pytest.fixture
def checking(ours):
    ours.factory.register_node_type(CheckInputs, "CheckInputs")
    return ours


@covers("PortTest.WrongNodeConfig")
def test_node_used_alone_misses_its_input():
    node = CheckInputs("alone", NodeConfig(input_ports={"a": "7"}))
    with pytest.raises(PortError, match="b"):
        node.tick()


@covers("PortTest.DefaultPorts")
def test_default_of_an_input(checking):
    assert checking.load('<CheckInputs b="8"/>').run() == "S"


@covers("PortTest.MissingPort")
def test_missing_input(checking):
    """Told when the tree is built; as 4.8 at the first tick."""
    if checking.mended:
        assert "[b]" in checking.refuses("<CheckInputs/>")
    else:
        assert "[b]" in checking.load("<CheckInputs/>").raises()


@covers("PortTest.WrongPort")
def test_port_that_is_not_declared(checking):
    message = checking.refuses('<CheckInputs b="8" c="1"/>')
    assert "[c]" in message
    assert "<text>:1:" in message


@covers("PortTest.Descriptions")
def test_descriptions_are_no_ports(checking):
    checking.load_xml(
        '<root BTCPP_format="4" main_tree_to_execute="M"><BehaviorTree ID="M" _description="x">'
        '<Sequence><CheckInputs b="8" _description="y"/><SubTree ID="T" _description="z"/>'
        "</Sequence>"
        '</BehaviorTree><BehaviorTree ID="T" _description="t"><CheckInputs b="9"/></BehaviorTree>'
        "</root>"
    )
    assert checking.run() == "F"


@covers("PortsTest.NonPorts")
def test_other_attributes_are_kept(checking):
    checking.load('<Action ID="CheckInputs" name="n" b="8" _colour="red" _skipIf="true"/>')
    root = checking.tree.root_node()
    assert root.type() is NodeType.ACTION
    assert root.config().other_attributes == {"_colour": "red"}


@covers("PortTest.EmptyPort")
def test_entry_that_nobody_has_written(ours):
    seen = []

    def read(node):
        seen.append(node.get_input("value", None))
        return NodeStatus.FAILURE

    ours.factory.register_simple_action("Read", read, [InputPort("value", int)])
    giver(ours, "Give", int, 1)
    ours.load('<Sequence><Read value="{v}"/><Give value="{v}"/></Sequence>')
    assert ours.run() == "F"
    assert seen == [None]


@covers("PortTest.SubtreeStringInput_StringVector")
def test_texts_in_one_literal(ours):
    kept = keeper(ours, list[str])
    ours.load('<Keep value="cup;plate;two words"/>').run()
    assert kept == [["cup", "plate", "two words"]]


def with_defaults(stage, *ports):
    """Register ``<Node/>`` with these ports; returns the list of what it read."""
    seen = []

    def read(node):
        seen.append({port.name: node.get_input(port.name) for port in ports})
        return NodeStatus.SUCCESS

    stage.factory.register_simple_action("Node", read, ports)
    return seen


@covers("PortTest.DefaultInput")
def test_defaults_of_three_types(ours):
    seen = with_defaults(
        point_type(ours),
        InputPort("number", int, 5),
        InputPort("text", str, "hello"),
        InputPort("place", Point, Point(1, 2)),
    )
    assert ours.load("<Node/>").run() == "S"
    assert seen == [{"number": 5, "text": "hello", "place": Point(1, 2)}]


@covers("PortTest.DefaultInputPoint2D")
def test_ways_to_give_a_default(ours):
    point_type(ours).factory.types.json.register(Point)
    seen = with_defaults(
        ours,
        InputPort("given", Point),
        InputPort("value", Point, Point(1, 2)),
        InputPort("entry", Point, "{place}"),
        InputPort("text", Point, "5;6"),
        InputPort("same", Point, "{=}"),
        InputPort("json", Point, 'json:{"x":9,"y":10}'),
    )
    ours.load('<Node given="-1;-2"/>')
    ours.board.set("place", Point(3, 4))
    ours.board.set("same", Point(7, 8))
    assert ours.run() == "S"
    expected = {"given": Point(-1, -2), "value": Point(1, 2), "entry": Point(3, 4)}
    expected |= {"text": Point(5, 6), "same": Point(7, 8), "json": Point(9, 10)}
    assert seen == [expected]


@covers("PortTest.DefaultInputStrings")
def test_text_defaults(ours):
    seen = with_defaults(
        ours,
        InputPort("given", str),
        InputPort("text", str, "hello"),
        InputPort("entry", str, "{msg}"),
        InputPort("same", str, "{=}"),
    )
    ours.load('<Node given="from XML"/>')
    ours.board.set("msg", "ciao")
    ours.board.set("same", "hola")
    assert ours.run() == "S"
    assert seen == [{"given": "from XML", "text": "hello", "entry": "ciao", "same": "hola"}]


@covers("PortTest.Default_Issues_767")
@pytest.mark.parametrize("port_type", [Point | None, str | None, Point])
def test_none_as_default(ours, port_type):
    port = InputPort("value", port_type, None, "nothing")
    assert not port.required
    ours.factory.register_simple_action(
        "Node",
        lambda node: NodeStatus.SUCCESS if node.get_input("value", None) is None else None,
        [port],
    )
    assert ours.load("<Node/>").run() == "S"


@covers("PortTest.DefaultWronglyOverriden")
def test_text_for_a_type_that_text_cannot_become(ours):
    class Opaque:
        pass

    seen = with_defaults(ours, InputPort("value", Opaque, Opaque))
    assert "value" in ours.refuses('<Node value=""/>')
    assert ours.load("<Node/>").run() == "S"
    assert seen == [{"value": Opaque}]


@covers("PortTest.GetInputDefaultValue_Issue858")
def test_default_beside_a_given_port(ours):
    seen = with_defaults(ours, InputPort("log", str, "main"), InputPort("message", str))
    assert ours.load('<Node message="hello"/>').run() == "S"
    assert seen == [{"log": "main", "message": "hello"}]


@covers("PortTest.LoopNodeAcceptsVector_Issue969")
def test_loop_over_the_output_of_a_node(mended):
    kept = keeper(mended, float)
    giver(mended, "Give", list[float], [10.0, 20.0])
    mended.load(
        '<Sequence><Give value="{all}"/><LoopDouble queue="{all}" value="{v}"><Keep value="{v}"/>'
        "</LoopDouble></Sequence>"
    )
    assert mended.run() == "S"
    assert kept == [10.0, 20.0]


@covers("PortTest.DefaultEmptyVector_Issue982")
def test_empty_list_as_default(ours):
    seen = with_defaults(ours, InputPort("value", list[str], []))
    assert ours.load("<Node/>").run() == "S"
    assert seen == [{"value": []}]


@covers("PortTest.SubtreeStringLiteralToLoopDouble_Issue1065")
def test_literal_of_a_subtree_is_a_queue(mended):
    kept = keeper(mended, float)
    mended.load(
        '<SubTree ID="T" q="1;2.5"/>',
        subtree("T", '<LoopDouble queue="{q}" value="{v}"><Keep value="{v}"/></LoopDouble>'),
    )
    assert mended.run() == "S"
    assert kept == [1.0, 2.5]


@covers("PortTest.IsBlackboardPointerAllWhitespaceView")
@pytest.mark.parametrize(
    ("text", "key"),
    [("   ", None), ("{key}", "key"), ("  {key}  ", "key"), ("value", None), ("{}", None)],
)
def test_pointer_or_literal(text, key):
    assert is_pointer(text) is (key is not None)
    assert pointer_key(text, "port") == key
