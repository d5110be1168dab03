# SPDX-License-Identifier: Apache-2.0
"""Pause, resume, step; state saved and restored."""

from __future__ import annotations

import json
from collections import deque

import pytest
from tree_kit import Clock, Rig, xml

from behavior_tree import BehaviorTreeError, BehaviorTreeFactory, NodeStatus, StatefulActionNode
from behavior_tree.kernel.runner import TreeRunner
from behavior_tree.kernel.saving import restore_tree, save_tree

RUNNING, SUCCESS, IDLE = NodeStatus.RUNNING, NodeStatus.SUCCESS, NodeStatus.IDLE


class Counter(StatefulActionNode):
    """Runs five ticks, can be paused and restored."""

    log: list[str] = []

    def on_start(self):
        self.count = 0
        self.log.append("start")
        return RUNNING

    def on_running(self):
        self.count += 1
        return SUCCESS if self.count >= 5 else RUNNING

    def on_paused(self):
        self.log.append("paused")

    def on_resumed(self):
        self.log.append("resumed")

    def save_state(self):
        return {"count": self.count} if self.status is RUNNING else None

    def restore_state(self, state):
        self.count = state["count"]


@pytest.fixture
def counter():
    Counter.log = []
    clock = Clock()
    factory = BehaviorTreeFactory(clock)
    factory.register_node_type(Counter, "Counter")

    def make(body):
        return factory.create_tree_from_text(xml(body))

    make.clock = clock
    return make


def test_pause_holds_leaves_and_timers(counter):
    tree = counter('<Parallel success_count="2"><Counter/><Sleep msec="1000"/></Parallel>')
    runner = TreeRunner(tree)
    runner.tick()
    counter.clock.now += 0.4
    runner.pause()
    runner.pause()
    counter.clock.now += 50
    assert runner.tick() is RUNNING
    assert Counter.log == ["start", "paused"]
    runner.resume()
    runner.resume()
    assert Counter.log == ["start", "paused", "resumed"]
    counter.clock.now += 0.5
    assert [runner.tick() for _ in range(6)] == [RUNNING] * 6
    counter.clock.now += 0.2
    assert runner.tick() is SUCCESS


def test_steps_tick_exactly_once(counter):
    tree = counter("<Counter/>")
    runner = TreeRunner(tree)
    assert [runner.step() for _ in range(6)] == [RUNNING] * 5 + [SUCCESS]
    assert runner.paused
    runner.halt()
    assert not runner.paused
    assert tree.root_node().status is IDLE


BODY = (
    '<Sequence name="s"><Script code="x:=3; y:=\'a\'"/><Counter name="c"/>'
    '<Sleep name="z" msec="100"/></Sequence>'
)


def test_a_restored_leaf_goes_on(counter):
    first = counter(BODY)
    for _ in range(3):
        first.tick_exactly_once()
    data = json.loads(json.dumps(save_tree(first)))
    second = counter(BODY)
    second.root_blackboard().set("stray", 1)
    restore_tree(second, data)
    assert second.node_by_path("c").count == 2
    assert second.root_blackboard().get("x") == 3
    assert "stray" not in second.root_blackboard()
    assert second.active_path() == "c"
    assert [second.tick_exactly_once() for _ in range(3)] == [RUNNING] * 3
    assert second.active_path() == "z"
    assert Counter.log == ["start"]
    counter.clock.now += 0.06
    third = counter(BODY)
    restore_tree(third, json.loads(json.dumps(save_tree(second))))
    assert third.tick_exactly_once() is RUNNING
    counter.clock.now += 0.05
    assert third.tick_exactly_once() is SUCCESS


def test_a_leaf_that_cannot_restore_starts_anew():
    rig = Rig(A="S", B="RRS")
    body = '<Sequence name="s"><A/><B/></Sequence>'
    tree, other = rig.tree(body), None
    tree.tick_once()
    saved = save_tree(tree)
    other = rig.tree(body)
    restore_tree(other, saved)
    rig.take_log()
    other.tick_once()
    assert rig.take_log() == "B"


def test_a_loop_goes_on_with_its_queue():
    rig = Rig(A="R")
    body = '<LoopInt queue="1;2;3" value="{v}"><A/></LoopInt>'
    tree = rig.tree(body)
    tree.tick_once()
    saved = json.loads(json.dumps(save_tree(tree)))
    other = rig.tree(body)
    restore_tree(other, saved)
    other.tick_once()
    assert list(other.root_node()._queue) == [2, 3]
    assert other.root_blackboard().get("v") == 1


def test_values_and_mistakes():
    tree = Rig().tree("<AlwaysSuccess/>")
    board = tree.root_blackboard()
    values = {"d": deque([1]), "t": (1, "a"), "m": {"k": [1.5]}, "s": SUCCESS}
    for key, value in values.items():
        board.set(key, value)
    saved = json.loads(json.dumps(save_tree(tree)))
    again = Rig().tree("<AlwaysSuccess/>")
    restore_tree(again, saved)
    assert dict(again.root_blackboard().items()) == values
    board.set("o", 1j)
    with pytest.raises(BehaviorTreeError, match=r"entry \[o\] \(complex\)"):
        save_tree(tree)
    restore_tree(again, save_tree(tree, encode=str), decode=complex)
    assert again.root_blackboard().get("o") == 1j
    with pytest.raises(BehaviorTreeError, match="another tree"):
        restore_tree(Rig().tree("<AlwaysFailure/>"), saved)
    with pytest.raises(BehaviorTreeError, match="not a saved tree"):
        restore_tree(again, {})
