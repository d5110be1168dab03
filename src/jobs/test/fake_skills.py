# SPDX-License-Identifier: Apache-2.0
"""Skills that take no time, and missions that run with them: for the logic of trees."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, Protocol

from behavior_executor.missions.catalogue import MissionCatalogue
from behavior_executor.node.tree_nodes import NodeContext
from behavior_executor.scene.scene_manager import register_scene_nodes
from behavior_executor.scene.scene_nodes import Scene
from behavior_jobs.tree_nodes import register
from behavior_tree import (
    BehaviorTreeFactory,
    Blackboard,
    InputPort,
    NodeConfig,
    NodeStatus,
    OutputPort,
    PortInfo,
    SyncActionNode,
    ports_list,
)

TREES = Path(__file__).parents[3] / "trees" / "jobs"
TICK = 0.05
"""[s]"""


class World(Scene, Protocol):
    """A scene whose time can be set."""

    now: float


class Skill(SyncActionNode):
    """A skill that takes no time."""

    inputs: ClassVar[tuple[str, ...]]
    numbers: ClassVar[tuple[str, ...]] = ()
    typed: ClassVar[dict[str, Any]] = {}
    """Ports of other types, which are not read."""

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        return ports_list(
            *(InputPort(name, float, default=0.0) for name in cls.numbers),
            *(InputPort(name, str, default="") for name in cls.inputs),
            OutputPort("phase", str),
            OutputPort("holding", bool),
            OutputPort("fraction", float),
            OutputPort("grasp", str),
            *(InputPort(name, kind, None) for name, kind in cls.typed.items()),
        )

    def __init__(self, name: str, config: NodeConfig, world: World) -> None:
        super().__init__(name, config)
        self.world = world

    def act(self, values: dict[str, Any]) -> bool:
        """Do it; tell whether it succeeds."""
        raise NotImplementedError

    def tick(self) -> NodeStatus:
        values = {name: self.get_input(name) for name in (*self.inputs, *self.numbers)}
        return NodeStatus.SUCCESS if self.act(values) else NodeStatus.FAILURE


def run_mission(
    name: str, world: World, skills: Iterable[type[Skill]], limit: float = 120.0, **given: str
) -> tuple[NodeStatus, float]:
    """Tick a mission to its end; its status, and the time that it took [s]."""
    factory = BehaviorTreeFactory(clock=lambda: world.now)
    register_scene_nodes(factory, world)
    register(factory, NodeContext(node=None, scene=world))
    for kind in skills:
        factory.register_node_type(kind, kind.__name__, world)
    entry = MissionCatalogue([TREES]).find(name)
    blackboard = Blackboard.create()
    for key, value in entry.blackboard_values(given).items():
        blackboard.set(key, value)
    tree = factory.create_tree_from_file(entry.path, blackboard)
    status = NodeStatus.RUNNING
    start = world.now
    while status is NodeStatus.RUNNING and world.now < start + limit:
        status = tree.tick_exactly_once()
        world.now += TICK
    return status, world.now - start
