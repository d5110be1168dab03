# SPDX-License-Identifier: Apache-2.0
"""A tree that runs on its own record decides the same; a changed one parts where it must."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest
from conformance_trees import Generator
from tree_kit import LETTER, Clock, xml

from behavior_tree import (
    BehaviorTreeError,
    BehaviorTreeFactory,
    ControlNode,
    DecoratorNode,
    LoadError,
    NodeStatus,
    OutputPort,
    StatefulActionNode,
    write_tree_to_xml,
)
from behavior_tree.authoring import register_authoring_nodes
from behavior_tree.decider import register_decider_nodes
from behavior_tree.monitoring.loggers.document import tree_document
from behavior_tree.monitoring.uid_document import uid_document
from behavior_tree.rerun import UNKNOWN, Capture, RecordedRun, RecordedTree, rerun

STEP_S = 0.03


class Script:
    """Results of leaves by name; the last letter of one repeats."""

    def __init__(self, results):
        self.results, self.calls = results, Counter()

    def __call__(self, node):
        name = str(node.name)
        results = self.results.get(name, ["SUCCESS"])
        result = results[self.calls[name] % len(results)]
        self.calls[name] += 1
        if result not in ("RUNNING", "SUCCESS", "FAILURE"):
            result = "FAILURE"  # a leaf that skips itself leaves too little behind
        return NodeStatus[result]


def random_run(seed):
    """Record of a random tree, and the factory that its decorators need; None: it cannot be
    built, or raises.
    """
    case = Generator(seed).case()
    clock, script = Clock(), Script(case.results)
    factory = BehaviorTreeFactory(clock)
    factory.register_simple_decorator("Deco", lambda status, node: status)
    decorators = factory.fork()
    factory.register_simple_action("Act", script)
    factory.register_simple_condition("Cond", script)
    factory.register_simple_stateful_action("State", script, script)
    try:
        tree = factory.create_tree_from_text(case.xml)
    except LoadError:
        return None
    ticks = []
    with Capture(tree, writes=True) as capture:
        for what, argument in case.steps:
            try:
                if what == "write":
                    method, key, value = argument
                    if method.startswith("set"):
                        getattr(tree.root_blackboard(), method)(key, value)
                elif "halt" in what:
                    tree.halt_tree()
                    ticks.append(capture.take(clock.now))
                else:
                    clock.now += STEP_S if len(ticks) % 3 else 0.0  # a simulation's may stand
                    tree.tick_exactly_once()
                    ticks.append(capture.take(clock.now))
            except (BehaviorTreeError, KeyError):
                break
    xml_text = write_tree_to_xml(tree, tree.manifests.values())
    return (RecordedRun(xml_text, tuple(ticks)), decorators) if ticks else None


class Work(StatefulActionNode):
    """Takes as many ticks as its script has letters, and writes what it has done."""

    def __init__(self, name, config, world):
        super().__init__(name, config)
        self._world = world

    @classmethod
    def provided_ports(cls):
        return {"done": OutputPort("done", int)}

    def on_start(self):
        return self.on_running()

    def on_running(self):
        result = self._world(self)
        self.set_output("done", self._world.calls[str(self.name)])
        if result is NodeStatus.FAILURE:
            self.set_failure_reason(f"{self.name} slipped")
        return result


class Moody(DecoratorNode):
    """Ticks its child every other time."""

    turn = 0

    def tick(self):
        self.turn += 1
        return self._tick_child() if self.turn % 2 else NodeStatus.FAILURE


class Alternating(ControlNode):
    """Ticks its children by turns."""

    turn = 0

    def tick(self):
        self.turn += 1
        return self.tick_child(self.turn % 2)


def recorded(body, ticks=8, step=STEP_S, writers=True, **letters):
    """Record of a tree whose leaves follow letters."""
    clock = Clock()
    results = {name: [LETTER[each] for each in text] for name, text in letters.items()}
    script = Script(results)
    factory = BehaviorTreeFactory(clock)
    factory.register_node_type(Work, "Work", script)
    factory.register_simple_condition("Ask", script)
    register_authoring_nodes(factory)
    register_decider_nodes(factory)
    tree = factory.create_tree_from_text(xml(body))
    found = []
    with Capture(tree, writes=True) as capture:
        for _ in range(ticks):
            clock.now += step
            status = tree.tick_exactly_once()
            found.append(capture.take(clock.now))
            if status.completed:
                break
    if not writers:
        found = [without_writers(tick) for tick in found]
    return RecordedRun(write_tree_to_xml(tree, tree.manifests.values()), tuple(found), "run.mcap")


def without_writers(tick):
    return replace(tick, writes=tuple(replace(each, uid=UNKNOWN, place=0) for each in tick.writes))


JOB = (
    "<RetryUntilSuccessful num_attempts='3'><Sequence><Ask name='seen'/>"
    "<Work name='pick' done='{n}' _onSuccess='picked := n * 2'/>"
    "<ScriptCondition code='picked &gt; 2'/><Work name='place'/></Sequence></RetryUntilSuccessful>"
)


@pytest.mark.parametrize("writers", [True, False])
def test_outputs_reasons_and_scripts_come_out_the_same(writers):
    run = recorded(JOB, writers=writers, seen="S", pick="RRFRS", place="RS")
    done = rerun(run)
    assert done.identical, (done.parting, done.unanswered)
    assert done.compared == len(run.ticks) == 5
    assert done.ended is NodeStatus.SUCCESS
    assert done.new_nodes == []


@pytest.mark.parametrize(
    "body",
    [
        "<ConcurrentSequence><Work name='a'/><Checkpoint name='here'/><Work name='b'/>"
        "<Goto to='here' _skipIf='again' _onHalted='again := true'/><Work name='c'/>"
        "</ConcurrentSequence>",
        "<ConcurrentSequence><Step name='r' execute_after='gosub'><Work name='a'/></Step>"
        "<Gosub to='r'/><Work name='b'/><Gosub to='r'/></ConcurrentSequence>",
        "<StateMachine><State name='a' next='b'><Work name='a'/><Transition to='b' if='n == 1'/>"
        "</State><State name='b'><Work name='b'/></State></StateMachine>",
    ],
)
def test_leaves_of_the_engine_are_at_work_in_lists_and_networks(body):
    start = "<Script code='again := false; n := 0'/>"
    run = recorded(f"<Sequence>{start}{body}</Sequence>", a="RS", b="RRS", c="S")
    done = rerun(run)
    assert done.identical, (done.parting, done.unanswered)
    assert done.compared == len(run.ticks)
    assert done.ended is NodeStatus.SUCCESS


def test_a_leaf_that_gives_its_result_again_until_it_is_reset_does_so():
    """The last of the ticks in which it does is that in which its parent ends."""
    branches = "<WhileDoElse><Work name='if'/><Work name='then'/></WhileDoElse>"
    run = recorded(f"<Repeat num_cycles='2'>{branches}</Repeat>", **{"if": "RS", "then": "RRS"})
    done = rerun(run)
    assert done.identical, (done.parting, done.unanswered)
    assert done.ended is NodeStatus.SUCCESS


def test_why_it_failed_comes_out_the_same():
    done = rerun(recorded(JOB, seen="S", pick="F"))
    assert done.identical
    assert done.reason == "pick: pick slipped"


def test_timeouts_fall_where_they_fell():
    body = "<Timeout msec='100'><Delay delay_msec='50'><Work name='go'/></Delay></Timeout>"
    run = recorded(body, go="R")
    done = rerun(run)
    assert done.identical
    assert done.ended is NodeStatus.FAILURE


def test_decorators_and_controls_whose_program_is_elsewhere_do_what_they_did():
    clock = Clock()
    script = Script({"a": ["RUNNING", "SUCCESS", "FAILURE"], "b": ["SUCCESS", "RUNNING"]})
    factory = BehaviorTreeFactory(clock)
    factory.register_node_type(Work, "Work", script)
    factory.register_node_type(Moody, "Moody")
    factory.register_node_type(Alternating, "Alternating")
    tree = factory.create_tree_from_text(
        xml(
            "<Fallback><Moody><Work name='a'/></Moody><Alternating><Work name='b'/>"
            "<Work name='c'/></Alternating></Fallback>"
        )
    )
    ticks = []
    with Capture(tree) as capture:
        for _ in range(12):
            clock.now += STEP_S
            tree.tick_exactly_once()
            ticks.append(capture.take(clock.now))
    run = RecordedRun(write_tree_to_xml(tree, tree.manifests.values()), tuple(ticks))
    assert len({ticked for tick in ticks for ticked in tick.ticked}) == 6
    done = rerun(run)
    assert done.identical, (done.parting, done.unanswered)
    assert done.compared == 12


def test_a_changed_tree_parts_where_it_decides_otherwise():
    run = recorded(JOB, seen="S", pick="RRFRS", place="RS")
    done = rerun(run, changed=xml(JOB.replace("num_attempts='3'", "num_attempts='1'")))
    assert done.compared == 2
    assert done.parting.tick == 3
    assert done.parting.path == "RetryUntilSuccessful::1"
    assert done.parting.recorded == "ticked, as before"
    assert done.parting.now == "FAILURE"
    assert str(done.parting).startswith("tick 3, 100.090 s: RetryUntilSuccessful::1: recorded")
    assert done.ended is NodeStatus.FAILURE
    assert done.unanswered == []


def test_a_changed_script_is_asked_anew():
    run = recorded(JOB, seen="S", pick="RS", place="S")
    assert rerun(run).ended is NodeStatus.SUCCESS
    done = rerun(run, changed=xml(JOB.replace("picked &gt; 2", "picked &gt; 9")))
    assert done.parting.path.startswith("ScriptCondition")
    assert (done.parting.recorded, done.parting.now) == ("SUCCESS", "FAILURE")


def test_what_the_record_does_not_tell_is_said():
    run = recorded("<Sequence><Work name='pick'/></Sequence>", pick="RF")
    twice = "<RetryUntilSuccessful num_attempts='2'><Work name='pick'/></RetryUntilSuccessful>"
    done = rerun(run, changed=xml(f"<Fallback>{twice}<Work name='call'/></Fallback>"))
    assert [str(each) for each in done.unanswered] == [
        "100.060 s: pick starts for the 2. time; the record has 1 run of it"
    ]
    assert done.ended is NodeStatus.RUNNING
    assert done.active_path == "pick"
    assert "call" in done.new_nodes
    other = rerun(run, changed=xml("<Fallback><Work name='pick'/><Work name='call'/></Fallback>"))
    assert "call is asked; the record knows no such node" in str(other.unanswered[0])


def test_an_action_that_was_halted_has_no_end():
    body = "<ReactiveSequence><Ask name='seen'/><Work name='pick'/></ReactiveSequence>"
    run = recorded(body, seen="SSF", pick="R")
    assert rerun(run).identical
    done = rerun(run, changed=xml("<Sequence><Ask name='seen'/><Work name='pick'/></Sequence>"))
    assert done.parting.path == "seen"
    assert "goes on; in the record it was halted after 0.060 s" not in str(done.unanswered)
    late = rerun(
        replace(run, ticks=(*run.ticks, replace(run.ticks[0], time=101.0, changes=()))),
        changed=xml("<Sequence><Ask name='seen'/><Work name='pick'/></Sequence>"),
    )
    assert "pick goes on; in the record it was halted after 0.060 s" in str(late.unanswered[0])


def test_a_condition_answers_as_it_last_did():
    body = "<Fallback><Ask name='seen'/><Work name='look'/></Fallback>"
    run = recorded(body, seen="F", look="RRRS")
    changed = "<ReactiveFallback><Ask name='seen'/><Work name='look'/></ReactiveFallback>"
    done = rerun(run, changed=xml(changed))
    assert done.ended is NodeStatus.SUCCESS
    assert not done.unanswered


def test_a_node_that_raises_ends_it():
    run = recorded("<Sequence><Ask name='seen'/></Sequence>", seen="S")
    done = rerun(run, changed=xml("<Sequence><ScriptCondition code='nothing &gt; 1'/></Sequence>"))
    assert "nothing" in done.reason
    assert done.parting is not None


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("<root BTCPP_format='4'/>", "run.mcap: the recording contains no tree: record it again"),
        ("<root", "run.mcap"),
        (xml("<AlwaysSuccess/>"), "has no number (_uid)"),
        (xml("<Sequence _uid='1'><AlwaysSuccess _uid='1'/></Sequence>"), "have the uid 1"),
        (xml("<SubTree ID='Main' _fullpath='' _uid='1'/>"), "contains itself"),
    ],
)
def test_what_is_no_tree_is_refused(document, words):
    with pytest.raises(BehaviorTreeError, match=re.escape(words)):
        rerun(RecordedRun(document, (), "run.mcap"))


def test_trees_used_twice_are_told_apart():
    body = (
        "<Sequence><SubTree ID='Sub'/><SubTree ID='Sub' name='again' a='{b}'/>"
        "<SubTree ID='Sub' name='Sub'/></Sequence>"
    )
    inner = "<Sequence><Script code='a := 1'/><AlwaysSuccess/></Sequence>"
    more = f"<BehaviorTree ID='Sub'>{inner}</BehaviorTree>"
    tree = BehaviorTreeFactory().create_tree_from_text(xml(body, more))
    for document in (write_tree_to_xml(tree), uid_document(tree, "Main"), tree_document(tree)):
        read = RecordedTree(document, "x")
        assert [(each.uid, each.path) for each in read.nodes.values()] == [
            (node.uid(), node.full_path()) for node in tree.nodes()
        ]
    again = BehaviorTreeFactory().create_tree_from_text(read.loadable_xml())
    assert len(list(again.nodes())) == len(read.nodes) == 13


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_a_random_tree_decides_the_same_on_its_record(block):
    played = ticks = 0
    for seed in range(block * 60, (block + 1) * 60):
        made = random_run(seed)
        if made is None:
            continue
        run, decorators = made
        done = rerun(run, decorators)
        assert done.parting is None, f"seed {seed}: {done.parting}"
        assert not done.unanswered, f"seed {seed}: {done.unanswered}"
        played += 1
        ticks += done.compared
    assert played >= 12
    assert ticks >= 60


def test_a_write_to_an_entry_that_was_removed_is_captured():
    tree = BehaviorTreeFactory().create_tree_from_text(
        xml('<Sequence><UnsetBlackboard key="k"/><Script code="k := 1"/></Sequence>')
    )
    with Capture(tree, writes=True) as capture:
        found = []
        for _ in range(3):
            tree.tick_exactly_once()
            found.append([write.value for write in capture.take(0.0).writes])
    assert found == [[1], [1], [1]]
