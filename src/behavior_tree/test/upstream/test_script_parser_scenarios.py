# SPDX-License-Identifier: Apache-2.0
"""The script language: the scenarios of script_parser_test.cpp."""

import random
from enum import IntEnum
from functools import partial
from typing import Any
from xml.sax.saxutils import quoteattr

import pytest
from port_kit import giver

from behavior_tree import (
    Blackboard,
    BlackboardError,
    InputPort,
    NodeStatus,
    OutputPort,
    ScriptError,
    Unsigned,
)
from behavior_tree.quirks import MENDED
from behavior_tree.script import compile_script

covers = partial(pytest.mark.upstream, "script_parser_test.cpp")


def evaluate(text, board=None):
    return compile_script(text, MENDED).run(Blackboard.create() if board is None else board)


def is_valid(text):
    try:
        compile_script(text, MENDED)
    except ScriptError:
        return False
    return True


class Session:
    """Scripts one after the other: on upstream and our 4.8 inside a tree, so that both agree."""

    def __init__(self, stage):
        self.stage = stage

    def value(self, script, key="result"):
        """Number that the last expression gives, as the entry ``key`` shows it."""
        head, _, last = script.rpartition(";")
        code = f"{head}{';' if head else ''} {key} := ({last.strip()})"
        self.stage.load(f"<Script code={quoteattr(code)}/>")
        assert self.stage.run() == "S"
        return self.stage.number(key)


@pytest.fixture
def session(stage):
    return Session(stage)


@covers("ParserTest.AnyTypes")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("905", 905), ("-905", -905), ("0x2a", 42), ("0XfF", 255), ("2.75", 2.75)),
        *(("-2.75", -2.75), ("2.75e2", 275), ("2.75e-2", 0.0275), ("4e2", 400), ("4e-2", 0.04)),
        *(("'two  words '", "two  words "), ("true", 1), ("false", 0)),
    ],
)
def test_literals(text, value):
    assert evaluate(text) == value


@covers("ParserTest.AnyTypes_Failing")
@pytest.mark.parametrize("text", ["0X2ag", "0X2a.", "7up", "12.", "12.5kg"])
def test_malformed_numbers(text):
    assert not is_valid(text)


@covers("ParserTest.AnyTypes_Failing")
def test_unknown_name():
    with pytest.raises(ScriptError, match="nobody"):
        evaluate("nobody")


@covers("ParserTest.TokenizerEdgeCases")
@pytest.mark.parametrize("text", ["'hello", "0x", "0xG", "3e", "3e+", "", "   ", "\t\n\r"])
def test_broken_off_and_empty_scripts(text):
    assert not is_valid(text)


@covers("ParserTest.TokenizerEdgeCases")
def test_concatenation_without_spaces():
    assert evaluate("a:='12'; b:='34'; a..b") == "1234"


@covers("ParserTest.ValidateScriptLargeError_Issue923")
def test_garbage_is_refused_with_a_place():
    signs = "0123456789.e'+-><=;@ \r\x7f\x80\x1eab"
    junk = "".join(random.Random(7).choices(signs, k=2000))
    with pytest.raises(ScriptError) as error:
        compile_script(junk, MENDED)
    assert error.value.position is not None


@covers("ParserTest.Equations")
@pytest.mark.parametrize(
    ("script", "result"),
    [
        *(("x+y", 16), ("y-x", 4), ("y*3", 30), ("y/4", 2.5), ("-x", -6), ("x += 1", 7)),
        *(("x -= 1", 5), ("x *= 2", 12), ("x /= 3", 2), ("x+=1; x-=2", 5), ("y", 10)),
        *(("y & x", 2), ("y | x", 14), ("y ^ x", 12)),
        *(("x < y", 1), ("y > x", 1), ("y != x", 1), ("y == x", 0), ("x > y", 0), ("y == 10", 1)),
        *(("'cup' == 'cup'", 1), ("'cup' != 'plate'", 1), ("'cup' < 'plate'", 1)),
        *(("'cup' > 'plate'", 0), ("v2 = true", 1), ("v2 = !false", 1), ("v2 = !v2", 1)),
        *(("v1 && v2", 0), ("v1 || v2", 1), ("(y == x) && (x == 6)", 0)),
        *(("(y == x) || (x == 6)", 1), ("y == x && x == 6", 0), ("y == x || x == 6", 1)),
        *(("p := '8'; p == 8", 1), ("p := '8'; p != 9", 1)),
    ],
)
def test_numbers_and_truth_on_all_engines(session, script, result):
    assert session.value(f"x := 6; y := 10; v1 := true; v2 := false; {script}") == result


@covers("ParserTest.Equations")
def test_texts():
    board = Blackboard.create()
    assert evaluate("a:='put'; b:=' '; c:='down'; a+b+c", board) == "put down"
    assert evaluate("a = '  up'; b = ' on '; c='it '", board) == "it "
    assert [board.get(key) for key in "abc"] == ["  up", " on ", "it "]
    assert evaluate("1 == 2 ? 'T' : 'F'", board) + evaluate("1 != 2 ? 'T' : 'F'", board) == "FT"


@covers("ParserTest.Equations")
@pytest.mark.parametrize(
    "script",
    [
        *("x = a", "x = 'up'", "a = 1.5", "'up' = 'down'", "'up' = 1.5", "2.5 = 1.5"),
        *("y ^ 2.5", "fresh = 7"),
    ],
)
def test_what_is_not_allowed(script):
    board = Blackboard.create()
    evaluate("x := 6; y := 10; a := 'up'", board)
    keys = board.get_keys()
    with pytest.raises((ScriptError, ValueError, RuntimeError)):
        evaluate(script, board)
    assert board.get_keys() == keys
    assert [board.get(key) for key in keys] == [6, 10, "up"]


@covers("ParserTest.NotInitializedComparison")
@pytest.mark.parametrize("script", ["x < 0", "x == 0", "x > 0", "x + 1", "x += 1"])
def test_empty_entry_has_no_value(script):
    board = Blackboard.create()
    board.create_entry("x", Unsigned)
    with pytest.raises((ScriptError, BlackboardError)):
        evaluate(script, board)


class Color(IntEnum):
    RED = 1
    BLUE = 3
    GREEN = 5


@covers("ParserTest.EnumsBasic", "ParserTest.EnumsXML")
def test_names_of_numbers(ours):
    ours.factory.register_scripting_enum("LIMIT", 31)
    ours.factory.register_scripting_enums(Color)
    ours.load(
        '<Sequence><Script code="a := LIMIT; b := RED; c := RED; d := BLUE; e := GREEN"/>'
        '<ScriptCondition code="b == c &amp;&amp; b != d"/></Sequence>'
    )
    assert ours.run() == "S"
    assert [ours.board.get_int(key) for key in "abcde"] == [31, 1, 1, 3, 5]
    assert ours.board.get_as("d", Color) is Color.BLUE


class Device(IntEnum):
    BATTERY = 1
    MOTOR = 2


@covers("ParserTest.Enums_Issue_523")
def test_enum_inputs_and_a_condition_on_an_output(ours):
    def check(node):
        device = ours.factory.types.cast(node.get_input("device"), Device)
        if device is Device.BATTERY:
            node.set_output("low", node.get_input_double("level") < 25)
        return NodeStatus.SUCCESS

    ports = [InputPort("device", Any), InputPort("level", Any), OutputPort("low", Any)]
    ours.factory.register_simple_condition("Low", check, ports)
    ours.factory.register_scripting_enums(Device)
    low = '<Low device="{dev}" level="{level}" low="{low}"/>'
    ours.load(
        f'<Sequence><Script code="dev := BATTERY; level := 30"/>{low}'
        f'<Do name="first" _skipIf="!low"/><Script code="level := 20"/>{low}'
        '<Do name="second" _skipIf="!low"/></Sequence>'
    )
    assert ours.run() == "S"
    assert ours.take_log() == "second"
    assert ours.board.get_int("dev") == 1
    assert ours.truth("low")


@covers("ParserTest.Issue595")
def test_condition_on_an_unsigned_output(mended):
    """4.8 refuses an ``int`` for an ``unsigned int``, but not for upstream's ``uint8_t``."""
    giver(mended, "Give", Unsigned, 0)
    mended.load('<Sequence><Give value="{found}"/><Do name="a" _skipIf="found == 0"/></Sequence>')
    assert mended.run() == "S"
    assert mended.count("a") == [0]


@covers("ParserTest.OperatorAssociativity_Issue1029")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("9 - 4 + 2", 7), ("20 - 6 - 5", 9), ("3 + 8 - 2", 9), ("24 / 4 / 3", 2)),
        *(("24 / 4 * 3", 18), ("1 + 2 * 5 - 3", 8), ("'a' .. ' ' .. 'b'", "a b")),
    ],
)
def test_operators_group_to_the_left(text, value):
    assert evaluate(text) == value


@covers("ParserTest.CompareWithNegativeNumber_Issue832")
@pytest.mark.parametrize(
    ("script", "result"),
    [
        *(("a := 0; a != -1", 1), ("a := -1; a != -1", 0), ("a := 0; a == -1", 0)),
        *(("a := 0; a > -1", 1), ("a := 0; a < -1", 0)),
    ],
)
def test_comparison_with_a_negative_number(session, script, result):
    assert session.value(script) == result


@covers("ParserTest.CompareWithNegativeNumber_Issue832")
def test_precondition_with_a_negative_number(stage):
    stage.load('<Sequence><Script code="a := 0"/><AlwaysSuccess _failureIf="a != -1"/></Sequence>')
    assert stage.run() == "F"


@covers("ParserTest.NewLine")
def test_line_break_between_statements(stage):
    assert stage.load('<Script code="a := 5;&#10;b := 6"/>').run() == "S"
    assert (stage.number("a"), stage.number("b")) == (5, 6)


@covers("ParserTest.ChainedComparisons")
@pytest.mark.parametrize(
    ("script", "result"),
    [
        *(("2 < 4 < 9", 1), ("9 > 4 > 2", 1), ("2 < 4 > 9", 0), ("7 == 7 == 7", 1)),
        *(("7 == 7 != 2", 1), ("2 <= 4 <= 9", 1), ("9 >= 4 >= 2", 1)),
    ],
)
def test_chained_comparisons(session, script, result):
    assert session.value(script) == result


@covers("ParserTest.OperatorPrecedence")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("8 | 6 & 3", 10), ("true && (4 | 1) == 5", 1), ("false || true && true", 1)),
        *(("false && true || true", 1), ("(1 + 6) * 3", 21), ("3 * (1 + 6)", 21)),
        ("true || false && false", 1),
    ],
)
def test_precedence(text, value):
    assert evaluate(text) == value


@covers("ParserTest.UnaryOperators")
@pytest.mark.parametrize(
    ("script", "result"),
    [
        *(("!true", 0), ("!false", 1), ("!!true", 1), ("~0", -1), ("-(4 + 3)", -7)),
        ("12 + -5", 7),
    ],
)
def test_unary_operators(session, script, result):
    assert session.value(script) == result


@covers("ParserTest.TernaryExpressions")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("true ? 8 : 9", 8), ("false ? 8 : 9", 9), ("true ? 4 + 4 : 9", 8)),
        *(("false ? 9 : 4 + 4", 8), ("7 > 4 ? 'up' : 'down'", "up")),
        ("7 < 4 ? 'up' : 'down'", "down"),
    ],
)
def test_ternary(text, value):
    assert evaluate(text) == value


@covers("ParserTest.MultipleStatements")
def test_statements_and_empty_ones():
    board = Blackboard.create()
    evaluate("a:=3;;; b:=4;;", board)
    assert (board.get("a"), board.get("b")) == (3, 4)
    assert evaluate("a:=5; b:=6; a*b", board) == 30


def test_h_numbers_put_together(stage):
    """Quirk H in both settings, and on upstream."""
    stage.load('<Script code="v := 1 .. 2"/>')
    if stage.mended:
        assert stage.tick() == "S"
        assert stage.text("v") == "12"
    else:
        assert "not initialized" in stage.raises()
