# SPDX-License-Identifier: Apache-2.0
"""Names, conversions, port declarations, walks: the scenarios of gtest_basic_types.cpp."""

import io
from functools import partial
from typing import Any

import py_trees
import pytest

from behavior_tree import (
    BidirectionalPort,
    Blackboard,
    ConversionError,
    InputPort,
    LogicError,
    NodeStatus,
    NodeType,
    OutputPort,
    PortDirection,
    StdCoutLogger,
    TreeNodeManifest,
    TypeRegistry,
    Unsigned,
    ports_list,
    to_string,
)
from behavior_tree.blackboard.ports import value_to_text

covers = partial(pytest.mark.upstream, "gtest_basic_types.cpp")
STATUSES = ("IDLE", "RUNNING", "SUCCESS", "FAILURE", "SKIPPED")
NODE_TYPES = ("Undefined", "Action", "Condition", "Control", "Decorator", "SubTree")


@covers("BasicTypes.ToStr_NodeStatus", "BasicTypes.ConvertFromString_NodeStatus")
@pytest.mark.parametrize("name", STATUSES)
def test_names_of_statuses(name):
    assert to_string(NodeStatus[name]) == name
    assert TypeRegistry().from_text(name, NodeStatus) is NodeStatus[name]


@covers("BasicTypes.ConvertFromString_NodeStatus")
@pytest.mark.parametrize("text", ["DONE", "success", "", "2"])
def test_what_is_no_status(text):
    with pytest.raises(ConversionError, match="NodeStatus"):
        TypeRegistry().from_text(text, NodeStatus)


@covers("BasicTypes.ToStr_NodeType", "BasicTypes.ConvertFromString_NodeType")
def test_names_of_node_types():
    assert tuple(to_string(each) for each in NodeType) == NODE_TYPES
    assert [TypeRegistry().from_text(name, NodeType) for name in NODE_TYPES] == list(NodeType)


@covers("BasicTypes.ToStr_PortDirection", "BasicTypes.ConvertFromString_PortDirection")
def test_names_of_port_directions():
    names = ("Input", "Output", "InOut")
    assert tuple(to_string(each) for each in PortDirection) == names
    assert [TypeRegistry().from_text(n, PortDirection) for n in names] == list(PortDirection)


@covers("BasicTypes.ToStr_NodeStatus_Colored")
def test_statuses_in_colour(ours):
    stream = io.StringIO()
    ours.load("<Fallback><AlwaysFailure/><Sequence><AlwaysSuccess/></Sequence></Fallback>")
    with StdCoutLogger(ours.tree, stream):
        ours.run()
    for name, colour in {"SUCCESS": 32, "FAILURE": 31, "RUNNING": 33, "IDLE": 36}.items():
        assert f"\x1b[{colour}m{name}" in stream.getvalue()


@covers("BasicTypes.ToStr_Bool", "BasicTypes.ToStr_String")
@pytest.mark.parametrize(
    ("value", "text"), [(True, "true"), (False, "false"), ("cup", "cup"), ("", "")]
)
def test_values_as_text(value, text):
    assert value_to_text(value) == text


BOOLS = {"true": True, "True": True, "TRUE": True, "1": True}
BOOLS |= {"false": False, "False": False, "FALSE": False, "0": False}


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        pytest.param(kind, text, value, marks=covers(f"BasicTypes.ConvertFromString_{name}"))
        for name, kind, values in (
            ("Int", int, {"17": 17, "-17": -17, "0": 0}),
            ("Int64", int, {"9223372036854775807": 2**63 - 1, "-9223372036854775808": -(2**63)}),
            ("UInt64", Unsigned, {"18446744073709551615": 2**64 - 1, "0": 0}),
            ("Double", float, {"2.71828": 2.71828, "-7.25": -7.25, "0.0": 0.0, "1e3": 1000.0}),
            ("Bool", bool, BOOLS),
            ("String", str, {"cup": "cup", "": "", "two words": "two words"}),
        )
        for text, value in values.items()
    ],
)
def test_text_to_value(kind, text, value):
    result = TypeRegistry().from_text(text, kind)
    assert result == value
    assert type(result) is kind


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        pytest.param(kind, text, marks=covers(f"BasicTypes.ConvertFromString_{name}"))
        for name, kind, texts in (
            ("Int", int, ("many", "", "1.5", "12abc")),
            ("Int64", int, ("9223372036854775808",)),
            ("UInt64", Unsigned, ("-1", "18446744073709551616")),
            ("Double", float, ("many", "", "1.2.3")),
            ("Bool", bool, ("maybe", "yes", "2", "")),
        )
        for text in texts
    ],
)
def test_text_that_does_not_fit(kind, text):
    with pytest.raises(ConversionError):
        TypeRegistry().from_text(text, kind)


@covers("BasicTypes.DoubleToIntBoundary")
def test_doubles_at_the_limit_of_integers():
    types = TypeRegistry()
    for beyond in (2.0**63, 2.0**64, -(2.0**64), float("inf"), float("nan")):
        with pytest.raises(ConversionError):
            types.cast(beyond, int)
    assert types.cast(2.0**62, int) == 2**62
    assert types.cast(1000.0, int) == 1000
    board = Blackboard.create()
    board.set("k", 1)
    with pytest.raises(LogicError):
        board.set("k", 2.0**63)
    board.set("k", 2.0**62)
    assert board.get("k") == 2**62


@covers(
    "BehaviorTree.ApplyRecursiveVisitor",
    "BehaviorTree.ApplyRecursiveVisitor_MutableVersion",
    "BehaviorTree.BuildSerializedStatusSnapshot",
)
def test_walk_over_all_nodes(ours):
    ours.load('<Sequence name="s"><Do name="a"/><Work name="w"/></Sequence>')
    ours.tick()
    found = [(node.uid(), node.name(), node.status.name) for node in ours.tree.nodes()]
    assert found == [(1, "s", "RUNNING"), (2, "a", "SUCCESS"), (3, "w", "RUNNING")]


@covers("BehaviorTree.PrintTreeRecursively")
def test_names_in_the_printed_tree(ours):
    ours.load('<Sequence name="MySequence"><AlwaysSuccess name="Inner"/></Sequence>')
    text = py_trees.display.unicode_tree(ours.tree.root_node())
    assert "MySequence" in text.splitlines()[0]
    assert "Inner" in text.splitlines()[1]


@covers("BasicTypes.PortInfo_Construction", "BasicTypes.PortInfo_DefaultValue")
def test_declared_ports():
    first = InputPort("in", int, description="what goes in")
    assert (first.name, first.direction, first.type) == ("in", PortDirection.INPUT, int)
    assert first.description == "what goes in"
    assert first.required
    assert OutputPort("out", float).direction is PortDirection.OUTPUT
    assert BidirectionalPort("both", str).direction is PortDirection.INOUT
    given = InputPort("n", int, 42, "has a default")
    assert (given.default, given.default_text, given.required) == (42, "42", False)


@covers("BasicTypes.TreeNodeManifest")
def test_manifest():
    ports = ports_list(InputPort("value", int), OutputPort("result", str))
    manifest = TreeNodeManifest("Act", NodeType.ACTION, ports)
    assert (manifest.registration_id, manifest.type) == ("Act", NodeType.ACTION)
    assert list(manifest.ports) == ["value", "result"]
    assert manifest.ports["value"].type is int
    assert InputPort("any").type is Any
