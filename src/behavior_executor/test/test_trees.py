# SPDX-License-Identifier: Apache-2.0
"""Every tree file loads with the nodes that the executor really has, and documents itself."""

from pathlib import Path

import pytest
from conftest import Spinner
from rclpy.node import Node
from tree_models import ROOT, TREE_FILES, real_factory, updated

from behavior_executor.catalogue import MissionCatalogue
from behavior_tree import Blackboard

MISSIONS = MissionCatalogue([ROOT / "trees"])


def test_all_missions_load_with_their_default_parameters(ros: None, spinner: Spinner) -> None:
    assert MISSIONS.names() == ["insert_shelf", "open_door", "sort_balls", "stack_blocks"]
    node = Node("loader")
    spinner.start(node)
    factory = real_factory(node)
    for entry in MISSIONS.entries():
        assert entry.description
        assert all(p.description for p in entry.parameters)
        factory.clear_registered_behavior_trees()
        blackboard = Blackboard.create()
        for key, value in entry.blackboard_values({}).items():
            blackboard.set(key, value)
        factory.create_tree_from_file(entry.path, blackboard)


@pytest.mark.parametrize("path", TREE_FILES, ids=lambda path: path.stem)
def test_node_models_in_the_file_are_true(ros: None, spinner: Spinner, path: Path) -> None:
    node = Node("loader")
    spinner.start(node)
    text = path.read_text()
    assert updated(text, real_factory(node)) == text, "run test/tree_models.py"
    assert text.index("<!--") < text.index("<root"), "say at the top what the tree does"
