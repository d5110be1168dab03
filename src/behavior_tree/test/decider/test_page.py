# SPDX-License-Identifier: Apache-2.0
"""What the page on decider networks shows runs, and what it names is there."""

import re
from pathlib import Path
from types import ModuleType

import pytest
from tree_kit import Clock

from behavior_tree import BehaviorTreeFactory, InputPort, NodeStatus
from behavior_tree.decider import register_decider_nodes
from behavior_tree.nodes.decider import DECIDER_NODES, Session

PAGE = Path(__file__).resolve().parents[4] / "docs/decider_networks.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the package is tested alone")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_python_blocks_run_one_after_the_other(capsys):
    page = ModuleType("page")
    assert len(blocks("python")) >= 4
    for block in blocks("python"):
        line = PAGE.read_text(encoding="utf-8").split(block)[0].count("\n")
        exec(compile("\n" * line + block, str(PAGE), "exec"), vars(page))
    assert '<Decider name="dispatch">' in capsys.readouterr().out


def test_the_document_runs():
    (document,) = blocks("xml")
    clock = Clock()
    factory = BehaviorTreeFactory(clock)
    register_decider_nodes(factory)
    state = {"complete": False, "distance": 0.3, "opened": True}
    done = []

    def look(node):
        for key, value in state.items():
            node.config().blackboard.set(key, value)
        return NodeStatus.SUCCESS

    def act(node):
        done.append(node.registration_id())
        return NodeStatus.RUNNING if done[-1] in ("Reach", "Place") else NodeStatus.SUCCESS

    factory.register_simple_action("LookAtBlocks", look)
    for name in ("GoHome", "CloseGripper", "Lift", "OpenGripper", "Place", "Reach"):
        ports = [InputPort("goal")] if name == "Reach" else None
        factory.register_simple_stateful_action(name, act, act, ports=ports)
    tree = factory.create_tree_from_text(document)
    assert not factory.load_warnings()
    tree.root_blackboard().set("held", 0)
    tree.tick_exactly_once()
    state["distance"] = 0.001
    while done[-1] != "Place":
        tree.tick_exactly_once()
        clock.now += 0.1
    assert done == ["Reach", "CloseGripper", "Lift", "Place"]
    state["complete"] = True
    assert tree.tick_exactly_once() is NodeStatus.SUCCESS
    assert tree.root_blackboard().get("held") == 0


def test_the_table_of_nodes_has_every_node_with_its_ports():
    text = PAGE.read_text(encoding="utf-8").split("## The nodes")[1].split("##")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| (.*?) ?\|$", text, re.MULTILINE))
    assert rows.keys() == DECIDER_NODES.keys()
    for type_id, told in rows.items():
        node_class = DECIDER_NODES[type_id]
        common = {"enter", "exit"} if issubclass(node_class, Session) else set()
        assert set(re.findall(r"`(\w+)`", told)) == node_class.provided_ports().keys() - common
