# SPDX-License-Identifier: Apache-2.0
"""Random edits, ticks, halts, undo and redo, against a model of what must have happened."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree import ElementTree

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tree_kit import xml

from behavior_tree import (
    BehaviorTreeFactory,
    ControlNode,
    InputPort,
    LoadError,
    NodeStatus,
    NodeType,
    StatefulActionNode,
    TreeEditor,
    ports_list,
    write_tree_to_xml,
)
from behavior_tree.authoring import register_authoring_nodes
from behavior_tree.decider import register_decider_nodes

IDLE, RUNNING, SUCCESS = NodeStatus.IDLE, NodeStatus.RUNNING, NodeStatus.SUCCESS
RESULTS = ("SUCCESS", "FAILURE", "RUNNING", "SKIPPED", "RUNNING", "SUCCESS", "FAILURE")
SUB = (
    '<BehaviorTree ID="Sub"><Sequence name="in"><Leaf name="l" count="{c}"/>'
    '<SubTree ID="Inner" name="deep"/></Sequence></BehaviorTree>'
    '<BehaviorTree ID="Inner"><Fallback name="f"><Leaf name="k" _skipIf="c &gt; 3"/>'
    '<Script name="x" code="c := 1"/></Fallback></BehaviorTree>'
)
MAIN = (
    '<Sequence name="top"><Script name="start" code="v := 1; c := 0"/><Parallel name="p">'
    '<Leaf name="a"/><Inverter name="i"><Leaf name="b" count="{v}"/></Inverter></Parallel>'
    '<SubTree ID="Sub" name="s" c="{c}"/></Sequence>'
)
FRAGMENTS = st.sampled_from(
    (
        "<Leaf/>",
        "<Leaf count='{v}' _while='v &lt; 3'/>",
        "<AlwaysSuccess _skipIf='v == 2' _onSuccess='v += 1'/>",
        "<Fallback><Leaf/><Leaf/></Fallback>",
        "<Parallel success_count='1' failure_count='2'><Leaf/><Inverter><Leaf/></Inverter>"
        "</Parallel>",
        "<ReactiveSequence><ScriptCondition code='v &lt; 5'/><Leaf/></ReactiveSequence>",
        "<SequenceWithMemory><Leaf/><Leaf/></SequenceWithMemory>",
        "<IfThenElse><Leaf/><Leaf/><Leaf/></IfThenElse>",
        "<Switch2 variable='{w}' case_1='1' case_2='2'><Leaf/><Leaf/><Leaf/></Switch2>",
        "<TryCatch><Leaf/><Leaf/><Leaf/></TryCatch>",
        "<Inverter><Leaf/></Inverter>",
        "<Repeat num_cycles='2'><Leaf/></Repeat>",
        "<Timeout msec='50'><Leaf/></Timeout>",
        "<RunOnce><Leaf/></RunOnce>",
        "<SubTree ID='Sub' c='{v}'/>",
        "<SubTree ID='Inner' _autoremap='true'/>",
        "<Decider name='d{n}'><Case name='k' if='v &lt; 2'><Leaf/></Case>"
        "<Case name='l'><Leaf/></Case></Decider>",
        "<Decider name='d{n}' on_done='idle' on_none='FAILURE'>"
        "<Case name='k' if='c == 1'><Leaf/></Case></Decider>",
        "<RLDS name='d{n}' goal='c &gt; 3'><Rd name='k'><Leaf/></Rd><Rd name='l' runnable='v == 1' "
        "enterable='c == 1' max_failures='2'><Leaf/></Rd></RLDS>",
        "<Case name='d{n}'><Leaf/></Case>",
        "<Rd name='d{n}' runnable='v == 2'><Leaf/></Rd>",
        "<Atomic name='d{n}'><Leaf/></Atomic>",
        "<RunFor msec='30'><Leaf/></RunFor>",
        "<Monitors><Script code='c := c + 1'/><Leaf/></Monitors>",
        "<StateMachine name='d{n}'><State name='k' next='l'><Leaf/></State><State name='l'><Leaf/>"
        "<Transition to='k' if='v == 2'/></State></StateMachine>",
        "<ConcurrentSequence name='d{n}'><Leaf/><Step execute_after='beginning'><Leaf/></Step>"
        "<Leaf/></ConcurrentSequence>",
        "<ConcurrentSequence name='d{n}' on_failure='finish'><Step name='z' execute_after='y'>"
        "<Leaf/></Step><Step name='y' execute_after='beginning'><Leaf/></Step>"
        "</ConcurrentSequence>",
        "<Try name='d{n}'><Leaf/><Step execute_after='beginning'><Leaf/></Step><Catch if='v == 2'>"
        "<Leaf/></Catch><Catch then='retry' max_retries='1'><Leaf/></Catch></Try>",
        "<ConcurrentSequence name='d{n}'><Step name='r' execute_after='gosub'><Leaf/></Step><Leaf/>"
        "<Gosub to='r'/><Checkpoint name='y'/><Fallback><Leaf/><Goto to='y'/></Fallback>"
        "</ConcurrentSequence>",
        "<Goto to='y'/>",
        "<Gosub to='r'/>",
        "<Catch then='fail'><Leaf/></Catch>",
        "<Step execute_after='beginning'><Leaf/></Step>",
        "<Step execute_after='y'><Leaf/></Step>",
        "<Leaf unknown='1'/>",  # all from here on are wrong
        "<Inverter/>",
        "<Leaf count='many'/>",
        "<SubTree ID='None'/>",
        "<Script code='v :='/>",
        "<Leaf>",
        "<Sequence><Leaf count='{bad}'/><Text text='{bad}'/></Sequence>",
    )
)
PICK = st.integers(0, 10**6)


class Leaf(StatefulActionNode):
    """Its results follow from its name, and how often it was called."""

    @classmethod
    def provided_ports(cls):
        return ports_list(InputPort("count", int, 0))

    def __init__(self, name, config, log, calls):
        super().__init__(name, config)
        self.log, self.calls = log, calls

    def on_start(self):
        self.calls[self.name()] += 1
        number = sum(map(ord, self.name())) + 3 * self.calls[self.name()]
        self.log.append(self.name())
        return NodeStatus[RESULTS[number % len(RESULTS)]]

    on_running = on_start

    def on_halted(self):
        self.log.append("!" + self.full_path())


class Editing(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.now = 0.0
        self.log, self.calls = [], Counter()
        self.factory = self.make_factory(self.log, self.calls)
        self.tree = self.factory.create_tree_from_text(xml(MAIN, SUB))
        self.editor = TreeEditor(self.tree, self.factory)
        self.told = []
        self.tree.subscribe_structure_change(self.told.append)
        self.past, self.future = [self.shape()], []
        self.names = 0

    def make_factory(self, log, calls):
        factory = BehaviorTreeFactory(lambda: self.now)
        register_decider_nodes(factory)
        register_authoring_nodes(factory)
        factory.register_node_type(Leaf, "Leaf", log, calls)
        factory.register_simple_action("Text", lambda node: SUCCESS, [InputPort("text", list)])
        return factory

    # -- what is looked at

    def shape(self):
        return write_tree_to_xml(self.tree)

    def nodes(self):
        return list(self.tree.nodes())

    def pick(self, number):
        nodes = self.nodes()
        return nodes[number % len(nodes)]

    def below(self, node):
        mine = [node]
        if not isinstance(node, Leaf):
            for child in node.children:
                mine += self.below(child)
        return mine

    def snapshot(self):
        boards = [dict(each.blackboard._entries) for each in self.tree.subtrees]
        return self.shape(), [(node, node.status) for node in self.nodes()], boards

    def named(self, fragment):
        """The fragment with fresh names."""
        fragment = fragment.replace("{n}", str(len(self.past) + self.names))
        while "<Leaf" in fragment.replace("<Leaf name", ""):
            self.names += 1
            fragment = fragment.replace("<Leaf ", f"<Leaf name='n{self.names}'  ", 1)
            fragment = fragment.replace("<Leaf/", f"<Leaf name='n{self.names}' /", 1)
            fragment = fragment.replace("<Leaf>", f"<Leaf name='n{self.names}'>", 1)
            fragment = fragment.replace("<Leaf name", "<\0", 1)
        return fragment.replace("<\0", "<Leaf name")

    def attempt(self, touched, change):
        """Make a change; all nodes but the touched ones must keep their status, and a refused one
        must change nothing."""
        before = self.snapshot()
        running = [node for node in touched if node.status is RUNNING and isinstance(node, Leaf)]
        self.log.clear()
        self.told.clear()
        try:
            change()
        except LoadError:
            assert self.snapshot() == before
            assert self.log == []
            assert self.told == []
            return False
        assert sorted(self.log) == sorted("!" + node.full_path() for node in running)
        assert all(node.status is IDLE for node in touched)
        for node, status in before[1]:
            assert node in touched or node.status is status
        self.check_told([node for node, _ in before[1]])
        return True

    def check_told(self, before):
        (change,) = self.told
        after = self.nodes()
        assert list(change.added) == [node for node in after if node not in before]
        assert set(change.removed) == {node for node in before if node not in after}

    def edit(self, touched, change):
        if self.attempt(touched, change):
            self.past.append(self.shape())
            self.future.clear()

    # -- what happens

    @rule(parent=PICK, index=st.integers(-2, 4), fragment=FRAGMENTS)
    def insert(self, parent, index, fragment):
        place = self.pick(parent)
        self.edit([], lambda: self.editor.insert(place, index, self.named(fragment)))

    @rule(number=PICK)
    def remove(self, number):
        node = self.pick(number)
        self.edit(self.below(node), lambda: self.editor.remove(node))

    @rule(number=PICK, parent=PICK, index=st.integers(-2, 4))
    def move(self, number, parent, index):
        node, target = self.pick(number), self.pick(parent)
        touched = self.below(node) if node.parent is not target else []
        self.edit(touched, lambda: self.editor.move(node, target, index))

    @rule(number=PICK, fragment=FRAGMENTS)
    def replace(self, number, fragment):
        node = self.pick(number)
        self.edit(self.below(node), lambda: self.editor.replace(node, self.named(fragment)))

    @rule(number=PICK, name=st.sampled_from(("q", "r", "s", "Sub", "", "a/b", "bad\n")))
    def rename(self, number, name):
        node = self.pick(number)
        self.edit([], lambda: self.editor.rename(node, name))

    @rule(
        number=PICK,
        port=st.sampled_from(
            ("count", "code", "msec", "success_count", "nothing", "variable", "execute_after")
        ),
        text=st.sampled_from(("1", "{v}", "{fresh}", "x", "{w}", "beginning")),
    )
    def set_port(self, number, port, text):
        node = self.pick(number)
        self.edit([], lambda: self.editor.set_port(node, port, text))

    @rule(times=st.integers(1, 3))
    def tick(self, times):
        for _ in range(times):
            self.now += 0.02
            try:
                self.tree.tick_exactly_once()
            except RuntimeError:  # a script reads what nobody wrote
                self.tree.halt_tree()

    @rule()
    def halt(self):
        self.tree.halt_tree()

    @precondition(lambda self: len(self.past) > 1)
    @rule()
    def undo(self):
        assert self.editor.undo()
        self.future.append(self.past.pop())
        assert self.shape() == self.past[-1]

    @precondition(lambda self: self.future)
    @rule()
    def redo(self):
        assert self.editor.redo()
        self.past.append(self.future.pop())
        assert self.shape() == self.past[-1]

    # -- what always holds

    @invariant()
    def the_tree_is_sound(self):
        nodes = self.nodes()
        assert len({node.uid() for node in nodes}) == len(nodes)
        assert self.tree.root_node().parent is None
        boards = {}
        for node in nodes:
            boards.setdefault(id(node.config().blackboard), []).append(node)
            for child in node.children:
                assert child.parent is node
                assert child._up is node
            if isinstance(node, ControlNode):
                assert all(child._run is child._untraced_kernel() for child in node.children)
            elif node.type() in (NodeType.DECORATOR, NodeType.SUBTREE):
                assert len(node.children) == 1
                assert node._child is node.children[0]
        found = [(id(each.blackboard), each.nodes) for each in self.tree.subtrees]
        assert found == list(boards.items())

    def teardown(self):
        self.the_halted_tree_does_what_a_new_one_does()
        states = list(self.past)
        while self.editor.undo():
            states.pop()
            assert self.shape() == states[-1]
        assert len(states) == 1
        for state in self.past[1:]:
            assert self.editor.redo()
            assert self.shape() == state

    def the_halted_tree_does_what_a_new_one_does(self):
        """Nothing of what has been edited away is left behind."""
        self.tree.halt_tree()
        if any("RunOnce" in text or "SequenceWithMemory" in text for text in self.past):
            return  # these remember beyond a halt
        if any(each.blackboard.autoremapping for each in self.tree.subtrees):
            return  # the writer leaves _autoremap out, as upstream
        log, calls = [], Counter()
        try:
            fresh = self.make_factory(log, calls).create_tree_from_text(unique(self.shape()))
        except LoadError:
            return  # a literal that the writer does not tell from the default of another place
        for subtree, mine in zip(fresh.subtrees, self.tree.subtrees, strict=True):
            for key, value in mine.blackboard.items():
                if value is not None:
                    subtree.blackboard.set(key, value)
        self.calls.clear()
        self.log.clear()
        for _ in range(6):
            ours, theirs = result(self.tree), result(fresh)
            assert ours == theirs, f"{ours}, a new one {theirs}:\n{self.shape()}"
        plain, anew = ([re.sub(r"::\d+|.*/", "", entry) for entry in lg] for lg in (self.log, log))
        assert plain == anew, f"{plain}, a new one {anew}:\n{self.shape()}"


def result(tree):
    try:
        return tree.tick_exactly_once()
    except RuntimeError as error:
        tree.halt_tree()
        return type(error)


def unique(text):
    """The written tree, whose instances of one SubTree may differ, with a tree ID for each."""
    root = ElementTree.fromstring(text)
    ids = {each.get("_fullpath"): f"T{n}" for n, each in enumerate(root.iter("BehaviorTree"))}
    for each in (*root.iter("BehaviorTree"), *root.iter("SubTree")):
        each.set("ID", ids[each.attrib.pop("_fullpath")])
    root.set("main_tree_to_execute", ids[""])
    return ElementTree.tostring(root, encoding="unicode")


TestEditing = Editing.TestCase
TestEditing.settings = settings(
    max_examples=60,
    stateful_step_count=25,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
