# SPDX-License-Identifier: Apache-2.0
"""Parallel and ParallelAll: the scenarios of gtest_parallel.cpp."""

from functools import partial

import pytest

from behavior_tree import NodeStatus, TestNode, TestNodeConfig, TreeObserver

covers = partial(pytest.mark.upstream, "gtest_parallel.cpp")

FOUR = (
    '<Parallel {0}><Check name="a"/><Work name="quick"/><Check name="b"/><Work name="slow"/>'
    "</Parallel>"
)
RESTING = {"a": "I", "quick": "I", "b": "I", "slow": "I"}


@pytest.mark.parametrize(
    "attributes",
    [
        pytest.param("", marks=covers("SimpleParallelTest.ConditionsTrue")),
        pytest.param('success_count="-1"', marks=covers("SimpleParallelTest.Threshold_neg1")),
    ],
)
def test_all_children_have_to_succeed(stage, attributes):
    stage.plan(quick="RS", slow="RRS").load(FOUR.format(attributes))
    assert stage.tick() == "R"
    assert stage.shows(a="S", quick="R", b="S", slow="R")
    assert stage.tick() == "R"
    assert stage.shows(a="S", quick="S", b="S", slow="R")
    assert stage.tick() == "S"
    assert stage.shows(**RESTING)
    assert stage.count("a", "quick") == [1, 2]


@pytest.mark.parametrize(
    "count",
    [
        pytest.param(3, marks=covers("SimpleParallelTest.Threshold_3")),
        pytest.param(-2, marks=covers("SimpleParallelTest.Threshold_neg2")),
    ],
)
def test_three_of_four_are_enough(stage, count):
    stage.plan(quick="RS").load(FOUR.format(f'success_count="{count}"'))
    assert stage.ticks(2) == "RS"
    assert stage.shows(**RESTING)
    assert stage.log[-1] == "!slow"


@covers("SimpleParallelTest.Threshold_2")
def test_two_of_four_are_there_at_once(stage):
    stage.load(FOUR.format('success_count="2"'))
    assert stage.tick() == "S"
    assert stage.shows(**RESTING)
    assert stage.take_log() == "a quick b !quick"


@covers("SimpleParallelTest.Threshold_thresholdFneg1")
def test_fails_only_when_all_have_failed(stage):
    stage.plan(a="F", b="F", quick="RF", slow="RF")
    stage.load(FOUR.format('success_count="1" failure_count="-1"'))
    assert stage.ticks(2) == "RF"


TWO = (
    '<Parallel success_count="2"><Parallel name="left" {0}><Check name="a"/><Work name="x"/>'
    '<Check name="b"/><Work name="y"/></Parallel><Parallel name="right" success_count="1" {1}>'
    '<Check name="c"/><Work name="z"/></Parallel></Parallel>'
)
ALL_RESTING = dict.fromkeys(("left", "a", "b", "x", "y", "right", "c", "z"), "I")


@covers("ComplexParallelTest.ConditionsTrue")
def test_finished_branch_waits_for_the_other(stage):
    stage.plan(x="RS").load(TWO.format('success_count="3"', ""))
    assert stage.tick() == "R"
    assert stage.shows(left="R", a="S", b="S", x="R", y="R", right="S", c="I", z="I")
    assert stage.tick() == "S"
    assert stage.shows(**ALL_RESTING)


@covers("ComplexParallelTest.ConditionsLeftFalse")
def test_branch_fails_as_soon_as_it_cannot_succeed(stage):
    stage.plan(a="F", b="F").load(TWO.format('success_count="3" failure_count="3"', ""))
    assert stage.tick() == "F"
    assert stage.shows(**ALL_RESTING)


@covers("ComplexParallelTest.ConditionRightFalse")
def test_failed_branch_halts_the_other(stage):
    stage.plan(c="F").load(TWO.format('success_count="3"', ""))
    assert stage.tick() == "F"
    assert stage.shows(**ALL_RESTING)
    assert stage.take_log() == "a x b y c !x !y"


@covers("ComplexParallelTest.ConditionRightFalse_thresholdF_2")
def test_one_failure_of_two_is_borne(stage):
    stage.plan(c="F", x="RS", z="RS").load(TWO.format('success_count="3"', 'failure_count="2"'))
    assert stage.tick() == "R"
    assert stage.shows(left="R", a="S", b="S", x="R", y="R", right="R", c="F", z="R")
    assert stage.tick() == "S"
    assert stage.shows(**ALL_RESTING)


@covers("ComplexParallelTest.ConditionRightFalseAction1Done")
def test_left_branch_ends_before_the_right_one(stage):
    stage.plan(c="F", x="S", y="RS", z="RRS")
    stage.load(TWO.format('success_count="4"', 'failure_count="2"'))
    assert stage.tick() == "R"
    assert stage.shows(left="R", a="S", b="S", x="S", y="R", right="R")
    assert stage.tick() == "R"
    assert stage.shows(left="S", a="I", b="I", x="I", y="I", right="R", z="R")
    assert stage.tick() == "S"
    assert stage.shows(**ALL_RESTING)


def timed(stage, **delays_and_results):
    for name, (delay, result) in delays_and_results.items():
        config = TestNodeConfig(return_status=NodeStatus[result], async_delay=delay)
        stage.factory.register_node_type(TestNode, name, config)
    return stage


@covers("Parallel.FailingParallel")
def test_first_success_beats_the_slow_child(ours):
    timed(ours, Good=(0.04, "SUCCESS"), Bad=(0.02, "FAILURE"), Slow=(0.08, "SUCCESS"))
    ours.load(
        '<Parallel success_count="1" failure_count="3"><Good name="a"/><Bad name="b"/>'
        '<Slow name="c"/></Parallel>'
    )
    observer = TreeObserver(ours.tree)
    assert ours.run() == "S"
    a, b, c = (observer.get_statistics(name) for name in "abc")
    assert (a.success_count, b.failure_count) == (1, 1)
    assert (c.success_count, c.failure_count) == (0, 0)


@covers("Parallel.ParallelAll")
@pytest.mark.parametrize(("allowed", "result"), [(1, "F"), (2, "S")])
def test_parallel_all_lets_every_child_end(ours, allowed, result):
    timed(ours, Good=(0.04, "SUCCESS"), Bad=(0.02, "FAILURE"))
    ours.load(
        f'<ParallelAll max_failures="{allowed}"><Bad name="a"/><Good name="b"/><Good name="c"/>'
        "</ParallelAll>"
    )
    observer = TreeObserver(ours.tree)
    assert ours.run() == result
    assert observer.get_statistics("a").failure_count == 1
    assert [observer.get_statistics(name).success_count for name in "bc"] == [1, 1]


@covers("Parallel.Issue593")
def test_skipped_child_counts_as_done(stage):
    stage.load(
        '<Sequence><Script code="off := true"/><Parallel><Do name="a" _skipIf="off"/>'
        '<Sleep msec="20"/></Parallel></Sequence>'
    )
    assert stage.run() == "S"
    assert stage.count("a") == [0]


@covers("Parallel.PauseWithRetry")
def test_branch_waits_while_another_holds_it(stage):
    stage.plan(first="RRS", second="RRS").load(
        '<Parallel><Sequence><Work name="first"/><Script code="held := false"/>'
        '<Work name="second"/></Sequence><Sequence><Script code="held := true; free := false"/>'
        '<RetryUntilSuccessful num_attempts="-1" _while="held" _onHalted="free = true">'
        "<AlwaysFailure/></RetryUntilSuccessful></Sequence></Parallel>"
    )
    seen = []
    while stage.tick() == "R":
        seen.append(stage.truth("free"))
    assert seen == [False, False, True, True]


@pytest.mark.parametrize(("kind", "asked"), [("Sequence", 1), ("ReactiveSequence", 2)])
@covers("Parallel.Issue819_SequenceVsReactiveSequence")
def test_only_reactive_branches_ask_again(stage, kind, asked):
    branch = '<{0}><Check name="{1}"/><Work name="w{1}"/></{0}>'
    stage.load(
        f'<Parallel success_count="2" failure_count="1">{branch.format(kind, "a")}'
        f"{branch.format(kind, 'b')}</Parallel>"
    )
    assert stage.ticks(2) == "RR"
    assert stage.count("a", "b") == [asked, asked]
