# SPDX-License-Identifier: Apache-2.0
"""The manager that shows the scene to trees."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from behavior_msgs.msg import SceneObjectArray
from rclpy.node import Node
from rclpy.serialization import deserialize_message

from behavior_executor.conversion import snapshot_from
from behavior_executor.managers.manager import BehaviorManager
from behavior_executor.managers.manager_node import pose_tree
from behavior_executor.missions.statistics import Metric
from behavior_executor.running.counter import Counter
from behavior_executor.scene import scene_nodes
from behavior_executor.scene.rest_of_screw import RestOfScrew
from behavior_executor.scene.scene_conditions import SCENE_CONDITIONS
from behavior_executor.scene.while_obstacle import WhileObstacle
from behavior_executor.scene_view import Matrix, SceneSnapshot
from behavior_ros import (
    QOS_LATCHED,
    MessageCache,
    Need,
    TransformBuffer,
    TransformError,
    declare_all,
    read_only,
    to_time,
    topic_need,
)
from behavior_tree import BehaviorTreeFactory

LOOKING_NODES = (
    *SCENE_CONDITIONS,
    RestOfScrew,
    scene_nodes.WhereIs,
    scene_nodes.WaitUntilHeld,
    scene_nodes.WaitUntilReleased,
)
"""Classes of the nodes that look at the scene."""
FIRST_FRAMES = 1.0
"""[s] of wall time in which the first transforms come, once they are listened to."""


class SceneManager(BehaviorManager):
    """Keeps the newest message of ``/scene/objects`` and gives each tick one snapshot of it."""

    name = "scene"
    ticks_idle = False

    def __init__(self, node: Node, wall: Callable[[], float] = time.monotonic) -> None:
        """Declare parameters and subscribe.

        Args:
            node: the executor's.
            wall: wall clock [s].
        """
        super().__init__(node)
        values = declare_all(
            node,
            [
                read_only(
                    "scene.max_age",
                    2.0,
                    "[s] age from which on the scene counts as gone",
                    range=(0.1, 60.0),
                ),
                read_only(
                    "scene.pose_tree",
                    "/tf",
                    "topic of moving transforms, listened to once a node asks for frames;"
                    " static ones come on <pose_tree>_static",
                ),
                read_only("scene.seed", 0, "seed of drawn spots", range=(0, 2**31)),
            ],
        )
        self.rng = random.Random(values["scene.seed"])
        self.now = 0.0
        self._data: bytes | None = None
        """Newest message, where it was not read yet."""
        self._newest: SceneSnapshot | None = None
        self._is_fresh = False
        self._pose_tree: str = values["scene.pose_tree"]
        self._frames: TransformBuffer | None = None
        self._awaited: set[str] = set()
        """Names that trees ask for, until the first frames have come."""
        self._wall, self._settles_at, self._settled = wall, 0.0, False
        self._frame_poses: dict[tuple[str, float | None], Matrix | None] = {}
        self._cache: MessageCache[bytes] = MessageCache(
            node,
            SceneObjectArray,
            "scene/objects",
            max_age=values["scene.max_age"],
            qos=QOS_LATCHED,
            callback=lambda data: self.wake_tree(),
            raw=True,
        )

    def register_nodes(self, factory: BehaviorTreeFactory) -> None:
        """Register the nodes of :mod:`behavior_executor.scene.scene_nodes`."""
        register_scene_nodes(factory, self)

    def needs(self) -> Mapping[str, Sequence[Need]]:
        """A scene for the nodes that look at it."""
        scene = topic_need(self.node, SceneObjectArray, "scene/objects", offered_by="scene")
        return {node_class.__name__: [scene] for node_class in LOOKING_NODES}

    def barriers(self) -> Mapping[str, Callable[[Any], bool]]:
        """The barrier ``scene``: results that carry a revision of the scene."""
        return {"scene": lambda result: self.shows(result.revision)}

    def shows(self, revision: int) -> bool:
        """Tell whether the snapshot of this tick is of a revision of the scene, or a later one.

        A result and the message that shows its effect arrive in any order. Trees shall not see the
        scene of before an action that has succeeded.
        """
        return self.snapshot is not None and self.snapshot.revision >= revision

    def pre_tick(self, now: float) -> None:
        """Take the snapshot of this tick."""
        self.now = now
        self._data = self._cache.consume_new() or self._data
        self._is_fresh = self._cache.fresh()
        self._frame_poses.clear()

    @property
    def snapshot(self) -> SceneSnapshot | None:
        """The scene of this tick; None: there is none. It is read when a tree asks for it."""
        if not self._is_fresh:
            return None
        if self._data is not None:
            self._newest = snapshot_from(deserialize_message(self._data, SceneObjectArray))
            self._data = None
        return self._newest

    def receive_frames(self, *names: str) -> None:
        """Listen to transforms from now on; they cost a callback each, so not before.

        Args:
            names: of frames, or objects, that will be asked for.
        """
        if self._frames is None:
            self._frames = pose_tree(self.node, self._pose_tree)
            self._settles_at = self._wall() + FIRST_FRAMES
        if not self._settled:
            self._awaited.update(names)

    def settled(self) -> bool:
        """Whether the first transforms have come, where a tree will ask for frames."""
        if not self._settled and self._frames is not None:
            late = self._wall() >= self._settles_at
            self._settled = late or all(map(self._knows, self._awaited))
        return self._settled or self._frames is None

    def _knows(self, name: str) -> bool:
        snapshot, frames = self.snapshot, self._frames
        if snapshot is None or frames is None:
            return False
        return name in snapshot.bodies or frames.can_transform(snapshot.frame, name)

    def frame_pose(self, name: str, at: float | None = None) -> Matrix | None:
        """Where a frame is that is no object, or was at a time [s], 4x4 in the frame of the scene
        [m]; None: unknown.

        Within one tick the answer stays the same.
        """
        snapshot = self.snapshot
        if snapshot is None:
            return None
        if name == snapshot.frame:
            return np.eye(4)
        if (name, at) not in self._frame_poses:
            self.receive_frames()
            assert self._frames is not None
            time = None if at is None else to_time(at)
            try:
                found = self._frames.lookup_matrix(snapshot.frame, name, time)
            except TransformError:
                found = None
            self._frame_poses[name, at] = found
        return self._frame_poses[name, at]

    def metrics(self) -> list[Metric]:
        """Messages so far, and the age of the newest one."""
        age = self._cache.age()
        return [
            Metric("scene_messages", "", float(self._cache.sequence), is_counter=True),
            Metric("scene_age", "s", age if age != float("inf") else -1.0),
        ]

    def problem(self) -> str:
        """Say so when there is no fresh scene."""
        if self._cache.fresh():
            return ""
        if self._cache.sequence == 0:
            return f"no scene yet on {self._cache.topic}"
        return f"no scene for {self._cache.age():.1f} s"


def register_scene_nodes(factory: BehaviorTreeFactory, scene: scene_nodes.Scene) -> None:
    """Register the general nodes that look at a scene.

    Args:
        factory: gets the nodes.
        scene: where they look.
    """
    for node_class in LOOKING_NODES:
        factory.register_node_type(node_class, node_class.__name__, scene)
    factory.register_node_type(Counter, "Counter")
    factory.register_node_type(WhileObstacle, "WhileObstacle")
