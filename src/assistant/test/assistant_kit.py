# SPDX-License-Identifier: Apache-2.0
"""A small vocabulary of nodes, and trees of it."""

from __future__ import annotations

from pathlib import Path

from behavior_assistant.checked_trees import TreeChecker
from behavior_tree import BehaviorTreeFactory, InputPort, NodeStatus


def make_factory() -> BehaviorTreeFactory:
    factory = BehaviorTreeFactory()
    ports = [InputPort("object_name", str, description="object of the scene")]

    def done(node):
        return NodeStatus.SUCCESS

    factory.register_simple_action("Pick", done, ports)
    factory.register_simple_action("Place", done, [InputPort("target", str)])
    factory.register_simple_action("SuppressCollisions", done)
    factory.register_simple_action("MoveArm", done, [InputPort("avoid_collisions", bool, True)])
    return factory


def checker(*folders: Path) -> TreeChecker:
    return TreeChecker(make_factory, folders)


def tree(inside: str, outside: str = "") -> str:
    return f'<root BTCPP_format="4">{outside}<BehaviorTree ID="Main">{inside}</BehaviorTree></root>'


PICK = tree('<Pick object_name="cup"/>')
