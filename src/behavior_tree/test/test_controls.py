# SPDX-License-Identifier: Apache-2.0
"""Every control node: results of successive ticks, calls and halts of the children."""

import pytest
from tree_kit import Rig, letter, watch

from behavior_tree import LoadError, NodeExecutionError, NodeStatus

# (body, leaves, results of successive ticks, calls in order)
TABLE = [
    # Sequence
    ("<Sequence><A/><B/></Sequence>", {"A": "S", "B": "S"}, "S", "A B"),
    ("<Sequence><A/><B/></Sequence>", {"A": "F", "B": "S"}, "F", "A"),
    ("<Sequence><A/><B/><C/></Sequence>", {"A": "S", "B": "RRS", "C": "S"}, "RRS", "A B b b C"),
    ("<Sequence><A/><B/></Sequence>", {"A": "S", "B": "F"}, "FF", "A B A B"),
    ("<Sequence><A/><B/></Sequence>", {"A": "K", "B": "S"}, "S", "A B"),
    ("<Sequence><A/><B/></Sequence>", {"A": "K", "B": "K"}, "KK", "A B A B"),
    ("<Sequence><A/><B/></Sequence>", {"A": "K", "B": "RK"}, "R", "A B"),
    # AsyncSequence yields after each child that succeeds at once, but not after the last
    ("<AsyncSequence><A/><B/></AsyncSequence>", {"A": "S", "B": "S"}, "RS", "A B"),
    ("<AsyncSequence><A/><B/></AsyncSequence>", {"A": "RS", "B": "S"}, "RS", "A a B"),
    ("<AsyncSequence><A/><B/></AsyncSequence>", {"A": "K", "B": "F"}, "F", "A B"),
    # SequenceWithMemory resumes at the failed child
    ("<SequenceWithMemory><A/><B/></SequenceWithMemory>", {"A": "S", "B": "FS"}, "RFS", "A B B"),
    ("<SequenceWithMemory><A/><B/></SequenceWithMemory>", {"A": "K", "B": "K"}, "K", "A B"),
    # ReactiveSequence starts over in every tick
    ("<ReactiveSequence><A/><B/></ReactiveSequence>", {"A": "S", "B": "RRS"}, "RRS", "A B A b A b"),
    ("<ReactiveSequence><A/><B/></ReactiveSequence>", {"A": "SF", "B": "R"}, "RF", "A B A !B"),
    ("<ReactiveSequence><A/><B/></ReactiveSequence>", {"A": "SR", "B": "R"}, "RR", "A B A !B"),
    ("<ReactiveSequence><A/><B/></ReactiveSequence>", {"A": "K", "B": "K"}, "K", "A B"),
    ("<ReactiveSequence><A/><B/></ReactiveSequence>", {"A": "RK", "B": "S"}, "RS", "A a !A B"),
    # Fallback
    ("<Fallback><A/><B/></Fallback>", {"A": "F", "B": "S"}, "S", "A B"),
    ("<Fallback><A/><B/></Fallback>", {"A": "S", "B": "S"}, "S", "A"),
    ("<Fallback><A/><B/></Fallback>", {"A": "F", "B": "F"}, "FF", "A B A B"),
    ("<Fallback><A/><B/></Fallback>", {"A": "F", "B": "RS"}, "RS", "A B b"),
    ("<Fallback><A/><B/></Fallback>", {"A": "K", "B": "F"}, "F", "A B"),
    ("<Fallback><A/><B/></Fallback>", {"A": "K", "B": "K"}, "K", "A B"),
    ("<AsyncFallback><A/><B/></AsyncFallback>", {"A": "F", "B": "F"}, "RF", "A B"),
    ("<AsyncFallback><A/><B/></AsyncFallback>", {"A": "RF", "B": "S"}, "RS", "A a B"),
    ("<AsyncFallback><A/><B/></AsyncFallback>", {"A": "S", "B": "S"}, "S", "A"),
    # ReactiveFallback
    ("<ReactiveFallback><A/><B/></ReactiveFallback>", {"A": "F", "B": "RRF"}, "RRF", "A B A b A b"),
    ("<ReactiveFallback><A/><B/></ReactiveFallback>", {"A": "FS", "B": "R"}, "RS", "A B A !B"),
    ("<ReactiveFallback><A/><B/></ReactiveFallback>", {"A": "FR", "B": "R"}, "RR", "A B A !B"),
    # Parallel: all must succeed, one may fail, by default
    ("<Parallel><A/><B/></Parallel>", {"A": "S", "B": "RS"}, "RS", "A B b"),
    ("<Parallel><A/><B/></Parallel>", {"A": "F", "B": "R"}, "F", "A"),
    ("<Parallel><B/><A/></Parallel>", {"A": "F", "B": "R"}, "F", "B A !B"),
    ('<Parallel success_count="1"><A/><B/></Parallel>', {"A": "R", "B": "S"}, "S", "A B !A"),
    ('<Parallel success_count="0"><A/><B/></Parallel>', {"A": "R", "B": "S"}, "S", "A !A"),
    ('<Parallel failure_count="2"><A/><B/></Parallel>', {"A": "F", "B": "F"}, "F", "A"),
    (
        '<Parallel success_count="1" failure_count="2"><A/><B/></Parallel>',
        {"A": "F", "B": "S"},
        "S",
        "A B",
    ),
    ('<Parallel success_count="-2"><A/><B/></Parallel>', {"A": "R", "B": "S"}, "S", "A B !A"),
    ('<Parallel failure_count="0"><A/><B/></Parallel>', {"A": "R", "B": "S"}, "F", "A !A"),
    ("<Parallel><A/><B/></Parallel>", {"A": "K", "B": "S"}, "S", "A B"),
    ("<Parallel><A/><B/></Parallel>", {"A": "K", "B": "K"}, "K", "A B"),
    ('<Parallel success_count="2"><A/><B/></Parallel>', {"A": "K", "B": "S"}, "RR", "A B A"),
    ("<ParallelAll><A/><B/></ParallelAll>", {"A": "F", "B": "RS"}, "RF", "A B b"),
    ("<ParallelAll><A/><B/></ParallelAll>", {"A": "S", "B": "RS"}, "RS", "A B b"),
    ('<ParallelAll max_failures="2"><A/><B/></ParallelAll>', {"A": "F", "B": "S"}, "S", "A B"),
    ('<ParallelAll max_failures="-1"><A/><B/></ParallelAll>', {"A": "F", "B": "F"}, "F", "A B"),
    ('<ParallelAll max_failures="0"><A/></ParallelAll>', {"A": "S"}, "F", "A"),
    ("<ParallelAll><A/><B/></ParallelAll>", {"A": "K", "B": "K"}, "K", "A B"),
    ("<ParallelAll><A/><B/></ParallelAll>", {"A": "K", "B": "S"}, "S", "A B"),
    # IfThenElse asks once
    ("<IfThenElse><A/><B/><C/></IfThenElse>", {"A": "S", "B": "RS", "C": "S"}, "RS", "A B b"),
    ("<IfThenElse><A/><B/><C/></IfThenElse>", {"A": "F", "B": "S", "C": "S"}, "S", "A C"),
    ("<IfThenElse><A/><B/><C/></IfThenElse>", {"A": "RF", "B": "S", "C": "F"}, "RF", "A a C"),
    ("<IfThenElse><A/><B/></IfThenElse>", {"A": "F", "B": "S"}, "FF", "A A"),
    ("<IfThenElse><A/><B/></IfThenElse>", {"A": "S", "B": "K"}, "K", "A B"),
    ("<IfThenElse><A/><B/></IfThenElse>", {"A": "K", "B": "S"}, "KK", "A A"),
    # WhileDoElse asks in every tick
    (
        "<WhileDoElse><P/><B/><C/></WhileDoElse>",
        {"P": "SF", "B": "R", "C": "S"},
        "RS",
        "P B P !B C",
    ),
    (
        "<WhileDoElse><P/><B/><C/></WhileDoElse>",
        {"P": "FS", "B": "S", "C": "R"},
        "RS",
        "P C P !C B",
    ),
    ("<WhileDoElse><P/><B/></WhileDoElse>", {"P": "SF", "B": "R"}, "RF", "P B P !B"),
    ("<WhileDoElse><P/><B/></WhileDoElse>", {"P": "RS", "B": "S"}, "RS", "P P B"),
    ("<WhileDoElse><P/><B/></WhileDoElse>", {"P": "K", "B": "S"}, "K", "P"),
    # TryCatch
    ("<TryCatch><A/><B/><C/></TryCatch>", {"A": "S", "B": "S", "C": "S"}, "S", "A B"),
    ("<TryCatch><A/><B/><C/></TryCatch>", {"A": "S", "B": "F", "C": "RS"}, "RF", "A B C c"),
    ("<TryCatch><A/><C/></TryCatch>", {"A": "F", "C": "S"}, "FF", "A C A C"),
    ("<TryCatch><A/><C/></TryCatch>", {"A": "K", "C": "S"}, "K", "A"),
    ("<TryCatch><A/><C/></TryCatch>", {"A": "F", "C": "K"}, "F", "A C"),
]


@pytest.mark.parametrize(("body", "leaves", "results", "calls"), TABLE)
@pytest.mark.parametrize("watched", [False, True])
def test_results_and_calls_and_all_idle_in_the_end(body, leaves, results, calls, watched):
    rig = Rig(**leaves)
    tree = rig.tree(body)
    if watched:
        watch(tree)
        tree.record_ticks()
    assert "".join(letter(tree.tick_exactly_once()) for _ in results) == results
    assert rig.take_log() == calls
    if results[-1] == "R":
        tree.halt_tree()
    assert all(node.status is NodeStatus.IDLE for node in tree.nodes())


SWITCH = '<Switch3 variable="{v}" case_1="1" case_2="red" case_3="2.0"><A/><B/><C/><D/></Switch3>'


@pytest.mark.parametrize(
    ("value", "called"),
    [
        ("1", "A"),
        ("red", "B"),
        ("2", "C"),
        ("2.00", "C"),
        ("1.0", "A"),
        ("blue", "D"),
        ("1x", "D"),
        ("RED", "A"),
    ],
)
def test_switch_compares_texts_numbers_and_enums(value, called):
    rig = Rig(A="S", B="S", C="S", D="S")
    rig.factory.register_scripting_enum("RED", 1)
    tree = rig.tree(SWITCH)
    tree.root_blackboard().set("v", value)
    assert tree.tick_once() is NodeStatus.SUCCESS
    assert rig.take_log() == called


def test_switch_halts_the_old_case_before_it_starts_the_new_one():
    rig = Rig(A="R", B="S", C="S", D="R")
    tree = rig.tree(SWITCH)
    board = tree.root_blackboard()
    for value in ("1", "nothing", "red"):
        board.set("v", value)
        tree.tick_once()
    assert rig.take_log() == "A !A D !D B"


def test_switch_without_variable_takes_the_default():
    rig = Rig(A="S", B="S", C="S", D="S")
    rig.tree("<Switch2><A/><B/><C/></Switch2>").tick_once()
    assert rig.take_log() == "C"


def test_thresholds_beyond_the_children_raise():
    rig = Rig(A="S")
    for attributes in ('success_count="2"', 'failure_count="2"'):
        with pytest.raises(NodeExecutionError, match="Can never"):
            rig.tree(f"<Parallel {attributes}><A/></Parallel>").tick_once()


def test_try_catch_runs_its_catch_when_halted_on_request():
    rig = Rig(A="R", C="R")
    tree = rig.tree('<TryCatch catch_on_halt="true"><A/><C/></TryCatch>')
    tree.tick_once()
    tree.halt_tree()
    assert rig.take_log() == "A !A C !C"


def test_sequence_transitions_in_order():
    rig = Rig(A="S", B="F")
    tree = rig.tree('<Sequence name="seq"><A/><B/></Sequence>')
    log = watch(tree)
    tree.tick_once()
    assert log == ["seq I>R", "A I>S", "B I>F", "A S>I", "B F>I", "seq R>F", "seq F>I"]


def test_async_sequence_wakes_the_tree():
    rig = Rig(A="S", B="S", C="S")
    assert rig.tree("<AsyncSequence><A/><B/><C/></AsyncSequence>").tick_once() is NodeStatus.SUCCESS


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<IfThenElse><A/></IfThenElse>", "2 to 3 children"),
        ("<Switch2><A/><A/></Switch2>", "exactly 3 children"),
        ("<TryCatch><A/></TryCatch>", "2 or more children"),
        ("<Sequence/>", "1 or more children"),
        ("<Inverter><A/><A/></Inverter>", "exactly 1 child"),
    ],
)
def test_numbers_of_children_are_checked_at_load(body, words):
    with pytest.raises(LoadError, match=words):
        Rig(A="S").tree(body)


def test_sequence_with_memory_keeps_its_place_over_a_halt():
    rig = Rig(A="S", B="R")
    tree = rig.tree("<SequenceWithMemory><A/><B/></SequenceWithMemory>")
    tree.tick_once()
    tree.halt_tree()
    tree.tick_once()
    assert rig.take_log() == "A B !B B"
