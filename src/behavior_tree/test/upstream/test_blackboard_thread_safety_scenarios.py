# SPDX-License-Identifier: Apache-2.0
"""A blackboard used by two threads: the scenarios of gtest_blackboard_thread_safety.cpp."""

import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from behavior_tree import (
    BehaviorTreeFactory,
    Blackboard,
    BlackboardError,
    export_blackboard_to_json,
    import_blackboard_from_json,
)
from behavior_tree.kernel.saving import restore_tree, save_tree

covers = partial(pytest.mark.upstream, "gtest_blackboard_thread_safety.cpp")
ROUNDS = 3000


@pytest.fixture(autouse=True)
def eager_switches():
    """Let the interpreter change threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*functions):
    """Run functions in threads of their own; raises what any of them raises."""
    with ThreadPoolExecutor(len(functions)) as pool:
        return [future.result() for future in [pool.submit(each) for each in functions]]


def often(function):
    def repeat():
        for number in range(ROUNDS):
            function(number)

    return repeat


@covers("BlackboardThreadSafety.SetAndUnsetRace_Bug2")
def test_set_while_another_removes():
    board = Blackboard.create()
    together(often(lambda n: board.set("k", n)), often(lambda _: board.unset("k")))
    board.set("k", -1)
    assert board.get("k") == -1


@covers("BlackboardThreadSafety.SetNewEntryWhileReading_Bug1_Bug8")
def test_new_entries_while_another_reads():
    board = Blackboard.create()
    wrong = []

    def write(number):
        key = f"k{number % 5}"
        board.unset(key)
        board.set(key, number)

    def read(number):
        entry = board.entry(f"k{number % 5}")
        if entry is not None and not (entry.value is None or isinstance(entry.value, int)):
            wrong.append(entry.value)

    together(often(write), often(read))
    assert wrong == []


@covers("BlackboardThreadSafety.TwoThreadsSetSameNewKey_Bug8")
def test_two_threads_make_the_same_entry():
    for _ in range(200):
        board = Blackboard.create()
        together(partial(board.set, "k", 1), partial(board.set, "k", 2))
        assert board.get("k") in (1, 2)


@covers("BlackboardThreadSafety.ImportJsonWhileReading_Bug4")
def test_import_while_another_reads():
    board = Blackboard.create()
    board.set("number", 42)
    board.set("text", "hello")
    data = export_blackboard_to_json(board)
    seen = set()
    together(
        often(lambda _: import_blackboard_from_json(data, board)),
        often(lambda _: seen.add((board.get("number"), board.get("text")))),
    )
    assert seen == {(42, "hello")}


@covers("BlackboardThreadSafety.CloneIntoWhileReading_Bug3")
def test_restore_while_another_reads():
    tree = BehaviorTreeFactory().create_tree_from_text(
        '<root BTCPP_format="4"><BehaviorTree ID="M"><AlwaysSuccess/></BehaviorTree></root>'
    )
    board = tree.root_blackboard()
    keys = [f"k{number}" for number in range(20)]
    states = []
    for factor in (1, 10):
        for number, key in enumerate(keys):
            board.set(key, number * factor)
        states.append(save_tree(tree))
    wrong = []

    def restore():
        for number in range(ROUNDS // 10):
            restore_tree(tree, states[number % 2])

    def read(number):
        number %= len(keys)
        if board.get(keys[number]) not in (number, number * 10):
            wrong.append(number)

    together(restore, often(read))
    assert wrong == []


@covers("BlackboardThreadSafety.DebugMessageWhileModifying_Bug5")
@covers("BlackboardThreadSafety.GetKeysWhileModifying_Bug6")
@pytest.mark.parametrize(
    "look", [Blackboard.debug_message, Blackboard.get_keys, lambda board: list(board.items())]
)
def test_listing_while_another_writes(look):
    board = Blackboard.create()

    def write(number):
        board.set(f"k{number % 50}", number)
        if number % 3 == 0:
            board.unset(f"k{number % 50}")

    together(often(write), often(lambda _: look(board)))
    assert len(board.get_keys()) <= 50


def test_reading_while_another_removes():
    board = Blackboard.create()
    seen = set()

    def read(_):
        try:
            seen.add(type(board.get("k")))
        except BlackboardError:
            seen.add(None)

    def write(number):
        board.set("k", number)
        board.unset("k")

    together(often(write), often(read))
    assert seen <= {int, None}
