# SPDX-License-Identifier: Apache-2.0
"""A table with blocks as symbols, and tree nodes that act on it: for `language_trees.py`.

A block stands on the table, in a tray, or on another block, or is in the hand. What the hand does
takes a tick. Nothing is random: what goes wrong stands in the start state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from behavior_tree import (
    BehaviorTreeFactory,
    InputPort,
    NodeConfig,
    NodeStatus,
    StatefulActionNode,
    ports_list,
)

TABLE = "table"
HAND = "hand"
TRAYS = ("left_tray", "right_tray")
TICK = 0.5
"""[s] of the world's time."""


@dataclass
class BlockWorld:
    """Where each block is, and what has happened."""

    places: dict[str, str]
    """Of each block: a block, a tray, `table` or `hand`."""
    slips: dict[str, int] = field(default_factory=dict)
    """How often the next grasps of a block fail."""
    interventions: dict[int, Mapping[str, str]] = field(default_factory=dict)
    """What somebody puts where, after so many things that were put down."""
    time: float = 0.0
    """[s]"""
    picked: list[str] = field(default_factory=list)
    """Blocks that the hand has closed on, in order, slipped ones too."""
    put: int = 0
    """How often something was put down."""

    @property
    def held(self) -> str:
        """The block in the hand; empty: none."""
        return next((block for block, place in self.places.items() if place == HAND), "")

    def is_clear(self, block: str) -> bool:
        """Whether nothing stands on a block that is there."""
        return block in self.places and block not in self.places.values()

    def pick(self, block: str) -> str:
        """Take a block; returns why that does not work, empty if it does."""
        if block not in self.places:
            return f"there is no block '{block}'"
        if self.held:
            return f"the hand holds {self.held}"
        if not self.is_clear(block):
            return f"something stands on {block}"
        self.picked.append(block)
        if self.slips.get(block, 0) > 0:
            self.slips[block] -= 1
            return f"{block} slipped"
        self.places[block] = HAND
        return ""

    def put_on(self, place: str) -> str:
        """Put down what is held; returns why that does not work, empty if it does."""
        held = self.held
        if not held:
            return "the hand holds nothing"
        if place not in (TABLE, *TRAYS):
            if place not in self.places:
                return f"there is no '{place}'"
            if place == held or not self.is_clear(place):
                return f"{place} is not clear"
        self.places[held] = place
        self.put += 1
        return ""

    def pass_time(self) -> None:
        """Let a tick's time pass; somebody intervenes if it is time for that."""
        self.time += TICK
        self.places |= self.interventions.pop(self.put, {})

    def objects(self) -> dict[str, dict[str, Any]]:
        """What is told of it."""
        blocks = {
            block: {"on": place, "clear": self.is_clear(block)}
            for block, place in self.places.items()
        }
        return {**blocks, **{tray: {"is": "a tray for any number of blocks"} for tray in TRAYS}}


class _HandAction(StatefulActionNode):
    """Does what a function says, in the tick after its start."""

    port = ""
    about = ""

    def __init__(self, name: str, config: NodeConfig, act: Callable[[str], str]) -> None:
        super().__init__(name, config)
        self._act = act

    @classmethod
    def provided_ports(cls) -> dict[str, Any]:
        return ports_list(InputPort(cls.port, str, description=cls.about)) if cls.port else {}

    def on_start(self) -> NodeStatus:
        return NodeStatus.RUNNING

    def on_running(self) -> NodeStatus:
        why = self._act(self.get_input(self.port) if self.port else "")
        self.set_failure_reason(why)
        return NodeStatus.FAILURE if why else NodeStatus.SUCCESS


class PickBlock(_HandAction):
    """Takes a block on which nothing stands; the hand must be empty. It may slip: FAILURE."""

    port, about = "block", "name of the block"


class PutOn(_HandAction):
    """Puts what the hand holds onto a block on which nothing stands, or into a tray."""

    port, about = "target", "name of the block or tray"


class PutOnTable(_HandAction):
    """Puts what the hand holds on the table."""


def register(factory: BehaviorTreeFactory, world: BlockWorld) -> None:
    """Give a factory the nodes that look at a world and act on it."""
    factory.register_node_type(PickBlock, "PickBlock", world.pick)
    factory.register_node_type(PutOn, "PutOn", world.put_on)
    factory.register_node_type(PutOnTable, "PutOnTable", lambda _: world.put_on(TABLE))
    block = InputPort("block", str, description="name of the block")
    target = InputPort("target", str, description="name of a block or tray, or table")

    def condition(name: str, holds: Callable[[Any], bool], *ports: Any) -> None:
        factory.register_simple_condition(name, holds, list(ports))

    condition(
        "IsOn",
        lambda n: world.places.get(n.get_input("block")) == n.get_input("target"),
        block,
        target,
    )
    condition("IsClear", lambda n: world.is_clear(n.get_input("block")), block)
    condition("IsHeld", lambda n: world.held == n.get_input("block"), block)
    condition("IsHandEmpty", lambda n: not world.held)
    # There, so that a tree may try: the checks must not let it through.
    factory.register_simple_action("SuppressCollisions", lambda n: NodeStatus.SUCCESS)


def make_factory(world: BlockWorld) -> BehaviorTreeFactory:
    """A factory on the world's time with its nodes."""
    factory = BehaviorTreeFactory(clock=lambda: world.time)
    register(factory, world)
    return factory
