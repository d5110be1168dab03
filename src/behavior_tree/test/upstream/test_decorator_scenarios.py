# SPDX-License-Identifier: Apache-2.0
"""Decorators: the scenarios of gtest_decorator.cpp."""

from functools import partial

import pytest

covers = partial(pytest.mark.upstream, "gtest_decorator.cpp")


@covers("DeadlineTest.DeadlineTriggeredTest")
def test_timeout_halts_the_child_and_fails(stage):
    stage.load('<Timeout msec="20"><Work name="a"/></Timeout>')
    assert stage.tick() == "R"
    assert stage.shows(a="R")
    stage.wait(30)
    assert stage.run() == "F"  # upstream's timer thread may be late
    assert stage.shows(a="I")
    assert stage.log[-1] == "!a"
    assert stage.real or stage.take_log() == "a !a"


@covers("DeadlineTest.DeadlineNotTriggeredTest")
def test_child_in_time_is_left_alone(stage):
    stage.plan(a="RS").load('<Timeout msec="5000"><Work name="a"/></Timeout>')
    assert stage.ticks(2) == "RS"
    assert stage.shows(a="I")
    assert stage.take_log() == "a a"


@covers("RetryTest.RetryTestA")
def test_retry_gives_up_after_its_attempts(stage):
    stage.plan(a="F").load(
        '<RetryUntilSuccessful num_attempts="3"><Do name="a"/></RetryUntilSuccessful>'
    )
    assert stage.tick_once() == "F"
    assert stage.count("a") == [3]
    stage.plan(a="S")
    assert stage.tick_once() == "S"
    assert stage.count("a") == [4]


@covers("RepeatTest.RepeatTestA")
def test_repeat_ends_at_the_first_failure(stage):
    stage.plan(a="F").load('<Repeat num_cycles="3"><Do name="a"/></Repeat>')
    assert stage.tick_once() == "F"
    assert stage.count("a") == [1]
    stage.plan(a="S")
    assert stage.tick_once() == "S"
    assert stage.count("a") == [4]


@covers("RepeatTestAsync.RepeatTestAsync")
def test_repeat_of_a_child_that_takes_time(stage):
    stage.plan(a="RSRSRSRF").load('<Repeat num_cycles="3"><Work name="a"/></Repeat>')
    assert stage.run() == "S"
    assert stage.count("a") == [6]
    assert stage.run() == "F"
    assert stage.count("a") == [8]


@covers("TimeoutAndRetry.Issue57")
def test_timeout_around_an_eager_retry(stage):
    stage.plan(a="F").load(
        '<Timeout msec="9"><RetryUntilSuccessful num_attempts="100"><Do name="a"/>'
        "</RetryUntilSuccessful></Timeout>"
    )
    results = []
    for _ in range(150):
        results.append(stage.tick())
        stage.wait(0.5)
    assert set(results) == {"R", "F"}


@covers("Decorator.RunOnce")
def test_run_once_is_skipped_afterwards(stage):
    stage.load('<Sequence><RunOnce><Do name="a"/></RunOnce><Do name="b"/></Sequence>')
    assert [stage.run() for _ in range(4)] == ["S"] * 4
    assert stage.count("a", "b") == [1, 4]


@covers("Decorator.DelayWithXML")
def test_delay_comes_before_the_child(stage):
    stage.load('<Delay delay_msec="300"><Do name="a"/></Delay>')
    started = stage.now
    assert stage.tick_once() + stage.tick_once() == "RR"
    assert stage.run() == "S"
    assert stage.count("a") == [1]
    assert stage.real or stage.now - started == pytest.approx(0.3, abs=0.011)


@pytest.mark.parametrize(
    ("kind", "child", "result"),
    [
        pytest.param(*case, marks=covers(f"Decorator.{name}"))
        for name, *case in (
            ("ForceFailure_ChildSuccess", "ForceFailure", "S", "F"),
            ("ForceFailure_ChildFailure", "ForceFailure", "F", "F"),
            ("ForceSuccess_ChildFailure", "ForceSuccess", "F", "S"),
            ("ForceSuccess_ChildSuccess", "ForceSuccess", "S", "S"),
            ("Inverter_ChildSuccess", "Inverter", "S", "F"),
            ("Inverter_ChildFailure", "Inverter", "F", "S"),
        )
    ],
)
def test_result_of_the_child_is_replaced(stage, kind, child, result):
    stage.plan(a=child).load(f'<{kind}><Do name="a"/></{kind}>')
    assert stage.tick() == result
    assert stage.shows(a="I")


@covers("Decorator.Inverter_InSequence")
def test_inverted_failure_lets_the_sequence_go_on(stage):
    stage.plan(a="F").load('<Sequence><Inverter><Do name="a"/></Inverter><Do name="b"/></Sequence>')
    assert stage.tick() == "S"
    assert stage.take_log() == "a b"


@covers("Decorator.KeepRunningUntilFailure")
def test_keeps_running_until_the_child_fails(stage):
    stage.plan(a="SSF").load('<KeepRunningUntilFailure><Do name="a"/></KeepRunningUntilFailure>')
    assert [stage.tick_once() for _ in range(3)] == ["R", "R", "F"]
    assert stage.count("a") == [3]
