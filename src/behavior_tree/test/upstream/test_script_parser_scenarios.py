# SPDX-License-Identifier: Apache-2.0
"""The script language: the scenarios of script_parser_test.cpp."""

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
        *(("628", 628), ("-628", -628), ("0x100", 256), ("0X1f", 31), ("3.14", 3.14)),
        *(("-3.14", -3.14), ("3.14e2", 314), ("3.14e-2", 0.0314), ("3e2", 300), ("3e-2", 0.03)),
        *(("'hello world '", "hello world "), ("true", 1), ("false", 0)),
    ],
)
def test_literals(text, value):
    assert evaluate(text) == value


@covers("ParserTest.AnyTypes_Failing")
@pytest.mark.parametrize("text", ["0X100g", "0X100.", "3foo", "65.", "65.43foo"])
def test_malformed_numbers(text):
    assert not is_valid(text)


@covers("ParserTest.AnyTypes_Failing")
def test_unknown_name():
    with pytest.raises(ScriptError, match="foo"):
        evaluate("foo")


@covers("ParserTest.TokenizerEdgeCases")
@pytest.mark.parametrize("text", ["'hello", "0x", "0xG", "3e", "3e+", "", "   ", "\t\n\r"])
def test_broken_off_and_empty_scripts(text):
    assert not is_valid(text)


@covers("ParserTest.TokenizerEdgeCases")
def test_concatenation_without_spaces():
    assert evaluate("a:='65'; b:='66'; a..b") == "6566"


@covers("ParserTest.ValidateScriptLargeError_Issue923")
def test_garbage_is_refused_with_a_place():
    junk = "+6e66>6666.6+66\r6>6;6e62=6+6e66>66666'; en';o';o'; en'; " * 10
    with pytest.raises(ScriptError) as error:
        compile_script(junk + "\x7fn\x7fr;6.6+66.H>6+6\x806\x1e;@e66", MENDED)
    assert error.value.position is not None


@covers("ParserTest.Equations")
@pytest.mark.parametrize(
    ("script", "result"),
    [
        *(("x+y", 8), ("y-x", 2), ("y*2", 10), ("y/2", 2.5), ("-x", -3), ("x += 1", 4)),
        *(("x -= 1", 2), ("x *= 2", 6), ("x /= 3", 1), ("x+=1; x-=2", 2), ("y", 5)),
        *(("y & x", 1), ("y | x", 7), ("y ^ x", 6)),
        *(("x < y", 1), ("y > x", 1), ("y != x", 1), ("y == x", 0), ("x > y", 0), ("y == 5", 1)),
        *(("'hello' == 'hello'", 1), ("'hello' != 'world'", 1), ("'hello' < 'world'", 1)),
        *(("'hello' > 'world'", 0), ("v2 = true", 1), ("v2 = !false", 1), ("v2 = !v2", 1)),
        *(("v1 && v2", 0), ("v1 || v2", 1), ("(y == x) && (x == 3)", 0)),
        *(("(y == x) || (x == 3)", 1), ("y == x && x == 3", 0), ("y == x || x == 3", 1)),
        *(("p := '3'; p == 3", 1), ("p := '3'; p != 4", 1)),
    ],
)
def test_numbers_and_truth_on_all_engines(session, script, result):
    assert session.value(f"x := 3; y := 5; v1 := true; v2 := false; {script}") == result


@covers("ParserTest.Equations")
def test_texts():
    board = Blackboard.create()
    assert evaluate("a:='hello'; b:=' '; c:='world'; a+b+c", board) == "hello world"
    assert evaluate("a = '  right'; b = ' center '; c='left '", board) == "left "
    assert [board.get(key) for key in "abc"] == ["  right", " center ", "left "]
    assert evaluate("1 == 2 ? 'T' : 'F'", board) + evaluate("1 != 2 ? 'T' : 'F'", board) == "FT"


@covers("ParserTest.Equations")
@pytest.mark.parametrize(
    "script",
    [
        *("x = a", "x = 'msg'", "a = 1.0", "'hello' = 'world'", "'hello' = 2.0", "3.0 = 2.0"),
        *("y ^ 5.1", "fresh = 69"),
    ],
)
def test_what_is_not_allowed(script):
    board = Blackboard.create()
    evaluate("x := 3; y := 5; a := 'hello'", board)
    keys = board.get_keys()
    with pytest.raises((ScriptError, ValueError, RuntimeError)):
        evaluate(script, board)
    assert board.get_keys() == keys
    assert [board.get(key) for key in keys] == [3, 5, "hello"]


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
    ours.factory.register_scripting_enum("ANSWER", 42)
    ours.factory.register_scripting_enums(Color)
    ours.load(
        '<Sequence><Script code="a := ANSWER; b := RED; c := RED; d := BLUE; e := GREEN"/>'
        '<ScriptCondition code="b == c &amp;&amp; b != d"/></Sequence>'
    )
    assert ours.run() == "S"
    assert [ours.board.get_int(key) for key in "abcde"] == [42, 1, 1, 3, 5]
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
        *(("5 - 2 + 1", 4), ("10 - 3 - 2", 5), ("2 + 3 - 1", 4), ("12 / 3 / 2", 2)),
        *(("12 / 3 * 2", 8), ("2 + 3 * 4 - 1", 13), ("'a' .. ' ' .. 'b'", "a b")),
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
        *(("1 < 2 < 3", 1), ("3 > 2 > 1", 1), ("1 < 2 > 3", 0), ("5 == 5 == 5", 1)),
        *(("5 == 5 != 3", 1), ("1 <= 2 <= 3", 1), ("3 >= 2 >= 1", 1)),
    ],
)
def test_chained_comparisons(session, script, result):
    assert session.value(script) == result


@covers("ParserTest.OperatorPrecedence")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("6 | 3 & 5", 7), ("true && (6 | 0) == 6", 1), ("false || true && true", 1)),
        *(("false && true || true", 1), ("(2 + 3) * 4", 20), ("2 * (3 + 4)", 14)),
        ("true || false && false", 1),
    ],
)
def test_precedence(text, value):
    assert evaluate(text) == value


@covers("ParserTest.UnaryOperators")
@pytest.mark.parametrize(
    ("script", "result"),
    [
        *(("!true", 0), ("!false", 1), ("!!true", 1), ("~0", -1), ("-(3 + 2)", -5)),
        ("10 + -3", 7),
    ],
)
def test_unary_operators(session, script, result):
    assert session.value(script) == result


@covers("ParserTest.TernaryExpressions")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("true ? 1 : 2", 1), ("false ? 1 : 2", 2), ("true ? 2 + 3 : 10", 5)),
        *(("false ? 10 : 2 + 3", 5), ("3 > 2 ? 'yes' : 'no'", "yes")),
        ("3 < 2 ? 'yes' : 'no'", "no"),
    ],
)
def test_ternary(text, value):
    assert evaluate(text) == value


@covers("ParserTest.MultipleStatements")
def test_statements_and_empty_ones():
    board = Blackboard.create()
    evaluate("a:=1;;; b:=2;;", board)
    assert (board.get("a"), board.get("b")) == (1, 2)
    assert evaluate("a:=10; b:=20; a+b", board) == 30
