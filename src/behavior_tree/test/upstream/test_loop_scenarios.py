# SPDX-License-Identifier: Apache-2.0
"""Loops over queues: the scenarios of gtest_loop.cpp."""

from collections import deque
from functools import partial

import pytest

from behavior_tree import InputPort, NodeStatus, TypeRegistry

covers = partial(pytest.mark.upstream, "gtest_loop.cpp")


def collector(stage, port_type):
    """Register ``<Keep value=.../>``; returns the list that it fills."""
    kept = []

    def keep(node):
        kept.append(node.get_input("value"))
        return NodeStatus.SUCCESS

    stage.factory.register_simple_action("Keep", keep, [InputPort("value", port_type)])
    return kept


@pytest.mark.parametrize(
    ("kind", "port_type", "queue", "values"),
    [
        pytest.param(*case, marks=covers(f"LoopNode.{name}"))
        for name, *case in (
            ("StaticIntQueue", "Int", int, "1;2;3;4;5", [1, 2, 3, 4, 5]),
            ("StaticDoubleQueue", "Double", float, "1.5;2.5;-3", [1.5, 2.5, -3.0]),
            ("StaticStringQueue", "String", str, "one;two and a half", ["one", "two and a half"]),
            ("BoolQueue", "Bool", bool, "true;false;1", [True, False, True]),
        )
    ],
)
def test_literal_queue(ours, kind, port_type, queue, values):
    kept = collector(ours, port_type)
    ours.load(f'<Loop{kind} queue="{queue}" value="{{v}}"><Keep value="{{v}}"/></Loop{kind}>')
    assert ours.run() == "S"
    assert kept == values
    assert {type(value) for value in kept} == {port_type}


@pytest.mark.parametrize(
    ("if_empty", "result"),
    [
        pytest.param("SUCCESS", "S", marks=covers("LoopNode.EmptyQueue_ReturnsSuccess")),
        pytest.param("FAILURE", "F", marks=covers("LoopNode.EmptyQueue_ReturnsFailure")),
        pytest.param("SKIPPED", "K", marks=covers("LoopNode.EmptyQueue_ReturnsSkipped")),
    ],
)
def test_empty_queue(stage, if_empty, result):
    stage.load(f'<LoopInt queue="" if_empty="{if_empty}" value="{{v}}"><Do name="a"/></LoopInt>')
    assert stage.run() == result
    assert stage.count("a") == [0]


@covers("LoopNode.ChildFailure_StopsLoop")
def test_failure_ends_the_loop(stage):
    stage.plan(a="SSF").load('<LoopInt queue="1;2;3;4;5" value="{v}"><Do name="a"/></LoopInt>')
    assert stage.run() == "F"
    assert stage.count("a") == [3]
    assert stage.number("v") == 3


@covers("LoopNode.RestartAfterCompletion")
def test_literal_queue_serves_every_run(stage):
    stage.load('<LoopInt queue="1;2;3" value="{v}"><Do name="a"/></LoopInt>')
    assert stage.run() == "S"
    stage.halt()
    assert stage.run() == "S"
    assert stage.count("a") == [6]


FROM_BOARD = '<LoopInt queue="{q}" value="{v}"><Keep value="{v}"/></LoopInt>'


@pytest.mark.parametrize(
    ("queue", "left"),
    [
        pytest.param(
            *(deque([10, 20, 30]), []), marks=covers("LoopNode.DynamicQueueFromBlackboard")
        ),
        pytest.param(*([10, 20, 30], [10, 20, 30]), marks=covers("LoopNode.VectorInput_Issue969")),
    ],
    ids=["deque", "list"],
)
def test_queue_from_the_blackboard(mended, queue, left):
    """A deque is shared and emptied, a list is copied."""
    kept = collector(mended, int)
    mended.load(FROM_BOARD)
    mended.board.set("q", queue)
    assert mended.run() == "S"
    assert kept == [10, 20, 30]
    assert list(queue) == left


@covers("LoopNode.RestartAfterCompletion_VectorFromBlackboard")
def test_list_is_read_anew_in_every_run(mended):
    kept = collector(mended, int)
    mended.load(FROM_BOARD)
    for values in ([1, 2], [3, 4, 5]):
        mended.board.set("q", values)
        assert mended.run() == "S"
        mended.halt()
    assert kept == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("item", "text", "values"),
    [
        pytest.param(*case, marks=covers(f"LoopNode.ConvertFromString_{name}"))
        for name, *case in (
            ("Int", int, "1;2;3", [1, 2, 3]),
            ("Double", float, "1.1;2.2", [1.1, 2.2]),
            ("Bool", bool, "true;false;1;0", [True, False, True, False]),
            ("String", str, "foo;bar;baz", ["foo", "bar", "baz"]),
        )
    ],
)
def test_text_becomes_a_queue(item, text, values):
    assert TypeRegistry().from_text(text, list[item]) == values
