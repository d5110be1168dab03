# SPDX-License-Identifier: Apache-2.0
"""Tree nodes about a tower of blocks."""

from __future__ import annotations

from geometry_msgs.msg import PoseStamped

from behavior_executor.scene.scene_nodes import (
    Scene,
    SceneAction,
    SceneObserver,
    SceneWaiter,
    patience_port,
)
from behavior_executor.scene_view import SceneSnapshot
from behavior_jobs.free_spot import TableArea, sample_free_spot, table_discs
from behavior_jobs.tower import (
    Choice,
    TowerObservation,
    TowerObserver,
    TowerPlan,
    tower_place,
)
from behavior_ros import upright_pose
from behavior_tree import (
    ConditionNode,
    InputPort,
    NodeConfig,
    NodeStatus,
    OutputPort,
    PortInfo,
    SyncActionNode,
    TreeNode,
    ports_list,
)


def _tower_port() -> PortInfo:
    return InputPort("tower", TowerObservation, description="observation by ObserveTower")


def tower_plan_ports() -> list[PortInfo]:
    """Ports of a node that is told of the tower to build; see `tower_plan`."""
    return [
        InputPort("order", list[str], description="blocks, bottom first: a;b;c"),
        InputPort("position", list[float], description="x;y of the tower's axis [m]"),
        InputPort("block_height", float, default=0.0515, description="[m]"),
        InputPort(
            "tolerance", float, default=0.02575, description="[m] from the axis, in the stack"
        ),
    ]


def tower_plan(node: TreeNode) -> TowerPlan:
    """The tower to build, from `tower_plan_ports`.

    Raises:
        ValueError: a port holds what makes no tower.
    """
    position = node.get_input("position")
    if len(position) != 2:
        raise ValueError(f"position must be x;y [m], not {position}")
    return TowerPlan(
        order=tuple(node.get_input("order")),
        x=position[0],
        y=position[1],
        block_height=node.get_input("block_height"),
        tolerance=node.get_input("tolerance"),
    )


class ObserveTower(SceneObserver):
    """Looks at the tower's place; waits for a fresh scene, and fails when it stays away."""

    ports = ports_list(
        *tower_plan_ports(),
        InputPort(
            "settle_time", float, default=0.3, description="[s] a change lasts before it counts"
        ),
        patience_port(),
        OutputPort("tower", TowerObservation, description="all of it, for other nodes"),
        OutputPort("stack", str, description="blocks of the stack, bottom first"),
        OutputPort("height", int, description="number of blocks in the stack"),
        OutputPort("correct", bool, description="the stack is a beginning of the order"),
        OutputPort("complete", bool, description="the stack is the order"),
        OutputPort("settled", bool, description="no change waits for its settle time"),
        OutputPort("held", str, description="block in the gripper, empty: none"),
        OutputPort("next_block", str, description="first block of the order not in the stack"),
        OutputPort("top_block", str, description="top of the stack, empty: none"),
        OutputPort("obstruction", str, description="block in the way, empty: none"),
        OutputPort("progress", float, description="part of the order that stands, 0..1"),
        OutputPort("summary", str, description="one line"),
    )
    """Lengths in metres in the frame of the scene."""

    def __init__(self, name: str, config: NodeConfig, scene: Scene) -> None:
        """Make the node, as the factory does; ``scene`` is where it looks."""
        super().__init__(name, config, scene)
        self._observer: TowerObserver | None = None

    def look(self, snapshot: SceneSnapshot) -> NodeStatus:
        """Observe."""
        plan = tower_plan(self)
        if self._observer is None or self._observer.plan != plan:
            self._observer = TowerObserver(plan)
        self._observer.settle_time = self.get_input("settle_time")  # may be edited meanwhile
        self._write(self._observer.update(snapshot, self._scene.now))
        return NodeStatus.SUCCESS

    def _write(self, tower: TowerObservation) -> None:
        self.set_output("tower", tower)
        self.set_output("stack", ";".join(tower.stack))
        self.set_output("height", len(tower.stack))
        self.set_output("correct", tower.correct)
        self.set_output("complete", tower.complete)
        self.set_output("settled", tower.settled)
        self.set_output("held", tower.held)
        self.set_output("next_block", tower.next_block)
        self.set_output("top_block", tower.stack[-1] if tower.stack else "")
        self.set_output("obstruction", tower.obstructions[0] if tower.obstructions else "")
        self.set_output("progress", tower.progress)
        self.set_output("summary", tower.summary())


class ChooseBlock(SceneWaiter):
    """Chooses the block to move next; waits for it to be seen, and fails when it stays away."""

    ports = ports_list(
        _tower_port(),
        InputPort("patience", float, default=4.0, description="[s] to wait for the block"),
        OutputPort("block", str, description="name of the block"),
        OutputPort("purpose", str, description="build: onto the tower; clear: out of the way"),
    )

    def on_running(self) -> NodeStatus:
        """Choose, from what is seen now."""
        choice = self.get_input("tower").choose()
        if choice is None:
            self.set_failure_reason("no block to move: the tower is complete")
            return NodeStatus.FAILURE
        snapshot = self._scene.snapshot
        if snapshot is not None and choice.block in snapshot.objects:
            self.set_output("block", choice.block)
            self.set_output("purpose", choice.purpose)
            return NodeStatus.SUCCESS
        seen = ", ".join(sorted(snapshot.objects)) if snapshot is not None else ""
        return self.wait_or_fail(
            f"{choice.block} has not been seen for {self.waited:.1f} s; seen: {seen or 'nothing'}"
        )


class ReviewChoice(SyncActionNode):
    """Tells whether a choice by ChooseBlock still makes sense while its block is being picked."""

    ports = ports_list(
        _tower_port(),
        InputPort("block", str, description="name of the block"),
        InputPort("purpose", str, description="build or clear"),
        OutputPort("wanted", bool, description="go on picking it"),
    )

    def tick(self) -> NodeStatus:
        """Review; always SUCCESS."""
        choice = Choice(self.get_input("block"), self.get_input("purpose"))
        self.set_output("wanted", self.get_input("tower").is_wanted(choice))
        return NodeStatus.SUCCESS


class BelongsOnTop(ConditionNode):
    """Tells whether a block is the one that the tower needs now, wherever the block itself is."""

    ports = ports_list(_tower_port(), InputPort("block", str, description="name of the block"))

    def tick(self) -> NodeStatus:
        """SUCCESS if it is."""
        block = self.get_input("block")
        if self.get_input("tower").belongs_on_top(block):
            return NodeStatus.SUCCESS
        self.set_failure_reason(f"{block} is not what the tower needs now")
        return NodeStatus.FAILURE


class TowerPlace(SceneAction):
    """Computes where a block goes on top of the tower."""

    ports = ports_list(
        _tower_port(),
        InputPort("block", str, description="name of the block"),
        InputPort(
            "max_correction",
            float,
            default=0.004,
            description="[m] by which a block may stand off the one below, towards the axis",
        ),
        OutputPort("target", PoseStamped, description="pose of the block's centre"),
    )

    def look(self, snapshot: SceneSnapshot) -> NodeStatus:
        """Compute."""
        tower = self.get_input("tower").without(self.get_input("block"))
        x, y, z = tower_place(tower, snapshot, max_correction=self.get_input("max_correction"))
        self.set_output("target", upright_pose(snapshot.frame, x, y, z=z))
        return NodeStatus.SUCCESS


class SampleFreeSpot(SceneAction):
    """Draws a spot on the table, away from all objects, the tower's place and the robot's base."""

    ports = ports_list(
        _tower_port(),
        InputPort("object_name", str, description="object to put down"),
        InputPort(
            "area",
            list[float],
            default="0.3;0.65;-0.2;0.3",
            description="x_min;x_max;y_min;y_max [m]",
        ),
        InputPort("reach", float, default=0.7, description="[m] from the base at most"),
        InputPort(
            "clearance", float, default=0.15, description="[m] between centres, and the tower"
        ),
        InputPort("base_clearance", float, default=0.35, description="[m] from the base at least"),
        OutputPort("target", PoseStamped, description="pose of the object's centre"),
    )
    """Lengths in metres in the frame of the scene."""

    def look(self, snapshot: SceneSnapshot) -> NodeStatus:
        """Draw; fails where there is no room."""
        name, plan = self.get_input("object_name"), self.get_input("tower").plan
        things = [obj for obj in snapshot.objects.values() if not obj.derived]
        centres = [(obj.x, obj.y) for obj in things if obj.name != name]
        discs = table_discs(
            [*centres, (plan.x, plan.y)],
            clearance=self.get_input("clearance"),
            base_clearance=self.get_input("base_clearance"),
        )
        area = TableArea.of(self.get_input("area"), reach=self.get_input("reach"))
        spot = sample_free_spot(area, discs, self._scene.rng)
        if spot is None:
            self.set_failure_reason(f"no room on the table for {name}: clear it, or widen the area")
            return NodeStatus.FAILURE
        seen = snapshot.objects.get(name)
        height = seen.size[2] if seen is not None and seen.size[2] > 0.0 else plan.block_height
        target = upright_pose(snapshot.frame, *spot, z=plan.surface + 0.5 * height)
        self.set_output("target", target)
        return NodeStatus.SUCCESS
