# SPDX-License-Identifier: Apache-2.0
"""The script language: values, operators, assignment, errors, both grammars."""

import contextlib
import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_tree import Blackboard, ScriptError
from behavior_tree.quirks import UPSTREAM_4_8, quirks_for
from behavior_tree.script import check_script, compile_script


def value(source, quirks=None, **entries):
    board = Blackboard()
    for key, item in entries.items():
        board.set(key, item)
    script = compile_script(source) if quirks is None else compile_script(source, quirks)
    return script(board)


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("10 - 3 - 2", 5.0),
        ("100 / 10 / 2", 5.0),
        ("2 - -3", 5.0),
        ("--3", 3.0),
        ("~5", -6.0),
        ("!0", 1.0),
        ("!2", 0.0),
        ("6 & 3 | 8", 10.0),
        ("1 | 2 & 4", 1.0),
        ("7 ^ 2", 5.0),
        ("1 + 6 & 3", 3.0),
        ("0x1F", 31),
        ("1e3", 1000.0),
        ("1.5e-3", 0.0015),
        ("00012", 12),
        ("true", 1),
        ("false", 0),
        ("'a' .. 'b'", "ab"),
        ("'a' + 'b'", "ab"),
        ("'n=' .. 3", "n=3"),
        ("'n=' .. 1.5", "n=1.500000"),
        ("1 .. 2", "12"),
        ('"double"', "double"),
        ("1 < 2", 1.0),
        ("1 < 2 < 3", 1.0),
        ("3 > 2 > 2", 0.0),
        ("1 == 1.00000001", 1.0),
        ("1 < 1.00000001", 1.0),
        ("1 != 1.1", 1.0),
        ("'a' < 'b'", 1.0),
        ("'10' < 9", 0.0),
        ("'true' == 1", 1.0),
        ("1 || 0 && 0", 1.0),
        ("0 && 1 || 1", 1.0),
        ("0.5 && 1", 1.0),
        ("1 ? 2 : 3", 2),
        ("0 ? 2 : 1 ? 4 : 5", 4),
        ("1 < 2 ? 'y' : 'n'", "y"),
        ("'x' ? 1 : 2", 1),
        ("1; 2; 3", 3),
        ("1; 2;;", 2),
        ("x := 1 y := 2 x + y", 3.0),
        ("x := y := 4", 4),
        ("truer := 2", 2),
    ],
)
def test_values(source, result):
    got = value(source)
    assert got == result
    assert type(got) is type(result)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "  ",
        ";",
        "1 +",
        "(1",
        "1)",
        "()",
        "3.",
        ".5",
        "1e",
        "3foo",
        "0x",
        "1.5.2",
        "1..2",
        "a.b",
        "1 ? 2",
        "'open",
        "@",
        "$a",
        "a % b",
        "f(",
        "1 ? : 2",
        "99999999999999999999",
        "1e309",
        "a[0]",
        ": 1",
    ],
)
def test_syntax_errors_show_the_place(source):
    with pytest.raises(ScriptError) as caught:
        compile_script(source)
    assert caught.value.position is not None
    assert f'"{source}"' in str(caught.value)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("nobody", "Variable not found: nobody"),
        ("nobody = 1", "use the operator"),
        ("nobody += 1", "use the operator"),
        ("1 := 2", "left operand"),
        ("'a' + 1", "Operation not permitted"),
        ("'a' - 'b'", "Operation not permitted"),
        ("-'a'", "std::string"),
        ("2 && 1", "castable to bool"),
        ("'a' && 1", "castable to bool"),
        ("(0 - 1) && 1", "castable to bool"),
        ("1.5 & 1", "not an integer"),
        ("~(1/0)", "out of range"),
        ("'abc' < 2", "not a number"),
        ("9007199254740993 + 1", "Loss of precision"),
        ("x := 'a'; x = 1", "Error assigning"),
        ("x := 1; x = 1.5", "Error assigning"),
        ("x := 1; x = 'q'", "not a number"),
        ("x := 4; x /= 8", "Error assigning"),
        ("x := 'a'; x += 1", "not permitted"),
    ],
)
def test_errors_when_run(source, words):
    with pytest.raises(ScriptError, match=words) as caught:
        value(source)
    assert f"Error in script [{source}]" in str(caught.value)


@pytest.mark.parametrize(
    ("source", "result", "kind"),
    [
        ("x := 1", 1, int),
        ("x := 1.0", 1.0, float),
        ("x := -1", -1.0, float),
        ("x := 1; x = 2.0", 2, int),
        ("x := 1; x += 2", 3, int),
        ("x := 1.5; x = 2", 2.0, float),
        ("x := 1; x = '7'", 7, int),
        ("x := 1; x = 'true'", 1, int),
        ("x := 'a'; x += 'b'", "ab", str),
        ("x := 5; y := x; y", 5, int),
        ("x := 3; x *= 2; x -= 1", 5, int),
    ],
)
def test_assignment_keeps_the_type_of_the_entry(source, result, kind):
    got = value(source + "; x" if "y" not in source else source)
    assert got == result
    assert type(got) is kind


def test_both_sides_of_logic_are_evaluated_and_one_side_of_a_ternary():
    assert value("a := 0; b := 0; (0 && (a := 1)); (1 || (b := 1)); a + b") == 2.0
    assert value("a := 0; b := 0; 1 ? (a := 1) : (b := 1); a - b") == 1.0


def test_failed_assignment_leaves_an_empty_entry():
    board = Blackboard()
    with pytest.raises(ScriptError):
        compile_script("x := nobody")(board)
    assert board.get_keys() == ["x"]
    with pytest.raises(ScriptError, match="not initialized"):
        compile_script("x + 1")(board)


def test_division_by_zero_is_ieee():
    assert value("1 / 0") == math.inf
    assert value("(0 - 1) / 0") == -math.inf
    assert math.isnan(value("0 / 0"))
    assert value("(0/0) < 1") == 0.0
    assert value("(1/0) == (1/0)") == 1.0


def test_names_of_enums_come_first():
    board = Blackboard()
    board.types.enums["RED"] = 3
    board.set("RED", 7)
    assert compile_script("RED + 1")(board) == 4.0
    assert compile_script("'RED' == 3")(board) == 1.0


def test_root_blackboard():
    root = Blackboard()
    child = Blackboard(root)
    compile_script("@x := 4; y := @x")(child)
    assert (root.get("x"), child.get("y"), root.get_keys()) == (4, 4, ["x"])


@pytest.mark.parametrize(
    ("entry", "truth"),
    [(1, True), (0, False), (0.5, True), (0.0, False), (True, True), (False, False)],
)
def test_conditions(entry, truth):
    board = Blackboard()
    board.set("x", entry)
    assert compile_script("x").test(board) is truth


@pytest.mark.parametrize("entry", [2, -0.5, "text", [1]])
def test_what_cannot_be_a_condition(entry):
    board = Blackboard()
    board.set("x", entry)
    with pytest.raises(ScriptError):
        compile_script("x").test(board)


def test_any_object_can_be_assigned():
    assert value("y := x; y", x=[1, 2]) == [1, 2]


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("10-3-2", 9.0),
        ("100/10/2", 20.0),
        ("1||0&&0", 0.0),
        ("3^1|1", 3.0),
        ("1 ? (2) : 3", 2),
        ("(0/0) < 1", 1.0),
        ("(1/0) == (1/0)", 0.0),
        ("'1abc' == 1", 1.0),
    ],
)
def test_grammar_of_4_8(source, result):
    assert value(source, UPSTREAM_4_8) == result


@pytest.mark.parametrize(
    "source",
    [
        "x := 1;",
        "x := 1 y := 2",
        "x := y := 4",
        "1 & 2 + 3",
        "-1 .. 'a'",
        "1 + !1",
        "0?2:1?4:5",
        "trueish",
        "1 + 1 && 2 & 1",
        "'é'",
    ],
)
def test_what_the_grammar_of_4_8_refuses(source):
    with pytest.raises(ScriptError):
        compile_script(source, UPSTREAM_4_8)


@pytest.mark.parametrize(
    "source", ["(" * 5000 + "1" + ")" * 5000, "-" * 5000 + "1", "1" + "+1" * 5000, "!" * 999 + "1"]
)
@pytest.mark.parametrize("quirks", [None, UPSTREAM_4_8])
def test_too_deep_is_refused_not_a_crash(source, quirks):
    with pytest.raises(ScriptError, match="nested deeper"):
        compile_script(source) if quirks is None else compile_script(source, quirks)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab1.2'\"+-*/&|^~!<>=?:;() @x", max_size=30))
def test_any_text_compiles_or_is_a_script_error(source):
    for quirks in (None, UPSTREAM_4_8):
        try:
            script = compile_script(source) if quirks is None else compile_script(source, quirks)
            script(Blackboard())
        except ScriptError:
            pass


_PIECES = st.sampled_from(
    [
        *("a", "b1", "@", "@r", "é", "true", "1", "2.5", "3.", "1e5", "1.5e-3", "0x1F", "²"),
        *("9" * 18, "9" * 20, "'t'", '"u v"', "'", '"', " ", "\n", "\\\n", ".", "..", ":=", "+="),
        *("-", "*", "/", "&&", "||", "<", "==", "!", "?", ":", "(", ")", ";"),
    ]
)


def is_right(check, source):
    try:
        check(source)
    except ScriptError:
        return False
    return True


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(_PIECES, min_size=1, max_size=5).map("".join), min_size=20, max_size=20))
def test_checking_by_shape_refuses_what_compiling_refuses(sources):
    for source in sources:
        assert is_right(check_script, source) is is_right(compile_script, source), source


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("a 1", "a1 1x"),
        ("1e5", "1x"),
        ("0x1F", "0y1F"),
        ("1.5e-3", "1.5e-32.5"),
        ("a..1.5e-3", "a..1.5e-31e5"),
        ("x := 9223372036854775807", "x := 9223372036854775808"),
        ("x := '1'", "x := '1"),
    ],
)
def test_scripts_that_look_alike_are_told_apart(right, wrong):
    check_script(right)
    with pytest.raises(ScriptError):
        check_script(wrong)


@settings(max_examples=200, deadline=None)
@given(st.integers(-1000, 1000), st.integers(-1000, 1000), st.integers(1, 1000))
def test_arithmetic_agrees_with_python(a, b, c):
    assert value("a + b * a - b / c", a=a, b=b, c=c) == pytest.approx(a + b * a - b / c)
    assert value("a < b && b >= a || a == b", a=a, b=b) == float((a < b and b >= a) or a == b)


@pytest.mark.parametrize("compat", [None, "4.8"])
@pytest.mark.parametrize(
    "source",
    [
        "a := 1" + " - 4" * 60,
        "".join(f"(a{i} := " for i in range(40)) + "1" + ")" * 40,
        "1 ? " * 35 + "2" + " : 3" * 35,
        "-" * 100 + "1",
        "1 < 2" + " && 1" * 60,
        "1" + " | 2 & 3" * 60,
        "'a'" + " .. 'b'" * 60,
    ],
)
def test_nothing_takes_exponential_time(compat, source):
    begin = time.process_time()
    with contextlib.suppress(ScriptError):
        compile_script(source, quirks_for(compat))
    assert time.process_time() - begin < 1


@pytest.mark.parametrize("compat", [None, "4.8"])
@pytest.mark.parametrize(
    "link", [" && 1", " || 1", " & 1", " | 1", " ^ 1", " .. 'a'", " + 1", " * 2"]
)
def test_long_chains_are_refused_before_the_stack_ends(compat, link):
    start = "'a'" if ".." in link else "1"
    with pytest.raises(ScriptError, match="nested deeper than 120"):
        compile_script(start + f" {link}" * 1000, quirks_for(compat))
    compile_script(start + f" {link}" * 50, quirks_for(compat)).run(Blackboard())


def test_texts_cannot_grow_without_end():
    board = Blackboard()
    with pytest.raises(ScriptError, match="longer than 1048576 characters"):
        compile_script("s := 'x'; " + "s += s; " * 30).run(board)
    with pytest.raises(ScriptError, match="longer than 1048576 characters"):
        compile_script("t := 'x'; " + "t = t .. t; " * 30).run(board)
