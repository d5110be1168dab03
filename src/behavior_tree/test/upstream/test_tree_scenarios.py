# SPDX-License-Identifier: Apache-2.0
"""A small tree of all kinds of nodes, and its picture: the scenarios of gtest_tree.cpp."""

from functools import partial

import py_trees
import pytest

covers = partial(pytest.mark.upstream, "gtest_tree.cpp")

BODY = (
    '<Sequence name="root"><Fallback name="either"><Check name="left"/><Check name="right"/>'
    '</Fallback><Work name="walk"/></Sequence>'
)


@pytest.mark.parametrize(
    "failing",
    [
        pytest.param("left", marks=covers("BehaviorTreeTest.Condition1ToFalseCondition2True")),
        pytest.param("right", marks=covers("BehaviorTreeTest.Condition2ToFalseCondition1True")),
    ],
)
def test_either_condition_lets_it_walk(stage, failing):
    stage.plan(**{failing: "F"}).load(BODY)
    assert stage.tick() == "R"
    assert stage.shows(either="S", left="I", right="I", walk="R")


@covers("BehaviorTreeTest.PrintWithStream")
def test_picture_in_text_is_indented_by_depth(mended):
    mended.load(BODY)
    lines = py_trees.display.ascii_tree(mended.tree.root_node()).splitlines()
    drawn = [(len(line) - len(line.lstrip()), line.split()[-1]) for line in lines if line.strip()]
    assert [name for _, name in drawn] == ["root", "either", "left", "right", "walk"]
    depth = [indent for indent, _ in drawn]
    assert depth[0] < depth[1] < depth[2] == depth[3]
    assert depth[4] == depth[1]
