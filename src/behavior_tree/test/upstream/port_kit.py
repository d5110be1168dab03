# SPDX-License-Identifier: Apache-2.0
"""Leaves with ports for the scenarios, and a type of our own that text becomes."""

from dataclasses import dataclass

from behavior_tree import InputPort, NodeStatus, OutputPort


@dataclass(frozen=True)
class Point:
    x: float
    y: float


def point_from_text(text: str) -> Point:
    x, y = text.split(";")
    return Point(float(x), float(y))


def point_type(stage):
    """Let the stage's factory make a `Point` from ``x;y``."""
    stage.factory.register_converter(Point, point_from_text)
    return stage


def keeper(stage, port_type, name="Keep"):
    """Register ``<Keep value=.../>``; returns the list of values that it was given."""
    kept = []

    def keep(node):
        kept.append(node.get_input("value"))
        return NodeStatus.SUCCESS

    stage.factory.register_simple_action(name, keep, [InputPort("value", port_type)])
    return kept


def giver(stage, name, port_type, value):
    """Register ``<name value="{key}"/>`` that writes ``value``."""

    def give(node):
        node.set_output("value", value)
        return NodeStatus.SUCCESS

    stage.factory.register_simple_action(name, give, [OutputPort("value", port_type)])


def copier(stage, name, port_type, change=lambda value: value):
    """Register ``<name input=... output="{key}"/>``; fails when there is no input."""

    def copy(node):
        value = node.get_input("input", None)
        if value is None:
            return NodeStatus.FAILURE
        node.set_output("output", change(value))
        return NodeStatus.SUCCESS

    ports = [InputPort("input", port_type), OutputPort("output", port_type)]
    stage.factory.register_simple_action(name, copy, ports)
