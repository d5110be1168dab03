# SPDX-License-Identifier: Apache-2.0
"""Ticking, halting, observing, failure reasons, time, and py_trees around a tree."""

# ruff: noqa: E501

import threading
import time

import py_trees
import pytest
from tree_kit import Clock, Rig, letter, watch, xml

from behavior_tree import (
    BehaviorTreeFactory,
    ControlNode,
    DecoratorNode,
    NodeExecutionError,
    NodeStatus,
    NodeType,
    StatefulActionNode,
    SyncActionNode,
)


def test_tick_once_goes_on_while_a_node_asks_for_it():
    rig = Rig(A="S")
    assert rig.tree('<Repeat num_cycles="5"><A/></Repeat>').tick_once() is NodeStatus.SUCCESS
    assert rig.calls["A"] == 5


def test_tick_while_running_sleeps_on_the_wall_clock():
    factory = BehaviorTreeFactory()
    tree = factory.create_tree_from_text(xml('<Sleep msec="30"/>'))
    start = time.monotonic()
    assert tree.tick_while_running(100_000) is NodeStatus.SUCCESS
    assert 0.03 <= time.monotonic() - start < 50.0


def test_tick_while_running_on_a_clock_that_another_thread_moves():
    rig = Rig()
    tree = rig.tree('<Sleep msec="100000"/>')
    mover = threading.Timer(0.05, lambda: setattr(rig.clock, "now", rig.clock.now + 200))
    mover.start()
    assert tree.tick_while_running() is NodeStatus.SUCCESS
    mover.join()


@pytest.mark.parametrize(
    "bad", ["<Bad/>", "<Sleep msec='9000' _onHalted='x := gone + 1'/>"], ids=["leaf", "script"]
)
@pytest.mark.parametrize("around", ["Parallel", "ParallelAll", "ReactiveFallback"])
def test_an_error_of_one_halted_node_leaves_no_other_running(bad, around):
    """What moves must stop, whatever goes wrong beside it; the error names its node."""
    halted = []
    factory = BehaviorTreeFactory()

    def runs(node):
        return NodeStatus.RUNNING

    def raises(node):
        raise ValueError("no answer")

    factory.register_simple_stateful_action("Bad", runs, runs, raises)
    factory.register_simple_stateful_action("Arm", runs, runs, lambda node: halted.append(node))
    body = f"<{around}><Parallel>{bad}<Arm/></Parallel><Arm/></{around}>"
    tree = factory.create_tree_from_text(xml(body))
    tree.tick_once()
    moving = [node for node in tree.nodes() if node.registration_id() == "Arm"]
    moving = [node for node in moving if node.status is NodeStatus.RUNNING]
    with pytest.raises(NodeExecutionError, match=r"Bad::\d|Sleep::\d"):
        tree.halt_tree()
    assert halted == moving
    assert all(node.status is NodeStatus.IDLE for node in tree.nodes())


def test_an_error_of_what_a_timeout_halts_leaves_nothing_running():
    halted = []
    clock = Clock()
    factory = BehaviorTreeFactory(clock)

    def runs(node):
        return NodeStatus.RUNNING

    def raises(node):
        raise ValueError("no answer")

    factory.register_simple_stateful_action("Bad", runs, runs, raises)
    factory.register_simple_stateful_action("Arm", runs, runs, lambda node: halted.append(node))
    body = "<Parallel><Timeout msec='100'><Bad/></Timeout><Arm/></Parallel>"
    tree = factory.create_tree_from_text(xml(body))
    tree.tick_once()
    clock.now += 1.0
    with pytest.raises(NodeExecutionError, match=r"Bad::\d"):
        tree.halt_tree()
    assert len(halted) == 1
    assert all(node.status is NodeStatus.IDLE for node in tree.nodes())


def test_halt_tree_from_another_thread_ends_tick_while_running():
    factory = BehaviorTreeFactory()
    tree = factory.create_tree_from_text(xml('<Sleep msec="100000"/>'))
    halter = threading.Timer(0.05, tree.halt_tree)
    halter.start()
    assert tree.tick_while_running(60_000) is NodeStatus.IDLE
    halter.join()


def test_sleep_is_ended_by_a_wake_up_and_by_time():
    tree = BehaviorTreeFactory().create_tree_from_text(xml("<AlwaysSuccess/>"))
    assert tree.sleep(5) is False
    waker = threading.Timer(0.02, tree.emit_wake_up)
    waker.start()
    assert tree.sleep(5000) is True
    waker.join()


def test_active_path_follows_the_running_leaf_into_subtrees():
    rig = Rig(A="RS", B="R")
    tree = rig.tree(
        '<Sequence><A name="reach"/><SubTree ID="T" name="put"/></Sequence>',
        '<BehaviorTree ID="T"><Inverter><B name="down"/></Inverter></BehaviorTree>',
    )
    assert tree.active_path() == ""
    tree.tick_once()
    assert tree.active_path() == "reach"
    tree.tick_once()
    assert tree.active_path() == "put/down"
    tree.halt_tree()
    assert tree.active_path() == ""


class Fail(SyncActionNode):
    def tick(self):
        self.set_failure_reason(f"{self.name} is broken")
        return NodeStatus.FAILURE


@pytest.mark.parametrize(
    ("body", "path", "words"),
    [
        ('<Fail name="gripper"/>', "gripper", "gripper is broken"),
        ('<Sequence><AlwaysSuccess/><Fail name="g"/></Sequence>', "g", "g is broken"),
        (
            '<Fallback name="f"><Fail name="a"/><Fail name="b"/></Fallback>',
            "f",
            "a: a is broken; b: b is broken",
        ),
        (
            '<Sequence><AsyncFallback name="f"><Fail name="a"/><AlwaysFailure name="b"/>'
            "</AsyncFallback></Sequence>",
            "f",
            "a: a is broken; b: AlwaysFailure returned FAILURE",
        ),
        (
            '<ReactiveFallback name="f"><Fail name="a"/><Fail name="b" _skipIf="true"/>'
            '<Sequence><Fail name="c"/></Sequence></ReactiveFallback>',
            "f",
            "a: a is broken; c: c is broken",
        ),
        (
            '<Fallback name="f"><Fail name="a" _skipIf="true"/><Fail name="b"/></Fallback>',
            "b",
            "b is broken",
        ),
        ('<Fallback name="f" _failureIf="true"><Fail name="a"/></Fallback>', "f", "_failureIf"),
        (
            '<ParallelAll name="p" max_failures="2"><Fail name="a"/><AlwaysSuccess/>'
            '<Fail name="b"/></ParallelAll>',
            "p",
            "a: a is broken; b: b is broken",
        ),
        (
            '<Parallel success_count="2"><AlwaysSuccess/><Fail name="a"/><Fail name="b"/></Parallel>',
            "a",
            "a is broken",
        ),
        (
            "<Sequence><Inverter><AlwaysSuccess/></Inverter></Sequence>",
            "Inverter::2",
            "inverted SUCCESS",
        ),
        ("<ForceFailure><AlwaysSuccess/></ForceFailure>", "ForceFailure::1", "had succeeded"),
        ('<ForceFailure><Fail name="g"/></ForceFailure>', "g", "g is broken"),
        ("<AlwaysFailure/>", "AlwaysFailure::1", "AlwaysFailure returned FAILURE"),
        ('<ScriptCondition name="full" code="1 &gt; 2"/>', "full", "condition is false: 1 > 2"),
        ('<AlwaysSuccess name="x" _failureIf="1 == 1"/>', "x", "_failureIf: 1 == 1"),
        (
            '<Precondition name="p" if="false"><AlwaysSuccess/></Precondition>',
            "p",
            "precondition is false",
        ),
        (
            '<RetryUntilSuccessful num_attempts="2"><Fail name="g"/></RetryUntilSuccessful>',
            "g",
            "broken",
        ),
        (
            '<ParallelAll><Fail name="a"/><Fallback><Fail name="b"/><AlwaysSuccess/></Fallback></ParallelAll>',
            "a",
            "a is broken",
        ),
        ('<SubTree ID="T" name="t"/>', "t/deep", "deep is broken"),
        ('<TryCatch><Fail name="a"/><Fail name="cleanup"/></TryCatch>', "a", "a is broken"),
    ],
)
def test_failure_reason_is_that_of_the_deepest_cause(body, path, words):
    factory = BehaviorTreeFactory()
    factory.register_node_type(Fail, "Fail")
    more = '<BehaviorTree ID="T"><Sequence><Fail name="deep"/></Sequence></BehaviorTree>'
    tree = factory.create_tree_from_text(xml(body, more))
    for record in (False, True):
        tree.record_ticks(record)
        assert tree.tick_while_running(0) is NodeStatus.FAILURE
        reason = tree.failure_reason()
        assert reason.path == path
        assert words in reason.text


def test_a_cause_from_an_earlier_run_is_not_reported_again():
    rig = Rig(A="FS", B="S")
    tree = rig.tree("<Inverter><Fallback><A/><B/></Fallback></Inverter>")
    for _ in range(2):
        assert tree.tick_once() is NodeStatus.FAILURE
        assert tree.failure_reason().path == "Inverter::1"


class GoesOn(ControlNode):
    """A control node of a user: fails if all children fail, and says so."""

    def tick(self):
        results = [child.execute_tick() for child in self.children]
        self.reset_children()
        if NodeStatus.SUCCESS in results:
            return NodeStatus.SUCCESS
        self.set_failure_reason("no way out")
        return NodeStatus.FAILURE


class Strict(DecoratorNode):
    """A decorator of a user: fails whatever the child says."""

    def tick(self):
        self.child.execute_tick()
        return NodeStatus.FAILURE


def test_reasons_travel_through_nodes_of_the_user():
    factory = BehaviorTreeFactory()
    for node_class in (Fail, GoesOn, Strict):
        factory.register_node_type(node_class, node_class.__name__)
    factory.register_simple_decorator("Pass", lambda status, node: status)
    tree = factory.create_tree_from_text(
        xml('<GoesOn name="g"><Pass><Strict><Fail name="a"/></Strict></Pass></GoesOn>')
    )
    assert tree.tick_once() is NodeStatus.FAILURE
    reason = tree.failure_reason()
    assert str(reason) == "g: no way out (a: a is broken)"
    assert [str(cause) for cause in reason.causes] == ["a: a is broken"]
    tree = factory.create_tree_from_text(xml('<Strict name="s"><AlwaysSuccess/></Strict>'))
    assert tree.tick_once() is NodeStatus.FAILURE
    assert str(tree.failure_reason()) == "s: Strict returned FAILURE"


class Moody(SyncActionNode):
    """Fails with a reason, fails without, succeeds."""

    turns = 0

    def tick(self):
        self.turns += 1
        if self.turns == 1:
            self.set_failure_reason("not in the mood")
        return NodeStatus.SUCCESS if self.turns == 3 else NodeStatus.FAILURE


@pytest.mark.parametrize("kind", ["class", "action", "condition"])
@pytest.mark.parametrize("record", [False, True])
def test_a_reason_is_forgotten_when_its_node_starts_again(kind, record):
    factory = BehaviorTreeFactory()
    if kind == "class":
        factory.register_node_type(Moody, "Moody")
    else:
        moody = Moody("m")

        def tick(node):
            moody.set_failure_reason("")
            status = moody.tick()
            if moody.failure_reason():
                node.set_failure_reason(moody.failure_reason())
            return status

        getattr(factory, f"register_simple_{kind}")("Moody", tick)
    tree = factory.create_tree_from_text(xml('<Sequence><Moody name="m"/></Sequence>'))
    tree.record_ticks(record)
    assert tree.tick_once() is NodeStatus.FAILURE
    assert str(tree.failure_reason()) == "m: not in the mood"
    assert tree.tick_once() is NodeStatus.FAILURE
    assert str(tree.failure_reason()) == "m: Moody returned FAILURE"
    assert tree.tick_once() is NodeStatus.SUCCESS
    assert tree.failure_reason() is None
    assert tree.node_by_path("m").failure_reason() == ""


def test_a_control_node_does_not_blame_a_child_that_failed_before():
    class Picky(ControlNode):
        turns = 0

        def tick(self):
            self.turns += 1
            status = self.children[0].execute_tick()
            self.reset_children()
            return status if self.turns == 1 else NodeStatus.FAILURE

    rig = Rig(A="FS")
    rig.factory.register_node_type(Picky, "Picky")
    tree = rig.tree('<Picky name="p"><A name="a"/></Picky>')
    assert [tree.tick_once() and tree.failure_reason().path for _ in range(2)] == ["a", "p"]


def test_many_reasons_are_all_kept_and_five_are_told():
    factory = BehaviorTreeFactory()
    factory.register_node_type(Fail, "Fail")
    leaves = "".join(f'<Fail name="n{number}"/>' for number in range(8))
    tree = factory.create_tree_from_text(xml(f'<Fallback name="f">{leaves}</Fallback>'))
    tree.tick_once()
    reason = tree.failure_reason()
    assert reason.text.endswith("n3: n3 is broken; and 3 more; n7: n7 is broken")
    assert [cause.path for cause in reason.causes] == [f"n{number}" for number in range(8)]


def test_no_reason_before_a_failure():
    assert Rig(A="S").tree("<Sequence><A/></Sequence>").failure_reason() is None


def test_subscribers_come_and_go():
    rig = Rig(A="S")
    tree = rig.tree("<Sequence><A/></Sequence>")
    first, second = [], []
    stop_first = tree.subscribe_status_change(lambda node, old, new: first.append(node.name()))
    stop_second = tree.subscribe_status_change(lambda node, old, new: second.append(new))
    tree.tick_once()
    stop_first()
    stop_first()
    tree.tick_once()
    stop_second()
    tree.tick_once()
    assert (len(first), len(second)) == (5, 10)
    assert tree.runtime.record is None


def test_record_of_ticked_nodes():
    rig = Rig(A="F", B="S", C="S")
    tree = rig.tree("<Fallback><A/><B/><C/></Fallback>")
    assert tree.ticked_nodes() == []
    tree.record_ticks()
    tree.tick_once()
    tree.tick_once()
    assert [node.name() for node in tree.ticked_nodes()] == ["Fallback", "A", "B"]
    tree.record_ticks(False)
    tree.tick_once()
    assert tree.ticked_nodes() == []


def test_accessors():
    rig = Rig(A="R")
    tree = rig.tree('<Sequence name="s"><A/></Sequence>')
    tree.tick_once()
    root = tree.root_node()
    assert (root.name(), root.full_path(), root.uid(), root.status()) == (
        "s",
        "s",
        1,
        NodeStatus.RUNNING,
    )
    assert (root.type(), root.registration_id(), root.is_halted()) == (
        NodeType.CONTROL,
        "Sequence",
        False,
    )
    assert tree.node_by_path("A::2").type() is NodeType.ACTION
    assert root.config().blackboard is tree.root_blackboard()
    with pytest.raises(KeyError):
        tree.node_by_path("nowhere")


def test_status_values():
    assert [int(s) for s in NodeStatus] == [0, 1, 2, 3, 4]
    assert NodeStatus.SUCCESS != 2
    assert NodeStatus.SUCCESS() is NodeStatus.SUCCESS
    assert NodeStatus.IDLE == py_trees.common.Status.INVALID
    assert py_trees.common.Status.FAILURE == NodeStatus.FAILURE
    assert {py_trees.common.Status.RUNNING: 1}[NodeStatus.RUNNING] == 1
    assert NodeStatus.SKIPPED not in list(py_trees.common.Status)


def test_a_node_is_a_py_trees_behaviour_and_can_be_drawn():
    rig = Rig(A="R")
    tree = rig.tree('<Sequence name="top"><Inverter><A name="leaf"/></Inverter></Sequence>')
    tree.tick_once()
    root = tree.root_node()
    assert isinstance(root, py_trees.behaviour.Behaviour)
    text = py_trees.display.unicode_tree(root, show_status=True)
    assert "top [*]" in text
    assert "leaf [*]" in text
    assert "leaf" in py_trees.display.dot_tree(root).to_string()
    assert root.tip() is tree.node_by_path("leaf")
    assert len({node.id for node in root.iterate()}) == 3


def test_py_trees_ticks_the_tree_and_visits_what_was_ticked():
    rig = Rig(A="S", B="RS", C="S")
    tree = rig.tree("<Sequence><A/><B/><C/></Sequence>")
    visitor = py_trees.visitors.SnapshotVisitor()
    outside = py_trees.trees.BehaviourTree(tree.root_node())
    outside.visitors.append(visitor)
    outside.tick()
    names = {node.name for node in tree.nodes() if node.id in visitor.visited}
    assert names == {"Sequence", "A", "B"}
    assert outside.root.status == py_trees.common.Status.RUNNING
    outside.tick()
    assert outside.root.status == py_trees.common.Status.SUCCESS


def test_our_tree_inside_a_py_trees_composite():
    rig = Rig(A="RS", B="R")
    inside = rig.tree("<Sequence><A/></Sequence>")
    other = rig.factory.create_tree_from_text(xml("<B/>"))
    root = py_trees.composites.Parallel(
        "both",
        py_trees.common.ParallelPolicy.SuccessOnOne(),
        [inside.root_node(), other.root_node()],
    )
    root.tick_once()
    assert root.status == py_trees.common.Status.RUNNING
    root.tick_once()
    assert root.status == py_trees.common.Status.SUCCESS
    assert rig.take_log() == "A B a b !B"


def test_hundred_thousand_ticks_do_not_grow():
    import tracemalloc

    rig = Rig()
    tree = rig.tree(
        '<Sequence><Script code="x := 1"/><Inverter><AlwaysFailure/></Inverter></Sequence>'
    )
    tree.tick_once()
    tracemalloc.start()
    for _ in range(2000):
        tree.tick_once()
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert size < 20_000


def test_the_deepest_tree_that_loads_can_be_ticked_and_halted():
    class Wait(StatefulActionNode):
        def on_start(self):
            return NodeStatus.RUNNING

        def on_running(self):
            return NodeStatus.RUNNING

    factory = BehaviorTreeFactory()
    factory.register_node_type(Wait, "Wait")
    more = "".join(
        f'<BehaviorTree ID="T{i}">{"<Inverter>" * 49}<SubTree ID="T{i + 1}"/>{"</Inverter>" * 49}</BehaviorTree>'
        for i in range(4)
    )
    more += f'<BehaviorTree ID="T4">{"<Inverter>" * 45}<Wait/>{"</Inverter>" * 45}</BehaviorTree>'
    tree = factory.create_tree_from_text(xml('<SubTree ID="T0"/>', more))
    watch(tree)
    assert letter(tree.tick_once()) == "R"
    tree.record_ticks()
    assert letter(tree.tick_once()) == "R"
    tree.halt_tree()
    assert tree.active_path() == ""
