# SPDX-License-Identifier: Apache-2.0
"""What py_trees' tools see of a tree: results of the last tick, kinds, entries, their users."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import py_trees
import pytest
from py_trees.blackboard import Blackboard as PyTreesBlackboard
from py_trees.common import Status

from behavior_executor.monitoring.py_trees_mirror import BlackboardMirror, TreeMirror
from behavior_executor.running.tree_run import TreeRun
from behavior_tree import BehaviorTreeFactory

MAIN = """<root BTCPP_format="4" main_tree_to_execute="main">
  <BehaviorTree ID="main"><Sequence name="all">
    <Fallback name="either"><AlwaysFailure name="no"/><AlwaysSuccess name="yes"/></Fallback>
    <Script name="count" code="done := 3"/>
    <SubTree ID="Inner" name="inner" given="{done}"/>
    <Sleep name="wait" msec="{pause}"/>
  </Sequence></BehaviorTree>
  <BehaviorTree ID="Inner"><Inverter name="not"><Parallel name="both" failure_count="1">
    <Script name="own" code="mine := given + 1"/><AlwaysFailure name="never" _skipIf="mine == 0"/>
  </Parallel></Inverter></BehaviorTree>
</root>"""


@pytest.fixture
def run() -> Iterator[TreeRun]:
    tree = BehaviorTreeFactory().create_tree_from_text(MAIN)
    tree.root_blackboard().set("pause", 10)
    made = TreeRun(tree, tree_id="main")
    yield made
    made.close()


@pytest.fixture
def mirror(run: TreeRun) -> Iterator[TreeMirror]:
    made = TreeMirror(run.tree)
    yield made
    made.close()
    assert PyTreesBlackboard.clients == {}


@pytest.fixture
def entries() -> Iterator[BlackboardMirror]:
    made = BlackboardMirror()
    yield made
    made.clear()
    assert PyTreesBlackboard.storage == {}


def statuses(mirror: TreeMirror) -> dict[str, Status]:
    return {each.name: each.status for each in mirror.root.iterate()}


def to_the_end(run: TreeRun) -> None:
    while run.tick().name == "RUNNING":
        run.tree.sleep(20)


def test_results_of_the_last_tick_are_there_after_its_end(run: TreeRun, mirror: TreeMirror) -> None:
    assert mirror.root.tip() is mirror.root
    run.tick()
    names = [each.name for each in mirror.update(run)]
    assert names == [  # children first, as py_trees visits them
        *("no", "yes", "either", "count", "own", "never", "both", "not", "inner", "wait", "all")
    ]
    assert mirror.root.tip().name == "wait"
    before = statuses(mirror)
    assert before["all"] is before["wait"] is Status.RUNNING
    assert before["no"] is before["never"] is Status.FAILURE
    assert before["yes"] is before["not"] is Status.SUCCESS
    to_the_end(run)
    mirror.update(run)
    after = statuses(mirror)
    assert after["all"] is after["wait"] is Status.SUCCESS
    assert after["yes"] is Status.INVALID  # it was not ticked any more


def test_a_halt_makes_what_ran_invalid_and_the_tree_can_still_be_shown(
    run: TreeRun, mirror: TreeMirror
) -> None:
    run.tick()
    mirror.update(run)
    run.halt()
    run.tick()  # begins anew
    mirror.update(run)
    assert "wait" in py_trees.display.unicode_tree(mirror.root, show_status=True)


def test_kinds_are_py_trees_and_names_of_classes_ours(run: TreeRun, mirror: TreeMirror) -> None:
    found = {each.name: each for each in mirror.root.iterate()}
    for name, kind in (
        ("all", py_trees.composites.Sequence),
        ("either", py_trees.composites.Selector),
        ("both", py_trees.composites.Parallel),
        ("not", py_trees.decorators.Decorator),
        ("inner", py_trees.decorators.Decorator),
        ("wait", py_trees.behaviour.Behaviour),
    ):
        assert isinstance(found[name], kind)
    assert [type(found[name]).__name__ for name in ("inner", "wait")] == ["Inner", "Sleep"]
    assert found["no"].parent is found["either"]


def test_reasons_are_shown_where_py_trees_shows_a_message(run: TreeRun, mirror: TreeMirror) -> None:
    (wait,) = (node for node in run.tree.nodes() if node.name == "wait")
    wait.set_failure_reason("too late\x1b")
    mirror.update(run)
    found = {each.name: each.feedback_message for each in mirror.root.iterate()}
    assert found["wait"] == r"too late\x1b"


def test_entries_are_copied_and_taken_off_again(run: TreeRun, entries: BlackboardMirror) -> None:
    PyTreesBlackboard.storage["/mine"] = "somebody else's"
    board = run.tree.root_blackboard()
    board.set("mine", 1)
    board.set("thing", object())
    board.set("many", [1, 2])
    board.set("a.b", 5)
    run.tick()
    entries.update(run.tree)
    storage = PyTreesBlackboard.storage
    assert storage["/done"] == 3
    assert storage["/inner/mine"] == 4
    assert (storage["/pause"], storage["/many"], storage["/a_b"]) == (10, [1, 2], 5)
    assert storage.pop("/mine") == "somebody else's"
    assert storage["/thing"].startswith("<object object")
    pickle.dumps(storage)
    board.unset("many")
    board.set("done", 4)
    entries.update(run.tree)
    assert "/many" not in storage
    assert storage["/done"] == 4


def test_who_uses_an_entry_is_known(run: TreeRun, mirror: TreeMirror) -> None:
    found = {each.name: each for each in mirror.root.iterate()}
    (client,) = found["wait"].blackboards
    assert client.read == {"/pause"}
    assert PyTreesBlackboard.keys_filtered_by_clients({client.id()}) == {"/pause"}


def test_writes_are_told_while_somebody_follows_them(
    run: TreeRun, entries: BlackboardMirror
) -> None:
    PyTreesBlackboard.enable_activity_stream()
    try:
        run.tick()
        entries.update(run.tree)
        told = [(item.key, item.current_value) for item in PyTreesBlackboard.activity_stream.data]
    finally:
        PyTreesBlackboard.disable_activity_stream()
    assert ("/done", 3) in told
    assert ("/inner/mine", 4) in told
