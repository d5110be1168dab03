# SPDX-License-Identifier: Apache-2.0
"""Exits run whatever happens, in both modes, and errors in them are told."""

import logging

import pytest
from decider_kit import RUNNING, Leaf, Rig, Script, choice, leaf, ticked

from behavior_tree import NodeExecutionError
from behavior_tree.decider import force_unlock, holders, node

BOTH = pytest.mark.parametrize("compat", [None, "cortex"])


class Broken(Leaf):
    """Its exit looks into something that is gone."""

    def exit(self):
        super().exit()
        self.context.block.enable()


def network(compat):
    script = Script(A="B", B="C")
    script.block = None
    inner = choice("B", node(Broken, name="C"))
    tree = ticked(choice("A", node("Atomic", inner, name="B"), leaf("E")), script, compat=compat)
    script.take()
    return tree, script


@BOTH
def test_an_exit_that_raises_stops_no_other_exit_and_is_told(compat):  # D9
    tree, script = network(compat)
    with pytest.raises(NodeExecutionError, match=r"node 'C'.*'NoneType' object has no attribute"):
        tree.halt_tree()
    assert script.take() == "exit C, exit B, exit A"
    assert holders(tree) == []


@BOTH
def test_an_exit_that_raises_at_another_decision(compat):
    tree, script = network(compat)
    script.choices["A"] = "E"
    force_unlock(tree)
    with pytest.raises(NodeExecutionError, match=r"node 'C'.*'NoneType'"):
        tree.tick_exactly_once()
    assert script.take() == "decide A, exit C, exit B, exit A"
    assert holders(tree) == []
    tree.tick_exactly_once()
    assert script.take() == "enter A, decide A, enter E, decide E"


def test_the_first_error_counts_and_what_the_exits_raise_is_logged(caplog):
    tree, script = network(None)
    script.choices["B"] = "nobody"
    with (
        caplog.at_level(logging.ERROR, "behavior_tree"),
        pytest.raises(NodeExecutionError, match=r"there is no Case 'nobody'"),
    ):
        tree.tick_exactly_once()
    assert "exit C" in script.take()
    assert "is left because of an error; then: Exception in node 'C'" in caplog.text


def test_an_enter_that_raises_is_left_again():
    class Entering(Leaf):
        def enter(self):
            super().enter()
            raise ValueError("no block")

    script = Script(A="B")
    with pytest.raises(NodeExecutionError, match=r"no block"):
        ticked(choice("A", node(Entering, name="B")), script)
    assert script.take() == "enter A, decide A, enter B, exit B, exit A"


def test_a_leaf_that_breaks_and_then_cannot_be_left(caplog):
    class Both(Broken):
        def step(self):
            raise ValueError("the arm is stuck")

    script = Script(A="B")
    script.block = None
    with pytest.raises(NodeExecutionError, match=r"the arm is stuck"):
        ticked(choice("A", node(Both, name="B")), script)
    assert script.take() == "enter A, decide A, enter B, exit B, exit A"
    assert "'B' is left because of an error; then: 'NoneType'" in caplog.text


def test_a_leaf_that_halts_its_tree_is_left_when_its_tick_is_over():
    class Halting(Leaf):
        def step(self):
            tree.halt_tree()

    script = Script(A="E")
    tree = ticked(choice("A", node(Halting, name="B"), leaf("E")), script)
    script.choices["A"] = "B"
    script.take()
    assert tree.tick_exactly_once() is RUNNING
    assert script.take() == "decide A, exit E, enter B, exit A, exit B"
    script.choices["A"] = "E"
    tree.tick_exactly_once()
    assert script.take() == "enter A, decide A, enter E, decide E"


def test_a_script_at_the_exit_that_cannot_run_names_its_node():
    rig = Rig()
    tree = rig.tree(
        '<Decider name="d"><Case name="c" exit="x := y"><Do name="n"/></Case></Decider>'
    )
    tree.tick_exactly_once()
    with pytest.raises(NodeExecutionError, match=r"node 'c' \[Case\]"):
        tree.halt_tree()
    assert rig.take() == "+n n -n"
