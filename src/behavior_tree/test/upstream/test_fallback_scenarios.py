# SPDX-License-Identifier: Apache-2.0
"""Fallbacks, plain and reactive: the scenarios of gtest_fallback.cpp."""

from functools import partial

import pytest

covers = partial(pytest.mark.upstream, "gtest_fallback.cpp")

PLAIN = '<Fallback><Check name="open"/><Work name="push"/></Fallback>'


@covers("SimpleFallbackTest.ConditionTrue")
def test_first_success_ends_it(stage):
    stage.load(PLAIN)
    assert stage.tick() == "S"
    assert stage.shows(open="I", push="I")
    assert stage.count("push") == [0]


@covers("SimpleFallbackWithMemoryTest.ConditionFalse")
def test_next_child_runs_after_a_failure(stage):
    stage.plan(open="F").load(PLAIN)
    assert stage.tick() == "R"
    assert stage.shows(open="F", push="R")


@covers(
    "SimpleFallbackTest.ConditionChangeWhileRunning",
    "SimpleFallbackWithMemoryTest.ConditionTurnToTrue",
)
def test_failed_child_is_not_asked_again(stage):
    stage.plan(open="FS").load(PLAIN)
    assert stage.ticks(2) == "RR"
    assert stage.shows(open="F", push="R")
    assert stage.count("open") == [1]


@pytest.mark.parametrize(
    "turned",
    [
        pytest.param("near", marks=covers("ReactiveFallbackTest.Condition1ToTrue")),
        pytest.param("far", marks=covers("ReactiveFallbackTest.Condition2ToTrue")),
    ],
)
def test_reactive_fallback_stops_when_a_condition_turns(stage, turned):
    stage.plan(near="F", far="F").load(
        '<ReactiveFallback><Check name="near"/><Check name="far"/><Work name="go"/>'
        "</ReactiveFallback>"
    )
    assert stage.tick() == "R"
    assert stage.shows(near="I", far="I", go="R")
    stage.plan(**{turned: "S"})
    assert stage.tick() == "S"
    assert stage.shows(near="I", far="I", go="I")
    assert stage.log[-1] == "!go"


NESTED = (
    '<Fallback><Fallback name="checks"><Check name="a"/><Check name="b"/></Fallback>'
    '<Fallback name="work"><Work name="x"/><Work name="y"/></Fallback></Fallback>'
)
RESTING = dict.fromkeys(("checks", "a", "b", "work", "x", "y"), "I")


@pytest.mark.parametrize(
    "a",
    [
        pytest.param("S", marks=covers("ComplexFallbackWithMemoryTest.ConditionsTrue")),
        pytest.param("F", marks=covers("ComplexFallbackWithMemoryTest.Condition1False")),
    ],
)
def test_one_good_check_is_enough(stage, a):
    stage.plan(a=a).load(NESTED)
    assert stage.tick() == "S"
    assert stage.shows(**RESTING)
    assert stage.count("x", "y") == [0, 0]


@covers("ComplexFallbackWithMemoryTest.ConditionsFalse")
def test_work_starts_when_no_check_is_good(stage):
    stage.plan(a="F", b="F").load(NESTED)
    assert stage.tick() == "R"
    assert stage.shows(checks="F", a="I", b="I", work="R", x="R", y="I")


@pytest.mark.parametrize(
    "turned",
    [
        pytest.param("a", marks=covers("ComplexFallbackWithMemoryTest.Conditions1ToTrue")),
        pytest.param("b", marks=covers("ComplexFallbackWithMemoryTest.Conditions2ToTrue")),
    ],
)
def test_work_goes_on_when_a_check_turns(stage, turned):
    stage.plan(a="F", b="F").load(NESTED)
    stage.tick()
    stage.plan(**{turned: "S"})
    assert stage.tick() == "R"
    assert stage.shows(checks="F", a="I", b="I", work="R", x="R", y="I")
    assert stage.count("a", "b") == [1, 1]


@covers("ComplexFallbackWithMemoryTest.Action1Failed")
def test_second_work_follows_the_failed_first(stage):
    stage.plan(a="F", b="F", x="RRF").load(NESTED)
    assert stage.ticks(3) == "RRR"
    assert stage.shows(checks="F", a="I", b="I", work="R", x="F", y="R")
