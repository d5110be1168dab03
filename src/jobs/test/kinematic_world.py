# SPDX-License-Identifier: Apache-2.0
"""A world without physics: blocks, a hand that carries them at once, and skills that take time.

The skills behave as those of behavior_skills do: pick attaches its block after the lift, place
detaches it when it opens and then retreats, and each says why it failed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from geometry_msgs.msg import PoseStamped
from tree_drive import TreeDrive

from behavior_executor.node.tree_nodes import NodeContext
from behavior_executor.scene.scene_manager import register_scene_nodes
from behavior_executor.scene_view import SceneSnapshot, SeenObject
from behavior_jobs.tree_nodes import register
from behavior_tree import (
    BehaviorTreeFactory,
    InputPort,
    NodeStatus,
    OutputPort,
    StatefulActionNode,
    ports_list,
)

H = 0.0515
ORDER = ("blue_block", "yellow_block", "green_block", "red_block")
TOWER = (0.25, 0.30)
DT = 0.05


@dataclass
class Place:
    """Where a block is."""

    x: float
    y: float
    z: float = H / 2
    tilt: float = 0.0


@dataclass
class World:
    """Blocks and hand."""

    noise: float = 0.0
    attach_delay: float = 0.1
    """[s] from the event until the scene tells of an attached or detached block."""
    blocks: dict[str, Place] = field(default_factory=dict)
    time: float = 10.0
    grasped: str = ""
    """What the fingers hold."""
    held: str = ""
    """What the scene knows of it."""
    blind: bool = False
    log: list[tuple[str, str]] = field(default_factory=list)
    """What skills did: (event, block)."""
    targets: list[tuple[float, float, float]] = field(default_factory=list)
    fail_next: dict[str, list[str]] = field(default_factory=dict)
    """Skill to the messages with which its next goals fail."""
    rng: random.Random = field(default_factory=lambda: random.Random(1))
    snapshot: SceneSnapshot | None = None
    _attach_at: float = math.inf
    _detach_at: float = math.inf

    def __post_init__(self) -> None:
        spawn = zip(("red_block", *ORDER[:3]), (0.3, 0.4333, 0.5667, 0.7), strict=True)
        for name, x in spawn:
            self.blocks.setdefault(name, Place(x, -0.4))

    def receive_frames(self, *names: str) -> None:
        """There are no frames but the objects'."""

    def frame_pose(self, name: str, at: float | None = None) -> None:
        """There are no frames but the objects'."""

    @property
    def now(self) -> float:
        return self.time

    def stack(self, *names: str, at: tuple[float, float] = TOWER) -> None:
        for level, name in enumerate(names):
            self.blocks[name] = Place(*at, (level + 0.5) * H)

    def attach_soon(self) -> None:
        self._attach_at = self.time + self.attach_delay

    def detach_soon(self) -> None:
        self._detach_at = self.time + self.attach_delay

    def release(self) -> None:
        self.grasped = self.held = ""

    def step(self, dt: float = DT) -> None:
        self.time += dt
        if self.time >= self._attach_at:
            self.held, self._attach_at = self.grasped, math.inf
        if self.time >= self._detach_at:
            self.held, self._detach_at = self.grasped, math.inf
        self.snapshot = None if self.blind else SceneSnapshot(self.time, "world", self._see())

    def _see(self) -> dict[str, SeenObject]:
        def noisy(value: float) -> float:
            return value + self.rng.gauss(0.0, self.noise)

        return {
            name: SeenObject(
                name,
                noisy(place.x),
                noisy(place.y),
                noisy(place.z),
                (H, H, H),
                tilt=abs(place.tilt + self.rng.gauss(0.0, 10 * self.noise)),
                held=name == self.held,
            )
            for name, place in self.blocks.items()
        }

    def tower(self) -> list[str]:
        inside = [
            (place.z, name)
            for name, place in self.blocks.items()
            if abs(place.x - TOWER[0]) < 0.012 and abs(place.y - TOWER[1]) < 0.012
        ]
        return [name for _, name in sorted(inside)]

    def events(self, event: str) -> list[str]:
        return [block for kind, block in self.log if kind == event]


class Skill(StatefulActionNode):
    """A skill that takes ``duration`` seconds."""

    world: ClassVar[World]
    duration: ClassVar[float] = 1.0

    @classmethod
    def provided_ports(cls) -> dict[str, Any]:
        return ports_list(
            InputPort("object_name", str, default=""),
            InputPort("target", PoseStamped, default=None),
            InputPort("any_yaw", bool, default=False),
            InputPort("mode", str, default=""),
            InputPort("named_target", str, default=""),
            OutputPort("phase", str),
        )

    def on_start(self) -> NodeStatus:
        self.began = self.world.time
        self.block = self.get_input("object_name")
        self.world.log.append((f"start {self.registration_id()}", self.block))
        failures = self.world.fail_next.get(self.registration_id(), [])
        if failures:
            return self.fail(failures.pop(0))
        return self.begin()

    def on_running(self) -> NodeStatus:
        part = (self.world.time - self.began) / self.duration
        self.set_output("phase", "early" if part < 0.5 else "late")
        return self.go_on(part)

    def on_halted(self) -> None:
        self.world.log.append((f"halt {self.registration_id()}", self.block))
        if self.world.grasped:
            self.world.held = self.world.grasped

    def fail(self, reason: str) -> NodeStatus:
        self.world.log.append((f"fail {self.registration_id()}", self.block))
        self.set_failure_reason(reason)
        return NodeStatus.FAILURE

    def succeed(self) -> NodeStatus:
        self.world.log.append((f"done {self.registration_id()}", self.block))
        return NodeStatus.SUCCESS

    def begin(self) -> NodeStatus:
        return NodeStatus.RUNNING

    def go_on(self, part: float) -> NodeStatus:
        return NodeStatus.RUNNING if part < 1.0 else self.succeed()


class Pick(Skill):
    def begin(self) -> NodeStatus:
        if self.world.grasped:
            return self.fail("the gripper is not free")
        self.tried = False
        return NodeStatus.RUNNING

    def go_on(self, part: float) -> NodeStatus:
        world = self.world
        if self.block not in world.blocks:
            return self.fail(f"{self.block} is not in the scene")
        if part >= 0.5 and not self.tried:
            self.tried = True
            world.grasped = self.block
        if self.tried and world.grasped != self.block:
            return self.fail(f"{self.block} did not follow the gripper")
        if world.grasped:
            world.blocks[self.block].z += 0.01
        if part < 1.0:
            return NodeStatus.RUNNING
        world.blocks[self.block] = Place(0.4, 0.0, 0.4)
        world.attach_soon()
        return self.succeed()


class PlaceBlock(Skill):
    def begin(self) -> NodeStatus:
        self.released = False
        if self.world.grasped != self.block:
            return self.fail(f"{self.block} is not held")
        position = self.get_input("target").pose.position
        self.target = (position.x, position.y, position.z)
        self.world.targets.append(self.target)
        return NodeStatus.RUNNING

    def go_on(self, part: float) -> NodeStatus:
        world = self.world
        if not self.released:
            if world.grasped != self.block:
                return self.fail(f"{self.block} left the gripper on the way")
            if part >= 0.6:
                self.released = True
                world.grasped = ""
                world.detach_soon()
                world.blocks[self.block] = Place(*self.target)
        return NodeStatus.RUNNING if part < 1.0 else self.succeed()


def factory_for(world: World) -> BehaviorTreeFactory:
    """A factory with the scene's nodes and the skills of a world."""
    factory = BehaviorTreeFactory(clock=lambda: world.time)
    register_scene_nodes(factory, world)
    register(factory, NodeContext(node=None, scene=world))
    for name, base in (
        ("Pick", Pick),
        ("Place", PlaceBlock),
        ("MoveArm", Skill),
        ("MoveGripper", type("Quick", (Skill,), {"duration": 0.2})),
    ):
        factory.register_node_type(type(name, (base,), {"world": world}), name)
    return factory


class Mission(TreeDrive):
    """The tree stack_blocks in a world."""

    def __init__(self, world: World, **parameters: str) -> None:
        self.world = world
        super().__init__("stack_blocks", world, factory_for(world), parameters)

    def story(self) -> tuple[object, ...]:
        return self.run.activity(), self.world.log[-6:]

    def until(self, condition: Callable[[], bool], limit: float = 120.0) -> None:
        super().until(condition, limit)
