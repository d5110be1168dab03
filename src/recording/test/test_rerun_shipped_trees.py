# SPDX-License-Identifier: Apache-2.0
"""Every tree of the suite is recorded with leaves that do anything, read from its file again, and
decides the same on what was recorded.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from recorded_jobs import Clock

from behavior_recording import TreeRecording
from behavior_recording.replay.history import open_history
from behavior_recording.replay.rerunning import rerun_input
from behavior_tree import (
    BehaviorTreeFactory,
    NodeConfig,
    NodeStatus,
    NodeType,
    PortDirection,
    Tree,
    register_placeholders,
)
from behavior_tree.authoring import register_authoring_nodes
from behavior_tree.decider import register_decider_nodes
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.kernel.leaf import LeafNode
from behavior_tree.rerun import rerun

TREES = Path(__file__).parents[3] / "trees"
FILES = sorted(path for path in TREES.rglob("*.xml") if path.parent.name != "subtrees")
VALUES = {int: 3, float: 0.5, bool: True, str: "some text"}
TICKS = 60


class _Any(LeafNode):
    """Does anything, now and then twice, and writes something."""

    dice: random.Random

    def tick(self) -> NodeStatus:
        once = self.node_type is NodeType.CONDITION
        results = [NodeStatus.SUCCESS] * 6 + [NodeStatus.FAILURE]
        result = self.dice.choice(results if once else [NodeStatus.RUNNING] * 4 + results)
        if result is not NodeStatus.RUNNING:
            for port in self.config().ports.values():
                if port.direction is PortDirection.OUTPUT and port.type in VALUES:
                    self.set_output(port.name, VALUES[port.type])
        if result is NodeStatus.FAILURE:
            self.set_failure_reason("the dice said so")
        return result


class _AnyAction(_Any):
    node_type = NodeType.ACTION


class _AnyCondition(_Any):
    node_type = NodeType.CONDITION


def tree_of(file: Path, clock: Clock, seed: int) -> Tree:
    """A tree of the suite whose leaves do anything."""
    factory = BehaviorTreeFactory(clock)
    register_decider_nodes(factory)
    register_authoring_nodes(factory)
    known = set(factory.manifests())
    scratch = factory.fork()
    register_placeholders(scratch, file)
    dice = random.Random(seed)
    for type_id, manifest in scratch.manifests().items():
        leaf = {NodeType.ACTION: _AnyAction, NodeType.CONDITION: _AnyCondition}.get(manifest.type)
        if type_id in known:
            continue

        def build(name: str, config: NodeConfig, leaf: type[_Any] | None = leaf) -> _Any:
            assert leaf is not None
            node = leaf(name, config)
            node.dice = dice
            return node

        if leaf is not None:
            factory.register_builder(manifest, build)
    register_placeholders(factory, file)
    return factory.create_tree_from_file(file)


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(TREES)))
def test_a_shipped_tree_decides_the_same_on_its_record(file: Path, tmp_path: Path) -> None:
    clock = Clock()
    tree = tree_of(file, clock, seed=len(file.name))
    path = tmp_path / "run.mcap"
    with TreeRecording(path, tree, tree_id=tree.subtrees[0].tree_id, now=clock.nanoseconds) as run:
        for _ in range(TICKS):
            clock.now += 0.05
            try:
                if run.tick().completed:
                    break
            except BehaviorTreeError:
                break  # a script that the dice's values do not suit
    history = open_history(path)
    done = rerun(rerun_input(history, history.runs[0]))
    history.close()
    assert done.parting is None, done.parting
    assert not done.unanswered, done.unanswered[0]


def test_a_clock_that_goes_on_within_a_tick_changes_no_decision(tmp_path: Path) -> None:
    """As a simulation's does, which another thread sets: the sleep began 0.02 s after its tick."""
    clock = Clock()
    factory = BehaviorTreeFactory(clock)

    def think(node: object) -> NodeStatus:
        clock.now += 0.02
        return NodeStatus.SUCCESS

    factory.register_simple_action("Think", think)
    tree = factory.create_tree_from_text(
        "<root BTCPP_format='4'><BehaviorTree ID='main'><Repeat num_cycles='3'>"
        "<Sequence><Think/><Sleep msec='100'/></Sequence></Repeat></BehaviorTree></root>"
    )
    path = tmp_path / "run.mcap"
    ended = False
    with TreeRecording(path, tree, tree_id="main", now=clock.nanoseconds) as run:
        begun = clock.now
        for number in range(TICKS):
            clock.now = begun + 0.05 * number
            ended = ended or run.tick().completed
            if ended:
                break
    assert ended
    history = open_history(path)
    done = rerun(rerun_input(history, history.runs[0]))
    history.close()
    assert done.parting is None, done.parting
