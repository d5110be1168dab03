# SPDX-License-Identifier: Apache-2.0
"""Substitution rules beyond BehaviorTree.CPP's: outputs, reasons, exceptions, rules that decide."""

from __future__ import annotations

import json

import pytest

from behavior_tree import (
    BehaviorTreeError,
    BehaviorTreeFactory,
    NodeExecutionError,
    NodeStatus,
    OutputPort,
    SyncActionNode,
    TestNode,
    TestNodeConfig,
)

TREE = """<root BTCPP_format="4"><BehaviorTree ID="T"><Sequence>
  <Look name="one" width="{w}"/><Look name="two" width="{w}"/></Sequence></BehaviorTree></root>"""


class Look(SyncActionNode):
    @classmethod
    def provided_ports(cls):
        return {"width": OutputPort("width", float)}

    def tick(self):
        return NodeStatus.SUCCESS


@pytest.fixture
def factory():
    made = BehaviorTreeFactory()
    made.register_node_type(Look, "Look")
    return made


def rules(factory, **fields):
    document = {"TestNodeConfigs": {"it": fields}, "SubstitutionRules": {"two": "it"}}
    factory.load_substitution_rules_from_json(json.dumps(document))
    return factory.create_tree_from_text(TREE)


def test_outputs_and_reasons_come_from_json(factory):
    tree = rules(factory, return_status="FAILURE", outputs={"width": "0.5"}, reason="too dark")
    assert tree.tick_once() is NodeStatus.FAILURE
    assert tree.root_blackboard().get("w") == 0.5
    assert tree.failure_reason().text == "too dark"


def test_an_exception_comes_from_json(factory):
    tree = rules(factory, exception="no camera")
    with pytest.raises(NodeExecutionError, match="no camera"):
        tree.tick_once()


@pytest.mark.parametrize("fields", [{"outputs": 3}, {"reason": 3}, {"exception": 3}])
def test_what_is_none_is_refused(factory, fields):
    with pytest.raises(BehaviorTreeError, match=r"outputs|reason|exception"):
        rules(factory, return_status="SUCCESS", **fields)


def test_a_rule_may_be_a_function_that_decides_for_each_node(factory):
    def second(name, config):
        fails = TestNodeConfig(NodeStatus.FAILURE)
        return TestNode(name, config, fails) if name == "two" else None

    factory.add_substitution_rule("Look", second)
    tree = factory.create_tree_from_text(TREE)
    kinds = [type(node).__name__ for node in tree.nodes()]
    assert kinds == ["Sequence", "Look", "TestNode"]
    assert factory.substitution_rules() == {"Look": second}


def test_a_plan_says_at_each_start_what_a_test_node_does(factory):
    factory.add_substitution_rule("one", TestNodeConfig())
    tree = factory.create_tree_from_text(TREE)
    starts = iter([NodeStatus.FAILURE, NodeStatus.SUCCESS])
    tree.node_by_path("one").plan = lambda: TestNodeConfig(next(starts))
    assert [tree.tick_once().name for _ in range(2)] == ["FAILURE", "SUCCESS"]
