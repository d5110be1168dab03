# SPDX-License-Identifier: Apache-2.0
"""Random trees, interrupted at any point and restored into a fresh tree, go on as if nothing had
happened: same leaf calls, transitions, results, blackboards.
"""

from __future__ import annotations

import json
import random
from collections import Counter, deque

import pytest
from conformance_kit import STEP_S, Case, Generator
from tree_kit import LETTER, xml

from behavior_tree import (
    BehaviorTreeFactory,
    ConsumeQueue,
    LoadError,
    ManualSelector,
    NodeStatus,
    StatefulActionNode,
    restore_tree,
    save_tree,
)

BLOCKS = 4
SEEDS_PER_BLOCK = 20


class World:
    """What lives outside the tree: the clock, and how far each leaf's script of results is."""

    def __init__(self, case, compat=None):
        self.case = case
        self.now = 0.0
        self.calls = Counter()
        self.events = []
        self.gone = []
        self.factory = BehaviorTreeFactory(lambda: self.now, compat)
        self.factory.register_simple_action("Act", lambda node: self.result(node, "tick"))
        self.factory.register_simple_condition("Cond", lambda node: self.result(node, "tick"))
        self.factory.register_node_type(State, "State", self)
        self.factory.register_simple_decorator("Deco", lambda status, node: status)
        for node_class in (ConsumeQueue, ManualSelector):
            self.factory.register_node_type(node_class, node_class.__name__)
        self.tree = self.factory.create_tree_from_text(case.xml)
        self.watch()

    def watch(self):
        self.tree.subscribe_status_change(
            lambda node, old, new: self.events.append((node.uid(), old.name, new.name))
        )

    def result(self, node, what):
        name = node.name()
        results = self.case.results[name]
        status = results[self.calls[name] % len(results)]
        self.calls[name] += 1
        self.events.append((what, name))
        return NodeStatus[status]

    def step(self, what, argument):
        """False when the tree raised."""
        try:
            if what == "set":
                self.tree.root_blackboard().set(*argument)
            elif what == "halt":
                self.tree.halt_tree()
            else:
                self.now += STEP_S
                self.events.append(self.tree.tick_exactly_once().name)
        except Exception as error:
            self.events.append(str(error))
            return False
        return True

    def boards(self):
        return [
            {
                key: (entry.value, entry.seq, entry.type)
                for key in board.get_keys()
                for entry in [board.entry(key)]
            }
            for board in (each.blackboard for each in self.tree.subtrees)
        ]

    def restart(self):
        """Another process takes over."""
        saved = json.loads(json.dumps(save_tree(self.tree)))
        self.gone.append(self.tree)  # its end, which as 4.8 halts it, is not part of the story
        self.tree = self.factory.create_tree_from_text(self.case.xml)
        restore_tree(self.tree, saved)
        self.watch()


class State(StatefulActionNode):
    def __init__(self, name, config, world):
        super().__init__(name, config)
        self._world = world

    def on_start(self):
        return self._world.result(self, "start")

    def on_running(self):
        return self._world.result(self, "running")

    def on_halted(self):
        self._world.events.append(("halt", self.name()))

    def save_state(self):
        return {}  # nothing to keep: it can go on


def play(case, compat, restarts, prepare=None):
    world = World(case, compat)
    if prepare is not None:
        prepare(world.tree)
    for index, (what, argument) in enumerate(case.steps):
        if index in restarts:
            world.restart()
        if not world.step(what, argument):
            return list(world.events), None
    return list(world.events), world.boards()


@pytest.mark.slow
@pytest.mark.parametrize("compat", [None, "4.8"])
@pytest.mark.parametrize("block", range(BLOCKS))
def test_a_restored_tree_goes_on_as_if_nothing_had_happened(block, compat):
    played = 0
    for seed in range(block * SEEDS_PER_BLOCK, (block + 1) * SEEDS_PER_BLOCK):
        case = Generator(seed).case()
        once = {random.Random(seed).randrange(len(case.steps))}
        try:
            straight = play(case, compat, set())
        except LoadError:
            continue
        played += 1
        for restarts in (once, set(range(len(case.steps)))):
            assert play(case, compat, restarts) == straight, f"seed {seed}, restarts {restarts}"
    assert played >= SEEDS_PER_BLOCK // 3


def queue(tree):
    tree.root_blackboard().set("q", deque([1, 2, 3]))


def choose(tree):
    tree.root_node().choose("y")


SLOW = 'msec="100"'
REMEMBERING = {
    "Fallback": ("<Fallback><State name='x'/><State name='y'/></Fallback>", "FRRS"),
    "skipped": (
        "<Fallback><State name='x'/><State name='y'/><State name='z'/></Fallback>",
        "KKRKRRRS",
    ),
    "AsyncFallback": ("<AsyncFallback><Act name='x'/><Act name='y'/></AsyncFallback>", "FS"),
    "SequenceWithMemory": (
        "<SequenceWithMemory><Act name='x'/><Act name='y'/></SequenceWithMemory>",
        "SFFS",
    ),
    "Parallel": (
        "<Parallel success_count='2' failure_count='2'><State name='x'/><State name='y'/>"
        "<State name='z'/></Parallel>",
        "RSRFRRRS",
    ),
    "ParallelAll": (
        "<ParallelAll max_failures='2'><State name='x'/><State name='y'/></ParallelAll>",
        "FRRRF",
    ),
    "Switch": (
        "<Switch2 variable='{v}' case_1='1' case_2='2'><State name='x'/>"
        "<State name='y'/><State name='z' _onHalted='halted := 1'/></Switch2>",
        "RR",
    ),
    "TryCatch": (
        "<TryCatch><State name='x'/><State name='y'/><State name='z'/></TryCatch>",
        "SRFRRS",
    ),
    "Repeat": ("<Repeat num_cycles='4'><State name='x'/></Repeat>", "RSRRS"),
    "Retry": (
        "<RetryUntilSuccessful num_attempts='3'><State name='x'/></RetryUntilSuccessful>",
        "F",
    ),
    "Precondition": (
        "<Precondition if='n := n + 1; n &lt; 2'><State name='x'/></Precondition>",
        "RRRS",
    ),
    "Timeout": (f"<Timeout {SLOW}><State name='x'/></Timeout>", "R"),
    "Delay": ("<Delay delay_msec='50'><State name='x'/></Delay>", "RS"),
    "TimeoutAndSleep": (f"<Timeout msec='60'><Sleep {SLOW}/></Timeout>", "S"),
    "ConsumeQueue": (
        "<ConsumeQueue queue='{q}' popped_item='{i}'><State name='x'/></ConsumeQueue>",
        "RSRRF",
        queue,
    ),
    "Loop": ("<LoopInt queue='{q}' value='{i}'><State name='x'/></LoopInt>", "RS", queue),
    "ManualSelector": (
        "<ManualSelector repeat_last_selection='true'><State name='x'/><State name='y'/>"
        "</ManualSelector>",
        "RS",
        choose,
    ),
}


@pytest.mark.parametrize("what", REMEMBERING)
def test_a_node_goes_on_where_it_was(what):
    body, letters, *prepare = REMEMBERING[what]
    results = [LETTER[letter] for letter in letters]
    steps = [("set", ("n", 0.0)), ("set", ("v", "1")), *[("tick", None)] * 6, ("set", ("v", "2"))]
    steps += [("tick", None)] * 5
    case = Case(0, xml(body), steps, {"x": results, "y": results[1:], "z": results[2:]}, False)
    straight = play(case, None, set(), *prepare)
    assert straight[1] is not None
    for restarts in (*[{step} for step in range(len(steps))], set(range(len(steps)))):
        assert play(case, None, restarts, *prepare) == straight, restarts


@pytest.mark.parametrize("compat", [None, "4.8"])
def test_a_condition_that_runs_goes_on(compat):
    case = Case(0, xml("<Cond name='x'/>"), [("tick", None)] * 6, {"x": ["RUNNING"] * 3}, False)
    case.results["x"] += ["SUCCESS"]
    straight = play(case, compat, set())
    assert straight[0].count("RUNNING") == 5
    for restarts in (*[{step} for step in range(6)], set(range(6))):
        assert play(case, compat, restarts) == straight, restarts
