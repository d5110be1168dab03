# SPDX-License-Identifier: Apache-2.0
"""The monitors of the block network as tree nodes.

Each ends in its tick, and writes what it finds to the blackboard. Only `SyncBeliefs` looks at the
scene; what comes after it works on the beliefs, so that all decisions of a tick see the same world.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped

from behavior_executor.scene.scene_nodes import Scene
from behavior_executor.scene_view import Matrix, SceneSnapshot
from behavior_jobs.block_network.belief import BeliefKeeper, Measurement, SyncRules
from behavior_jobs.block_network.grasps import MAX_TILT, untwisted
from behavior_jobs.block_network.moves import (
    REFUSE,
    Move,
    Picker,
    Placement,
    Placer,
    Reachable,
    alignment,
    snapshot_of,
)
from behavior_jobs.block_network.suppression import FARTHEST, command_ahead, touchable
from behavior_jobs.free_spot import TableArea
from behavior_jobs.poses import is_near, stamped
from behavior_jobs.tower import TowerObservation, TowerObserver
from behavior_jobs.tower_nodes import tower_plan, tower_plan_ports
from behavior_motion import ApproachParams
from behavior_ros.node.elapsed import Elapsed
from behavior_tree import (
    BidirectionalPort,
    InputPort,
    NodeConfig,
    NodeStatus,
    OutputPort,
    PortInfo,
    SyncActionNode,
    ports_list,
)

Poses = Mapping[str, Matrix]
FAR = 1e3
"""[m] Distance from what there is not."""
WORLD = "world"
"""Frame of the scene."""
DIGITS = 5
"""Of a target's position [m]: what differs by less is the same goal."""


def _number(name: str, default: float, description: str) -> PortInfo:
    return InputPort(name, float, default=default, description=description)


def _given(*names: str) -> list[PortInfo]:
    """Ports that hand on what monitors before have found."""
    ports = {
        "poses": InputPort("poses", object, description="where the blocks are, by SyncBeliefs"),
        "tool": InputPort("tool", object, description="pose of the tool, by SyncBeliefs"),
        "tower": InputPort("tower", TowerObservation, description="by WatchTower and WatchSite"),
        "held": InputPort("held", str, description="block in the hand, empty: none"),
    }
    return [ports[name] for name in names]


def place(pose: Matrix) -> list[float]:
    """X y z of a pose [m]."""
    xyz: list[float] = pose[:3, 3].tolist()
    return xyz


def same(first: Poses, second: Poses) -> bool:
    """Whether all poses are the same objects: beliefs that have not changed are."""
    return len(first) == len(second) and all(second.get(name) is first[name] for name in first)


class _Monitor(SyncActionNode):
    """Base: one look per tick.

    Thresholds are read when the network begins. What follows from things that have not changed is
    neither computed nor written again: a network of 20 nodes is ticked at least 20 times a second.
    """

    def __init__(self, name: str, config: NodeConfig, scene: Scene) -> None:
        """Make the node, as the factory does; ``scene`` is where it looks."""
        super().__init__(name, config)
        self._scene = scene
        self._written: dict[str, Any] = {}
        self._read: dict[str, Any] = {}

    def _fixed(self, name: str) -> Any:
        """A port as it was when it was asked for first."""
        if name not in self._read:
            self._read[name] = self.get_input(name)
        return self._read[name]

    def _write(self, name: str, value: Any) -> None:
        """Write an entry that nobody else writes, where it has changed."""
        if self._written.get(name, self) != value:
            self._written[name] = value
            self.set_output(name, value)


class _Aiming(_Monitor):
    """Base of the monitors that say where the tool is to go."""

    def __init__(self, name: str, config: NodeConfig, scene: Scene) -> None:
        """Make the node, as the factory does; ``scene`` is where it looks."""
        super().__init__(name, config, scene)
        self._near = 0.0, 0.0
        self._target: tuple[Matrix, bool] | None = None

    def _write_target(self, port: str, pose: Matrix, tool: Matrix) -> None:
        """Write the target of a reach to this pose."""
        target = untwisted(pose, tool)
        twisted = target is not pose
        if self._target is None or self._target[0] is not pose or self._target[1] is not twisted:
            self._target = pose, twisted
            self._write(port, stamped(WORLD, target, digits=DIGITS))


class SyncBeliefs(_Monitor):
    """Monitor 1: where the blocks are believed to be, and where the hand is."""

    def __init__(self, name: str, config: NodeConfig, scene: Scene) -> None:
        """Make the node, as the factory does; ``scene`` is where it looks."""
        super().__init__(name, config, scene)
        self._started: tuple[BeliefKeeper, list[str]] | None = None
        self._blind_for: Elapsed | None = None
        self._snapshot: SceneSnapshot | None = None
        self._measured: dict[str, Measurement] = {}
        scene.receive_frames()

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        """Ports; lengths in metres in the frame of the scene."""
        rules = SyncRules()
        return ports_list(
            InputPort("blocks", list[str], description="names of the blocks: a;b;c"),
            InputPort("held", str, description="block in the hand, empty: none"),
            InputPort("tool_frame", str, default="tool"),
            InputPort(
                "fingers",
                list[str],
                default="panda_leftfinger;panda_rightfinger",
                description="two frames, as far from each other as the hand is open",
            ),
            _number("hand_radius", rules.hand_radius, "[m] nearer to the tool is at the hand"),
            _number("jump", rules.jump, "[m] a block at the hand measured further off has left it"),
            _number("throttle", rules.throttle, "[s] between small corrections of a block"),
            _number("timeout", rules.timeout, "[s] for which a measurement counts"),
            _number("patience", 5.0, "[s] without a scene or the hand's frames, then FAILURE"),
            OutputPort("poses", object, description="where the blocks are, 4x4 by name"),
            OutputPort("tool", object, description="pose of the tool, 4x4"),
            OutputPort("tool_z", float, description="its height [m]"),
            OutputPort("width", float, description="[m] between the fingers"),
            OutputPort("nearest", str, description="block nearest to the tool, empty: none known"),
            OutputPort("in_hand", object, description="tool_T_block of the held block, or None"),
            OutputPort("ready", bool, description="the hand and a block have been seen"),
        )

    def tick(self) -> NodeStatus:
        """Look; FAILURE where there was nothing to see for too long."""
        keeper, frames = self._started or self._start()
        tool, left, right = map(self._scene.frame_pose, frames)
        snapshot = self._scene.snapshot
        if snapshot is None or tool is None or left is None or right is None:
            return self._blind("the scene" if snapshot is None else f"frames {', '.join(frames)}")
        self._blind_for = None
        if snapshot is not self._snapshot:
            self._take_in(snapshot, keeper)
        poses = keeper.update(self._measured, tool, self.get_input("held"), self._scene.now)
        at = place(tool)
        self.set_output("poses", poses)
        self.set_output("tool", tool)
        self.set_output("tool_z", at[2])
        self.set_output("width", math.dist(place(left), place(right)))
        nearest = min(poses, key=lambda name: math.dist(place(poses[name]), at), default="")
        self._write("nearest", nearest)
        self.set_output("in_hand", keeper.in_hand)
        self._write("ready", bool(poses))
        return NodeStatus.SUCCESS

    def _start(self) -> tuple[BeliefKeeper, list[str]]:
        frames = [self.get_input("tool_frame"), *self.get_input("fingers")]
        if len(frames) != 3:
            raise ValueError(f"fingers must name two frames, not {frames[1:]}")
        names = ("hand_radius", "jump", "throttle", "timeout")
        keeper = BeliefKeeper(SyncRules(**{name: self.get_input(name) for name in names}))
        self._started = keeper, frames
        return self._started

    def _take_in(self, snapshot: SceneSnapshot, keeper: BeliefKeeper) -> None:
        self._snapshot, blocks = snapshot, self._fixed("blocks")
        bodies = [snapshot.bodies[name] for name in blocks if name in snapshot.bodies]
        for body in bodies:
            if body.lost:
                keeper.forget(body.name)
        self._measured = {
            body.name: Measurement(body.pose, body.last_seen) for body in bodies if not body.lost
        }

    def _blind(self, what: str) -> NodeStatus:
        self._blind_for = self._blind_for or Elapsed(lambda: self._scene.now)
        if (waited := self._blind_for()) > self._fixed("patience"):
            self.set_failure_reason(
                f"nothing was heard of {what} for {waited:.1f} s: do camera, scene and robot run?"
            )
            return NodeStatus.FAILURE
        if self.get_input("ready", None) is None:
            self.set_output("ready", False)
        return NodeStatus.SUCCESS


class WatchTower(_Monitor):
    """Monitor 3: the stack at the tower's place, and which of its blocks are aligned."""

    ports = ports_list(
        *_given("poses", "held"),
        *tower_plan_ports(),
        InputPort("placed", str, default="", description="block that the hand has put there"),
        OutputPort("tower", TowerObservation, description="all of it, for other nodes"),
        OutputPort("beliefs", SceneSnapshot, description="the blocks as a scene"),
        OutputPort("stack", str, description="blocks of the stack, bottom first"),
        OutputPort("aligned", str, description="those that the hand has put there"),
        OutputPort("complete", bool, description="the stack is the order"),
    )
    """Lengths in metres in the frame of the scene."""

    def __init__(self, name: str, config: NodeConfig, scene: Scene) -> None:
        """Make the node, as the factory does; ``scene`` is where it looks."""
        super().__init__(name, config, scene)
        self._observer: TowerObserver | None = None
        self._tower: TowerObservation | None = None
        self._aligned: dict[str, bool] = {}
        self._last: tuple[str, str] | None = None
        self._seen: Poses = {}

    def tick(self) -> NodeStatus:
        """Observe, where a block that is not in the hand has moved, or another one is held."""
        held, placed = self.get_input("held"), self.get_input("placed")
        poses: Poses = self.get_input("poses", {})
        seen = {name: pose for name, pose in poses.items() if name != held}
        if not (self._last == (held, placed) and same(seen, self._seen)):
            self._last, self._seen = (held, placed), seen
            self._observe(poses, held, placed)
        self.set_output("tower", self._tower)
        return NodeStatus.SUCCESS

    def _observe(self, poses: Poses, held: str, placed: str) -> None:
        if self._observer is None:
            self._observer = TowerObserver(tower_plan(self), settle_time=0.0)
        now, edge = self._scene.now, self._observer.plan.block_height
        beliefs = snapshot_of(poses, held, frame=WORLD, edge=edge, now=now)
        before, tower = self._tower, self._observer.update(beliefs, now)
        self._aligned = alignment(self._aligned, before.stack if before else (), tower.stack)
        if placed in self._aligned:
            self._aligned[placed] = True
        self._tower = tower
        self._write("beliefs", beliefs)
        self._write("stack", ";".join(tower.stack))
        self._write("aligned", ";".join(name for name in tower.stack if self._aligned[name]))
        self._write("complete", tower.complete)


class WatchHand(_Monitor):
    """Monitor 2: whether what was taken is still in the hand, and whether the hand is open."""

    ports = ports_list(
        *_given("poses", "tool"),
        BidirectionalPort("held", str, description="block in the hand, emptied if it is lost"),
        InputPort("width", float, description="[m] between the fingers"),
        _number("lost_distance", 0.1, "[m] from the tool, further off a held block is lost"),
        _number("held_width", 0.045, "[m] fingers closer than this hold nothing"),
        _number("open_width", 0.07, "[m] from which on the hand is open"),
        OutputPort("opened", bool, description="the hand is open"),
        OutputPort("lost", str, description="block that was lost last"),
    )
    """Lengths in metres."""

    def tick(self) -> NodeStatus:
        """Watch."""
        held, width = self.get_input("held"), self.get_input("width")
        self._write("opened", width >= self._fixed("open_width"))
        if not held:
            return NodeStatus.SUCCESS
        pose, tool = self.get_input("poses").get(held), self.get_input("tool")
        off = FAR if pose is None else math.dist(place(pose), place(tool))
        if off > self._fixed("lost_distance") or width < self._fixed("held_width"):
            self.set_output("held", "")
            self.set_output("lost", held)
        return NodeStatus.SUCCESS


class WatchSite(_Aiming):
    """Monitor 4: what is in the way of building, and which block to take how.

    Blocks that lean at the tower, or stand so near to it that the hand cannot go down beside it,
    are obstructions and go first.
    """

    def __init__(self, name: str, config: NodeConfig, scene: Scene) -> None:
        """Make the node, as the factory does; ``scene`` is where it looks."""
        super().__init__(name, config, scene)
        self._picker: Picker | None = None
        self._seen_tower: TowerObservation | None = None
        self._crowded: TowerObservation | None = None
        self._move = Move()
        self._refused_for: Elapsed | None = None

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        """Ports; lengths in metres in the frame of the scene."""
        reachable = Reachable()
        return ports_list(
            *_given("poses", "tool"),
            BidirectionalPort("tower", TowerObservation, description="what obstructs is added"),
            _number("nearest", reachable.near, "[m] from the base at least"),
            _number("farthest", reachable.far, "[m] from the base at most"),
            _number("site_radius", 0.15, "[m] from the axis, nearer blocks may be in the way"),
            _number("max_tilt", MAX_TILT, "1 - cos of a grasp's angle to straight down, at most"),
            _number("grasp_height", 0.0, "[m] of the tool above the block's centre"),
            _number("reached", 0.005, "[m] from the grasp, where the hand is there"),
            _number("turned", 0.005, "third of the Frobenius norm between rotations, likewise"),
            _number("patience", 60.0, "[s] of waiting for what cannot be done, then FAILURE"),
            OutputPort("block", str, description="what to take, empty: nothing"),
            OutputPort("purpose", str, description="build, clear, refuse; empty: nothing to do"),
            OutputPort("grasp", PoseStamped, description="pose of the tool there"),
            OutputPort("aim", object, description="the same as a matrix, or None"),
            OutputPort("to_grasp", float, description="[m] of the tool from it"),
            OutputPort("at_grasp", bool, description="the tool is there"),
            OutputPort("refusal", str, description="why it is refused"),
        )

    def tick(self) -> NodeStatus:
        """Choose, where the hand is free; what is being carried changes nothing."""
        tower: TowerObservation = self.get_input("tower")
        poses: Poses = self.get_input("poses", {})
        if tower is not self._seen_tower:
            picker = self._picker or self._make_picker()
            self._seen_tower, self._crowded = tower, picker.crowded(tower, poses)
            if not tower.held:
                self._choose(picker.choose(self._crowded, poses))
        self.set_output("tower", self._crowded)
        if tower.held:
            self._refused_for = None
            self._write_distance(None)
            return NodeStatus.SUCCESS
        self._write_distance(None if self._move.grasp is None else self._move.grasp.pose)
        if self._move.purpose == REFUSE and poses:
            return self._wait(self._move.why)
        self._refused_for = None
        return NodeStatus.SUCCESS

    def _choose(self, move: Move) -> None:
        self._move = move
        self._write("block", move.block)
        self._write("purpose", move.purpose)
        self._write("refusal", move.why)

    def _make_picker(self) -> Picker:
        self._near = self.get_input("reached"), self.get_input("turned")
        self._picker = Picker(
            reachable=Reachable(self.get_input("nearest"), self.get_input("farthest")),
            site_radius=self.get_input("site_radius"),
            max_tilt=self.get_input("max_tilt"),
            offset=self.get_input("grasp_height"),
        )
        return self._picker

    def _write_distance(self, grasp: Matrix | None) -> None:
        self.set_output("aim", grasp)
        tool: Matrix | None = self.get_input("tool", None)
        if grasp is None or tool is None:
            self._write("to_grasp", FAR)
            self._write("at_grasp", False)
            return
        self._write_target("grasp", grasp, tool)
        self._write("to_grasp", math.dist(place(grasp), place(tool)))
        self._write("at_grasp", is_near(grasp, tool, *self._near))

    def _wait(self, why: str) -> NodeStatus:
        self._refused_for = self._refused_for or Elapsed(lambda: self._scene.now)
        if (waited := self._refused_for()) <= self._fixed("patience"):
            return NodeStatus.SUCCESS
        self.set_failure_reason(f"{why}; nobody has changed that for {waited:.0f} s")
        return NodeStatus.FAILURE


class ChoosePlacement(_Aiming):
    """Monitor 5: where to let go of what the hand holds."""

    ports = ports_list(
        *_given("tower", "tool"),
        InputPort("beliefs", SceneSnapshot, description="the blocks, by WatchTower"),
        InputPort("in_hand", object, description="tool_T_block, by SyncBeliefs"),
        InputPort("area", list[float], description="x_min;x_max;y_min;y_max of the table [m]"),
        _number("reach", 0.7, "[m] from the base at most"),
        _number("clearance", 0.15, "[m] between centres on the table, and from the tower"),
        _number("base_clearance", 0.35, "[m] from the base at least"),
        _number("reached", 0.005, "[m] from the placement, where the hand is there"),
        _number("turned", 0.005, "third of the Frobenius norm between rotations, likewise"),
        OutputPort("destination", str, description="tower, table; empty: nothing is held"),
        OutputPort("placement", PoseStamped, description="pose of the tool there"),
        OutputPort("aim", object, description="the same as a matrix"),
        OutputPort("at_placement", bool, description="the tool is there"),
    )
    """Lengths in metres in the frame of the scene."""

    def __init__(self, name: str, config: NodeConfig, scene: Scene) -> None:
        """Make the node, as the factory does; ``scene`` is where it looks."""
        super().__init__(name, config, scene)
        self._placer: Placer | None = None
        self._seen: tuple[TowerObservation | None, Matrix | None] = None, None
        self._chosen: Placement | None = None

    def tick(self) -> NodeStatus:
        """Choose; FAILURE where there is no room."""
        tower: TowerObservation = self.get_input("tower")
        in_hand: Matrix | None = self.get_input("in_hand", None)
        placer = self._placer or self._make_placer()
        if not tower.held or in_hand is None:
            placer.release()
            self._seen, self._chosen = (None, None), None
            self._write("destination", "")
            self._write("at_placement", False)
            return NodeStatus.SUCCESS
        if self._seen[0] is not tower or self._seen[1] is not in_hand:
            self._seen = tower, in_hand
            beliefs = self.get_input("beliefs")
            self._chosen = placer.choose(tower, beliefs, in_hand, self._scene.rng)
            if self._chosen is not None:
                self._write("destination", self._chosen.destination)
        if self._chosen is None:
            self.set_failure_reason(
                f"no room on the table for {tower.held}: clear it, or widen the area"
            )
            return NodeStatus.FAILURE
        pose, tool = self._chosen.pose, self.get_input("tool")
        self._write_target("placement", pose, tool)
        self.set_output("aim", pose)
        self._write("at_placement", is_near(pose, tool, *self._near))
        return NodeStatus.SUCCESS

    def _make_placer(self) -> Placer:
        self._near = self.get_input("reached"), self.get_input("turned")
        area = TableArea.of(self.get_input("area"), reach=self.get_input("reach"))
        clearances = self.get_input("clearance"), self.get_input("base_clearance")
        self._placer = Placer(area, *clearances)
        return self._placer


class SuppressCollisions(_Monitor):
    """Monitor 6: which blocks the arm may touch on its way."""

    ports = ports_list(
        *_given("poses", "tool", "held"),
        InputPort("aim", object, description="pose that the tool is sent to, or None"),
        _number("approach", 0.1, "[m] of the stand-off before it"),
        _number("std_dev", 0.02, "[m] width of the funnel before it"),
        OutputPort("may_touch", list[str], description="names of the blocks, in order"),
    )
    """Lengths in metres."""

    def tick(self) -> NodeStatus:
        """Compute, along the way that the funnel sends the tool."""
        poses, tool = self.get_input("poses", {}), self.get_input("tool", None)
        aim, held = self.get_input("aim", None), self.get_input("held")
        names: tuple[str, ...] = (held,) if held else ()
        if tool is not None and aim is not None and self._near(poses, tool):
            way_in = self._fixed("approach") * aim[:3, 2]
            shifted = ApproachParams(way_in, self._fixed("std_dev")).shifted(tool, aim)
            target = command_ahead(tool[:3, 3], shifted[:3, 3])
            names = touchable(poses, held, target, float(tool[2, 3]))
        self._write("may_touch", list(names))
        return NodeStatus.SUCCESS

    @staticmethod
    def _near(poses: Poses, tool: Matrix) -> bool:
        """Whether there is a block that the rules can be about."""
        at = place(tool)
        return any(math.dist(place(pose), at) < FARTHEST for pose in poses.values())


class DiagnoseNetwork(_Monitor):
    """Monitor 7: says a few times a second how things stand."""

    ports = ports_list(
        *_given("tower"),
        InputPort("block", str, default="", description="what is to be taken"),
        InputPort("purpose", str, default="", description="what for"),
        InputPort("refusal", str, default="", description="why it is refused"),
        _number("period", 0.25, "[s] between two reports"),
        OutputPort("progress", float, description="part of the order that stands, 0..1"),
        OutputPort("summary", str, description="one line"),
    )

    def __init__(self, name: str, config: NodeConfig, scene: Scene) -> None:
        """Make the node, as the factory does; ``scene`` is where it looks."""
        super().__init__(name, config, scene)
        self._published_at = -math.inf

    def tick(self) -> NodeStatus:
        """Say it, where it is time to."""
        now = self._scene.now
        if 0.0 <= now - self._published_at < self._fixed("period"):
            return NodeStatus.SUCCESS
        self._published_at = now
        tower: TowerObservation = self.get_input("tower")
        parts = [tower.summary()]
        if self.get_input("refusal"):
            parts.append(self.get_input("refusal"))
        elif self.get_input("block") and not tower.held:
            parts.append(f"{self.get_input('purpose')}: {self.get_input('block')}")
        self.set_output("summary", " | ".join(parts))
        self.set_output("progress", tower.progress)
        return NodeStatus.SUCCESS


class RaiseTool(SyncActionNode):
    """A target straight above the tool, as it stands now."""

    ports = ports_list(
        *_given("tool"),
        _number("by", 0.1, "[m]"),
        OutputPort("raised", PoseStamped, description="the same pose, higher up"),
    )

    def tick(self) -> NodeStatus:
        """Compute."""
        pose = np.array(self.get_input("tool"))
        pose[2, 3] += self.get_input("by")
        self.set_output("raised", stamped(WORLD, pose, digits=DIGITS))
        return NodeStatus.SUCCESS


MONITORS = (
    SyncBeliefs,
    WatchHand,
    WatchTower,
    WatchSite,
    ChoosePlacement,
    SuppressCollisions,
    DiagnoseNetwork,
)
"""In the order in which a network has them."""
