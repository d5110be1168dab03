# SPDX-License-Identifier: Apache-2.0
"""Skipped nodes: the scenarios of gtest_skipping.cpp."""

from functools import partial

import pytest
from scenario_kit import document, subtree

covers = partial(pytest.mark.upstream, "gtest_skipping.cpp")


@covers("SkippingLogic.Sequence")
def test_sequence_passes_over_a_skipped_child(stage):
    stage.load(
        '<Sequence><Script code="n := 1"/>'
        '<Do name="a" _successIf="n==2" _failureIf="n!=1" _skipIf="n==1"/><Do name="b"/></Sequence>'
    )
    assert stage.run() == "S"
    assert stage.take_log() == "b"


@covers("SkippingLogic.SkipAll")
def test_sequence_of_skipped_children_is_skipped(stage):
    stage.load(
        '<Sequence><Do name="a" _skipIf="n==4"/><Do name="b" _skipIf="n&lt;=9"/>'
        '<Do name="c" _skipIf="n!=3"/></Sequence>'
    )
    stage.set(n=4)
    assert stage.run() == "K"
    assert stage.log == []


@covers("SkippingLogic.SkipSubtree")
def test_skipped_subtree(stage):
    stage.load(
        '<Sequence><Do name="a"/><Script code="off := true"/><SubTree ID="Sub" _skipIf="off"/>'
        "</Sequence>",
        subtree("Sub", '<Do name="b"/>'),
    )
    assert stage.run() == "S"
    assert stage.take_log() == "a"


@covers("SkippingLogic.ReactiveSingleChild")
def test_only_child_of_a_reactive_sequence_skipped(stage):
    board = stage.module.Blackboard.create()
    board.set_bool("off", True)
    body = '<ReactiveSequence><AlwaysSuccess _skipIf="off"/></ReactiveSequence>'
    stage.load_xml(document(body), board)
    assert stage.run() == "K"


@covers("SkippingLogic.SkippingReactiveSequence")
@pytest.mark.parametrize(("value", "calls"), [(50, 3), (10, 0)])
def test_reactive_sequence_decides_anew_at_every_tick(stage, value, calls):
    stage.plan(work="RRSRRSRRS").load(
        f'<ReactiveSequence><Script code="v := {value}"/><Do name="a" _skipIf="v &lt; 25"/>'
        '<Work name="work"/></ReactiveSequence>'
    )
    for _ in range(3):
        stage.log.clear()
        assert stage.run() == "S"
        assert stage.count("a", "work") == [calls, 3]


@covers("SkippingLogic.WhileSkip")
@pytest.mark.parametrize(("go", "log"), [("true", "a"), ("false", "")])
def test_false_while_skips_before_the_start(stage, go, log):
    stage.load(
        f'<Sequence><Script code="go := {go}"/><Sequence><Do name="a" _while="go"/></Sequence>'
        "</Sequence>"
    )
    assert stage.run() == "S"
    assert stage.take_log() == log
