# SPDX-License-Identifier: Apache-2.0
"""Which ports may be connected: the scenarios of gtest_port_type_rules.cpp."""

from functools import partial
from typing import Any

import pytest
from port_kit import Point, copier, giver, keeper, point_type
from scenario_kit import subtree

from behavior_tree import (
    Blackboard,
    ConversionError,
    InputPort,
    LogicError,
    NodeStatus,
    Unsigned,
)

covers = partial(pytest.mark.upstream, "gtest_port_type_rules.cpp")

CHAIN = '<Sequence><{0} input="{1}" output="{{v}}"/><{2} input="{{v}}" output="{{r}}"/></Sequence>'


@pytest.fixture
def typed(ours):
    """Copiers of four types; the integer one doubles."""
    copier(point_type(ours), "Int", int, lambda value: value * 2)
    copier(ours, "Float", float)
    copier(ours, "Text", str)
    copier(ours, "Place", Point)
    copier(ours, "Untyped", Any)
    return ours


@pytest.mark.parametrize(
    ("node", "literal", "result"),
    [
        pytest.param("Int", "15", 60, marks=covers("PortTypeRules.SameType_IntToInt")),
        pytest.param(
            "Text", "hello", "hello", marks=covers("PortTypeRules.SameType_StringToString")
        ),
        pytest.param(
            *("Place", "0.5;-4", Point(0.5, -4)),
            marks=covers("PortTypeRules.SameType_CustomTypeToCustomType"),
        ),
    ],
)
def test_same_types_are_connected(typed, node, literal, result):
    assert typed.load(CHAIN.format(node, literal, node)).run() == "S"
    assert typed.board.get("r") == result


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            '<Sequence><Int input="42" output="{v}"/><Untyped input="{v}"/></Sequence>',
            marks=covers("PortTypeRules.GenericPort_AcceptsInt"),
        ),
        pytest.param(
            '<Sequence><Text input="hello" output="{v}"/><Untyped input="{v}"/></Sequence>',
            marks=covers("PortTypeRules.GenericPort_AcceptsString"),
        ),
        pytest.param(
            '<Sequence><Untyped input="7" output="{v}"/><Int input="{v}" output="{r}"/></Sequence>',
            marks=covers("PortTypeRules.GenericOutput_ToTypedInput"),
        ),
        pytest.param(
            '<Sequence><Int input="42" output="{v}"/><Untyped input="{v}" output="{u}"/>'
            '<Int input="{v}" output="{r}"/></Sequence>',
            marks=covers("PortTypeRules.MixedTypesWithGenericIntermediate"),
        ),
    ],
)
def test_untyped_ports_are_connected_to_all(typed, body):
    assert typed.load(body).run() == "S"


@covers("PortTypeRules.GenericToTyped_ChainThroughBlackboard")
def test_untyped_reader_does_not_change_the_entry(typed):
    typed.load(
        '<Sequence><Int input="10" output="{v}"/><Untyped input="{v}" output="{u}"/>'
        '<Int input="{v}" output="{r}"/></Sequence>'
    )
    assert typed.run() == "S"
    assert [typed.board.get(key) for key in "vur"] == [20, 20, 40]


@pytest.mark.parametrize(
    ("node", "text", "result"),
    [
        pytest.param(
            "Int", "42", 84, marks=covers("PortTypeRules.StringToInt_ViaConvertFromString")
        ),
        pytest.param(
            *("Float", "3.14", 3.14),
            marks=covers("PortTypeRules.StringToDouble_ViaConvertFromString"),
        ),
        pytest.param(
            *("Place", "1;2", Point(1, 2)),
            marks=covers("PortTypeRules.StringToCustomType_ViaConvertFromString"),
        ),
    ],
)
def test_text_entry_becomes_the_type_of_the_port(typed, node, text, result):
    typed.load(
        f'<Sequence><SetBlackboard value="{text}" output_key="v"/>'
        f'<{node} input="{{v}}" output="{{r}}"/></Sequence>'
    )
    assert typed.run() == "S"
    assert typed.board.get("r") == result


@covers("PortTypeRules.StringToVector_ViaConvertFromString")
def test_literal_becomes_a_list(ours):
    kept = keeper(ours, list[float])
    assert ours.load('<Keep value="1.0;2.0;3.5"/>').run() == "S"
    assert kept == [[1.0, 2.0, 3.5]]


@covers("PortTypeRules.SubtreeStringInput_ToTypedPort")
def test_literal_of_a_subtree_becomes_a_list(ours):
    kept = keeper(ours, list[float])
    ours.load('<SubTree ID="T" all="3;7"/>', subtree("T", '<Keep value="{all}"/>'))
    assert ours.run() == "S"
    assert kept == [[3.0, 7.0]]


@covers("PortTypeRules.StringToDifferentTypes")
def test_text_output_feeds_numbers(typed):
    typed.load(
        '<Sequence><Text input="42" output="{v}"/><Int input="{v}" output="{i}"/>'
        '<Float input="{v}" output="{f}"/></Sequence>'
    )
    assert typed.run() == "S"
    assert (typed.board.get("i"), typed.board.get("f")) == (84, 42.0)


# -- entries made by a program


@covers(
    "PortTypeRules.BlackboardSetString_CreatesGenericEntry",
    "PortTypeRules.BlackboardSetInt_CreatesStronglyTypedEntry",
)
def test_only_texts_leave_an_entry_untyped():
    board = Blackboard.create()
    board.set("text", "hello")
    board.set("number", 42)
    assert board.entry("text").type is Any
    assert board.entry("number").type is int


@covers("PortTypeRules.StringEntry_CanBecomeTyped")
def test_untyped_entry_takes_the_next_type():
    board = Blackboard.create()
    board.set("k", "42")
    board.set("k", 43)
    assert board.entry("k").type is int


@covers("PortTypeRules.TypeLock_CannotChangeAfterTypedWrite")
@pytest.mark.parametrize("value", ["hello", 3.14, [1]])
def test_typed_entry_keeps_its_type(value):
    board = Blackboard.create()
    board.set("k", 42)
    with pytest.raises((LogicError, ConversionError)):
        board.set("k", value)
    assert board.get("k") == 42


@pytest.mark.parametrize(
    ("first", "literal", "second"),
    [
        pytest.param(
            *("Int", "42", "Text"),
            marks=covers("PortTypeRules.TypeLock_XMLTreeCreation_TypeMismatch"),
        ),
        pytest.param(
            *("Int", "42", "Float"), marks=covers("PortTypeRules.TypeLock_IntToDouble_Fails")
        ),
        pytest.param(
            *("Place", "1;2", "Int"), marks=covers("PortTypeRules.TypeLock_CustomTypeChange_Fails")
        ),
    ],
)
def test_different_types_are_not_connected(typed, first, literal, second):
    message = typed.refuses(CHAIN.format(first, literal, second))
    assert "[v]" in message
    assert "type" in message


@covers("PortTypeRules.TypeLock_RuntimeTypeChange_Fails")
def test_copy_of_another_type_fails_when_it_happens(ours):
    point_type(ours).load(
        '<Sequence><SetBlackboard value="{place}" output_key="v"/><Sleep msec="5"/>'
        '<SetBlackboard value="{word}" output_key="v"/></Sequence>'
    )
    ours.board.set("place", Point(2, 7))
    ours.board.set("word", "Hello!")
    assert ours.tick() == "R"
    ours.wait(20)
    assert "Hello!" in ours.raises()
    assert ours.board.get("v") == Point(2, 7)


# -- numbers


@pytest.fixture
def counter():
    board = Blackboard.create()
    board.create_entry("k", Unsigned)
    board.set("k", 100)
    return board


@covers("PortTypeRules.SafeCast_IntToUint8_InRange")
def test_number_that_fits_is_cast(counter):
    counter.set("k", 50)
    assert counter.get("k") == 50
    assert type(counter.get("k")) is Unsigned


@covers("PortTypeRules.SafeCast_IntToUint8_Negative", "PortTypeRules.SafeCast_IntToUint8_Overflow")
@pytest.mark.parametrize("value", [-1, 2.5, float("inf")])
def test_number_that_does_not_fit_is_refused(counter, value):
    with pytest.raises(LogicError, match=r"\[k\]"):
        counter.set("k", value)
    assert counter.get("k") == 100


@covers("PortTypeRules.BTAny_WrapperDoesNotBypassTypeCheck")
def test_value_of_unknown_type_is_checked_as_well():
    board = Blackboard.create()
    value: Any = 42
    board.set("k", value)
    with pytest.raises((LogicError, ConversionError)):
        board.set("k", "hello")


# -- ports that take anything


@covers("PortTypeRules.BTAny_EntryType_AllowsDifferentTypes")
def test_write_without_check_takes_any_type():
    """Upstream's ``Any`` around a value is `Entry.store` here."""
    entry = Blackboard.create().create_entry("k", Any)
    for value in (42, "hello", 3.14):
        entry.store(value)
        assert entry.value == value
    assert (entry.type, entry.seq) == (Any, 3)


@covers("PortTypeRules.BTAny_Port_AcceptsDifferentTypes")
def test_untyped_output_feeds_a_typed_input(ours):
    copier(ours, "Int", int)
    giver(ours, "Give", Any, "7")
    ours.load('<Sequence><Give value="{v}"/><Int input="{v}" output="{r}"/></Sequence>')
    assert ours.run() == "S"
    assert ours.board.get("r") == 7


@covers("PortTypeRules.BTAny_InputPort_ReadsAsString")
def test_untyped_input_is_read_as_text(typed):
    seen = []

    def read(node):
        seen.append(node.get_input_string("input"))
        return NodeStatus.SUCCESS

    typed.factory.register_simple_action("Read", read, [InputPort("input", Any)])
    typed.load('<Sequence><Int input="15" output="{v}"/><Read input="{v}"/></Sequence>')
    assert typed.run() == "S"
    assert seen == ["30"]


@covers(
    "PortTypeRules.IsStronglyTyped_TypeInfo",
    "PortTypeRules.GenericPortDeclaration_DefaultsToAnyTypeAllowed",
)
def test_port_is_untyped_unless_told():
    assert not InputPort("a").typed
    assert InputPort("a").type is Any
    assert not InputPort("a", Any).typed
    assert InputPort("a", int).typed
    assert InputPort("a", str).typed


# -- literals


@pytest.mark.parametrize(
    ("node", "literal"),
    [
        pytest.param(
            *("Int", "many"),
            marks=covers("PortTypeRules.StringLiteralValidation_InvalidFormat"),
        ),
        pytest.param(
            *("Place", "1.5"), marks=covers("PortTypeRules.CustomTypeStringLiteral_InvalidFormat")
        ),
    ],
)
def test_literal_of_the_wrong_form_is_refused(typed, node, literal):
    message = typed.refuses(f'<{node} input="{literal}" output="{{r}}"/>')
    assert literal in message
    assert "input" in message


@pytest.mark.parametrize(
    ("node", "literal", "result"),
    [
        pytest.param(
            *("Int", "42", 84), marks=covers("PortTypeRules.StringLiteralValidation_ValidFormat")
        ),
        pytest.param(
            *("Place", "0.5;-4", Point(0.5, -4)),
            marks=covers("PortTypeRules.CustomTypeStringLiteral_ValidFormat"),
        ),
    ],
)
def test_literal_of_the_right_form(typed, node, literal, result):
    assert typed.load(f'<{node} input="{literal}" output="{{r}}"/>').run() == "S"
    assert typed.board.get("r") == result


@covers("PortTypeRules.ReservedPortName_ThrowsOnRegistration")
@pytest.mark.parametrize("name", ["name", "ID", "_skipIf"])
def test_reserved_port_name(name):
    with pytest.raises(LogicError, match=name):
        InputPort(name, str)
