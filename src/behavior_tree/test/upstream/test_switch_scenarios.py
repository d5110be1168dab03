# SPDX-License-Identifier: Apache-2.0
"""Switch: the scenarios of gtest_switch.cpp."""

from functools import partial

import pytest

covers = partial(pytest.mark.upstream, "gtest_switch.cpp")

BODY = (
    '<Switch2 variable="{mode}" case_1="1" case_2="42"><Work name="one"/><Work name="many"/>'
    '<Work name="other"/></Switch2>'
)
ALL = ("one", "many", "other")


def only(running):
    return {name: "R" if name == running else "I" for name in ALL}


@pytest.mark.parametrize(
    ("mode", "chosen"),
    [
        pytest.param(None, "other", marks=covers("SwitchTest.DefaultCase")),
        pytest.param("1", "one", marks=covers("SwitchTest.Case1")),
        pytest.param("42", "many", marks=covers("SwitchTest.Case2")),
        pytest.param("none", "other", marks=covers("SwitchTest.CaseNone")),
    ],
)
def test_value_chooses_the_child(stage, mode, chosen):
    stage.plan(**{chosen: "RS"}).load(BODY)
    if mode is not None:
        stage.set(mode=mode)
    assert stage.tick() == "R"
    assert stage.shows(**only(chosen))
    assert stage.tick() == "S"
    assert stage.shows(**only(None))
    assert stage.take_log() == f"{chosen} {chosen}"


@pytest.mark.parametrize(
    ("mode", "chosen"),
    [
        pytest.param("", "other", marks=covers("SwitchTest.CaseSwitchToDefault")),
        pytest.param("42", "many", marks=covers("SwitchTest.CaseSwitchToAction2")),
    ],
)
def test_changed_value_halts_the_running_child(stage, mode, chosen):
    stage.plan(**{chosen: "RS"}).load(BODY).set(mode="1")
    assert stage.ticks(2) == "RR"
    stage.set(mode=mode)
    assert stage.shows(**only("one"))
    assert stage.tick() == "R"
    assert stage.shows(**only(chosen))
    assert stage.tick() == "S"
    assert stage.take_log() == f"one one !one {chosen} {chosen}"


@covers("SwitchTest.ActionFailure")
def test_failure_of_the_child_is_passed_on(stage):
    stage.plan(one="RF").load(BODY).set(mode="1")
    assert stage.ticks(2) == "RF"
    assert stage.shows(**only(None))


@covers("SwitchStringEquality.RejectsTrailingCharacters")
@pytest.mark.parametrize(
    ("mode", "case", "same"),
    [
        *(("8", "8", True), ("8", "8.0", True), ("-3", "-3", True), ("off", "3", False)),
        *(("8kg", "8", False), ("64bit", "64", False), ("2.5m", "2.5", False)),
        ("8 ", "8", False),
    ],
)
def test_numbers_are_equal_only_as_a_whole(mended, mode, case, same):
    mended.load(
        f'<Switch2 variable="{mode}" case_1="{case}"><AlwaysSuccess/><AlwaysFailure/>'
        "<AlwaysFailure/></Switch2>"
    )
    assert mended.tick() == ("S" if same else "F")
