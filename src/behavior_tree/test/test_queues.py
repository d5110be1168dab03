# SPDX-License-Identifier: Apache-2.0
"""Nodes that take items from queues on the blackboard."""

from __future__ import annotations

import threading
from collections import deque

import pytest
from tree_kit import Rig, letter

from behavior_tree import (
    ConsumeQueue,
    Loop,
    NodeExecutionError,
    NodeStatus,
    PopFromQueue,
    QueueSize,
)

SUCCESS, FAILURE, RUNNING = NodeStatus.SUCCESS, NodeStatus.FAILURE, NodeStatus.RUNNING


def rig(compat=None, **leaves):
    made = Rig(compat, **leaves)
    made.factory.register_node_type(PopFromQueue, "PopFromQueue")
    made.factory.register_node_type(QueueSize, "QueueSize")
    made.factory.register_node_type(ConsumeQueue, "ConsumeQueue")
    made.factory.register_node_type(Loop, "Loop")
    return made


def test_pop_takes_from_the_shared_queue_until_it_is_empty():
    tree = rig().tree('<PopFromQueue queue="{q}" popped_item="{item}"/>')
    board = tree.root_blackboard()
    assert tree.tick_once() is FAILURE  # nobody has written it
    queue = deque(["a", None])
    board.set("q", queue)
    assert tree.tick_once() is SUCCESS
    assert board.get("item") == "a"
    assert list(queue) == [None]
    assert tree.tick_once() is SUCCESS
    assert tree.tick_once() is FAILURE
    assert str(tree.failure_reason()).endswith(": the queue is empty")


def test_size_fails_on_an_empty_queue():
    tree = rig().tree('<QueueSize queue="{q}" size="{n}"/>')
    board = tree.root_blackboard()
    assert tree.tick_once() is FAILURE
    board.set("q", deque([1, 2, 3]))
    assert tree.tick_once() is SUCCESS
    assert board.get("n") == 3
    board.get("q").clear()
    assert tree.tick_once() is FAILURE


@pytest.mark.parametrize("node", ["PopFromQueue", "QueueSize", "ConsumeQueue"])
def test_what_is_no_queue_is_named(node):
    inside = "<A/></ConsumeQueue>" if node == "ConsumeQueue" else f"</{node}>"
    made = rig(A="S")
    tree = made.tree(f'<{node} queue="{{q}}">{inside}')
    tree.root_blackboard().set("q", [1, 2])
    with pytest.raises(NodeExecutionError, match=r"reads \{q\}, which holds a list"):
        tree.tick_once()
    tree = made.tree(f'<{node} queue="1;2">{inside}')
    with pytest.raises(NodeExecutionError, match="name the entry of a queue"):
        tree.tick_once()


def consume(items, compat=None, **leaves):
    made = rig(compat, **leaves)
    tree = made.tree('<ConsumeQueue queue="{q}" popped_item="{item}"><A/></ConsumeQueue>')
    tree.root_blackboard().set("q", deque(items))
    return made, tree


def test_consume_runs_the_child_for_all_items_in_one_tick():
    made, tree = consume([1, 2, 3], A="S")
    assert tree.tick_once() is SUCCESS
    assert made.take_log() == "A A A"
    assert tree.root_blackboard().get("item") == 3
    assert tree.tick_once() is SUCCESS  # none left
    assert made.take_log() == ""


def test_consume_waits_for_a_running_child_and_ends_at_its_failure():
    made, tree = consume([1, 2, 3], A="RSRF")
    assert [letter(tree.tick_exactly_once()) for _ in range(3)] == ["R", "R", "F"]
    assert made.take_log() == "A a A a"
    assert list(tree.root_blackboard().get("q")) == [3]


def test_consume_as_upstream_forgets_a_failure_after_running():
    made, tree = consume([1, 2], compat="4.8", A="RFS")
    assert [letter(tree.tick_exactly_once()) for _ in range(2)] == ["R", "S"]
    assert made.take_log() == "A a A"
    made, tree = consume([1], compat="4.8", A="RF")
    assert [letter(tree.tick_exactly_once()) for _ in range(2)] == ["R", "F"]


def test_consume_after_a_halt_goes_on_with_the_same_item():
    made, tree = consume([1, 2], A="RS")
    tree.tick_exactly_once()
    tree.halt_tree()
    assert tree.tick_exactly_once() is SUCCESS
    assert made.take_log() == "A !A A A"
    assert not tree.root_blackboard().get("q")


def test_consume_gives_the_result_of_the_last_run():
    _, tree = consume([1, 2], A="SK")
    assert tree.tick_exactly_once() is NodeStatus.SKIPPED
    _, tree = consume([1, 2], A="FS")
    assert tree.tick_exactly_once() is FAILURE


def test_two_consumers_share_one_queue():
    made = rig()
    tree = made.tree(
        '<Sequence><PopFromQueue queue="{q}" popped_item="{a}"/>'
        '<PopFromQueue queue="{q}" popped_item="{b}"/>'
        '<QueueSize queue="{q}" size="{n}"/></Sequence>'
    )
    tree.root_blackboard().set("q", deque([1, 2, 3]))
    assert tree.tick_once() is SUCCESS
    assert [tree.root_blackboard().get(key) for key in "abn"] == [1, 2, 1]


def test_loop_shares_a_deque_and_copies_a_list():
    made = rig(A="S")
    tree = made.tree('<Loop queue="{q}" value="{v}"><A/></Loop>')
    shared = deque(["x", "y"])
    tree.root_blackboard().set("q", shared)
    assert [letter(tree.tick_exactly_once()) for _ in range(3)] == ["R", "R", "S"]
    assert not shared
    assert tree.root_blackboard().get("v") == "y"
    listed = made.tree('<Loop queue="{q}" value="{v}"><A/></Loop>')
    listed.root_blackboard().set("q", [1, 2])
    for _ in range(2):  # every run has the whole list
        assert [letter(listed.tick_exactly_once()) for _ in range(3)] == ["R", "R", "S"]
    assert listed.root_blackboard().get("q") == [1, 2]


def test_loop_sees_a_queue_that_is_put_in_its_place():
    tree = rig(A="S").tree('<Loop queue="{q}" value="{v}"><A/></Loop>')
    board = tree.root_blackboard()
    board.set("q", deque([1, 2]))
    tree.tick_exactly_once()
    board.set("q", deque([7]))
    assert tree.tick_exactly_once() is RUNNING
    assert board.get("v") == 7
    assert tree.tick_exactly_once() is SUCCESS


def test_another_thread_fills_while_the_tree_takes():
    tree = rig(A="S").tree(
        '<Fallback><Sequence><PopFromQueue queue="{q}" popped_item="{v}"/>'
        '<Script code="sum := sum + v"/></Sequence><AlwaysSuccess/></Fallback>'
    )
    board = tree.root_blackboard()
    queue: deque[int] = deque()
    board.set("q", queue)
    board.set("sum", 0.0)
    filler = threading.Thread(target=lambda: [queue.append(n) for n in range(2000)])
    filler.start()
    while filler.is_alive() or queue:
        tree.tick_exactly_once()
    assert board.get("sum") == sum(range(2000))
