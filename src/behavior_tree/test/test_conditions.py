# SPDX-License-Identifier: Apache-2.0
"""Pre- and post-conditions of nodes."""

import pytest
from tree_kit import Rig, letter, watch

from behavior_tree import LoadError, NodeExecutionError, NodeStatus


def tick(rig, tree, **entries):
    for key, value in entries.items():
        tree.root_blackboard().set(key, value)
    return letter(tree.tick_exactly_once()), rig.take_log()


@pytest.mark.parametrize(
    ("attributes", "result", "called"),
    [
        ('_failureIf="x == 1"', "F", ""),
        ('_successIf="x == 1"', "S", ""),
        ('_skipIf="x == 1"', "K", ""),
        ('_while="x != 1"', "K", ""),
        ('_failureIf="x == 2" _successIf="x == 2" _skipIf="x == 2" _while="x == 1"', "S", "A"),
        ('_failureIf="x == 1" _successIf="x == 1"', "F", ""),
        ('_successIf="x == 1" _skipIf="x == 1"', "S", ""),
        ('_skipIf="x == 1" _while="x == 1"', "K", ""),
    ],
)
def test_before_a_node_starts(attributes, result, called):
    rig = Rig(A="S")
    assert tick(rig, rig.tree(f"<A {attributes}/>"), x=1) == (result, called)


def test_scripts_before_the_decisive_one_have_run():
    rig = Rig(A="S")
    tree = rig.tree('<A _failureIf="n += 1; false" _successIf="true" _skipIf="n += 1; true"/>')
    tick(rig, tree, n=0)
    assert tree.root_blackboard().get("n") == 1


def test_only_while_is_looked_at_while_running():
    rig = Rig(A="R")
    tree = rig.tree('<A _skipIf="x == 2" _while="x &lt; 3" _onHalted="halted := 1"/>')
    assert tick(rig, tree, x=1) == ("R", "A")
    assert tick(rig, tree, x=2) == ("R", "a")
    assert tick(rig, tree, x=3) == ("K", "!A")
    assert tree.root_blackboard().get("halted") == 1


@pytest.mark.parametrize(("letters", "result"), [("S", {"s": 1, "p": 1}), ("F", {"f": 1, "p": 1})])
def test_after_a_node(letters, result):
    rig = Rig(A=letters)
    tree = rig.tree('<A _onSuccess="s := 1" _onFailure="f := 1" _post="p := 1"/>')
    tick(rig, tree)
    assert dict(tree.root_blackboard().items()) == result


@pytest.mark.parametrize("letters", ["R", "K"])
def test_nothing_runs_after_running_or_skipped(letters):
    rig = Rig(A=letters)
    tree = rig.tree('<A _onSuccess="s := 1" _onFailure="f := 1" _post="p := 1"/>')
    tick(rig, tree)
    assert dict(tree.root_blackboard().items()) == {}


def test_after_runs_for_a_status_that_a_condition_imposed():
    rig = Rig(A="R")
    tree = rig.tree('<A _successIf="true" _onSuccess="s := 1"/>')
    tick(rig, tree)
    assert tree.root_blackboard().get("s") == 1


def test_conditions_on_a_subtree_see_the_parents_blackboard():
    rig = Rig(A="S")
    tree = rig.tree(
        '<SubTree ID="T" _skipIf="x == 1" _onSuccess="done := 1"/>',
        '<BehaviorTree ID="T"><A/></BehaviorTree>',
    )
    assert tick(rig, tree, x=1) == ("K", "")
    assert tick(rig, tree, x=2) == ("S", "A")
    assert tree.root_blackboard().get("done") == 1


def test_conditions_on_controls():
    rig = Rig(A="R", B="S")
    tree = rig.tree('<Fallback><Sequence _while="x == 1"><A/></Sequence><B/></Fallback>')
    assert tick(rig, tree, x=1) == ("R", "A")
    assert tick(rig, tree, x=2) == ("S", "!A B")


def test_a_condition_error_names_the_node():
    rig = Rig(A="S")
    with pytest.raises(NodeExecutionError, match=r"'left' \[A\].*\n?.*Variable not found: nobody"):
        rig.tree('<A name="left" _skipIf="nobody"/>').tick_once()


@pytest.mark.parametrize("text", ["", "1 +", "x =="])
def test_bad_scripts_are_found_at_load(text):
    with pytest.raises(LoadError, match="_skipIf"):
        Rig(A="S").tree(f'<A _skipIf="{text}"/>')


def test_a_misspelt_condition_is_found_at_load():
    with pytest.raises(LoadError, match="write _skipIf"):
        Rig(A="S").tree('<A _skipif="true"/>')


def test_other_underscore_attributes_are_kept_for_editors():
    rig = Rig(A="S")
    tree = rig.tree('<A _uid="3" _color="red"/>')
    assert tree.root_node().config().other_attributes == {"_uid": "3", "_color": "red"}


def test_hooks_replace_and_override():
    rig = Rig(A="S")
    tree = rig.tree("<A/>")
    node = tree.root_node()
    node.set_pre_tick(lambda node: NodeStatus.FAILURE)
    assert tick(rig, tree) == ("F", "")
    node.set_pre_tick(lambda node: NodeStatus.SKIPPED)
    assert tick(rig, tree) == ("S", "A")
    node.set_pre_tick(None)
    node.set_post_tick(lambda node, status: NodeStatus.FAILURE)
    assert tick(rig, tree) == ("F", "A")
    node.set_post_tick(None)
    assert tick(rig, tree) == ("S", "A")


# Quirk A in both settings: a control that starts and is skipped in the same tick.
SKIPPED = '<Sequence><Sequence name="inner" _onHalted="halted := 1"><A/></Sequence><B/></Sequence>'


@pytest.mark.parametrize(("compat", "halted"), [(None, False), ("4.8", True)])
def test_skipped_control(compat, halted):
    rig = Rig(compat, A="K", B="S")
    tree = rig.tree(SKIPPED)
    log = watch(tree)
    assert tick(rig, tree) == ("S", "A B")
    assert ("halted" in tree.root_blackboard()) is halted
    assert log.index("inner R>I") < log.index("B I>S") or halted


@pytest.mark.parametrize(("compat", "count"), [(None, 1), ("4.8", 2)])
def test_on_halted_of_halt_tree(compat, count):
    rig = Rig(compat, A="R", B="S")
    tree = rig.tree('<Sequence><A _onHalted="n += 1"/><B _onHalted="m += 1"/></Sequence>')
    tick(rig, tree, n=0, m=0)
    tree.halt_tree()
    assert tree.root_blackboard().get("n") == count
    assert tree.root_blackboard().get("m") == count - 1
