# SPDX-License-Identifier: Apache-2.0
"""A hand, blocks and time without physics, for the block network with its real tree and nodes.

Reach goes to its target through the funnel, MoveGripper closes on what is between the fingers, and
what nobody holds falls straight down. Somebody may take things and put them elsewhere at any time.
"""

from __future__ import annotations

import math
import random
from typing import Any, ClassVar

import numpy as np
from geometry_msgs.msg import PoseStamped
from tree_drive import TreeDrive

from behavior_executor.node.tree_nodes import NodeContext
from behavior_executor.scene.scene_manager import register_scene_nodes
from behavior_executor.scene_view import Matrix, SceneBody, SceneSnapshot
from behavior_jobs.tree_nodes import register
from behavior_motion import ApproachParams
from behavior_ros import pose_to_matrix
from behavior_tree import (
    BehaviorTreeFactory,
    InputPort,
    NodeStatus,
    OutputPort,
    StatefulActionNode,
    ports_list,
)
from behavior_tree.decider import holders, register_decider_nodes

H = 0.0515
ORDER = BLUE, YELLOW, GREEN, RED = "blue_block", "yellow_block", "green_block", "red_block"
TOWER = (0.25, 0.30)
DT = 1.0 / 60.0
SPEED, FINGERS = 1.0, 0.2
"""[m/s] of the tool and of the gap between the fingers."""
SOON = 1e-9


def turned(axis: str, angle: float) -> Matrix:
    """Rotation about an axis by an angle [rad], 3x3."""
    c, s = math.cos(angle), math.sin(angle)
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    rotation = np.eye(3)
    rotation[i, i], rotation[i, j], rotation[j, i], rotation[j, j] = c, -s, s, c
    return rotation


def pose(x: float, y: float, z: float, rotation: Matrix | None = None) -> Matrix:
    """A 4x4 pose."""
    made = np.eye(4)
    made[:3, 3] = x, y, z
    if rotation is not None:
        made[:3, :3] = rotation
    return made


HOME = pose(0.307, 0.0, 0.487, np.diag([1.0, -1.0, -1.0]))


class BlockWorld:
    """The blocks and the hand; a `Scene`."""

    def __init__(self) -> None:
        self.now = 10.0
        self.rng = random.Random(1)
        self.tool, self.width = HOME.copy(), 0.08
        self.grasped, self.tool_T_block = "", np.eye(4)
        xs = dict(zip((RED, *ORDER[:3]), (0.3, 0.4333, 0.5667, 0.7), strict=True))
        self.blocks = {name: pose(x, -0.34, H / 2) for name, x in xs.items()}
        self.hidden: set[str] = set()
        self.blind = False
        self.snapshot: SceneSnapshot | None = None

    def receive_frames(self, *names: str) -> None:
        """They are always there."""

    def frame_pose(self, name: str, at: float | None = None) -> Matrix | None:
        if self.blind:
            return None
        side = {"tool": 0.0, "panda_leftfinger": 0.5, "panda_rightfinger": -0.5}[name]
        return self.tool @ pose(0.0, side * self.width, 0.0)

    def put(self, name: str, x: float, y: float, z: float = H / 2) -> None:
        """Somebody puts a block there, also out of the hand."""
        if self.grasped == name:
            self.grasped = ""
        self.blocks[name] = pose(x, y, z)

    def stack(self, *names: str) -> None:
        """They stand at the tower's place, bottom first."""
        for level, name in enumerate(names):
            self.put(name, *TOWER, (level + 0.5) * H)

    def position(self, name: str) -> Matrix:
        return self.blocks[name][:3, 3]

    def tower(self) -> list[str]:
        """What stands within 1 cm of the tower's axis, bottom first."""
        inside = [
            (at[2, 3], name)
            for name, at in self.blocks.items()
            if math.dist(at[:2, 3], TOWER) < 0.01 and name != self.grasped
        ]
        return [name for _, name in sorted(inside)]

    def close_on(self) -> str:
        """What is between the fingers."""
        for name, at in self.blocks.items():
            x, y, z = (np.linalg.inv(self.tool) @ at)[:3, 3]
            if abs(x) < 0.02 and abs(y) < 0.03 and abs(z) < 0.02:
                return name
        return ""

    def grasp(self, name: str) -> None:
        self.grasped = name
        self.tool_T_block = np.linalg.inv(self.tool) @ self.blocks[name]
        self.tool_T_block[1, 3] = 0.0

    def drop(self) -> None:
        """What the hand held falls onto what is below."""
        name, self.grasped = self.grasped, ""
        if not name:
            return
        at = self.blocks[name]
        tops = [
            other[2, 3] + H / 2
            for key, other in self.blocks.items()
            if key != name
            and math.dist(other[:2, 3], at[:2, 3]) < 0.7 * H
            and other[2, 3] < at[2, 3]
        ]
        at[2, 3] = max(tops, default=0.0) + H / 2

    def step(self) -> None:
        """Time passes, and what is there is seen."""
        self.now += DT
        if self.grasped:
            self.blocks[self.grasped] = self.tool @ self.tool_T_block
        bodies = {
            name: SceneBody(name, at.copy(), None, self.now)
            for name, at in self.blocks.items()
            if name not in self.hidden
        }
        self.snapshot = None if self.blind else SceneSnapshot(self.now, bodies=bodies)


class KinematicSkill(StatefulActionNode):
    """Base of the stand-ins."""

    world: ClassVar[BlockWorld]
    log: ClassVar[list[tuple[str, str]]]

    def say(self, what: str) -> None:
        self.log.append((what, self.registration_id()))

    def on_start(self) -> NodeStatus:
        self.say("enter")
        return self.on_running()

    def on_halted(self) -> None:
        self.say("exit")

    def ended(self, status: NodeStatus) -> NodeStatus:
        self.say("exit")
        return status


class Reach(KinematicSkill):
    """Goes to its newest target."""

    flags = ("approach_along_tool", "local_only")
    numbers = ("approach_std_dev", "position_tolerance", "orientation_tolerance")
    targets: ClassVar[list[Matrix]]
    touched: ClassVar[list[list[str]]]
    fail_next: ClassVar[list[str]]

    @classmethod
    def provided_ports(cls) -> dict[str, Any]:
        return ports_list(
            InputPort("pose", PoseStamped),
            InputPort("approach", list[float], default=""),
            InputPort("posture", list[float], default=""),
            *(
                InputPort(name, bool, default=False)
                for name in ("approach_along_tool", "local_only")
            ),
            *(
                InputPort(name, float, default=0.0)
                for name in ("approach_std_dev", "position_tolerance", "orientation_tolerance")
            ),
            InputPort("may_touch", list[str], default=""),
            OutputPort("phase", str),
        )

    def on_start(self) -> NodeStatus:
        if self.fail_next:
            self.say("enter")
            self.set_failure_reason(self.fail_next.pop(0))
            return self.ended(NodeStatus.FAILURE)
        return super().on_start()

    def on_running(self) -> NodeStatus:
        world, target = self.world, pose_to_matrix(self.get_input("pose").pose)
        approach, aim = self.get_input("approach"), target
        world.tool[:3, :3] = target[:3, :3]
        if approach:
            funnel = ApproachParams(target[:3, :3] @ approach, self.get_input("approach_std_dev"))
            aim = funnel.shifted(world.tool, target)
        self.targets.append(target)
        self.touched.append(self.get_input("may_touch"))
        rest = aim[:3, 3] - world.tool[:3, 3]
        length = float(np.linalg.norm(rest))
        world.tool[:3, 3] += rest * min(1.0, SPEED * DT / max(length, SOON))
        if math.dist(world.tool[:3, 3], target[:3, 3]) < 1e-4:
            return self.ended(NodeStatus.SUCCESS)
        return NodeStatus.RUNNING


class MoveGripper(KinematicSkill):
    """Opens and closes."""

    @classmethod
    def provided_ports(cls) -> dict[str, Any]:
        return ports_list(
            InputPort("mode", str), OutputPort("result_width", float), OutputPort("phase", str)
        )

    def on_running(self) -> NodeStatus:
        world, opens = self.world, self.get_input("mode") == "OPEN"
        between = "" if opens else world.grasped or world.close_on()
        goal = 0.08 if opens else H if between else 0.0
        if opens:
            world.drop()
        way = goal - world.width
        world.width += math.copysign(min(abs(way), FINGERS * DT), way)
        if abs(world.width - goal) > SOON:
            return NodeStatus.RUNNING
        if between and not world.grasped:
            world.grasp(between)
        self.set_output("result_width", world.width)
        return self.ended(NodeStatus.SUCCESS)


class MoveArm(KinematicSkill):
    """Goes home."""

    @classmethod
    def provided_ports(cls) -> dict[str, Any]:
        return ports_list(
            InputPort("mode", str), InputPort("named_target", str), OutputPort("phase", str)
        )

    def on_running(self) -> NodeStatus:
        tool = self.world.tool
        rest = HOME[:3, 3] - tool[:3, 3]
        tool[:3, 3] += rest * min(1.0, SPEED * DT / max(float(np.linalg.norm(rest)), SOON))
        tool[:3, :3] = HOME[:3, :3]
        there = np.linalg.norm(tool - HOME) < SOON
        return self.ended(NodeStatus.SUCCESS) if there else NodeStatus.RUNNING


class NetworkMission(TreeDrive):
    """The tree decider_stack_blocks in a world."""

    def __init__(self, world: BlockWorld, **parameters: str) -> None:
        self.world = world
        self.log: list[tuple[str, str]] = []
        self.targets: list[Matrix] = []
        self.touched: list[list[str]] = []
        self.fail_next: list[str] = []
        factory = BehaviorTreeFactory(clock=lambda: world.now)
        register_decider_nodes(factory)
        register_scene_nodes(factory, world)
        register(factory, NodeContext(node=None, scene=world))
        shared = {"world": world, "log": self.log}
        reaching = {"targets": self.targets, "touched": self.touched, "fail_next": self.fail_next}
        for base, extra in ((Reach, reaching), (MoveGripper, {}), (MoveArm, {})):
            name = base.__name__
            factory.register_node_type(type(name, (base,), {**shared, **extra}), name)
        super().__init__("decider_stack_blocks", world, factory, parameters)
        self.held: list[str] = []
        """What `held` has been, each change an entry."""

    def tick(self) -> NodeStatus:
        super().tick()
        held = self.board.get("held")
        if held != (self.held[-1] if self.held else ""):
            self.held.append(held)
        return self.status

    def story(self) -> tuple[object, ...]:
        return self.path(), self.log[-6:]

    def path(self) -> list[str]:
        """Names of what runs, root first."""
        return [node.name for node in self.tree.nodes() if node.status is NodeStatus.RUNNING]

    def on(self, *names: str) -> bool:
        """Whether these nodes run."""
        return set(names) <= set(self.path())

    def locked(self) -> bool:
        return bool(holders(self.tree))

    def picked(self) -> list[str]:
        """The blocks that `held` has named, in order."""
        return [name for name in self.held if name]

    def entered(self, skill: str = "Reach") -> int:
        return self.log.count(("enter", skill))
