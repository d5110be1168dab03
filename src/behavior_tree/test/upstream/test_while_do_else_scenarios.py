# SPDX-License-Identifier: Apache-2.0
"""WhileDoElse: the scenarios of gtest_while_do_else.cpp."""

from functools import partial

import pytest
from choice_kit import (
    CHOICES,
    check_choice,
    check_condition_that_takes_time,
    check_halt_and_again,
    check_number_of_children,
)

covers = partial(pytest.mark.upstream, "gtest_while_do_else.cpp")
CASE = {"ConditionTrue": "ConditionTrue_DoBranch", "BranchFails": "DoBranchFails"}


@pytest.mark.parametrize(
    ("plan", "children", "result", "log"),
    [
        pytest.param(*rest, marks=covers(f"WhileDoElseTest.{CASE.get(case, case)}"))
        for case, *rest in CHOICES
    ],
)
def test_condition_chooses_the_branch(stage, plan, children, result, log):
    check_choice(stage, "WhileDoElse", plan, children, result, log)


@pytest.mark.parametrize(
    ("answers", "log"),
    [
        pytest.param(
            "FS", "ask b ask !b a", marks=covers("WhileDoElseTest.ConditionChanges_HaltsElse")
        ),
        pytest.param(
            "SF", "ask a ask !a b", marks=covers("WhileDoElseTest.ConditionChanges_HaltsDo")
        ),
    ],
)
def test_changed_condition_halts_the_branch_before_the_other_starts(stage, answers, log):
    stage.plan(ask=answers).load(
        '<WhileDoElse><Check name="ask"/><Work name="a"/><Work name="b"/></WhileDoElse>'
    )
    assert stage.ticks(2) == "RR"
    assert stage.take_log() == log


@covers("WhileDoElseTest.ConditionRunning")
def test_condition_that_takes_time(stage):
    check_condition_that_takes_time(stage, "WhileDoElse")


@covers("WhileDoElseTest.HaltBehavior")
def test_halted_in_between(stage):
    check_halt_and_again(stage, "WhileDoElse")


@pytest.mark.parametrize(
    "children",
    [
        pytest.param(1, marks=covers("WhileDoElseTest.InvalidChildCount_One")),
        pytest.param(4, marks=covers("WhileDoElseTest.InvalidChildCount_Four")),
    ],
)
def test_wrong_number_of_children(stage, children):
    check_number_of_children(stage, "WhileDoElse", children)
