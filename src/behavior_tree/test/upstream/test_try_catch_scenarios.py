# SPDX-License-Identifier: Apache-2.0
"""TryCatch, which BehaviorTree.CPP has since 4.9: the scenarios of gtest_try_catch.cpp."""

from functools import partial

import pytest

covers = partial(pytest.mark.upstream, "gtest_try_catch.cpp")

THREE = '<TryCatch><Do name="a"/><Do name="b"/><Do name="rescue"/></TryCatch>'
TWO = '<TryCatch {0}><Work name="a"/><Work name="rescue"/></TryCatch>'


@pytest.mark.parametrize(
    ("plan", "result", "log"),
    [
        pytest.param(*case, marks=covers(*(f"TryCatchTest.{each}" for each in names)))
        for names, *case in (
            (["AllTryChildrenSucceed"], {}, "S", "a b"),
            (["FirstChildFails_CatchExecuted"], {"a": "F"}, "F", "a rescue"),
            (["SecondChildFails_CatchExecuted"], {"b": "F"}, "F", "a b rescue"),
        )
    ],
)
def test_last_child_runs_when_another_fails(mended, plan, result, log):
    mended.plan(**plan).load(THREE)
    assert mended.run() == result
    assert mended.take_log() == log


@pytest.mark.parametrize(
    ("a", "rescue", "result", "log"),
    [
        pytest.param(*case, marks=covers(f"TryCatchTest.{name}"))
        for name, *case in (
            ("CatchReturnsFailure_NodeStillReturnsFAILURE", "F", "F", "F", "a rescue"),
            ("CatchReturnsSuccess_NodeStillReturnsFAILURE", "F", "S", "F", "a rescue"),
            ("TryChildRunning", "RS", "S", "S", "a a"),
            ("CatchChildRunning", "F", "RF", "F", "a rescue rescue"),
            ("SingleTryChild_Success", "S", "S", "S", "a"),
        )
    ],
)
def test_rescue_never_turns_a_failure_into_success(mended, a, rescue, result, log):
    mended.plan(a=a, rescue=rescue).load(TWO.format(""))
    assert mended.run() == result
    assert mended.take_log() == log


@covers("TryCatchTest.MinimumTwoChildren_ParseTimeValidation")
def test_needs_something_to_try_and_to_catch(mended):
    assert "TryCatch" in mended.refuses('<TryCatch><Do name="a"/></TryCatch>')


@pytest.mark.parametrize(
    ("plan", "results", "log"),
    [
        pytest.param("S", "SS", "a a", marks=covers("TryCatchTest.ReExecuteAfterSuccess")),
        pytest.param("FS", "FS", "a rescue a", marks=covers("TryCatchTest.ReExecuteAfterFailure")),
    ],
)
def test_second_run_starts_anew(mended, plan, results, log):
    mended.plan(a=plan, rescue="S").load(TWO.format(""))
    first = mended.run()
    mended.halt()
    assert first + mended.run() == results
    assert mended.take_log() == log


@pytest.mark.parametrize(
    ("attributes", "plan", "log"),
    [
        pytest.param("", {}, "a !a", marks=covers("TryCatchTest.CatchOnHalt_Disabled")),
        pytest.param(
            *('catch_on_halt="true"', {"rescue": "S"}, "a !a rescue"),
            marks=covers("TryCatchTest.CatchOnHalt_Enabled"),
        ),
        pytest.param(
            *('catch_on_halt="true"', {"a": "F"}, "a rescue !rescue"),
            marks=covers("TryCatchTest.CatchOnHalt_NotTriggeredWhenAlreadyInCatch"),
        ),
    ],
)
def test_halt_while_running(mended, attributes, plan, log):
    mended.plan(**plan).load(TWO.format(attributes))
    assert mended.tick_once() == "R"
    mended.halt()
    assert mended.take_log() == log


@covers("TryCatchTest.AsyncCatchCompletesInsideSequence")
def test_rescue_that_takes_time_inside_a_sequence(mended):
    mended.plan(a="F", rescue="RRRRS")
    mended.load(f'<Sequence>{TWO.format("")}<Do name="after"/></Sequence>')
    assert "".join(mended.tick_once() for _ in range(5)) == "RRRRF"
    assert mended.count("a", "rescue", "after") == [1, 5, 0]


@covers("TryCatchTest.ManyTryChildren_ThirdFails")
def test_third_of_many_fails(mended):
    mended.plan(c="F").load(
        '<TryCatch><Do name="a"/><Do name="b"/><Do name="c"/><Do name="d"/><Do name="rescue"/>'
        "</TryCatch>"
    )
    assert mended.run() == "F"
    assert mended.take_log() == "a b c rescue"
