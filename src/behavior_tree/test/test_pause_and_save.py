# SPDX-License-Identifier: Apache-2.0
"""Pause, resume, step; state saved and restored."""

from __future__ import annotations

import json
from collections import deque

import pytest
from tree_kit import Clock, Rig, xml

from behavior_tree import (
    BehaviorTreeError,
    BehaviorTreeFactory,
    Cause,
    CauseKind,
    NodeStatus,
    StatefulActionNode,
)
from behavior_tree.kernel.runner import TreeRunner
from behavior_tree.kernel.saving import restore_tree, save_tree

RUNNING, SUCCESS, IDLE = NodeStatus.RUNNING, NodeStatus.SUCCESS, NodeStatus.IDLE
FAILURE = NodeStatus.FAILURE


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


FAILING = {
    "a fallback on its way": '<Fallback name="f"><A name="a"/><B name="b"/></Fallback>',
    "all at once": '<Parallel name="p" success_count="1" failure_count="2"><A name="a"/>'
    '<B name="b"/></Parallel>',
    "again and again": '<RetryUntilSuccessful name="r" num_attempts="3"><Fallback name="f">'
    '<A name="a"/><B name="b"/></Fallback></RetryUntilSuccessful>',
}


@pytest.mark.parametrize("body", FAILING.values(), ids=FAILING)
def test_why_nodes_failed_is_saved(body):
    clock = Clock()
    factory = BehaviorTreeFactory(clock)
    calls = dict.fromkeys("AB", 0)

    def leaf(node):
        name = node.registration_id()
        calls[name] += 1
        if name == "B" and calls[name] % 3:
            return RUNNING
        kind = CauseKind.TIMED_OUT if name == "A" else CauseKind.REJECTED
        node.set_failure_reason(Cause(kind, f"{name} slipped {calls[name]}", remedy="hold it"))
        return FAILURE

    for name in "AB":
        factory.register_simple_stateful_action(name, leaf, leaf)

    def states(tree):
        """What is known of the failures between the ticks."""
        calls.update(A=0, B=0)
        for _ in range(30):
            status = tree.tick_exactly_once()
            explained = [node.explain_failure() for node in tree.nodes()]
            yield json.loads(json.dumps(save_tree(tree))), explained, tree.failure_reason()
            if status is FAILURE:
                break

    seen = list(states(factory.create_tree_from_text(xml(body))))
    assert seen[-1][2].causes, "it has failed, and says why"
    other = factory.create_tree_from_text(xml(body))
    for data, explained, reason in [*seen, *reversed(seen)]:
        restore_tree(other, data)
        assert [node.explain_failure() for node in other.nodes()] == explained
        assert other.failure_reason() == reason
        leaves = [] if reason is None else [each.cause.kind for each in reason.leaves()]
        assert set(leaves) <= {CauseKind.TIMED_OUT, CauseKind.REJECTED}


def test_what_was_saved_without_reasons_is_restored_without():
    rig = Rig(A="F")
    tree = rig.tree('<A name="a"/>')
    old = save_tree(tree)
    old.pop("last")
    tree.tick_exactly_once()
    assert tree.failure_reason() is not None
    restore_tree(tree, old)
    assert tree.failure_reason() is None
    assert tree.root_node().failure_reason() == ""
