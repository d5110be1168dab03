# SPDX-License-Identifier: Apache-2.0
"""The ROS node of the scene: a composition of parts around one :class:`SceneHost`.

Each part declares its own parameters, topics, services and actions; see its module. The node never
stops on bad input: what cannot be used is counted on `/diagnostics`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from behavior_ros import run
from behavior_ros.node.closing import closables
from behavior_scene.node.detection_input import DetectionInput
from behavior_scene.node.health import Health
from behavior_scene.node.host import SceneHost
from behavior_scene.node.manage_server import ManageServer
from behavior_scene.node.marker_publisher import MarkerPublisher
from behavior_scene.node.memory_part import MemoryPart
from behavior_scene.node.object_publisher import ObjectPublisher
from behavior_scene.node.question_server import QuestionServer
from behavior_scene.node.scene_services import SceneServices
from behavior_scene.node.track_publisher import TrackPublisher

PARTS: tuple[Callable[[SceneHost], object], ...] = (
    DetectionInput,
    ObjectPublisher,
    TrackPublisher,
    MarkerPublisher,
    MemoryPart,
    SceneServices,
    ManageServer,
    QuestionServer,
    Health,
)


class SceneNode(Node):  # type: ignore[misc] # rclpy has no type information
    """Keeps the scene; see the module's text."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(kwargs.pop("node_name", "scene"), **kwargs)
        self.host = SceneHost(self)
        self.parts = [part(self.host) for part in PARTS]

    def destroy_node(self) -> None:
        """End what runs, and destroy the node."""
        for closable in closables([self]):
            closable.begin_close()
        super().destroy_node()


def main(args: list[str] | None = None) -> int:
    """Entry point of `scene_node`."""
    return int(run([SceneNode], args))


if __name__ == "__main__":
    raise SystemExit(main())
