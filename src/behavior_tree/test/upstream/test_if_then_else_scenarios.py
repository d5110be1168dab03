# SPDX-License-Identifier: Apache-2.0
"""IfThenElse: the scenarios of gtest_if_then_else.cpp."""

from functools import partial

import pytest
from choice_kit import (
    CHOICES,
    check_choice,
    check_condition_that_takes_time,
    check_halt_and_again,
    check_number_of_children,
)

covers = partial(pytest.mark.upstream, "gtest_if_then_else.cpp")
CASE = {"ConditionTrue": "ConditionTrue_ThenBranch", "BranchFails": "ThenBranchFails"}


@pytest.mark.parametrize(
    ("plan", "children", "result", "log"),
    [
        pytest.param(*rest, marks=covers(f"IfThenElseTest.{CASE.get(case, case)}"))
        for case, *rest in CHOICES
    ],
)
def test_condition_chooses_the_branch(stage, plan, children, result, log):
    check_choice(stage, "IfThenElse", plan, children, result, log)


@covers("IfThenElseTest.ConditionRunning")
def test_condition_that_takes_time(stage):
    check_condition_that_takes_time(stage, "IfThenElse")


@covers("IfThenElseTest.HaltBehavior")
def test_halted_in_between(stage):
    check_halt_and_again(stage, "IfThenElse")


@pytest.mark.parametrize(
    "children",
    [
        pytest.param(1, marks=covers("IfThenElseTest.InvalidChildCount_One")),
        pytest.param(4, marks=covers("IfThenElseTest.InvalidChildCount_Four")),
    ],
)
def test_wrong_number_of_children(stage, children):
    check_number_of_children(stage, "IfThenElse", children)
