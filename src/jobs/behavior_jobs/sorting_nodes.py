# SPDX-License-Identifier: Apache-2.0
"""Tree nodes that sort things into containers."""

from __future__ import annotations

import math

from geometry_msgs.msg import PoseStamped

from behavior_executor.scene.scene_nodes import Scene, SceneObserver, patience_port
from behavior_executor.scene_view import SceneSnapshot, SeenObject
from behavior_jobs.sorting import SortObservation, SortObserver, containers_from
from behavior_ros import upright_pose
from behavior_tree import (
    InputPort,
    NodeConfig,
    NodeStatus,
    OutputPort,
    SyncActionNode,
    ports_list,
)

PLACES = (0.0, -0.3, 0.3)
"""Where in a container things are dropped one after the other, in parts of its length."""


class ObserveSorting(SceneObserver):
    """Looks how far the sorting is; waits for a fresh scene, and fails when it stays away."""

    ports = ports_list(
        InputPort("containers", list[str], description="class:container; for each class"),
        InputPort(
            "wait_for_missing",
            float,
            default=8.0,
            description="[s] that things out of sight are waited for, all others being sorted",
        ),
        InputPort("avoid", str, default="", description="thing that is fetched last"),
        patience_port(),
        OutputPort("next_object", str, description="thing to fetch next, empty: none"),
        OutputPort("held", str, description="thing in the gripper, empty: none"),
        OutputPort("held_container", str, description="container of the thing in the gripper"),
        OutputPort("missing", str, description="things out of sight: a;b"),
        OutputPort("complete", bool, description="everything that was ever seen is sorted"),
        OutputPort("finished", bool, description="complete, or what is missing stays away"),
        OutputPort("progress", float, description="part that is sorted, 0..1"),
        OutputPort("summary", str, description="one line"),
    )

    def __init__(self, name: str, config: NodeConfig, scene: Scene) -> None:
        """Make the node, as the factory does; ``scene`` is where it looks."""
        super().__init__(name, config, scene)
        self._observer: SortObserver | None = None

    def look(self, snapshot: SceneSnapshot) -> NodeStatus:
        """Observe."""
        containers = containers_from(self.get_input("containers"))
        wait = self.get_input("wait_for_missing")
        if self._observer is None or self._observer.containers != containers:
            self._observer = SortObserver(containers, wait_for_missing=wait)
        self._observer.wait_for_missing = max(wait, 0.0)  # it may be edited while the tree runs
        seen = self._observer.update(snapshot, self._scene.now, avoid=self.get_input("avoid"))
        self._write(seen, containers)
        return NodeStatus.SUCCESS

    def _write(self, seen: SortObservation, containers: dict[str, str]) -> None:
        self.set_output("next_object", seen.waiting[0] if seen.waiting else "")
        self.set_output("held", seen.held)
        self.set_output("held_container", containers.get(seen.held_class, ""))
        self.set_output("missing", ";".join(seen.missing))
        self.set_output("complete", seen.complete)
        self.set_output("finished", seen.complete or seen.given_up)
        self.set_output("progress", seen.progress)
        self.set_output("summary", seen.summary())


class DropPose(SyncActionNode):
    """Computes where the hand lets go of a thing above its container, pointing straight down."""

    ports = ports_list(
        InputPort("container", str, description="object of the scene"),
        InputPort("object_name", str, description="object in the gripper"),
        InputPort(
            "clearance",
            float,
            default=0.03,
            description="[m] between the container's top and the object's lower end",
        ),
        OutputPort("poses", list[PoseStamped], description="pose of the tool, for MoveArm"),
    )

    def __init__(self, name: str, config: NodeConfig, scene: Scene) -> None:
        """Make the node, as the factory does; ``scene`` is where it looks."""
        super().__init__(name, config)
        self._scene = scene

    def tick(self) -> NodeStatus:
        """Compute; fails without a fresh scene that shows both."""
        snapshot = self._scene.snapshot
        names = self.get_input("container"), self.get_input("object_name")
        container, held = (snapshot.objects.get(n) if snapshot else None for n in names)
        if snapshot is None or container is None or held is None:
            self.set_failure_reason(f"the scene does not show {' and '.join(names)}")
            return NodeStatus.FAILURE
        x, y = self._place(snapshot, container)
        z = container.z + 0.5 * container.size[2] + self.get_input("clearance")
        target = upright_pose(snapshot.frame, x, y, z=z + 0.5 * held.size[2])
        # Pointing down with the tool's x axis away from the base: half a turn about x, after yaw.
        yaw = math.atan2(y, x)
        turn = target.pose.orientation
        turn.x, turn.y, turn.z, turn.w = math.cos(yaw / 2), math.sin(yaw / 2), 0.0, 0.0
        self.set_output("poses", [target])
        return NodeStatus.SUCCESS

    def _place(self, snapshot: SceneSnapshot, container: SeenObject) -> tuple[float, float]:
        """A place in the container where little lies yet [m]."""
        length = container.size[0]
        c, s = math.cos(container.yaw), math.sin(container.yaw)
        inside = [
            seen.seen_from(container)[0]
            for seen in snapshot.objects.values()
            if seen.name != container.name
            and not seen.held
            and seen.distance_xy(container.x, container.y) < length
        ]

        def room(part: float) -> float:
            gap = min((abs(part * length - x) for x in inside), default=length)
            return min(gap, 0.25 * length)

        best = max(PLACES, key=room)
        return container.x + best * length * c, container.y + best * length * s
