# SPDX-License-Identifier: Apache-2.0
"""Every tree file loads with the nodes that the executor really has, and documents itself."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tree_models import ROOT, TREE_FILES, real_factory, updated

from behavior_executor.missions.catalogue import catalogue_of
from behavior_tree import BehaviorTreeFactory, Blackboard

MISSIONS = catalogue_of(["*"])
SUBTREE_FILES = sorted((ROOT / "trees").glob("*/subtrees/*.xml"))


@pytest.fixture(scope="module")
def everything() -> Iterator[BehaviorTreeFactory]:
    with real_factory() as made:
        yield made


@pytest.fixture
def factory(everything: BehaviorTreeFactory) -> BehaviorTreeFactory:
    everything.clear_registered_behavior_trees()
    return everything


def test_all_missions_load_with_their_default_parameters(factory: BehaviorTreeFactory) -> None:
    assert MISSIONS.names() == [
        "decider_stack_blocks",
        "fetch_through_doors",
        "follow_object",
        "insert_shelf",
        "load_map",
        "navigation_classic",
        "navigation_semantic",
        "navigation_teleop",
        "open_door",
        "pass_door",
        "pick_frozen",
        "pick_in_steps",
        "sort_balls",
        "stack_bins",
        "stack_blocks",
    ]
    for entry in MISSIONS.entries():
        assert entry.description
        assert all(p.description for p in entry.parameters)
        factory.clear_registered_behavior_trees()
        blackboard = Blackboard.create()
        for key, value in entry.blackboard_values({}).items():
            blackboard.set(key, value)
        factory.create_tree_from_file(entry.path, blackboard)


@pytest.mark.parametrize("path", TREE_FILES, ids=lambda path: path.stem)
def test_node_models_in_the_file_are_true(factory: BehaviorTreeFactory, path: Path) -> None:
    text = path.read_text()
    assert updated(text, factory) == text, "run test/tree_models.py"
    assert text.index("<!--") < text.index("<root"), "say at the top what the tree does"


@pytest.mark.parametrize("path", SUBTREE_FILES, ids=lambda path: path.stem)
def test_every_subtree_is_documented_and_stands_alone(
    factory: BehaviorTreeFactory, path: Path
) -> None:
    factory.register_behavior_tree_from_file(path)
    root = ElementTree.parse(path).getroot()
    models = {model.get("ID"): model for model in root.iterfind("TreeNodesModel/SubTree")}
    for tree in root.iterfind("BehaviorTree"):
        name = tree.get("ID", "")
        assert name in factory.registered_behavior_trees()
        factory.create_tree(name)
        words = set(re.findall(r"\w+", ElementTree.tostring(tree, encoding="unicode")))
        ports = [] if name not in models else list(models[name])
        assert all(port.text for port in ports)
        unused = {port.get("name") for port in ports} - words
        assert not unused, f"{name}: ports that nothing uses: {unused}"
