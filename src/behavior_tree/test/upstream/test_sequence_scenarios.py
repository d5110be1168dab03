# SPDX-License-Identifier: Apache-2.0
"""Sequences with and without memory: the scenarios of gtest_sequence.cpp."""

from functools import partial

import pytest

covers = partial(pytest.mark.upstream, "gtest_sequence.cpp")

GUARDED = '<{0}><Check name="clear"/><Work name="drive"/></{0}>'


@covers("SimpleSequenceTest.ConditionTrue", "SimpleSequenceWithMemoryTest.ConditionTrue")
@pytest.mark.parametrize("kind", ["Sequence", "SequenceWithMemory"])
def test_waits_for_the_running_child(stage, kind):
    stage.load(GUARDED.format(kind))
    assert stage.tick_once() == "R"
    assert stage.shows(clear="S", drive="R")


@covers("SimpleSequenceTest.ConditionTurnToFalse")
def test_failed_first_child_stops_it(stage):
    stage.plan(clear="F").load(GUARDED.format("Sequence"))
    assert stage.ticks(2) == "FF"
    assert stage.shows(clear="I", drive="I")
    assert stage.count("drive") == [0]


@covers("SimpleSequenceWithMemoryTest.ConditionTurnToFalse")
@pytest.mark.parametrize("kind", ["Sequence", "SequenceWithMemory"])
def test_passed_child_is_not_asked_again(stage, kind):
    stage.load(GUARDED.format(kind))
    stage.tick_once()
    stage.plan(clear="F")
    assert stage.tick() == "R"
    assert stage.shows(clear="S", drive="R")
    assert stage.count("clear") == [1]


REACTIVE = (
    '<ReactiveSequence><Sequence name="both"><Check name="light"/><Check name="door"/></Sequence>'
    '<Work name="enter"/></ReactiveSequence>'
)


@covers("ComplexSequenceTest.ComplexSequenceConditionsTrue")
def test_reactive_sequence_resets_what_passed(stage):
    stage.load(REACTIVE)
    assert stage.tick() == "R"
    assert stage.shows(both="I", light="I", door="I", enter="R")


@pytest.mark.parametrize(
    "turned",
    [
        pytest.param(
            "light", marks=covers("ComplexSequenceTest.ComplexSequenceConditions1ToFalse")
        ),
        pytest.param("door", marks=covers("ComplexSequenceTest.ComplexSequenceConditions2ToFalse")),
    ],
)
def test_reactive_sequence_ends_when_a_condition_turns(stage, turned):
    stage.load(REACTIVE)
    stage.tick()
    stage.plan(**{turned: "F"})
    assert stage.tick() == "F"
    assert stage.shows(both="I", light="I", door="I", enter="I")
    assert stage.log[-1] == "!enter"


@covers("SequenceTripleActionTest.TripleAction")
def test_each_child_runs_once_to_its_end(stage):
    stage.plan(reach="RRRS", lift="RRRS")
    stage.load(
        '<Sequence><Check name="free"/><Work name="reach"/><Do name="close"/><Work name="lift"/>'
        "</Sequence>"
    )
    assert stage.tick() == "R"
    assert stage.shows(reach="R", close="I", lift="I")
    assert stage.run() == "S"
    assert stage.take_log() == "free reach reach reach reach close lift lift lift lift"
    assert stage.shows(free="I", reach="I", close="I", lift="I")


@covers("ComplexSequence2ActionsTest.ConditionsTrue")
def test_sequences_in_a_sequence_go_one_after_the_other(stage):
    stage.plan(go="RRS").load(
        '<Sequence><Sequence name="first"><Check name="a"/><Work name="go"/></Sequence>'
        '<Sequence name="second"><Check name="b"/><Work name="put"/></Sequence></Sequence>'
    )
    assert stage.ticks(2) == "RR"
    assert stage.shows(first="R", a="S", go="R", second="I", b="I", put="I")
    assert stage.tick() == "R"
    assert stage.shows(first="S", a="I", go="I", second="R", b="S", put="R")


NESTED = (
    '<SequenceWithMemory><SequenceWithMemory name="checks"><Check name="a"/><Check name="b"/>'
    '</SequenceWithMemory><SequenceWithMemory name="work"><Work name="x"/><Work name="y"/>'
    "</SequenceWithMemory></SequenceWithMemory>"
)


@covers("ComplexSequenceWithMemoryTest.ConditionsTrue")
def test_memory_goes_on_behind_the_checks(stage):
    stage.load(NESTED)
    assert stage.tick_once() == "R"
    assert stage.shows(checks="S", a="I", b="I", work="R", x="R", y="I")


@covers("ComplexSequenceWithMemoryTest.Conditions1ToFalse")
def test_memory_does_not_look_back(stage):
    stage.load(NESTED)
    stage.tick_once()
    stage.plan(a="F")
    assert stage.tick_once() == "R"
    assert stage.shows(checks="S", a="I", b="I", work="R", x="R", y="I")
    assert stage.count("a", "b") == [1, 1]


@covers("SequenceWithMemoryTest.Issue_636")
def test_memory_resumes_at_the_failed_child(stage):
    stage.load(
        '<SequenceWithMemory><Script code="n := 0"/><Do name="before"/>'
        '<ScriptCondition code="n += 1; n &gt;= 4"/><Do name="after"/></SequenceWithMemory>'
    )
    assert [stage.tick_once() for _ in range(4)] == ["F", "F", "F", "S"]
    assert stage.take_log() == "before after"
