# SPDX-License-Identifier: Apache-2.0
"""A world without physics for stack_bins: bins, a belt, a tool that goes where its funnel says.

Its skills behave as those of behavior_skills do. Bins stick, fall, nest and are pushed aside by a
few rules that are written out below.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from geometry_msgs.msg import PoseStamped, Vector3
from scipy.spatial.transform import Rotation, Slerp
from tree_drive import TreeDrive

from behavior_executor.node.tree_nodes import NodeContext
from behavior_executor.scene.scene_manager import register_scene_nodes
from behavior_executor.scene_view import Matrix, SceneBody, SceneSnapshot, SeenObject
from behavior_jobs.bins import BinFloor
from behavior_jobs.poses import is_near
from behavior_jobs.tree_nodes import register
from behavior_motion import ApproachParams
from behavior_ros import pose_to_matrix
from behavior_ros.messages.field_values import message_from_text
from behavior_tree import (
    BehaviorTreeFactory,
    ConditionNode,
    InputPort,
    NodeStatus,
    OutputPort,
    StatefulActionNode,
    ports_list,
    register_converter,
)
from behavior_tree.decider import register_decider_nodes

DT = 0.05
SIZE = (0.2, 0.3, 0.147)
FLOOR = BinFloor()
STOP, BELT, GROUND = 0.45, -0.45, -1.2
"""[m] y where bins wait; heights."""
STATION = np.array([0.79, 0.74])
PLAY, HIGHER = 0.008, 0.012
"""[m] by which nested bins may be off, and how much too high one stands that is further off."""
UP, DOWN = np.eye(3), np.diag([1.0, -1.0, -1.0])
STUCK = 1.0
"""[s] without motion after which a reach fails."""
TURN = 4.0
"""[rad/s] of the tool."""

register_converter(PoseStamped, lambda text: message_from_text(PoseStamped, text))
register_converter(Vector3, lambda text: message_from_text(Vector3, text))


def bin_pose(x: float, y: float, z: float, rotation: Matrix = UP) -> Matrix:
    """Of a bin's centre, 4x4."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, (x, y, z)
    return pose


def _angle(first: Matrix, second: Matrix) -> float:
    """[rad] between two rotations (3x3)."""
    return math.acos(max(-1.0, min(1.0, (float(np.vdot(first, second)) - 1.0) / 2.0)))


def _turned(start: Matrix, end: Matrix, most: float) -> Matrix:
    """From a rotation to another (3x3), by so much at most [rad]."""
    angle = _angle(start, end)
    if angle <= most:
        return end
    between = Slerp([0.0, angle], Rotation.from_matrix(np.stack([start, end])))
    return np.asarray(between(most).as_matrix())


@dataclass
class World:
    """Bins, belt and tool."""

    coming: list[Matrix] = field(default_factory=list)
    """Orientations (3x3) of the bins that come, one after the other."""
    noise: float = 0.0
    bins: dict[str, Matrix] = field(default_factory=dict)
    tool: Matrix = field(default_factory=lambda: bin_pose(0.16, 0.69, 0.49, DOWN))
    speed: float = 1.0
    """[m/s] of the tool."""
    time: float = 10.0
    held: str = ""
    pump: bool = False
    jammed: bool = False
    blind: bool = False
    silent: bool = False
    """The vacuum sensor."""
    no_suction: bool = False
    unseen: set[str] = field(default_factory=set)
    log: list[tuple[str, str]] = field(default_factory=list)
    fail_next: dict[str, list[str]] = field(default_factory=dict)
    """Node to the reasons with which it fails next."""
    snapshot: SceneSnapshot | None = None
    on_placed: Callable[[str], None] = lambda name: None
    rng: random.Random = field(default_factory=lambda: random.Random(1))
    _grip: Matrix = field(default_factory=lambda: np.eye(4))
    _count: int = 0
    _looks: dict[str, tuple[float, Matrix]] = field(default_factory=dict)
    """[s] when each bin was seen last, and how."""

    # -- what the nodes ask

    @property
    def now(self) -> float:
        return self.time

    def receive_frames(self, *names: str) -> None:
        """All are known."""

    def frame_pose(self, name: str, at: float | None = None) -> Matrix | None:
        return self.tool if name == "tool" else None

    # -- what happens

    def step(self, dt: float = DT) -> None:
        self.time += dt
        self._spawn()
        for name, pose in self.bins.items():
            on_belt = abs(pose[0, 3]) < 0.4 and STOP < pose[1, 3] <= 1.5
            if on_belt and name != self.held and not self.jammed:
                pose[1, 3] = max(STOP, pose[1, 3] - 0.3 * dt)
        if self.held:
            self.bins[self.held] = self.tool @ self._grip
        self._see()

    def _spawn(self) -> None:
        last = self.bins.get(f"bin_{self._count - 1}")
        gone = last is None or not (last[1, 3] > 0.0 and abs(last[0, 3]) < 0.4)
        if self.coming and gone:
            rotation = self.coming.pop(0)
            height = BELT + (0.0735 if rotation[2, 2] != 0.0 else 0.1)
            self.bins[f"bin_{self._count}"] = bin_pose(0.0, 1.5, height, rotation)
            self._count += 1

    def _see(self) -> None:
        if self.blind:
            self.snapshot = None
            return
        objects, bodies = {}, {}
        for name, truth in self.bins.items():
            if name not in self.unseen or name not in self._looks:
                pose = truth.copy()
                pose[:3, 3] += [self.rng.gauss(0.0, self.noise) for _ in range(3)]
                self._looks[name] = self.time, pose
            seen, pose = self._looks[name]
            x, y, z = pose[:3, 3]
            objects[name] = SeenObject(
                name,
                x,
                y,
                z,
                SIZE,
                class_id="bin",
                held=name == self.held,
                stale=name in self.unseen,
            )
            link = "gripper" if name == self.held else ""
            bodies[name] = SceneBody(name, pose, None, seen, attached_link=link)
        self.snapshot = SceneSnapshot(self.time, "world", objects, bodies)

    def suck(self) -> bool:
        """Whether something sticks to the tool now."""
        for name, pose in self.bins.items():
            for opening_up in (True, False):
                grasp = FLOOR.grasp(pose, opening_up=opening_up)
                aligned = float(grasp[:3, 2] @ self.tool[:3, 2]) > 0.97
                if aligned and is_near(grasp, self.tool, 0.01):
                    self.held = name
                    self._grip = np.linalg.inv(self.tool) @ pose
                    return True
        return False

    def release(self) -> None:
        """What sticks to the tool comes to rest on what is below it."""
        name, self.held = self.held, ""
        if name:
            self.settle(name)

    def settle(self, name: str) -> None:
        pose = self.bins[name]
        x, y = pose[:2, 3]
        if math.dist((x, y), STATION) < 0.1:
            self.bins[name] = bin_pose(*STATION, 0.2075 - 0.066, DOWN)
        elif x > 0.45 and y < 0.2:
            pose[2, 3] = self.rest_height(x, y, name)
            self.on_placed(name)
        elif abs(x) < 0.4 and y > 0.0:
            pose[2, 3] = BELT + 0.0735
        else:
            pose[2, 3] = GROUND + 0.0735
        self._see()

    def rest_height(self, x: float, y: float, name: str = "") -> float:
        """Height [m] of the centre of a bin, opening down, that stands on the pallet."""
        lowest = -0.51874 - 0.0075 - 0.066
        below = [
            other
            for known, other in self.bins.items()
            if known != name and math.dist(other[:2, 3], (x, y)) < 0.1 and other[2, 3] < 0.0
        ]
        if not below:
            return lowest
        top = max(below, key=lambda other: float(other[2, 3]))
        nested = max(abs(top[0, 3] - x), abs(top[1, 3] - y)) <= PLAY
        return float(top[2, 3]) + 0.135 + (0.0 if nested else HIGHER)

    def move_tool(self, target: Matrix, approach: ApproachParams | None, dt: float = DT) -> None:
        """A step towards a target, as the funnel leads there and as the pallet's bins let it."""
        aim = target if approach is None else approach.shifted(self.tool, target)
        way = aim[:3, 3] - self.tool[:3, 3]
        moved = self.tool.copy()
        moved[:3, 3] += way * min(1.0, self.speed * dt / max(float(np.linalg.norm(way)), 1e-9))
        moved[:3, :3] = _turned(self.tool[:3, :3], aim[:3, :3], TURN * dt)
        self.tool = moved
        if self.held:
            self._stand_on_what_is_below()

    def _stand_on_what_is_below(self) -> None:
        pose = self.tool @ self._grip
        x, y, z = pose[:3, 3]
        if not (x > 0.45 and y < 0.2 and pose[2, 2] < -0.9):
            return
        lowest = self.rest_height(x, y, self.held)
        if z < lowest:
            self.tool[2, 3] += lowest - z

    def events(self, event: str) -> list[str]:
        return [what for kind, what in self.log if kind == event]


class _Node:
    world: ClassVar[World]

    def failure(self, name: str) -> str:
        """Why it fails now, by order; empty: it does not."""
        reasons = self.world.fail_next.get(name, [])
        return reasons.pop(0) if reasons else ""


class Reach(_Node, StatefulActionNode):
    """Goes where the funnel leads."""

    @classmethod
    def provided_ports(cls) -> dict[str, Any]:
        texts = ("may_touch", "obstacles_off", "obstacles_on", "posture")
        flags = ("follow_frame", "approach_along_tool", "feel", "local_only")
        return ports_list(
            InputPort("pose", PoseStamped),
            InputPort("approach", Vector3, None),
            InputPort("approach_std_dev", float, 0.02),
            InputPort("position_tolerance", float, 0.005),
            InputPort("orientation_tolerance", float, 0.03),
            InputPort("min_distance", float, 0.0),
            InputPort("max_linear_velocity", float, 0.0),
            *(InputPort(name, Any, None) for name in texts),
            *(InputPort(name, bool, False) for name in flags),
            OutputPort("phase", str),
        )

    def on_start(self) -> NodeStatus:
        self.world.log.append(("reach", self.name))
        reason = self.failure(self.name)
        if reason:
            self.set_failure_reason(reason)
            return NodeStatus.FAILURE
        self.moved_at = self.world.time
        return self.on_running()

    def on_running(self) -> NodeStatus:
        world, message = self.world, self.get_input("pose")
        target = pose_to_matrix(message.pose)
        if message.header.frame_id != "world":
            assert world.snapshot is None or message.header.frame_id in world.bins
            target = world.bins[message.header.frame_id] @ target
        before = world.tool
        world.move_tool(target, self._funnel(target))
        turn = _angle(world.tool[:3, :3], target[:3, :3])
        off = float(np.linalg.norm(world.tool[:3, 3] - target[:3, 3]))
        there = off <= self.get_input("position_tolerance")
        if there and turn <= self.get_input("orientation_tolerance"):
            return NodeStatus.SUCCESS
        if not is_near(before, world.tool, 1e-5):
            self.moved_at = world.time
        if world.time - self.moved_at <= STUCK:
            return NodeStatus.RUNNING
        self.set_failure_reason(f"the tool is {1e3 * off:.0f} mm from where it was sent")
        return NodeStatus.FAILURE

    def _funnel(self, target: Matrix) -> ApproachParams | None:
        given = self.get_input("approach", None)
        if given is None or not any((given.x, given.y, given.z)):
            return None
        direction = np.array([given.x, given.y, given.z])
        if self.get_input("approach_along_tool"):
            direction = target[:3, :3] @ direction
        return ApproachParams(direction, self.get_input("approach_std_dev"))

    def on_halted(self) -> None:
        self.world.log.append(("halt", self.name))


class MoveArm(_Node, StatefulActionNode):
    """Turns the tool over, where it is."""

    @classmethod
    def provided_ports(cls) -> dict[str, Any]:
        return ports_list(
            InputPort("mode", str),
            InputPort("joints", str),
            InputPort("avoid_collisions", bool, True),
            OutputPort("phase", str),
        )

    def on_start(self) -> NodeStatus:
        self.world.log.append(("arm", self.name))
        self.began = self.world.time
        reason = self.failure(self.name)
        if reason:
            self.set_failure_reason(reason)
            return NodeStatus.FAILURE
        return NodeStatus.RUNNING

    def on_running(self) -> NodeStatus:
        if self.world.time - self.began < 1.0:
            return NodeStatus.RUNNING
        self.world.tool[:3, :3] = UP if self.name == "turn over" else DOWN
        return NodeStatus.SUCCESS


class MoveGripper(_Node, StatefulActionNode):
    """The pump: CLOSE ends when something sticks to the tool, or after its time."""

    @classmethod
    def provided_ports(cls) -> dict[str, Any]:
        return ports_list(
            InputPort("mode", str),
            InputPort("timeout", float, 2.0),
            OutputPort("phase", str),
        )

    def on_start(self) -> NodeStatus:
        self.began = self.world.time
        mode = self.get_input("mode")
        self.world.log.append((mode, self.world.held))
        self.world.pump = mode == "CLOSE"
        if mode == "OPEN":
            self.world.release()
            return NodeStatus.SUCCESS
        return NodeStatus.RUNNING

    def on_running(self) -> NodeStatus:
        world = self.world
        if not world.no_suction and world.suck():
            return NodeStatus.SUCCESS
        if world.time - self.began <= self.get_input("timeout"):
            return NodeStatus.RUNNING
        world.pump = False
        self.set_failure_reason("nothing stuck to the cup within 2 s: see whether the pump runs")
        return NodeStatus.FAILURE


class Vacuum(_Node, ConditionNode):
    """The sensor."""

    @classmethod
    def provided_ports(cls) -> dict[str, Any]:
        return ports_list(OutputPort("data", bool))

    def tick(self) -> NodeStatus:
        if self.world.silent:
            return NodeStatus.FAILURE
        self.set_output("data", bool(self.world.held))
        return NodeStatus.SUCCESS


class SetupObject(_Node, ConditionNode):
    """Puts objects of the library into the scene."""

    @classmethod
    def provided_ports(cls) -> dict[str, Any]:
        return ports_list(InputPort("names", Any))

    def tick(self) -> NodeStatus:
        return NodeStatus.SUCCESS


class Mission(TreeDrive):
    """The tree stack_bins in a world."""

    def __init__(self, world: World, **parameters: str) -> None:
        self.world = world
        factory = BehaviorTreeFactory(clock=lambda: world.time)
        register_decider_nodes(factory)
        register_scene_nodes(factory, world)
        register(factory, NodeContext(node=None, scene=world))
        for base in (Reach, MoveArm, MoveGripper, Vacuum, SetupObject):
            factory.register_node_type(
                type(base.__name__, (base,), {"world": world}), base.__name__
            )
        super().__init__("stack_bins", world, factory, parameters)
        self._rds = [node for node in self.tree.nodes() if node.registration_id() == "Rd"]
        self.steps: list[str] = []
        """Rds of the dispatch in the order in which they ran."""

    def tick(self) -> NodeStatus:
        super().tick()
        step = self.step
        if step and self.steps[-1:] != [step]:
            self.steps.append(step)
        return self.status

    @property
    def step(self) -> str:
        """The Rd of the dispatch that runs."""
        return next((rd.name for rd in self._rds if rd.status is NodeStatus.RUNNING), "")

    def entry(self, key: str) -> Any:
        """Of the root blackboard."""
        return self.tree.root_blackboard().get(key)

    def story(self) -> tuple[object, ...]:
        return self.run.activity(), self.world.log[-6:]

    def finish(self, limit: float = 300.0) -> NodeStatus:
        return super().finish(limit)
