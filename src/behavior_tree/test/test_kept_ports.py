# SPDX-License-Identifier: Apache-2.0
"""Nodes that keep what their literal ports say look again when a port, name or child changes."""

from __future__ import annotations

import pytest
from tree_kit import Rig, letter

from behavior_tree import restore_tree, save_tree
from behavior_tree.editing import TreeEditor


def ticks(tree, count):
    return "".join(letter(tree.tick_exactly_once()) for _ in range(count))


def chosen(rig, tree):
    tree.tick_exactly_once()
    return rig.take_log()


SWITCH = '<Switch2 name="n" variable="{v}" case_1="1" case_2="RED"><A/><B/><C/></Switch2>'


def test_switch_takes_values_of_any_type():
    rig = Rig(A="S", B="S", C="S")
    rig.factory.register_scripting_enum("RED", 7)
    tree = rig.tree(SWITCH)
    board = tree.root_blackboard()
    for _ in range(2):
        for value, child in ((True, "A"), (1, "A"), (1.0, "A"), (7, "B"), (7.0, "B"), (0, "C")):
            board.unset("v")
            board.set("v", value)
            assert chosen(rig, tree) == child, value
        for text, child in (("true", "C"), ("RED", "B"), ("7", "B"), ("1", "A")):
            board.unset("v")
            board.set("v", text)
            assert chosen(rig, tree) == child, text
    board.unset("v")
    assert chosen(rig, tree) == "C", "nobody has written it"


def test_switch_looks_again_at_ports_and_names():
    rig = Rig(A="S", B="S", C="S")
    tree = rig.tree(SWITCH)
    board = tree.root_blackboard()
    board.unset("v")
    board.set("v", 7)
    assert chosen(rig, tree) == "C"
    rig.factory.register_scripting_enum("RED", 7)
    assert chosen(rig, tree) == "B"
    editor = TreeEditor(tree, rig.factory)
    editor.set_port("n", "case_1", "7")
    assert chosen(rig, tree) == "A"
    editor.set_port("n", "case_1", "{first}")
    assert chosen(rig, tree) == "B"
    board.set("first", "7")
    assert chosen(rig, tree) == "A"
    board.set("first", "8")
    assert chosen(rig, tree) == "B"
    editor.set_port("n", "variable", "{w}")
    board.set("w", "8")
    assert chosen(rig, tree) == "A"


@pytest.mark.parametrize(
    ("tag", "port", "leaf"),
    [("Repeat", "num_cycles", "S"), ("RetryUntilSuccessful", "num_attempts", "F")],
)
def test_repetitions_look_again(tag, port, leaf):
    rig = Rig(A=leaf)
    tree = rig.tree(f'<{tag} name="n" {port}="3"><A/></{tag}>')
    assert ticks(tree, 3) == f"RR{leaf}"
    editor = TreeEditor(tree, rig.factory)
    editor.set_port("n", port, "2")
    assert ticks(tree, 2) == f"R{leaf}"
    assert ticks(tree, 1) == "R"
    editor.set_port("n", port, "{count}")
    tree.root_blackboard().set("count", 4)
    assert ticks(tree, 3) == f"RR{leaf}"
    tree.root_blackboard().set("count", 1)
    assert ticks(tree, 1) == leaf


def test_parallel_looks_again_at_counts_and_children():
    rig = Rig(A="S", B="F", C="S")
    tree = rig.tree('<Parallel name="n" success_count="1" failure_count="2"><B/><A/></Parallel>')
    assert ticks(tree, 2) == "SS"
    editor = TreeEditor(tree, rig.factory)
    editor.set_port("n", "success_count", "2")
    assert ticks(tree, 1) == "F"
    editor.insert("n", 2, "<C/>")
    assert ticks(tree, 2) == "SS"
    editor.set_port("n", "failure_count", "{f}")
    tree.root_blackboard().set("f", 1)
    assert ticks(tree, 1) == "F"
    tree.root_blackboard().set("f", 3)
    assert ticks(tree, 1) == "S"


def test_loop_looks_again_at_its_queue():
    rig = Rig(A="S")
    tree = rig.tree('<LoopInt name="n" queue="1;2" value="{v}"><A/></LoopInt>')
    board = tree.root_blackboard()
    assert ticks(tree, 6) == "RRSRRS", "the literal is not used up"
    editor = TreeEditor(tree, rig.factory)
    editor.set_port("n", "queue", "5")
    assert ticks(tree, 2) == "RS"
    assert board.get("v") == 5
    editor.set_port("n", "queue", "{q}")
    board.set("q", [8, 9])
    assert ticks(tree, 3) == "RRS"
    assert board.get("v") == 9


def test_a_loop_that_ended_empty_gives_the_reason_of_its_child_the_next_time():
    rig = Rig(A="F")
    tree = rig.tree('<LoopInt queue="{q}" value="{v}" if_empty="FAILURE"><A name="a"/></LoopInt>')
    assert ticks(tree, 1) == "F"
    assert "the queue is empty" in str(tree.failure_reason())
    tree.root_blackboard().set("q", [1])
    assert ticks(tree, 1) == "F"
    assert "the queue is empty" not in str(tree.failure_reason())
    assert tree.failure_reason().path == "a"


def test_a_restored_loop_goes_on_with_the_shared_queue():
    body = '<LoopInt queue="{q}" value="{v}"><A name="a"/></LoopInt>'
    rig = Rig(A="S")
    tree = rig.tree(body)
    tree.root_blackboard().set("q", [1, 2, 3])
    ticks(tree, 1)
    again = Rig(A="S")
    other = again.tree(body)
    restore_tree(other, save_tree(tree))
    assert ticks(other, 3) == "RRS"
    assert other.root_blackboard().get("v") == 3
