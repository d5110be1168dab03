# SPDX-License-Identifier: Apache-2.0
"""Conditions before a node: the scenarios of gtest_preconditions.cpp."""

from functools import partial

import pytest
from scenario_kit import subtree

from behavior_tree import InputPort, NodeStatus, OutputPort, SyncActionNode, ports_list

covers = partial(pytest.mark.upstream, "gtest_preconditions.cpp")


@pytest.mark.parametrize(
    ("script", "log"),
    [
        pytest.param("a:=7; b:=7; c:=-2", "x z", marks=covers("PreconditionsDecorator.Integers")),
        pytest.param(
            "a:=0.3; b:=(0.1+0.2); c:=3.5",
            "x z",
            marks=covers("PreconditionsDecorator.DoubleEquals"),
        ),
        pytest.param(
            "a:='up'; b:='up'; c:='down'",
            "x z",
            marks=covers("PreconditionsDecorator.StringEquals"),
        ),
    ],
)
def test_decorator_guards_its_child(stage, script, log):
    stage.load(
        f'<Sequence><Script code="{script}"/>'
        '<Precondition if="a==b" else="FAILURE"><Do name="x"/></Precondition>'
        '<Precondition if="a==c" else="SUCCESS"><Do name="y"/></Precondition>'
        '<Precondition if="a!=c" else="FAILURE"><Do name="z"/></Precondition></Sequence>'
    )
    assert stage.run() == "S"
    assert stage.take_log() == log


@covers("PreconditionsDecorator.ChecksConditionOnce")
def test_decorator_asks_only_before_the_start(stage):
    stage.load(
        '<Sequence><Script code="ok:=1; go:=1"/><Precondition if="ok==1" else="FAILURE">'
        '<Work name="w" _while="go==1"/></Precondition></Sequence>'
    )
    assert stage.tick_once() == "R"
    stage.set(ok=0)
    assert stage.tick_once() == "R"
    stage.set(go=0)
    assert stage.tick_once() == "S"
    assert stage.take_log() == "w w !w"


@covers("PreconditionsDecorator.CanRunChildrenMultipleTimes")
def test_decorator_asks_again_in_every_cycle(stage):
    stage.load(
        '<Sequence><Script code="go:=1; first:=0; second:=1"/><Repeat num_cycles="3"><Sequence>'
        '<Precondition if="go==1" else="SUCCESS"><Do name="a"/></Precondition>'
        '<Work name="w1" _while="first==1"/><Work name="w2" _while="second==1"/>'
        "</Sequence></Repeat></Sequence>"
    )
    assert stage.tick_once() == "R"
    assert stage.count("a") == [1]
    stage.set(go=0, first=1, second=0)  # w2 ends, the next cycle passes over a and waits in w1
    assert stage.tick_once() == "R"
    assert stage.count("a") == [1]
    stage.set(go=1, first=0)
    assert stage.tick_once() == "S"
    assert stage.count("a") == [2]


@covers("Preconditions.Basic")
def test_imposed_results(stage):
    stage.load(
        '<Sequence><Script code="n := 1"/><Do name="a" _successIf="n==1"/>'
        '<Do name="b" _successIf="n==2"/><Fallback><Do name="c" _failureIf="n==1"/>'
        '<Do name="d" _failureIf="n!=1"/></Fallback></Sequence>'
    )
    assert stage.run() == "S"
    assert stage.take_log() == "b d"


@covers("Preconditions.Issue533")
def test_conditions_are_asked_anew_in_every_run(stage):
    stage.load(
        '<Sequence><Do name="a" _skipIf="n!=1"/><Do name="b" _skipIf="n!=2" _onSuccess="n=1"/>'
        '<Do name="c" _skipIf="n!=3" _onSuccess="n=2"/></Sequence>'
    )
    stage.set(n=3)
    logs = []
    for _ in range(3):
        stage.tick_once()
        logs.append(stage.take_log())
    assert logs == ["c", "b", "a"]


@covers("Preconditions.Issue585")
def test_skipped_action_is_never_started(stage):
    stage.load('<Sequence><Script code="n := 1"/><Work name="w" _skipIf="n==1"/></Sequence>')
    assert stage.run() == "S"
    assert stage.log == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            '<KeepRunningUntilFailure _skipIf="off"><Do name="a"/></KeepRunningUntilFailure>',
            marks=covers("Preconditions.Issue615_NoSkipWhenRunning_A"),
        ),
        pytest.param(
            '<Work name="w" _skipIf="off"/>',
            marks=covers("Preconditions.Issue615_NoSkipWhenRunning_B"),
        ),
    ],
)
def test_running_node_is_not_skipped(stage, body):
    stage.load(body)
    results = []
    for off in (True, False, True):
        stage.set(off=off)
        results.append(stage.tick_once())
    assert results == ["K", "R", "R"]


class SaysTrue(SyncActionNode):
    @classmethod
    def provided_ports(cls):
        return ports_list(OutputPort("answer", bool))

    def tick(self):
        self.set_output("answer", True)
        return NodeStatus.SUCCESS


@covers("Preconditions.Remapping")
def test_condition_of_a_nested_subtree_sees_the_remapped_value(ours):
    ours.factory.register_node_type(SaysTrue, "SaysTrue")
    literal = '<SubTree ID="One" on="true"/>'
    ours.load(
        '<Sequence><SaysTrue answer="{a}"/><Script code="b := true"/><SubTree ID="One" on="{a}"/>'
        f'<SubTree ID="One" on="{{b}}"/>{literal}<Do name="end"/></Sequence>',
        subtree("One", '<Sequence><SubTree ID="Two" _skipIf="on != true"/></Sequence>')
        + subtree("Two", '<Do name="inner"/>'),
    )
    assert ours.run() == "S"
    assert ours.take_log() == "inner inner inner end"


@covers("Preconditions.WhileCallsOnHalt")
def test_false_while_halts_and_runs_the_script(stage):
    stage.load('<Sequence><Work name="w" _while="go" _onHalted="left = 96"/></Sequence>')
    stage.set(go=True, left=0)
    assert stage.tick_once() == "R"
    assert stage.number("left") == 0
    stage.set(go=False)
    assert stage.tick_once() == "K"
    assert stage.number("left") == 96
    assert stage.take_log() == "w !w"


@covers("Preconditions.SkippedSequence")
def test_sequence_is_skipped_and_run_in_turn(stage):
    stage.load('<Sequence><AlwaysSuccess _skipIf="off"/></Sequence>')
    results = [stage.set(off=off).run() for off in (True, False, True, False)]
    assert results == ["K", "S", "K", "S"]


def test_input_of_a_skipped_node_is_not_read(ours):
    class Reader(SyncActionNode):
        @classmethod
        def provided_ports(cls):
            return ports_list(InputPort("value", int))

        def tick(self):
            raise AssertionError(self.get_input("value"))

    ours.factory.register_node_type(Reader, "Reader")
    assert ours.load('<Reader value="{nobody_writes}" _skipIf="true"/>').tick() == "K"
