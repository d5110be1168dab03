# SPDX-License-Identifier: Apache-2.0
"""Edits from inside a tick are refused, those of other threads wait for its end."""

from __future__ import annotations

import threading

import py_trees
import pytest
from tree_kit import Rig

from behavior_tree import LogicError, NodeExecutionError, NodeStatus, StatefulActionNode
from behavior_tree.editing import TreeEditor
from behavior_tree.kernel import runtime

BODY = '<Sequence name="s"><A name="a"/><Edit name="e"/><B name="b"/></Sequence>'
EDITS = {
    "insert": lambda editor: editor.insert("s", 0, "<A/>"),
    "remove": lambda editor: editor.remove("a"),
    "move": lambda editor: editor.move("b", "s", 0),
    "replace": lambda editor: editor.replace("b", "<A/>"),
    "rename": lambda editor: editor.rename("b", "c"),
    "undo": lambda editor: editor.undo(),
    "redo": lambda editor: editor.redo(),
}


def edited(edit, **leaves):
    """Tree whose leaf ``e`` calls ``edit(editor)``."""
    rig = Rig(**leaves)
    editors = []

    class Edit(StatefulActionNode):
        def on_start(self):
            edit(editors[0])
            return NodeStatus.SUCCESS

    rig.factory.register_node_type(Edit, "Edit")
    tree = rig.tree(BODY)
    editors.append(TreeEditor(tree, rig.factory))
    return rig, tree, editors[0]


def names(tree):
    return " ".join(node.name() for node in tree.nodes())


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_from_inside_a_tick_is_refused(edit):
    rig, tree, editor = edited(EDITS[edit], A="S", B="S")
    with pytest.raises(NodeExecutionError, match="cannot be edited from inside its tick"):
        tree.tick_once()
    assert names(tree) == "s a e b"
    assert rig.take_log() == "A"
    editor.remove("e")
    tree.halt_tree()
    assert tree.tick_once() is NodeStatus.SUCCESS
    assert rig.take_log() == "A B"


def test_so_it_is_when_py_trees_ticks_the_tree():
    _, tree, _ = edited(EDITS["remove"], A="S", B="S")
    with pytest.raises(NodeExecutionError, match="cannot be edited from inside its tick"):
        py_trees.trees.BehaviourTree(tree.root_node()).tick()


def test_an_edit_of_another_thread_waits_for_the_end_of_the_tick():
    inside, seen = threading.Event(), []

    def meet(editor):
        thread = threading.Thread(target=lambda: (editor.remove("b"), seen.append(names(tree))))
        threads.append(thread)
        thread.start()
        inside.wait(0.05)  # nothing comes: the edit waits; if it did not, the tree would be shorter
        seen.append(names(tree))

    threads = []
    rig, tree, _ = edited(meet, A="S", B="S")
    assert tree.tick_once() is NodeStatus.SUCCESS
    threads[0].join(30)
    assert not threads[0].is_alive()
    assert seen == ["s a e b", "s a e"]
    assert rig.take_log() == "A B"


def test_an_edit_gives_up_when_a_tick_does_not_end(monkeypatch):
    monkeypatch.setattr(runtime, "_PATIENCE", 0.01)
    refused = []

    def wait_for_an_edit(editor):
        def remove():
            with pytest.raises(LogicError, match=r"a tick that has not ended for 0\.01 s"):
                editor.remove("b")
            refused.append(True)

        thread = threading.Thread(target=remove)
        thread.start()
        thread.join(30)

    _, tree, _ = edited(wait_for_an_edit, A="S", B="S")
    assert tree.tick_once() is NodeStatus.SUCCESS
    assert refused == [True]
    assert names(tree) == "s a e b"


def test_ticks_and_edits_of_two_threads_do_not_meet():
    rig = Rig(A="S", B="S")
    tree = rig.tree('<Sequence name="s"><A name="a"/></Sequence>')
    editor = TreeEditor(tree, rig.factory)
    end, errors = threading.Event(), []

    def edit():
        try:
            for _ in range(200):
                editor.insert("s", 0, '<B name="b"/>')
                editor.remove("b")
        except Exception as error:
            errors.append(error)
        finally:
            end.set()

    thread = threading.Thread(target=edit)
    thread.start()
    while not end.is_set():
        rig.log.clear()
        assert tree.tick_once() is NodeStatus.SUCCESS
        assert rig.take_log() in ("A", "B A"), "each leaf once"
    thread.join(30)
    assert errors == []


def test_a_subscriber_may_edit_further():
    rig = Rig(A="S", B="S")
    tree = rig.tree('<Sequence name="s"><A name="a"/></Sequence>')
    editor = TreeEditor(tree, rig.factory)
    tree.subscribe_structure_change(
        lambda change: editor.rename("x", "y") if change.kind == "insert" else None
    )
    editor.insert("s", 1, '<B name="x"/>')
    assert names(tree) == "s a y"
    assert tree.tick_once() is NodeStatus.SUCCESS
