# SPDX-License-Identifier: Apache-2.0
"""IfThenElse and WhileDoElse: scenarios of gtest_if_then_else.cpp and gtest_while_do_else.cpp."""

import pytest

CASES = (
    ("Condition{0}", {}, 3, "S", "ask then"),
    ("ConditionFalse_ElseBranch", {"ask": "F"}, 3, "S", "ask else"),
    ("ConditionFalse_TwoChildren_ReturnsFailure", {"ask": "F"}, 2, "F", "ask"),
    ("{0}Fails", {"then": "F"}, 3, "F", "ask then"),
    ("ElseBranchFails", {"ask": "F", "else": "F"}, 3, "F", "ask else"),
)
"""Case, plan, number of children, result, what is called."""
FILES = {"IfThenElse": "gtest_if_then_else.cpp", "WhileDoElse": "gtest_while_do_else.cpp"}
BRANCH = {"IfThenElse": "ThenBranch", "WhileDoElse": "DoBranch"}


def covers(kind, case):
    return pytest.mark.upstream(FILES[kind], f"{kind}Test.{case}")


def each(case, *values):
    """Parameters of both kinds for one case."""
    return [pytest.param(kind, *values, marks=covers(kind, case)) for kind in FILES]


def choice(kind, children):
    leaves = ("<Check name='ask'/>", "<Do name='then'/>", "<Do name='else'/>", "<Do name='more'/>")
    return f"<{kind}>{''.join(leaves[:children])}</{kind}>"


@pytest.mark.parametrize(
    ("kind", "plan", "children", "result", "log"),
    [
        pytest.param(kind, *rest, marks=covers(kind, case.replace("{0}", named)))
        for kind, branch in BRANCH.items()
        for case, *rest in CASES
        for named in [f"True_{branch}" if case.startswith("Condition{") else branch]
    ],
)
def test_condition_chooses_the_branch(stage, kind, plan, children, result, log):
    stage.plan(**plan).load(choice(kind, children))
    assert stage.run() == result
    assert stage.take_log() == log
    assert stage.shows(then="I")


@pytest.mark.parametrize("kind", each("ConditionRunning"))
def test_condition_that_takes_time(stage, kind):
    stage.plan(ask="RS").load(choice(kind, 3))
    assert stage.tick_once() == "R"
    assert stage.take_log() == "ask"
    assert stage.run() == "S"
    assert stage.take_log() == "ask then"


@pytest.mark.parametrize("kind", each("HaltBehavior"))
def test_halted_in_between(stage, kind):
    stage.load(choice(kind, 3))
    assert stage.run() == "S"
    stage.halt()
    assert stage.run() == "S"
    assert stage.take_log() == "ask then ask then"


@pytest.mark.parametrize(
    ("kind", "children"),
    [*each("InvalidChildCount_One", 1), *each("InvalidChildCount_Four", 4)],
)
def test_wrong_number_of_children(stage, kind, children):
    """Refused when built by default; by upstream at the first tick."""
    if stage.mended:
        message = stage.refuses(choice(kind, children))
        assert kind in message
        assert "<text>:1:" in message
    else:
        stage.load(choice(kind, children))
        assert "children" in stage.raises()


@pytest.mark.parametrize(
    ("answers", "log"),
    [
        pytest.param(*case, marks=covers("WhileDoElse", f"ConditionChanges_Halts{branch}"))
        for branch, *case in (
            ("Else", "FS", "ask b ask !b a"),
            ("Do", "SF", "ask a ask !a b"),
        )
    ],
)
def test_changed_condition_halts_the_branch_before_the_other_starts(stage, answers, log):
    stage.plan(ask=answers).load(
        '<WhileDoElse><Check name="ask"/><Work name="a"/><Work name="b"/></WhileDoElse>'
    )
    assert stage.ticks(2) == "RR"
    assert stage.take_log() == log
