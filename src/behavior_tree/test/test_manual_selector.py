# SPDX-License-Identifier: Apache-2.0
"""ManualSelector: the choice comes from outside, and no tick blocks."""

from __future__ import annotations

import threading

import pytest
from tree_kit import Rig, letter

from behavior_tree import LoadError, LogicError, ManualSelector, NodeExecutionError, NodeStatus

SUCCESS, FAILURE, RUNNING, IDLE = (
    NodeStatus.SUCCESS,
    NodeStatus.FAILURE,
    NodeStatus.RUNNING,
    NodeStatus.IDLE,
)


def selector(attributes="", ask=None, body='<A name="a"/><B name="b"/>', **leaves):
    rig = Rig(**leaves)
    rig.factory.register_node_type(ManualSelector, "ManualSelector", ask)
    tree = rig.tree(f'<ManualSelector name="m" {attributes}>{body}</ManualSelector>')
    return rig, tree, tree.root_node()


def test_it_runs_until_somebody_chooses():
    rig, tree, node = selector(A="S", B="RS")
    assert not node.waiting
    assert [tree.tick_once() for _ in range(2)] == [RUNNING] * 2
    assert node.waiting
    assert node.choices() == ["a", "b"]
    node.choose("b")
    assert [letter(tree.tick_exactly_once()) for _ in range(2)] == ["R", "S"]
    assert rig.take_log() == "B b"
    assert tree.tick_once() is RUNNING  # asks again
    node.choose(0)
    assert tree.tick_once() is SUCCESS
    assert rig.take_log() == "A"
    assert [child.status for child in node.children] == [IDLE, IDLE]


@pytest.mark.parametrize("answer", [SUCCESS, FAILURE, "SUCCESS", "FAILURE"])
def test_a_status_is_returned_without_a_child(answer):
    rig, tree, node = selector(A="S", B="S")
    node.choose(answer)
    expected = NodeStatus[answer] if isinstance(answer, str) else answer
    assert tree.tick_once() is expected
    assert rig.take_log() == ""
    if expected is FAILURE:
        assert str(tree.failure_reason()) == "m: FAILURE was chosen"


def test_running_holds_and_another_answer_halts_the_child():
    rig, tree, node = selector(A="R", B="S")
    node.choose("a")
    tree.tick_exactly_once()
    node.choose("a")  # the same: goes on
    tree.tick_exactly_once()
    node.choose(RUNNING)
    assert tree.tick_exactly_once() is RUNNING
    assert rig.take_log() == "A a !A"
    assert node.waiting
    node.choose("a")
    tree.tick_exactly_once()
    node.choose("b")
    assert tree.tick_exactly_once() is SUCCESS
    assert rig.take_log() == "A !A B"


def test_each_write_of_the_selection_entry_answers_once():
    rig, tree, _ = selector('selection="{pick}"', A="S", B="F")
    board = tree.root_blackboard()
    assert tree.tick_once() is RUNNING
    board.set("pick", "a")
    assert [letter(tree.tick_once()) for _ in range(2)] == ["S", "R"]
    board.set("pick", "a")
    assert tree.tick_once() is SUCCESS
    board.set("pick", "1")
    assert tree.tick_once() is FAILURE
    assert rig.take_log() == "A A B"
    board.set("pick", "z")
    with pytest.raises(NodeExecutionError, match=r"cannot take the answer 'z'.*0 'a', 1 'b'"):
        tree.tick_once()


def test_a_selection_that_was_removed_and_written_again_answers():
    rig, tree, _ = selector('selection="{pick}"', A="S", B="S")
    for _ in range(2):
        tree.root_blackboard().set("pick", "b")
        tree.tick_once()
        tree.root_blackboard().unset("pick")
    assert rig.take_log() == "B B"


def test_a_literal_selection_always_answers():
    rig, tree, _ = selector('selection="b"', A="S", B="RS")
    assert [letter(tree.tick_exactly_once()) for _ in range(3)] == ["R", "S", "S"]
    assert rig.take_log() == "B b B"


def test_a_function_is_asked_only_while_the_node_waits():
    answers, asked = iter([None, "a", None, 1]), []

    def ask(node):
        asked.append(node.name())
        return next(answers)

    rig, tree, _ = selector(ask=ask, A="RS", B="S")
    assert [letter(tree.tick_exactly_once()) for _ in range(5)] == ["R", "R", "S", "R", "S"]
    assert len(asked) == 4
    assert rig.take_log() == "A a B"


def test_the_last_selection_is_repeated_if_wanted():
    rig, tree, node = selector('repeat_last_selection="true"', A="S", B="S")
    assert tree.tick_once() is RUNNING
    node.choose("b")
    assert [tree.tick_once() for _ in range(3)] == [SUCCESS] * 3
    assert rig.take_log() == "B B B"
    node.choose(FAILURE)
    assert [tree.tick_once() for _ in range(2)] == [FAILURE] * 2
    node.choose(RUNNING)  # from here on it asks again
    assert [tree.tick_once() for _ in range(2)] == [RUNNING, RUNNING]


def test_halt_ends_the_choice():
    rig, tree, node = selector(A="R", B="S")
    node.choose("a")
    tree.tick_exactly_once()
    tree.halt_tree()
    assert rig.take_log() == "A !A"
    assert tree.tick_once() is RUNNING
    assert rig.take_log() == ""


def test_it_may_have_no_children():
    _, tree, node = selector(body="")
    assert tree.tick_once() is RUNNING
    with pytest.raises(LogicError, match="choose one of no child, or SUCCESS"):
        node.choose(0)
    node.choose(SUCCESS)
    assert tree.tick_once() is SUCCESS


@pytest.mark.parametrize("answer", [2, -1, 0.5, True, "c", IDLE, None, "x"])
def test_wrong_answers_are_refused(answer):
    _, _, node = selector(body='<A name="x"/><B name="x"/>', A="S", B="S")
    with pytest.raises(LogicError, match="cannot take the answer"):
        node.choose(answer)


def test_names_that_look_like_answers_are_names():
    rig, tree, node = selector(body='<A name="SUCCESS"/><B name="0"/>', A="F", B="S")
    node.choose("SUCCESS")
    assert tree.tick_once() is FAILURE
    node.choose("0")
    assert tree.tick_once() is SUCCESS
    assert rig.take_log() == "A B"


def test_an_answer_from_another_thread_wakes_the_tree():
    _, tree, node = selector(A="S", B="S")

    def answer():
        while not node.waiting:
            waiting.wait(0.001)
        node.choose("a")

    waiting = threading.Event()
    thread = threading.Thread(target=answer)
    thread.start()
    try:
        assert tree.tick_while_running(0) is SUCCESS
    finally:
        thread.join()


def test_it_is_not_registered_by_itself():
    with pytest.raises(LoadError, match="not recognized: ManualSelector"):
        Rig(A="S").tree("<ManualSelector><A/></ManualSelector>")
