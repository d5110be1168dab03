# SPDX-License-Identifier: Apache-2.0
"""Who wrote what when; access from other threads while the tree ticks."""

from __future__ import annotations

import threading
import time

import pytest
from tree_kit import Rig, xml

from behavior_tree import (
    Blackboard,
    BlackboardHistory,
    BlackboardWrite,
    InputPort,
    LogicError,
    NodeStatus,
    OutputPort,
    TreeEditor,
)
from behavior_tree.blackboard.blackboard import Entry

SUCCESS = NodeStatus.SUCCESS


def shown(writes: list[BlackboardWrite]) -> str:
    return " ".join(f"{write.writer}={write.value}" for write in writes)


BODY = """
<Sequence name="s" _onSuccess="a := 9">
  <Script name="one" code="a := 1"/>
  <SetBlackboard name="two" value="2" output_key="b"/>
  <AlwaysSuccess name="three" _post="a += 1"/>
  <SubTree ID="Sub" name="sub" x="{a}"/>
</Sequence>"""
SUB = '<BehaviorTree ID="Sub"><Script name="deep" code="x := x + 1; own := 5"/></BehaviorTree>'


def test_every_write_names_its_writer():
    tree = Rig().tree(BODY, SUB)
    board = tree.root_blackboard()
    with BlackboardHistory(tree) as history:
        board.set("a", 0)
        assert tree.tick_once() is SUCCESS
        assert shown(history.writes("a")) == "external=0 one=1 three=2 sub/deep=3 s=9"
        assert history.writes("x", tree.subtrees[1].blackboard) == history.writes("a")
        assert shown(history.writes("own", tree.subtrees[1].blackboard)) == "sub/deep=5"
        assert [write.writer for write in history.writes("b")][-1] == "two"
        assert history.writes("nothing") == []
        write = history.writes("a")[1]
        assert (write.seq, write.uid) == (2, tree.node_by_path("one").uid())
        assert 0 <= time.monotonic() - write.stamp < 60
        assert [key for key, _ in history.recent()] == ["a", "a", "b", "a", "a", "own", "a"]
    tree.tick_once()
    board.set("a", 4)
    assert len(history.writes("a")) == 5
    assert type(board.entry("a")) is Entry
    assert "halt_node" not in vars(tree.root_node())


def test_the_depth_limits_what_is_kept():
    tree = Rig().tree("<AlwaysSuccess/>")
    history = BlackboardHistory(tree, depth=2)
    for number in range(5):
        tree.root_blackboard().set("k", number)
    assert [write.value for write in history.writes("k")] == [3, 4]
    with pytest.raises(LogicError, match="keep at least one"):
        BlackboardHistory(tree, depth=0)


def test_values_are_those_of_the_time():
    tree = Rig().tree("<AlwaysSuccess/>")
    history = BlackboardHistory(tree)
    items = [1]
    tree.root_blackboard().set("k", items)
    items.append(2)
    assert history.writes("k")[0].value == [1]


def test_a_halted_node_is_the_writer_of_its_script():
    tree = Rig(A="R").tree('<A name="a" _onHalted="h := 1"/>')
    history = BlackboardHistory(tree)
    tree.tick_once()
    tree.halt_tree()
    assert shown(history.writes("h")) == "a=1"


def test_an_entry_that_is_removed_and_made_again():
    tree = Rig().tree(
        '<Sequence><UnsetBlackboard key="k"/><Script name="w" code="k := 2"/></Sequence>'
    )
    history = BlackboardHistory(tree)
    tree.root_blackboard().set("k", 1)
    tree.tick_once()
    assert shown(history.writes("k")) == "external=1 w=2"


def test_nodes_and_subtrees_that_an_edit_brings_are_followed():
    rig = Rig(A="S")
    tree = rig.tree('<Sequence name="s"><A/></Sequence>', SUB)
    history = BlackboardHistory(tree)
    editor = TreeEditor(tree, rig.factory)
    editor.insert("s", 0, '<SubTree ID="Sub" name="n" x="{a}"/>')
    tree.root_blackboard().set("a", 1)
    tree.tick_once()
    assert shown(history.writes("a")) == "external=1 n/deep=2"
    assert shown(history.writes("own", tree.subtrees[1].blackboard)) == "n/deep=5"


def test_a_blackboard_above_the_tree_is_recorded_by_one_only():
    above = Blackboard.create()
    rig = Rig()
    text = xml('<Script name="n" code="@g := 1"/>')
    trees = [rig.factory.create_tree_from_text(text, Blackboard.create(above)) for _ in range(2)]
    history = BlackboardHistory(trees[0])
    with pytest.raises(LogicError, match="close the other recorder"):
        BlackboardHistory(trees[1])
    trees[0].tick_once()
    trees[1].tick_once()
    assert shown(history.writes("g", above)) == "n=1 external=1"
    history.close()
    BlackboardHistory(trees[1]).close()


def test_a_thread_of_a_leaf_is_external():
    rig = Rig()

    def work(node):
        thread = threading.Thread(target=lambda: node.set_output("o", 1))
        thread.start()
        thread.join()
        node.set_output("o", 2)
        return SUCCESS

    rig.factory.register_simple_action("Work", work, [OutputPort("o", int)])
    tree = rig.tree('<Work name="w" o="{k}"/>')
    history = BlackboardHistory(tree)
    tree.tick_once()
    assert shown(history.writes("k")) == "external=1 w=2"


def test_debug_message():
    tree = Rig().tree(BODY, SUB)
    tree.root_blackboard().set("a", 1)
    assert "a (int, 1 writes): 1" in tree.root_blackboard().debug_message()
    assert tree.subtrees[1].blackboard.debug_message() == "x (int) -> a of the parent"
    assert Blackboard.create().debug_message() == "no entries"


@pytest.mark.parametrize("recorded", [False, True])
def test_other_threads_read_and_write_while_the_tree_ticks(recorded):
    rig = Rig()
    seen = []
    rig.factory.register_simple_action(
        "See", lambda node: seen.append(node.get_input("v")) or SUCCESS, [InputPort("v", int)]
    )
    tree = rig.tree(
        '<Sequence><Script code="n := n + 1; made := n"/><See v="{from_outside}"/>'
        '<UnsetBlackboard key="made"/></Sequence>'
    )
    board = tree.root_blackboard()
    board.set("n", 0.0)
    board.set("from_outside", 0)
    history = BlackboardHistory(tree) if recorded else None
    errors: list[Exception] = []
    stop = threading.Event()

    def outside(number: int) -> None:
        count = 0
        try:
            while not stop.is_set():
                count += 1
                board.set(f"t{number}_{count % 50}", count)
                board.set("from_outside", count)
                assert board.get("n") >= 0
                dict(board.items())
                board.debug_message()
                if history is not None:
                    history.recent()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=outside, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(100):
            assert tree.tick_once() is SUCCESS
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert errors == []
    assert board.get("n") == 100
    assert all(type(value) is int for value in seen)
