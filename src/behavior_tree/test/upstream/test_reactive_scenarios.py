# SPDX-License-Identifier: Apache-2.0
"""Reactive sequences and fallbacks: the scenarios of gtest_reactive.cpp."""

from functools import partial

import pytest

from behavior_tree import NodeStatus, TreeObserver

covers = partial(pytest.mark.upstream, "gtest_reactive.cpp")


@covers("Reactive.RunningChildren")
def test_earlier_children_run_anew_while_a_later_one_yields(stage):
    stage.load(
        '<ReactiveSequence><Sequence><Do name="a"/><Do name="b"/></Sequence>'
        '<AsyncSequence><Do name="c"/><Do name="d"/><Do name="e"/></AsyncSequence>'
        "</ReactiveSequence>"
    )
    assert stage.ticks(3) == "RRS"
    assert stage.take_log() == "a b c a b d a b e"


@covers("Reactive.Issue587")
def test_skipped_retry_in_a_reactive_sequence(stage):
    stage.load(
        '<Sequence><Script code="seen := false"/><ReactiveSequence>'
        '<RetryUntilSuccessful num_attempts="-1" _skipIf="seen">'
        '<Do name="look" _onSuccess="seen = true"/></RetryUntilSuccessful>'
        '<RetryUntilSuccessful num_attempts="3"><AlwaysFailure/></RetryUntilSuccessful>'
        "</ReactiveSequence></Sequence>"
    )
    assert stage.run() == "F"
    assert stage.count("look") == [1]


@covers("Reactive.PreTickHooks")
def test_pre_tick_hook_replaces_the_result(ours):
    ours.load(
        '<ReactiveSequence><AlwaysFailure/><AlwaysFailure/><Sleep msec="50"/></ReactiveSequence>'
    )
    for node in ours.tree.nodes():
        if node.registration_id() == "AlwaysFailure":
            node.set_pre_tick(lambda _: NodeStatus.SUCCESS)
    assert ours.run() == "S"


@covers("Reactive.TestLogging")
def test_observer_counts_every_evaluation(ours):
    ours.load(
        '<ReactiveSequence><Do name="a"/><AlwaysSuccess name="b"/><Sleep msec="55"/>'
        "</ReactiveSequence>"
    )
    observer = TreeObserver(ours.tree)
    assert ours.run() == "S"
    assert ours.count("a") == [7]
    assert [observer.get_statistics(name).success_count for name in "ab"] == [7, 7]


@covers("Reactive.TwoAsyncNodesInReactiveSequence")
def test_two_yielding_children_are_refused(stage):
    two = '<AsyncSequence><Do name="a"/><Do name="b"/></AsyncSequence>' * 2
    assert "async" in stage.refuses(f"<ReactiveSequence>{two}</ReactiveSequence>").lower()


@pytest.mark.parametrize(
    ("kind", "plan", "result", "log"),
    [
        pytest.param(
            *("ReactiveSequence", {"a": "F"}, "F", "a"),
            marks=covers("Reactive.ReactiveSequence_FirstChildFails"),
        ),
        pytest.param(
            *("ReactiveSequence", {}, "S", "a b c"),
            marks=covers("Reactive.ReactiveSequence_AllChildrenSucceed"),
        ),
        pytest.param(
            *("ReactiveFallback", {}, "S", "a"),
            marks=covers("Reactive.ReactiveFallback_FirstChildSucceeds"),
        ),
        pytest.param(
            *("ReactiveFallback", {"a": "F", "b": "F", "c": "F"}, "F", "a b c"),
            marks=covers("Reactive.ReactiveFallback_AllChildrenFail"),
        ),
        pytest.param(
            *("ReactiveFallback", {"a": "F"}, "S", "a b"),
            marks=covers("Reactive.ReactiveFallback_SecondChildSucceeds"),
        ),
    ],
)
def test_children_that_end_at_once(stage, kind, plan, result, log):
    stage.plan(**plan).load(f'<{kind}><Do name="a"/><Do name="b"/><Do name="c"/></{kind}>')
    assert stage.run() == result
    assert stage.take_log() == log


@covers("Reactive.ReactiveSequence_HaltOnConditionChange")
def test_running_child_is_halted_when_the_condition_turns(stage):
    stage.plan(safe="SSF").load(
        '<ReactiveSequence><Check name="safe"/><Work name="weld"/></ReactiveSequence>'
    )
    assert stage.tick_once() + stage.tick_once() == "RR"
    assert stage.take_log() == "safe weld safe weld"
    assert stage.tick_once() == "F"
    assert stage.take_log() == "safe !weld"


@covers("Reactive.ReactiveSequence_ReEvaluatesOnEveryTick")
def test_condition_is_asked_at_every_tick(stage):
    stage.load('<ReactiveSequence><Check name="safe"/><Sleep msec="15"/></ReactiveSequence>')
    assert stage.run() == "S"
    calls = stage.count("safe")[0]
    assert calls >= 2 if stage.real else calls == 3
