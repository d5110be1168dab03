# SPDX-License-Identifier: Apache-2.0
"""Change of a tree between its ticks: what stays, what halts, undo, redo, refusals."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_kit import Rig, letter

from behavior_tree import InputPort, LoadError, LogicError, NodeStatus, write_tree_to_xml
from behavior_tree.editing import TreeEditor

RUNNING, SUCCESS, FAILURE = NodeStatus.RUNNING, NodeStatus.SUCCESS, NodeStatus.FAILURE


def names(tree):
    return " ".join(node.name() for node in tree.nodes())


def edited(body, more="", **leaves):
    rig = Rig(**leaves)
    tree = rig.tree(body, more)
    return rig, tree, TreeEditor(tree, rig.factory)


def test_insert_before_and_behind_a_running_child():
    rig, tree, editor = edited(
        '<Sequence name="s"><A name="a"/><B name="b"/></Sequence>', A="S", B="RRS", C="S", D="S"
    )
    assert tree.tick_once() is RUNNING
    new = editor.insert("s", 0, '<C name="c"/>')
    editor.insert("s", -1, '<D name="d"/>')
    assert names(tree) == "s c a b d"
    assert (new.uid(), tree.node_by_path("d").uid()) == (4, 5)
    assert tree.node_by_path("b").status is RUNNING
    rig.take_log()
    assert tree.tick_once() is RUNNING
    assert tree.tick_once() is SUCCESS
    assert rig.take_log() == "b b D"
    assert tree.tick_once() is SUCCESS
    assert rig.take_log() == "C A B D"


def test_remove_halts_the_running_branch_and_goes_on_with_the_next():
    rig, tree, editor = edited(
        '<Sequence name="s"><A name="a"/><Inverter name="i"><B name="b"/></Inverter><C name="c"/>'
        "</Sequence>",
        A="S",
        B="R",
        C="S",
    )
    tree.tick_once()
    editor.remove("i")
    assert rig.take_log() == "A B !B"
    assert tree.tick_once() is SUCCESS
    assert rig.take_log() == "C"
    assert editor.undo()
    assert names(tree) == "s a i b c"
    assert tree.tick_once() is RUNNING
    assert editor.redo()
    assert not editor.redo()
    assert names(tree) == "s a c"


def test_move_below_the_same_parent_keeps_running_elsewhere_halts():
    rig, tree, editor = edited(
        '<Sequence name="s"><A name="a"/><B name="b"/><Fallback name="f"><C name="c"/></Fallback>'
        "</Sequence>",
        A="S",
        B="R",
        C="S",
    )
    tree.tick_once()
    editor.move("b", "s", 0)
    assert names(tree) == "s b a f c"
    assert tree.node_by_path("b").status is RUNNING
    assert rig.take_log() == "A B"
    editor.move("b", "f", 1)
    assert names(tree) == "s a f c b"
    assert rig.take_log() == "!B"
    assert tree.node_by_path("b").parent is tree.node_by_path("f")
    assert tree.tick_once() is SUCCESS
    editor.undo()
    editor.undo()
    assert names(tree) == "s a b f c"
    assert tree.node_by_path("b").parent is tree.node_by_path("s")


def test_what_takes_the_place_of_a_subtree_stands_outside_of_it():
    more = '<BehaviorTree ID="Sub"><A name="a"/></BehaviorTree>'
    _, tree, editor = edited('<Sequence name="s"><SubTree ID="Sub"/></Sequence>', more, A="R")
    editor.replace("Sub::2", '<SubTree ID="Sub" name="again"/>')
    editor.replace("again", '<A name="b"/>')
    assert [node.full_path() for node in tree.nodes()] == ["s", "b"]


def test_replace_also_the_root():
    _, tree, editor = edited('<Sequence name="s"><A name="a"/></Sequence>', A="R", B="F", C="S")
    tree.tick_once()
    editor.replace("a", '<B name="b"/>')
    assert tree.tick_once() is FAILURE
    editor.replace("s", '<Fallback name="top"><B name="b"/><C name="c"/></Fallback>')
    assert names(tree) == "top b c"
    assert tree.tick_once() is SUCCESS
    assert tree.subtrees[0].nodes[0].name == "top"
    assert '<Fallback name="top"' in write_tree_to_xml(tree)
    assert editor.undo()
    assert names(tree) == "s b"
    assert tree.tick_once() is FAILURE


def test_parallel_remembers_which_children_are_done():
    rig, tree, editor = edited(
        '<Parallel name="p" success_count="-1"><A name="a"/><B name="b"/></Parallel>',
        A="S",
        B="RRS",
        C="S",
    )
    tree.tick_once()
    editor.insert("p", 0, '<C name="c"/>')
    assert tree.tick_once() is RUNNING
    assert tree.tick_once() is SUCCESS
    assert rig.take_log() == "A B C b b"


def test_set_port_rename_and_back():
    _, tree, editor = edited('<Sequence name="s"><Sleep name="z" msec="10"/></Sequence>')
    editor.set_port("z", "msec", "0")
    assert tree.tick_once() is SUCCESS
    editor.undo()
    assert tree.node_by_path("z").raw_port("msec") == "10"
    editor.rename("z", "nap")
    assert tree.node_by_path("nap").name == "nap"
    editor.undo()
    assert tree.node_by_path("z").uid() == 2
    editor.redo()
    with pytest.raises(LoadError, match="can not be converted"):
        editor.set_port("nap", "msec", "soon")
    with pytest.raises(LoadError, match="did you mean msec"):
        editor.set_port("nap", "mse", "1")


SUB = '<BehaviorTree ID="Sub"><Fallback name="inner"><B name="b"/></Fallback></BehaviorTree>'


def test_subtrees_are_inserted_edited_inside_and_renamed():
    rig, tree, editor = edited('<Sequence name="s"><A name="a"/></Sequence>', SUB, A="S", B="S")
    editor.insert("s", 1, '<SubTree ID="Sub" name="x" p="{q}"/>')
    assert [each.instance_name for each in tree.subtrees] == ["", "x"]
    assert tree.tick_once() is SUCCESS
    editor.insert("x/inner", 0, '<A name="in"/>')
    assert rig.take_log() == "A B"
    assert tree.tick_once() is SUCCESS
    assert rig.take_log() == "A A"
    editor.rename("x", "y")
    assert tree.node_by_path("y/in").name == "in"
    assert [each.instance_name for each in tree.subtrees] == ["", "y"]
    with pytest.raises(LoadError, match="another SubTree"):
        editor.move("a", "y/inner", 0)
    with pytest.raises(LoadError, match="Duplicate SubTree path"):
        editor.insert("s", 0, '<SubTree ID="Sub" name="y"/>')
    while editor.undo():
        pass
    assert names(tree) == "s a"
    assert len(tree.subtrees) == 1
    while editor.redo():
        pass
    assert names(tree) == "s a y inner in b"


def test_refused_changes_change_nothing():
    _, tree, editor = edited(
        '<Sequence name="s"><Inverter name="i"><A name="a"/></Inverter></Sequence>', A="R"
    )
    tree.tick_once()
    before, keys = write_tree_to_xml(tree), tree.root_blackboard().get_keys()
    with pytest.raises(LoadError, match="exactly 1 child"):
        editor.insert("i", 0, "<A/>")
    with pytest.raises(LoadError, match="exactly 1 child"):
        editor.remove("a")
    with pytest.raises(LoadError, match="not recognized: Aa"):
        editor.insert("s", 0, "<Aa/>")
    with pytest.raises(LoadError, match="<edit>:1:"):
        editor.insert("s", 0, "<Sequence><A></Sequence>")
    with pytest.raises(LoadError, match="Can't find a tree"):
        editor.insert("s", 0, '<SubTree ID="Nope"/>')
    with pytest.raises(LoadError, match="below itself"):
        editor.move("s", "i", 0)
    with pytest.raises(LoadError, match="root of its tree"):
        editor.remove("s")
    with pytest.raises(LoadError) as caught:
        editor.insert("s", 0, '<Sequence><Sleep/><Script code="a := "/></Sequence>')
    assert len(caught.value.problems) == 2
    with pytest.raises(LogicError, match="no node 'zz'"):
        editor.remove("zz")
    assert write_tree_to_xml(tree) == before
    assert tree.root_blackboard().get_keys() == keys
    assert not editor.undo()
    assert tree.tick_once() is RUNNING


def test_entries_made_for_a_refused_fragment_are_removed():
    rig, tree, editor = edited('<Sequence name="s"><A name="a"/></Sequence>', A="S")

    def nothing(node):
        return SUCCESS

    rig.factory.register_simple_action("TakesInt", nothing, [InputPort("v", int)])
    rig.factory.register_simple_action("TakesList", nothing, [InputPort("v", list)])
    with pytest.raises(LoadError, match="initially created"):
        editor.insert("s", 0, '<Sequence><TakesInt v="{k}"/><TakesList v="{k}"/></Sequence>')
    assert tree.root_blackboard().get_keys() == []


def test_watchers_and_records_follow():
    _, tree, editor = edited('<Sequence name="s"><A name="a"/></Sequence>', A="S", B="S")
    seen = []
    tree.subscribe_status_change(lambda node, old, new: seen.append(node.name() + letter(new)))
    tree.record_ticks()
    editor.insert("s", 0, '<B name="b"/>')
    tree.tick_once()
    assert "bS" in seen
    assert [node.name() for node in tree.ticked_nodes()] == ["s", "b", "a"]


def test_subscribers_are_told_what_changed(caplog):
    _, tree, editor = edited('<Sequence name="s"><A name="a"/></Sequence>', SUB, A="S", B="S")
    told = []

    def broken(change):
        raise ValueError("no")

    tree.subscribe_structure_change(broken)
    unsubscribe = tree.subscribe_structure_change(told.append)

    def last():
        change = told.pop()
        assert not told
        nodes = (change.added, change.removed, change.changed)
        text = " ".join(",".join(node.full_path() for node in group) or "-" for group in nodes)
        return f"{'un' if change.undone else ''}{change.kind} {text}"

    editor.insert("s", 0, '<SubTree ID="Sub" name="x"/>')
    assert last() == "insert x,x/inner,x/b - -"
    editor.move("a", "s", 0)
    assert last() == "move - - a"
    editor.rename("x", "y")
    assert last() == "rename - - y,y/inner,y/b"
    editor.replace("y/b", '<A name="n"/>')
    assert last() == "replace y/n y/b -"
    editor.undo()
    assert last() == "unreplace y/b y/n -"
    editor.insert("s", -1, '<Sleep name="z" msec="1"/>')
    assert last() == "insert z - -"
    editor.set_port("z", "msec", "2")
    assert last() == "set_port - - z"
    editor.remove("z")
    assert last() == "remove - z -"
    unsubscribe()
    editor.undo()
    assert not told
    assert "subscriber of structure changes failed" in caplog.text


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), st.integers(0, 9)), max_size=12))
def test_any_history_is_undone_and_redone(steps):
    rig = Rig(A="RS", B="F", C="RRS")
    tree = rig.tree('<Fallback name="f"><Sequence name="s"><A/><B/></Sequence><C/></Fallback>')
    editor = TreeEditor(tree, rig.factory)
    states = [write_tree_to_xml(tree)]
    for kind, first, second in steps:
        nodes = list(tree.nodes())
        one, other = nodes[first % len(nodes)], nodes[second % len(nodes)]
        try:
            if kind == 0:
                editor.insert(one, second, "<Sequence><A/><C/></Sequence>")
            elif kind == 1:
                editor.remove(one)
            elif kind == 2:
                editor.move(one, other, first)
            elif kind == 3:
                editor.replace(one, "<B/>")
            elif kind == 4:
                editor.rename(one, f"n{second}")
            else:
                tree.tick_once()
                continue
        except LoadError:
            assert write_tree_to_xml(tree) == states[-1]
        else:
            states.append(write_tree_to_xml(tree))
        uids = [node.uid() for node in tree.nodes()]
        assert len(set(uids)) == len(uids)
        for node in tree.nodes():
            for child in node.children:
                assert child.parent is node
    tree.tick_once()
    for state in reversed(states[:-1]):
        assert editor.undo()
        assert write_tree_to_xml(tree) == state
    tree.tick_once()
    for state in states[1:]:
        assert editor.redo()
        assert write_tree_to_xml(tree) == state
    tree.tick_once()


def test_a_port_is_refused_a_key_of_another_type():
    rig = Rig()
    rig.factory.register_simple_action("Takes", lambda n: SUCCESS, [InputPort("v", list[int])])
    tree = rig.tree('<Sequence><Sleep name="z" msec="1"/><Takes name="t" v="{items}"/></Sequence>')
    editor = TreeEditor(tree, rig.factory)
    with pytest.raises(LoadError, match=r"port \[items\] was initially created with type"):
        editor.set_port("z", "msec", "{items}")
    assert tree.node_by_path("z").raw_port("msec") == "1"
    assert not editor.undo()


def test_nothing_is_inserted_below_a_leaf():
    _, tree, editor = edited('<Sequence name="s"><A name="a"/></Sequence>', A="S")
    with pytest.raises(LoadError, match="must not have any child"):
        editor.insert("a", 0, "<A/>")
    with pytest.raises(LoadError, match="must not have any child"):
        editor.insert("a", 0, '<A wrong="1"/>')
    assert names(tree) == "s a"


def test_a_skipped_child_that_goes_does_not_count():
    _, tree, editor = edited(
        '<Sequence name="s"><A name="a" _skipIf="true"/><B name="b"/></Sequence>', B="RS", A="S"
    )
    assert tree.tick_once() is RUNNING
    editor.remove("a")
    assert tree.tick_once() is SUCCESS


def test_a_branch_is_not_moved_too_deep():
    deep = '<Inverter name="i">' * 250 + '<A name="a"/>' + "</Inverter>" * 250
    more = "".join(f'<Sequence name="q{n}">' for n in range(10)) + "<A/>" + "</Sequence>" * 10
    _, tree, editor = edited(f'<Sequence name="s">{deep}{more}</Sequence>', A="S")
    with pytest.raises(LoadError, match="nested deeper than 256"):
        editor.move(tree.root_node().children[0], "q9", 0)
    assert len(tree.root_node().children) == 2


def test_an_edit_for_which_no_numbers_are_left_says_so():
    _, tree, editor = edited('<Sequence name="s"><A/></Sequence>', A="S")
    editor._last_uid = 65534
    assert editor.insert("s", 0, "<A/>").uid() == 65535
    with pytest.raises(LoadError, match=r"all 65535 numbers .* load the tree anew"):
        editor.insert("s", 0, "<A/>")
    assert len(list(tree.nodes())) == 3
